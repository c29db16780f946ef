package method

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/method/internal/problemtest"
	"github.com/heatwalk/heatwalk/sparse"
)

// spread puts each node of a problem between isolated nodes, with a node behind them that has an
// entry of value 0 alone, and a labelled one without an edge.
func spread(t *testing.T, p *Problem, apart int) *Problem {
	t.Helper()
	n := len(p.Degrees)
	whole := apart*n + 2
	var entries []sparse.Triplet
	err := p.A.Sweep(t.Context(), 1, func(_ int, panel sparse.Panel) error {
		for i := range panel.Hi - panel.Lo {
			columns, _ := panel.Row(i)
			for _, c := range columns {
				entries = append(entries, sparse.Triplet{Row: uint32(apart * (panel.Lo + i)), Col: uint32(apart) * c, Val: 1})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	zero := uint32(whole - 1)
	entries = append(entries, sparse.Triplet{Row: zero, Col: 0}, sparse.Triplet{Row: 0, Col: zero})
	a, err := sparse.FromTriplets(whole, whole, entries)
	if err != nil {
		t.Fatal(err)
	}
	q := &Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Names: p.Names, Directed: p.Directed}
	for i, row := range p.Row {
		q.Row, q.Class = append(q.Row, apart*row), append(q.Class, p.Class[i])
	}
	q.Row, q.Class = append(q.Row, whole-2), append(q.Class, 0)
	return q
}

// Without isolated nodes predictions are those of the whole graph, and nodes that cannot be
// reached are counted and have no part in the accuracy.
func TestConnectedPredictsTheWholeGraph(t *testing.T) {
	for _, name := range []string{"auto", "lp", "cwk", "diffusion+rls", "lgc", "wvrn", "majority", "spectral+logistic"} {
		p, _ := problemtest.Blocks(t, 3, 120, 40, 3, 6, 0.5)
		whole := spread(t, p, 5)
		m, set := methodOf(t, name), &Settings{RNGSeed: 2}
		want, err := m.Predict(t.Context(), whole, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		small, extend, err := WithoutIsolated(t.Context(), whole, set)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(small.Degrees); n > 124 {
			t.Fatalf("%d nodes are left", n)
		}
		got, err := m.Predict(t.Context(), small, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		extend(got)
		if !got.Reached.Equals(want.Reached) {
			t.Errorf("%s: %d nodes reached, want %d", name, got.Reached.GetCardinality(), want.Reached.GetCardinality())
		}
		differ := 0
		for v := range want.Class {
			if got.Class[v] != want.Class[v] {
				differ++
			}
			for c, x := range want.Scores.Row(v) {
				if math.Abs(float64(x-got.Scores.Row(v)[c])) > 2e-3 {
					t.Fatalf("%s: node %d has score %v of class %d, want %v", name, v, got.Scores.Row(v)[c], c, x)
				}
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d nodes have another class", name, differ)
		}
		if e := got.Estimate; e.Tested > 0 && (e.Reached+e.Unreached+len(whole.Row) != len(whole.Degrees) || e.Unreached != want.Unreached) {
			t.Errorf("%s: %d nodes reached, %d not, of %d; want %d not", name, e.Reached, e.Unreached, len(whole.Degrees), want.Unreached)
		}
	}
}

// Arcs keep their directions, a node that arcs lead to alone stays, and few isolated nodes, a
// prior of each node, or attributes leave the problem as it is.
func TestConnectedKeepsWhatCounts(t *testing.T) {
	path := problemtest.Path(t, 40, true)
	whole := spread(t, path, 4)
	small, _, err := WithoutIsolated(t.Context(), whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(small.Degrees); n != 43 || small.A.NNZ() != whole.A.NNZ() {
		t.Errorf("%d nodes and %d entries are left, want 43 and %d", n, small.A.NNZ(), whole.A.NNZ())
	}
	given := &Settings{}
	given.Prior.Given = sparse.NewBlock[float64](len(whole.Degrees), 2)
	attributed := *whole
	attributed.Attributes = new(sparse.Table)
	for what, of := range map[string]struct {
		p *Problem
		s *Settings
	}{"few isolated nodes": {path, nil}, "a prior of each node": {whole, given}, "attributes": {&attributed, nil}} {
		if got, _, err := WithoutIsolated(t.Context(), of.p, of.s); err != nil || got != of.p {
			t.Errorf("%s: another problem, %v", what, err)
		}
	}
}
