package iterative_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
)

// scattered has three components of nodes i with the same i mod 4, pairs among the other nodes, and nodes without edges. A
// loop at node 1 has a weight of 50, the other weights are between least and 1.
func scattered(t *testing.T, n int, least float64) *graph.Graph {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	var entries []sparse.Triplet
	seen := map[[2]int]bool{}
	join := func(i, j int, w float64) {
		if i == j || seen[[2]int{min(i, j), max(i, j)}] {
			return
		}
		seen[[2]int{min(i, j), max(i, j)}] = true
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := range n {
		if i%4 == 3 {
			if i%16 == 3 && i+4 < n {
				join(i, i+4, 1)
			}
			continue
		}
		for range 3 {
			if j := 4*rng.IntN(n/4) + i%4; j < n {
				join(i, j, math.Pow(least, rng.Float64()))
			}
		}
		if i >= 4 {
			join(i-4, i, 1)
		}
	}
	entries = append(entries, sparse.Triplet{Row: 1, Col: 1, Val: 50})
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return contract.GraphOf(t, a, 2)
}

func TestSystemsOnSeveralProcesses(t *testing.T) {
	const n, cols = 1500, 3
	named := []int{0, 2, 600, 601, 1499}
	system := func(make func(g *graph.Graph) (*iterative.System, error)) func(*graph.Graph, func(int) int) (*iterative.System, error) {
		return func(g *graph.Graph, _ func(int) int) (*iterative.System, error) { return make(g) }
	}
	harmonic := func(g *graph.Graph, local func(int) int) (*iterative.System, error) {
		clamped := []int{local(0), local(2), local(600)} // rows of two components
		return iterative.Harmonic(t.Context(), g, clamped)
	}
	for _, c := range []struct {
		name     string
		least    float64 // weight
		system   func(g *graph.Graph, local func(int) int) (*iterative.System, error)
		harmonic bool
	}{
		{"L + I", 0.1, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.ShiftedLaplacian(g, false, 2, 1) }), false},
		{"L̃ + I/2", 0.1, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.ShiftedLaplacian(g, true, 1, 0.5) }), false},
		{"L⁺", 0.1, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.ShiftedLaplacian(g, false, 1, 0) }), false},
		{"L̃⁺", 0.1, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.ShiftedLaplacian(g, true, 1, 0) }), false},
		{"D − αA", 1e-6, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.VonNeumann(g, false, 0.9) }), false},
		{"I − αS", 0.1, system(func(g *graph.Graph) (*iterative.System, error) { return iterative.VonNeumann(g, true, 0.9) }), false},
		{"I − αA", 0.1, system(func(g *graph.Graph) (*iterative.System, error) {
			ones := make([]float64, len(g.Degrees))
			for i := range ones {
				ones[i] = 1
			}
			return iterative.VonNeumannAdjacency(t.Context(), g, 0.01, ones, 0)
		}), false},
		{"harmonic", 0.1, harmonic, true},
	} {
		whole := scattered(t, n, c.least)
		b := sparse.NewBlock[float64](n, cols)
		rng := rand.New(rand.NewPCG(3, cols))
		for i := range n {
			for j := range cols {
				b.Row(i)[j] = rng.NormFloat64()
			}
		}
		var want *iterative.Result
		solve := func(g *graph.Graph, b *sparse.Block[float64], local func(int) int) (*sparse.Block[float64], *iterative.Result, error) {
			s, err := c.system(g, local)
			if err != nil {
				return nil, nil, err
			}
			x := sparse.NewBlock[float64](b.Rows, cols)
			settings := &iterative.Settings{Tolerance: 1e-12}
			if c.harmonic {
				for j, row := range []int{0, 2, 600} {
					x.Row(local(row))[j] = 1
				}
				r, err := s.SolveTo(t.Context(), x, nil, settings)
				return x, r, err
			}
			r, err := s.SolveTo(t.Context(), x, b, settings)
			if errors.Is(err, iterative.ErrStagnation) {
				err = nil
			}
			return x, r, err
		}
		exact, want, err := solve(whole, b, func(row int) int { return row })
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, size := range []int{2, 3} {
			var result *iterative.Result
			got := contract.OnProcesses(t, size, whole, named, func(g *graph.Graph, local func(int) int) (*sparse.Block[float64], error) {
				part, team := sparse.NewBlock[float64](len(g.Degrees), cols), sparse.TeamOf(g.A)
				for i := range part.Rows {
					if !team.IsPadding(i) {
						copy(part.Row(i), b.Row(int(g.A.(*sparse.Divided).Team().Rows[i])))
					}
				}
				x, r, err := solve(g, part, local)
				if team.Rank() == 0 {
					result = r
				}
				return x, err
			})
			size, off := make([]float64, cols), make([]float64, cols)
			for i := range n {
				for j, v := range exact.Row(i) {
					size[j] += v * v
					off[j] += (got.Row(i)[j] - v) * (got.Row(i)[j] - v)
				}
			}
			for j := range cols {
				if !(math.Sqrt(off[j]) <= 1e-9*math.Sqrt(size[j])) {
					t.Errorf("%s: column %d is off by %g of %g", c.name, j, math.Sqrt(off[j]), math.Sqrt(size[j]))
				}
				if bound := result.ErrorBound; bound != nil && math.Sqrt(off[j]) > bound[j]+want.ErrorBound[j] {
					t.Errorf("%s: column %d is off by %g, bound %g", c.name, j, math.Sqrt(off[j]), bound[j])
				}
			}
		}
	}
}

func TestFactorsNeedOneProcess(t *testing.T) {
	whole := scattered(t, 300, 0.5)
	contract.OnProcesses(t, 2, whole, nil, func(g *graph.Graph, _ func(int) int) (*sparse.Block[float64], error) {
		s, err := iterative.ShiftedLaplacian(g, false, 1, 1)
		if err != nil {
			return nil, err
		}
		x, b := sparse.NewBlock[float64](len(g.Degrees), 1), sparse.NewBlock[float64](len(g.Degrees), 1)
		if _, err := s.EliminateTo(context.Background(), x, b); !errors.Is(err, sparse.ErrDivided) || !errors.Is(err, iterative.ErrFill) {
			t.Errorf("elimination: %v", err)
		}
		if _, factored, err := s.Preconditioner(context.Background()); factored || err != nil {
			t.Errorf("preconditioner: factored %v, %v", factored, err)
		}
		return x, nil
	})
}
