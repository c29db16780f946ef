package propagation

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func scoresOf(t *testing.T, l *Propagation) (*sparse.Block[float32], int, error) {
	t.Helper()
	var found, work graph.Work
	reached, err := l.P.Reachable(t.Context(), l.P.Row, 1, &found)
	if err != nil {
		t.Fatal(err)
	}
	scores := sparse.NewBlock[float32](len(l.P.Degrees), len(l.P.Names))
	err = l.ScoresTo(t.Context(), scores, reached, &work)
	return scores, work.Sweeps, err
}

func TestPropagation(t *testing.T) {
	ctx := context.Background()
	for _, directed := range []bool{false, true} {
		p := contract.Planted(t, 4, 600, 60)
		p.Directed = directed
		w := walk[float64](&Propagation{P: p, Alpha: 1}, mostSteps)
		want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		err := w.Run(ctx, 0, len(p.Names), func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
			for i := rows.Lo; t == mostSteps && i < rows.Hi; i++ {
				copy(want.Row(i), x.Row(i))
			}
		}, nil)

		if err != nil {
			t.Fatal(err)
		}
		var first []float32
		for _, workers := range []int{1, 2, 7} {
			for _, cols := range []int{len(p.Names), 2, 1} {
				l := &Propagation{P: p, Alpha: 1, Workers: workers}
				space := l.Workspace()
				space.Columns = cols
				l.Memory = space.Required(0) + space.Reserved
				width := l.Workspace().Width(l.Memory)
				got, sweeps, err := scoresOf(t, l)
				if err != nil {
					t.Fatal(err)
				}
				passes := (len(p.Names) + width - 1) / width
				if sweeps > passes*mostSteps/2 {
					t.Errorf("%d classes at a time take %d sweeps", cols, sweeps)
				}
				if first == nil {
					first = slices.Clone(got.Data)
				}
				if !slices.Equal(first, got.Data) {
					t.Errorf("directed %t, %d workers, %d classes at a time: other bits", directed, workers, cols)
				}
				for i := range got.Rows {
					if !l.reached.Contains(uint32(i)) {
						continue
					}
					for j, v := range got.Row(i) {
						if math.Abs(float64(v)-want.Row(i)[j]) > 2e-6 {
							t.Fatalf("directed %t: [%d,%d] is %v, want %v", directed, i, j, v, want.Row(i)[j])
						}
					}
				}
			}
		}
	}
}

// Required memory suffices for an error that says how much a factor lacks; Enough gives none.
func TestPropagationOnPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const n = 5000
	solve := func(l *Propagation) error {
		scores, _, err := scoresOf(t, l)
		if err != nil {
			return err
		}
		last := l.P.Row[1]
		for i := range last {
			if want := float64(i) / float64(last); math.Abs(float64(scores.Row(i)[1])-want) > 1e-6 {
				t.Fatalf("node %d has %v, want %v", i, scores.Row(i)[1], want)
			}
		}
		return nil
	}
	// The factor of a forest is part of the required memory. The elimination of another graph is optional memory.
	l := &Propagation{P: contract.Path(t, n, false), Alpha: 1}
	l.Memory = l.Workspace().Required(1)
	if err := solve(l); err != nil {
		t.Fatal(err)
	}
	l = &Propagation{P: pathWithTriangle(t, n), Alpha: 1}
	l.Memory = l.Workspace().Required(1)
	over := new(budget.Error)
	if err := solve(l); !errors.As(err, &over) {
		t.Fatalf("within the required memory: %v", err)
	}
	l.Memory = l.Workspace().Enough()
	if err := solve(l); err != nil {
		t.Fatal(err)
	}
}

// pathWithTriangle returns a path of n nodes whose last three nodes are a triangle, with labels at both ends of the path.
func pathWithTriangle(t *testing.T, n int) *problem.Problem {
	t.Helper()
	var entries []sparse.Triplet
	edge := func(i, j int) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	for i := range n - 1 {
		edge(i, i+1)
	}
	edge(n-3, n-1)
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Row: []int{0, n - 3}, Class: []int{0, 1},
		Names: []string{"a", "b"}}
}

// Weights span twelve decades. More isolated nodes make the same graph walk in place of eliminate.
func TestDirectedLimit(t *testing.T) {
	refused, agreed := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const small, large = 20, iterative.ExactFirst + 1
		decades := float64(seed % 4 * 4)
		var arcs []sparse.Triplet
		weights := map[[2]uint32]float64{}
		for range 50 {
			weights[[2]uint32{uint32(rng.IntN(small)), uint32(rng.IntN(small))}] = math.Pow(10, decades*(rng.Float64()-0.5))
		}
		for ends, w := range weights {
			arcs = append(arcs, sparse.Triplet{Row: ends[0], Col: ends[1], Val: w})
		}
		alpha := []float64{1, 1, 0.3}[seed%3]
		limit := func(n int) (*sparse.Block[float32], error) {
			a, err := sparse.FromTriplets(n, n, arcs)
			if err != nil {
				t.Fatal(err)
			}
			p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Directed: true, Row: []int{1, 5, 9}, Class: []int{0, 1, 2}, Names: []string{"a", "b", "c"}}
			scores, _, err := scoresOf(t, &Propagation{P: p, Alpha: alpha})
			return scores, err
		}
		want, err := limit(small)
		if err != nil {
			t.Fatal(err)
		}
		got, err := limit(large)
		if errors.As(err, new(*problem.Error)) {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		agreed++
		for i := range small {
			for c, v := range got.Row(i) {
				if off := math.Abs(float64(v - want.Row(i)[c])); off > 2e-6 {
					t.Errorf("seed %d: node %d, class %d: %v by walks, %v by elimination", seed, i, c, v, want.Row(i)[c])
				}
			}
		}
	}
	if refused == 0 || agreed < 20 {
		t.Errorf("%d limits are refused, %d agree", refused, agreed)
	}
	// An arc of 10¹² there and back, and two light arcs to labels of y.
	a, err := sparse.FromTriplets(5, 5, []sparse.Triplet{{Row: 0, Col: 1, Val: 1e12}, {Row: 0, Col: 2, Val: 1}, {Row: 0, Col: 3, Val: 1}, {Row: 1, Col: 0, Val: 1e12}})
	if err != nil {
		t.Fatal(err)
	}
	p := &problem.Problem{Graph: &graph.Graph{A: a, Degrees: testgraph.Degrees(t, a)}, Directed: true, Row: []int{2, 3, 4}, Class: []int{1, 1, 0}, Names: []string{"x", "y"}}
	scores, _, err := scoresOf(t, &Propagation{P: p, Alpha: 1})
	if err != nil || scores.Row(0)[1] != 1 {
		t.Errorf("the node behind the heavy arcs is %v, %v, want y", scores.Row(0), err)
	}
}
