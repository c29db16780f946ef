package auto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// withWords returns words that depend on the classes, missing for some nodes.
func withWords(class []int, classes int) *sparse.Table {
	const words = 80
	rng, table := rand.New(rand.NewPCG(7, 8)), &sparse.Table{Rows: len(class), Cols: words}
	for v, c := range class {
		row := make([]float32, words)
		for range 6 {
			row[rng.IntN(words/classes)*classes+c] = 1
			row[rng.IntN(words)] = 1
		}
		if v%7 > 0 {
			table.Set(v, row)
		}
	}
	return table
}

// partOf returns the problem on the part g of its graph, with the block rows that local returns.
func partOf(p *problem.Problem, g *graph.Graph, local func(row int) int) *problem.Problem {
	q := *p
	q.Graph, q.Row = g, nil
	for _, row := range p.Row {
		q.Row = append(q.Row, local(row))
	}
	team := g.Team()
	if team == nil || p.Attributes == nil {
		return &q
	}
	q.Attributes = &sparse.Table{Rows: len(g.Degrees), Cols: p.Attributes.Cols}
	for v := range g.Degrees {
		if team.IsPadding(v) {
			continue
		}
		if columns, values := p.Attributes.Reader().Row(team.Row(v)); values != nil {
			row := make([]float32, p.Attributes.Cols)
			copy(row, values)
			if columns != nil {
				clear(row)
				for i, c := range columns {
					row[c] = values[i]
				}
			}
			q.Attributes.Set(v, row)
		}
	}
	return &q
}

// compareProcesses compares numbers of nodes in several processes with the numbers in one process.
func compareProcesses(t *testing.T, p *problem.Problem, numbers func(q *problem.Problem) (*sparse.Block[float64], error)) {
	t.Helper()
	whole, err := graph.New(t.Context(), p.A, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := numbers(partOf(p, whole, func(row int) int { return row }))
	if err != nil {
		t.Fatal(err)
	}
	got := contract.OnProcesses(t, 2, whole, p.Row, func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		return numbers(partOf(p, g, local))
	})
	for v := range want.Rows {
		for j, x := range want.Row(v) {
			if !(math.Abs(got.Row(v)[j]-x) < 1e-4) {
				t.Fatalf("node %d has %v, want %v", v, got.Row(v), want.Row(v))
			}
		}
	}
}

func TestPredictOnSeveralProcesses(t *testing.T) {
	p, class := contract.Blocks(t, 3, 300, 60, 2, 6, 1)
	p.Attributes = withWords(class, 2)
	compareProcesses(t, p, func(q *problem.Problem) (*sparse.Block[float64], error) {
		got, err := predict(t.Context(), q, &settings{Settings: engine.Settings{Workers: q.Workers}})
		if err != nil {
			return nil, err
		}
		if e := got.Estimate; e.Reached+e.Unreached != len(p.Degrees)-len(p.Row) {
			return nil, fmt.Errorf("%d nodes are reached, %d are not", e.Reached, e.Unreached)
		}
		k := len(p.Names)
		out := sparse.NewBlock[float64](len(q.Degrees), k+1)
		for v := range out.Rows {
			simd.ConvertTo(out.Row(v)[:k], got.Scores.Row(v))
			out.Row(v)[k] = got.Accuracy
		}
		return out, nil
	})
}

// Quantiles are estimated from some of the nodes.
func TestRanksOnSeveralProcesses(t *testing.T) {
	p, class := contract.Blocks(t, 3, 3*rankSample, 100, 2, 6, 1)
	p.Attributes, _ = tableOf(rand.New(rand.NewPCG(9, 10)), len(class), 0, 3)
	compareProcesses(t, p, func(q *problem.Problem) (*sparse.Block[float64], error) {
		a := newAttributeTable(q.Team(), q.Attributes)
		out, row := sparse.NewBlock[float64](a.Rows, a.Cols), make([]float32, a.Cols)
		for v := range out.Rows {
			readerOf(a).rowTo(row, v, 0, a.Cols)
			simd.ConvertTo(out.Row(v), row)
		}
		return out, nil
	})
}
