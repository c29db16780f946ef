package heatwalk

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
)

// ClassifyOptions choose the method of [Graph.Classify] and [Graph.Evaluate]. Nil means
// defaults.
type ClassifyOptions struct {
	// Method is the name of a method with its parameters, for example "auto" (the default)
	// or "diffusion:beta=2+rls". Parameters that are not given are chosen by
	// cross-validation. Evaluate takes several names, joined by commas.
	Method string

	// Grid names the candidates of parameters: "small" (the default), "none", "paper" or a
	// file.
	Grid string

	Seed uint64 // of folds, splits and samples

	Train  []float64 // Evaluate: shares of labels to train with; nil: 0.1
	Splits int       // Evaluate: random splits for each of Train; 0: 20
}

// Prediction is the result of [Graph.Classify].
type Prediction struct {
	// Prediction has the classes and scores by row, the chosen parameters and the
	// cross-validated Accuracy of the method, with its standard error.
	*method.Prediction

	Classes []string // the names of the classes, in the order of the columns of scores

	g *Graph
}

// Label returns the predicted label of a node, its own if it has one, "" if no label reaches
// it or the graph has no such node.
func (p *Prediction) Label(id string) string {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok || !p.Reached.Contains(uint32(row)) {
		return ""
	}
	return p.Classes[p.Class[row]]
}

// Scores returns the score of every class for a node; nil if the graph has no such node.
func (p *Prediction) Scores(id string) map[string]float64 {
	row, ok := p.g.Nodes.Lookup(id)
	if !ok {
		return nil
	}
	scores := make(map[string]float64, len(p.Classes))
	for c, name := range p.Classes {
		scores[name] = p.Prediction.Scores.At(row, c)
	}
	return scores
}

// Problem returns the graph with labels by id on some of its nodes, for packages method and
// evaluate. The error is an [*IDError] for an id that is not in the graph.
func (g *Graph) Problem(labels map[string]string) (*method.Problem, error) {
	p := &method.Problem{Graph: g.Graph, Directed: g.Directed, Weighted: g.Weighted}
	p.Names = slices.Compact(slices.Sorted(maps.Values(labels)))
	class := make(map[string]int, len(p.Names))
	for c, name := range p.Names {
		class[name] = c
	}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		p.Row, p.Class = append(p.Row, row), append(p.Class, class[labels[id]])
	}
	return p, nil
}

// Classify predicts the label of every node from the labels of some, by id.
func (g *Graph) Classify(ctx context.Context, labels map[string]string, o *ClassifyOptions) (*Prediction, error) {
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	entries, _, err := g.methods(ctx, o)
	if err != nil {
		return nil, err
	}
	connected, extend, err := method.Connected(ctx, p, entries[0].Settings)
	if err != nil {
		return nil, err
	}
	found, err := entries[0].Method.Predict(ctx, connected, nil, entries[0].Settings)
	if err != nil {
		return nil, err
	}
	extend(found)
	return &Prediction{found, p.Names, g}, nil
}

// Evaluate compares methods on random splits of the labels: all of them are trained on the
// same labels and scored on the same others.
func (g *Graph) Evaluate(ctx context.Context, labels map[string]string, o *ClassifyOptions) (*evaluate.Report, error) {
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	entries, set, err := g.methods(ctx, o)
	if err != nil {
		return nil, err
	}
	plan := &evaluate.Plan{Methods: entries, Fractions: []float64{0.1}, Settings: set}
	if o != nil {
		plan.Splits = o.Splits
		if o.Train != nil {
			plan.Fractions = o.Train
		}
	}
	return evaluate.Run(ctx, p, plan)
}

// methods returns the methods that the options name, with their settings, and the settings
// of all.
func (g *Graph) methods(ctx context.Context, o *ClassifyOptions) ([]method.Entry, *method.Settings, error) {
	if o == nil {
		o = new(ClassifyOptions)
	}
	entries, err := method.Parse(cmp.Or(o.Method, "auto"))
	if err != nil {
		return nil, nil, err
	}
	all, err := method.Settle(ctx, entries, cmp.Or(o.Grid, "small"), nil, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range append([]*method.Settings{all}, settingsOf(entries)...) {
		s.RNGSeed, s.Memory, s.Workers = o.Seed, g.options.Memory, g.options.Workers
	}
	return entries, all, nil
}

func settingsOf(entries []method.Entry) (list []*method.Settings) {
	for _, e := range entries {
		list = append(list, e.Settings)
	}
	return list
}
