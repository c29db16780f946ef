package heatwalk

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Reasons are those for the predicted label of a node.
type Reasons = explain.Explanation

// Explain predicts the label of every node from the labels of some, and returns the reasons for the predictions of some
// nodes, by id. The error is an [*IDError] for an id that is not in the graph, and wraps [explain.ErrNoForm] for a method
// whose scores are no sums over labelled nodes.
func (g *Graph) Explain(ctx context.Context, labels map[string]string,
	nodes []string, o *ClassifyOptions) ([]Reasons, error) {
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
	out, err := Predict(ctx, g, p, entries[0].Method, entries[0].Settings,
		&PredictOptions{Explain: rows})
	if err != nil {
		return nil, err
	}
	return out.Reasons, nil
}

// AddReasons adds the reasons for the predictions of some rows, after a prediction with [PredictOptions].Explain. The error
// wraps [explain.ErrNoForm] for a method whose scores are no sums over labelled nodes.
func (p *Prediction) AddReasons(ctx context.Context, rows []int) error {
	s := p.settings
	list, err := p.Explain(ctx, p.problem, rows,
		&explain.Settings{Number: p.options.Reasons, Workers: s.Workers,
			Progress: s.Progress, ID: p.g.Nodes.ID})
	if err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		e.Label, e.Probability = p.Label(e.Node),
			p.Prediction.Scores.At(e.Row, e.Class)
	}
	p.Reasons = append(p.Reasons, list...)
	return p.addKinds(ctx, list)
}

// edgesOfLink are the edges between two nodes.
type edgesOfLink struct {
	codes           []uint32
	weights, values []float64 // without and with factors of kinds and times
}

// addWeights fills in the weights of the links of explanations on a graph without kinds and times. Cost: a sweep.
func (p *Prediction) addWeights(ctx context.Context, list []Reasons) error {
	weights := map[[2]int]float64{}
	for i := range list {
		for _, l := range list[i].Links {
			weights[l.Rows] = 0
		}
	}
	err := sparse.EachRow(ctx, p.g.Store.Store, 1, func(_, row int, col []uint32, val []float64) error {
		for entry, c := range col {
			for _, rows := range [][2]int{{row, int(c)}, {int(c), row}} {
				if w, isListed := weights[rows]; isListed && (p.g.Directed || rows[0] == row) {
					weights[rows] = w + val[entry]
				}
			}
		}
		return nil
	})
	for i := range list {
		for k := range list[i].Links {
			l := &list[i].Links[k]
			l.Kinds = []explain.LinkKind{{Weight: weights[l.Rows], Share: 1}}
		}
	}
	return err
}

// addKinds fills in the kinds of the links of explanations. Cost: two sweeps.
func (p *Prediction) addKinds(ctx context.Context, list []Reasons) error {
	s := p.g.Store
	switch {
	case s == nil:
		return nil
	case !s.Manifest.HasCodes():
		if !p.g.Weighted {
			return nil
		}
		return p.addWeights(ctx, list)
	}
	links := map[[2]int]*edgesOfLink{}
	rows := map[int]bool{}
	for i := range list {
		for _, l := range list[i].Links {
			links[l.Rows] = new(edgesOfLink)
			rows[l.Rows[0]] = true
			rows[l.Rows[1]] = rows[l.Rows[1]] || p.g.Directed
		}
	}
	each := func(a sparse.Matrix, take func(link *edgesOfLink, code uint32, value float64)) error {
		return shard.EachCodedRow(ctx, a, func(row int, col []uint32, val []float64, codes []uint32) error {
			if !rows[row] {
				return nil
			}
			for entry, c := range col {
				link := links[[2]int{row, int(c)}]
				if link == nil && p.g.Directed {
					link = links[[2]int{int(c), row}]
				}
				if link != nil {
					take(link, codes[entry], val[entry])
				}
			}
			return nil
		})
	}
	unweighted, _ := shard.ApplyCodebook(s.Store, &shard.Codebook{})
	err := each(unweighted, func(link *edgesOfLink, code uint32, value float64) {
		link.codes = append(link.codes, code)
		link.weights = append(link.weights, value)
	})
	if err != nil {
		return err
	}
	weighed, _ := shard.ApplyCodebook(s.Store, p.Factors.Book)
	err = each(weighed, func(link *edgesOfLink, _ uint32, value float64) {
		link.values = append(link.values, value)
	})
	for i := range list {
		for k := range list[i].Links {
			l := &list[i].Links[k]
			l.Kinds = links[l.Rows].kinds(s.Manifest)
		}
	}
	return err
}

// kinds returns the kinds of the edges that count, with their shares.
func (l *edgesOfLink) kinds(m *shard.Manifest) (list []explain.LinkKind) {
	position := map[int]int{} // of a kind in list
	total := 0.0
	order := sched.UpTo(len(l.codes))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(l.codes[i], l.codes[j]) }) // by time
	for _, i := range order {
		if l.values[i] == 0 {
			continue
		}
		kind := shard.KindOf(l.codes[i])
		k, isListed := position[kind]
		if !isListed {
			k = len(list)
			position[kind] = k
			list = append(list, explain.LinkKind{})
		}
		e := &list[k]
		if m.Kinds != nil {
			e.Kind = m.Kinds[kind].Name
		}
		if m.Times != nil {
			e.Last = m.Times.Text(shard.TimeOf(l.codes[i]))
			e.First = cmp.Or(e.First, e.Last)
		}
		e.Weight += l.weights[i]
		e.Share += l.values[i]
		total += l.values[i]
	}
	for k := range list {
		list[k].Share /= total
	}
	slices.SortStableFunc(list,
		func(a, b explain.LinkKind) int { return cmp.Compare(b.Share, a.Share) })
	return list
}
