package propagate

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// wvrn is the weighted-vote relational neighbour with relaxation labelling. Labelled nodes keep their class; other nodes start
// with the class shares among the labels. In round t = 0, 1, … all their distributions change at once:
//
//	P ← β_t·T·P + (1 − β_t)·P,  T = D⁻¹A,  β_t = decay^t
//
// A node without edges keeps its distribution. Source: Macskassy and Provost 2007, sections 3.5.1 and 4.2, with their 99
// rounds and decay 0.99. Cost: a sweep for each round.
var wvrn = Learner{
	Spec: param.Spec{
		Name: "wvrn", Title: "P ← βTP + (1 − β)P, weighted votes of neighbours with relaxation labelling", Works: param.Undirected,
		Source: "Macskassy and Provost, Classification in networked data, JMLR 8, 2007, sections 3.5.1 and 4.2",
		Params: []param.Param{
			{Name: "rounds", Symbol: "rounds", Meaning: "rounds of relaxation",
				Kind: param.Whole, Range: param.Range{Least: 0, Most: 1e6},
				Default: param.Of(99)},
			{Name: "decay", Symbol: "decay", Meaning: "factor of the weight of votes from round to round",
				Range:   param.Range{Least: 0, Most: 1, AboveLeast: true},
				Default: param.Of(0.99)},
		},
	},
	Gain: func(param.Values) float64 { return 1 }, // when the labels have relaxed
	Spread: func(ctx context.Context, p *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v param.Values, _ float64) (columns int, err error) {
		shares := make([]float64, s.Classes)
		for _, c := range s.Class {
			if c >= 0 {
				shares[c] += 1 / float64(len(s.Class))
			}
		}
		team := sparse.TeamOf(g.A)
		for i := range p.Rows {
			if !team.IsPadding(i) {
				copy(p.Row(i), shares)
			}
		}
		Clamp(p, s)
		t := Transition(g)
		next := sparse.NewBlock[float64](p.Rows, p.Cols)
		weight := 1.0
		for range v.Int("rounds") {
			if err := t.StepTo(ctx, next, p,
				sparse.Step[float64]{Alpha: weight, Beta: 1 - weight}); err != nil {
				return columns, err
			}
			Clamp(next, s)
			blocks.Copy(p, next)
			columns += p.Cols
			weight *= v.Number("decay")
		}
		return columns, nil
	},
	Workspace: func(n, classes int, _ param.Values) budget.Workspace {
		return budget.Held(budget.Block[float64](n, classes), 2*8*int64(n)) // next round, and factors of rows
	},
}

// Transition returns T = D⁻¹A.
func Transition(g *graph.Graph) *sparse.Operator[float64] {
	t := sparse.NewOperator[float64](sparse.Transition, g.A, g.Degrees)
	t.Workers = g.Workers
	return t
}

// Clamp sets the distribution of every labelled node to its class.
func Clamp(p *sparse.Block[float64], s cwk.Seeds) {
	for i, row := range s.Row {
		clear(p.Row(row))
		if c := s.Class[i]; c >= 0 {
			p.Row(row)[c] = 1
		}
	}
}
