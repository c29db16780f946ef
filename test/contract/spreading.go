package contract

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// Scores returns the scores of a learner, with defaults for parameters that given does not have.
func Scores(t *testing.T, l *propagate.Learner, g *graph.Graph, groups []cwk.Seeds, given param.Values, s *propagate.Settings) *sparse.Block[float64] {
	t.Helper()
	v, err := l.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := sparse.NewBlock[float64](len(g.Degrees), len(groups)*groups[0].Classes)
	if _, err := l.ScoresTo(context.Background(), f, g, groups, v, s); err != nil {
		t.Fatal(err)
	}
	return f
}

// Transition returns T = D⁻¹A, with T_ii = 1 for a node without edges.
func Transition(t *testing.T, a sparse.Matrix) *mat.Dense {
	t.Helper()
	n, _ := a.Dims()
	m := mat.NewDense(n, n, nil)
	g := GraphOf(t, a, 1)
	err := sparse.Sweep(t.Context(), a, 1, func(_ int, p sparse.Panel) error {
		for r := range p.Hi - p.Lo {
			cols, weights := p.Row(r)
			for e, c := range cols {
				w := 1.0
				if weights != nil {
					w = weights[e]
				}
				m.Set(p.Lo+r, int(c), m.At(p.Lo+r, int(c))+w/g.Degrees[p.Lo+r])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range g.Degrees {
		if d == 0 {
			m.Set(i, i, 1)
		}
	}
	return m
}

// CheckOnProcesses compares the scores of a learner with the scores of one process. The graph has two components with labels, other components without labels, and nodes without edges.
func CheckOnProcesses(t *testing.T, l *propagate.Learner) {
	t.Helper()
	const n, classes = 400, 3
	rng := rand.New(rand.NewPCG(8, 1))
	var entries []sparse.Triplet
	for i := range n {
		for range 2 {
			if j := i + 4*(1+rng.IntN(20)); i%4 < 2 && j < n || i%16 == 2 && j < i+16 && j < n {
				w := 0.5 + rng.Float64()
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
			}
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	whole := GraphOf(t, a, 1)
	named := []int{0, 1, 3, 100, 200, 201, 204, 388}
	seeds := cwk.Seeds{Row: []int{0, 1, 200, 201, 204, 388}, Class: []int{0, 1, 2, 1, 1, 0}, Classes: classes}
	given := param.Values{}
	if l.Param("rounds") != nil { // not to take long
		given["rounds"] = param.Of(3)
	}
	v, err := l.Resolve(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	// compute returns the scores and the offset of the classes.
	compute := func(g *graph.Graph, local func(row int) int) (*sparse.Block[float64], error) {
		s := seeds
		s.Row = nil
		for _, row := range seeds.Row {
			s.Row = append(s.Row, local(row))
		}
		rows, team := len(g.Degrees), sparse.TeamOf(g.A)
		out := sparse.NewBlock[float64](rows, 2*classes)
		f := out.Columns(0, classes)
		if _, err := l.ScoresTo(t.Context(), f, g, []cwk.Seeds{s}, v, nil); err != nil {
			return nil, err
		}
		offset, _, err := l.Decide(team, f, s, v)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			copy(out.Row(i)[classes:], offset)
		}
		return out, nil
	}
	want, err := compute(whole, func(row int) int { return row })
	if err != nil {
		t.Fatal(err)
	}
	got := OnProcesses(t, 3, whole, named, compute)
	for i := range n {
		for j, x := range want.Row(i) {
			if !(math.Abs(got.Row(i)[j]-x) <= 1e-9*(1+math.Abs(x))) && !math.IsInf(x, -1) {
				t.Fatalf("%s: row %d is %v, want %v", l.Name, i, got.Row(i), want.Row(i))
			}
		}
	}
}
