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

// Reasons are the reasons for the predicted label of a node: its score is the sum of the shares of labelled nodes, the
// contributions of attributes and the rest.
type Reasons struct {
	Node        string  `json:"node"`
	Label       string  `json:"label"`           // predicted; "": no label reaches the node
	Probability float64 `json:"probability"`     // of Label
	Rival       string  `json:"rival,omitempty"` // the label with the next score
	Score       float64 `json:"score"`           // of Label

	Labels      []LabelShare     `json:"labels"`                 // largest share first
	OtherLabels int              `json:"other_labels"`           // labelled nodes that are not listed
	OtherShare  float64          `json:"other_share"`            // sum of their shares
	Attributes  []AttributeShare `json:"attributes,omitempty"`   // largest contribution first
	OtherWords  float64          `json:"other_attributes_share"` // sum of the contributions of other attributes
	Rest        float64          `json:"rest"`                   // the part that no labelled node and no attribute has
	Links       []LinkImportance `json:"links"`                  // most important first

	Covered float64 `json:"covered"` // the part of the score that shares cover, 0 to 1
	Error   float64 `json:"error"`   // difference between the score and the sum of all parts
}

// LabelShare is the share of a labelled node in a score.
type LabelShare struct {
	Node  string  `json:"node"`
	Label string  `json:"label"`
	Share float64 `json:"share"`
}

// AttributeShare is the contribution of an attribute to a score.
type AttributeShare struct {
	Column int     `json:"column"` // from 0 on
	Name   string  `json:"name,omitempty"`
	Share  float64 `json:"share"`
}

// LinkImportance is how much of the difference between the scores of Label and Rival passes through a link.
type LinkImportance struct {
	From       string  `json:"from"`
	To         string  `json:"to"`
	Kind       string  `json:"kind,omitempty"` // several kinds are joined by commas
	Importance float64 `json:"importance"`
}

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
	list, err := p.Explain(ctx, problem, rows, &explain.Settings{Number: reasons, Workers: s.Workers, Progress: s.Progress})
	if err != nil {
		return err
	}
	kinds, err := kindsOf(ctx, p.g, list)
	if err != nil {
		return err
	}
	id := p.g.Nodes.ID
	for i := range list {
		e := &list[i]
		r := Reasons{
			Node: id(e.Node), Label: p.Label(id(e.Node)), Probability: p.Prediction.Scores.At(e.Node, e.Class), Score: e.Score,
			Labels: []LabelShare{}, OtherLabels: e.Count, OtherShare: e.Others, OtherWords: e.Unlisted, Rest: e.Rest, Links: []LinkImportance{},
			Covered: e.Covered, Error: e.Error,
		}
		if e.Rival >= 0 {
			r.Rival = p.Classes[e.Rival]
		}
		for _, l := range e.Labels {
			r.Labels = append(r.Labels, LabelShare{id(problem.Row[l.Label]), p.Classes[problem.Class[l.Label]], l.Share})
		}
		for _, a := range e.Attributes {
			r.Attributes = append(r.Attributes, AttributeShare{Column: a.Column, Share: a.Share})
		}
		for _, l := range e.Links {
			r.Links = append(r.Links, LinkImportance{id(l.From), id(l.To), strings.Join(kinds[[2]int{l.From, l.To}], ","), l.Importance})
		}
		p.Reasons = append(p.Reasons, r)
	}
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
			ends[l.From] = append(ends[l.From], l.To)
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
