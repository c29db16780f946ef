package propagation

import (
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestPropagationOnSeveralProcesses(t *testing.T) {
	p := contract.Planted(t, 4, 400, 40)
	whole, err := graph.New(t.Context(), p.A, nil)
	if err != nil {
		t.Fatal(err)
	}
	folds := make([]int, len(p.Row))
	for i := range folds {
		folds[i] = i % 2
	}
	for _, l := range []Propagation{{Alpha: 1}, {Alpha: 1, Center: true, Rough: true}, {Alpha: 0.5}, {Alpha: 1, Steps: 20}} {
		// the scores of nodes, then of labels without their folds
		compute := func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
			q, k := *p, len(p.Names)
			q.Graph, q.Row = g, nil
			for _, row := range p.Row {
				q.Row = append(q.Row, local(row))
			}
			l := l
			l.P, l.Workers = &q, g.Workers
			var work graph.Work
			scores := sparse.NewBlock[float32](len(g.Degrees), k)
			if err := l.ScoresTo(t.Context(), scores, g.Components.Reachable(q.Row), &work); err != nil {
				return nil, err
			}
			answers, err := l.OutOfFold(t.Context(), &choose.Task{Problem: p, Fold: folds})
			if err != nil {
				return nil, err
			}
			out := sparse.NewBlock[float64](len(g.Degrees), 2*k)
			for i := range out.Rows {
				for c, v := range scores.Row(i) {
					out.Row(i)[c] = float64(v)
				}
			}
			for i, row := range q.Row {
				for c, v := range answers.Scores[i] {
					out.Row(row)[k+c] = float64(v)
				}
			}
			return out, nil
		}
		want, err := compute(whole, func(row int) int { return row })
		if err != nil {
			t.Fatal(err)
		}
		tolerance := 1e-6
		if l.Rough {
			tolerance = 100 * roughTolerance
		}
		got := contract.OnProcesses(t, 2, whole, slices.Clone(p.Row), compute)
		for i := range want.Rows {
			for j, v := range want.Row(i) {
				if !(math.Abs(got.Row(i)[j]-v) <= tolerance) {
					t.Fatalf("%+v: row %d is %v, want %v", l, i, got.Row(i), want.Row(i))
				}
			}
		}
	}
}
