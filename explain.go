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
	rows, err := g.rowsOf("nodes", append([]string{}, nodes...))
	if err != nil {
		return nil, err
	}
	out, err := g.classify(ctx, labels, o, &PredictOptions{Explain: rows})
	if err != nil {
		return nil, err
	}
	return out.Reasons, nil
}

// AddReasons adds the reasons for the predictions of some rows, after a prediction with [PredictOptions].Explain. The error
// wraps [explain.ErrNoForm] for a method whose scores are no sums over labelled nodes. It waits for memory as
// [Graph.Begin] does.
func (p *Prediction) AddReasons(ctx context.Context, rows []int) error {
	return p.again(ctx, func() error { return p.addReasons(ctx, rows) })
}

// addReasons is AddReasons within a job.
func (p *Prediction) addReasons(ctx context.Context, rows []int) error {
	s := p.settings
	list, err := p.Explain(ctx, p.problem, rows,
		&explain.Settings{Number: p.options.Reasons, Workers: s.Workers,
			Progress: s.Progress, ID: p.g.Nodes.ID})
	if err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		e.Label = p.Label(e.Node)
		e.Probability = p.Prediction.Scores.At(e.Row, e.Class)
	}
	p.Reasons = append(p.Reasons, list...)
	return p.addKinds(ctx, list)
}

// edgesOfLink are the edges between two nodes.
type edgesOfLink struct {
	codes           []uint32
	weights, values []float64 // without and with factors of kinds and times
}

// addKinds fills in the weights of the links of explanations, by kind. Cost: a sweep.
func (p *Prediction) addKinds(ctx context.Context, list []Reasons) error {
	s := p.g.Store
	if s == nil || !p.g.Weighted && !s.Manifest.HasCodes() {
		return nil
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
	stored := sparse.Matrix(s.Store)
	weigh := func(weight float64, _ uint32) float64 { return weight }
	if s.Manifest.HasCodes() {
		stored, _ = shard.ApplyCodebook(s.Store, &shard.Codebook{})
		weigh = p.Factors.Book.Weigher(s.Manifest)
	}
	err := shard.EachCodedRow(ctx, stored, func(row int, col []uint32, val []float64, codes []uint32) error {
		for entry := 0; rows[row] && entry < len(col); entry++ {
			c := int(col[entry])
			ends := []*edgesOfLink{links[[2]int{row, c}]}
			if p.g.Directed && row != c {
				ends = append(ends, links[[2]int{c, row}])
			}
			code := uint32(0)
			if codes != nil {
				code = codes[entry]
			}
			for _, link := range ends {
				if link != nil {
					link.codes = append(link.codes, code)
					link.weights = append(link.weights, val[entry])
					link.values = append(link.values, weigh(val[entry], code))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range list {
		for k := range list[i].Links {
			l := &list[i].Links[k]
			l.Kinds = links[l.Rows].kinds(s.Manifest)
		}
	}
	return nil
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
		list[k].Share /= cmp.Or(total, 1)
	}
	slices.SortStableFunc(list,
		func(a, b explain.LinkKind) int { return cmp.Compare(b.Share, a.Share) })
	return list
}
