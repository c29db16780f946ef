package iterative

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Weights span twelve decades; half of the kept rows have values.
func TestReduction(t *testing.T) {
	lattice := grid(50)
	n, _ := lattice.Dims()
	r := rand.New(rand.NewPCG(1, 0))
	a, err := sparse.MapValues(ctx, lattice, func(i, j int, _ float64) float64 {
		return math.Exp(27 * rand.New(rand.NewPCG(uint64(min(i, j)), uint64(max(i, j)))).Float64())
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := r.Perm(n)[:60]
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = r.Float64()
	}
	reduced, err := Reduce(ctx, a, kept, mass, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := len(kept) / 2
	got := sparse.NewBlock[float64](len(kept), 2)
	want := sparse.NewBlock[float64](n, 2)
	var free []int
	for i, row := range kept {
		if i >= known {
			free = append(free, i)
			continue
		}
		for c := range 2 {
			got.Row(i)[c] = r.Float64()
		}
		copy(want.Row(row), got.Row(i))
	}
	if err := reduced.HarmonicTo(ctx, got, free); err != nil {
		t.Fatal(err)
	}
	h, err := Harmonic(ctx, graphOf(t, a), kept[:known])
	if err == nil {
		_, err = h.SolveTo(ctx, want, nil, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	whole := sparse.NewBlock[float64](n, 2)
	for i, row := range kept {
		copy(whole.Row(row), got.Row(i))
	}
	reduced.ExtendTo(whole)
	for i := range n {
		for c, v := range whole.Row(i) {
			if math.Abs(v-want.Row(i)[c]) > 1e-9 {
				t.Fatalf("row %d, extended: %v, want %v", i, v, want.Row(i)[c])
			}
		}
	}
	var sums, all [2]float64
	for i, row := range kept {
		for c, v := range got.Row(i) {
			sums[c] += reduced.Mass[i] * v
			if math.Abs(v-want.Row(row)[c]) > 1e-9 {
				t.Errorf("row %d: %v, want %v", row, v, want.Row(row)[c])
			}
		}
	}
	for i, m := range mass {
		for c, v := range want.Row(i) {
			all[c] += m * v
		}
	}
	for c := range sums {
		if math.Abs(sums[c]-all[c]) > 1e-9*all[c] {
			t.Errorf("column %d: the kept rows sum to %v, all to %v", c, sums[c], all[c])
		}
	}
}

func TestReductionRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		a    *sparse.CSR
		kept []int
	}{
		"a random graph": {testgraph.Random(1, 6000, 18000, false), []int{0, 1}},
		"a row twice":    {grid(50), []int{5, 5}},
	} {
		n, _ := c.a.Dims()
		if _, err := Reduce(ctx, c.a, c.kept, make([]float64, n), 0); !errors.Is(err, ErrFill) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
