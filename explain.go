package heatwalk

import (
	"context"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Reasons are those for the predicted label of a node.
type Reasons = explain.Explanation

// Explain predicts the label of every node from the labels of some, and returns the reasons for the predictions of some
// nodes, by id. The error is an [*IDError] for an id that is not in the graph, and wraps [explain.ErrNoForm] for a method
// whose scores are no sums over labelled nodes.
func (g *Graph) Explain(ctx context.Context, labels map[string]string, nodes []string, o *ClassifyOptions) ([]Reasons, error) {
	p, err := g.Problem(labels)
	if err != nil {
		return nil, err
	}
	rows := make([]int, len(nodes))
	for i, id := range nodes {
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		rows[i] = row
	}
	entries, _, err := methodsOf(ctx, o)
	if err != nil {
		return nil, err
	}
	out, err := Predict(ctx, g, p, entries[0].Method, entries[0].Settings, &PredictOptions{Explain: rows})
	if err != nil {
		return nil, err
	}
	return out.Reasons, nil
}

// explain fills in the reasons for the predictions of some rows.
func (p *Prediction) explain(ctx context.Context, problem *method.Problem, rows []int, reasons int, s *method.Settings) error {
	list, err := p.Explain(ctx, problem, rows, &explain.Settings{Number: reasons, Workers: s.Workers, Progress: s.Progress, ID: p.g.Nodes.ID})
	if err != nil {
		return err
	}
	kinds, err := kindsOf(ctx, p.g, list)
	if err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		e.Label, e.Probability = p.Label(e.Node), p.Prediction.Scores.At(e.Row, e.Class)
		for k := range e.Links {
			e.Links[k].Kind = strings.Join(kinds[e.Links[k].Rows], ",")
		}
	}
	p.Reasons = append(p.Reasons, list...)
	return nil
}

// kindsOf returns the names of the kinds of the links in explanations; nil: links have no kinds. Cost: one sweep.
func kindsOf(ctx context.Context, g *Graph, list []explain.Explanation) (map[[2]int][]string, error) {
	if g.Store == nil || g.Store.Manifest.Kinds == nil {
		return nil, nil
	}
	ends, names := map[int][]int{}, map[[2]int][]string{}
	for i := range list {
		for _, l := range list[i].Links {
			ends[l.Rows[0]] = append(ends[l.Rows[0]], l.Rows[1])
		}
	}
	var codes []uint32
	err := g.Store.Sweep(ctx, 1, func(_ int, panel sparse.Panel) error {
		for i := panel.Lo; i < panel.Hi; i++ {
			if ends[i] == nil {
				continue
			}
			col, _ := panel.Row(i - panel.Lo)
			codes = panel.AppendCodes(codes[:0], i-panel.Lo)
			for entry, code := range codes {
				link, name := [2]int{i, int(col[entry])}, g.Store.Manifest.Kinds[shard.KindOf(code)].Name
				if slices.Contains(ends[i], link[1]) && !slices.Contains(names[link], name) {
					names[link] = append(names[link], name)
				}
			}
		}
		return nil
	})
	return names, err
}
