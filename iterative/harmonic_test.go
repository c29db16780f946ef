package iterative

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Where Jacobi would take thousands of steps harmonic functions come from the factor,
// exact and with the same bits for any number of workers; without room for it the
// error says so.
func TestHarmonicSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const side = 100
	a := grid(side)
	n, _ := a.Dims()
	tail := side * side // hangs on the grid's last node; its end is clamped
	clamped := []int{0, side - 1, n - 1}
	strict := false
	of := func(memory int64, workers int) (*sparse.Block[float64], *Result, error) {
		g := graphOf(t, a)
		g.Memory, g.Workers = memory, workers
		h, err := Harmonic(ctx, g, clamped)
		if err != nil {
			t.Fatal(err)
		}
		h.Strict = strict
		f := sparse.NewBlock[float64](n, 2)
		for i, l := range clamped {
			f.Row(l)[min(i, 1)] = 1
		}
		res, err := h.SolveTo(ctx, f, nil, &Settings{MaxIterations: 1000})
		return f, res, err
	}
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		f, res, err := of(0, workers)
		if err != nil || !res.CompleteCholesky {
			t.Fatalf("%d workers: %v, with a factor: %t", workers, err, res.CompleteCholesky)
		}
		if first == nil {
			first = slices.Clone(f.Data)
		}
		if !slices.Equal(first, f.Data) {
			t.Errorf("%d workers: other bits", workers)
		}
		for i := range n {
			if sum := f.Row(i)[0] + f.Row(i)[1]; math.Abs(sum-1) > 1e-6 {
				t.Fatalf("row %d sums to %v", i, sum)
			}
		}
		// Along the tail a harmonic function is linear.
		from, to := f.Row(tail - 1)[0], f.Row(n - 1)[0]
		for i := tail; i < n; i++ {
			want := from + (to-from)*float64(i-tail+1)/float64(n-tail)
			if got := f.Row(i)[0]; math.Abs(got-want) > 1e-6 {
				t.Fatalf("row %d of the tail is %v, want %v", i, got, want)
			}
		}
	}
	if _, res, err := of(1, 1); !errors.Is(err, ErrIterationLimit) || !res.Refused {
		t.Errorf("without room for a factor: %v, refused: %t", err, res.Refused)
	}
	strict = true
	if _, _, err := of(1, 1); !errors.Is(err, ErrMemory) {
		t.Errorf("strictly without room for a factor: %v", err)
	}
	unlimited, res, err := of(0, 1)
	if err != nil || !res.SampledCholesky {
		t.Fatalf("strictly: %v, with a sampled factor: %t", err, res.SampledCholesky)
	}
	if f, _, err := of(choleskyBytes(n, a.NNZ()), 2); err != nil || !slices.Equal(unlimited.Data, f.Data) {
		t.Errorf("strictly, with room for the sampled factor: other bits, %v", err)
	}
}

// A strict solve that wants no factor has the same bits without room for one.
func TestHarmonicStrictEasy(t *testing.T) {
	const n = 40
	a := testgraph.Random(1, n, 200, false)
	of := func(memory int64) *sparse.Block[float64] {
		g := graphOf(t, a)
		g.Memory = memory
		h, err := Harmonic(ctx, g, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		h.Strict = true
		f := sparse.NewBlock[float64](n, 1)
		f.Row(1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if !slices.Equal(of(0).Data, of(1).Data) {
		t.Error("other bits without room for a factor")
	}
}

// TestRestricted compares a matrix without some rows and columns with one that is made of the other
// entries.
func TestRestricted(t *testing.T) {
	a, err := sparse.FromTriplets(4, 4, []sparse.Triplet{
		{Row: 0, Col: 0, Val: 7}, {Row: 0, Col: 1, Val: 2}, {Row: 1, Col: 0, Val: 2}, {Row: 0, Col: 3, Val: 3},
		{Row: 3, Col: 0, Val: 3}, {Row: 1, Col: 2, Val: 5}, {Row: 2, Col: 1, Val: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	free, err := freePart(ctx, a, []float64{1, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := sparse.Degrees(ctx, free, 1)
	if want := []float64{10, 0, 0, 3}; err != nil || !slices.Equal(got, want) {
		t.Errorf("degrees %v, %v; want %v", got, err, want)
	}
}

// A loop of any weight is no part of a harmonic function: on a path with clamped ends
// it is the straight line between their values, whatever loops its nodes have.
func TestHarmonicLoops(t *testing.T) {
	const n = 9
	for _, heavy := range []float64{1, 1e6, 1e12, 1e18} {
		var e []sparse.Triplet
		for i := range n - 1 {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i + 1), Val: 0.1}, sparse.Triplet{Row: uint32(i + 1), Col: uint32(i), Val: 0.1})
		}
		for _, i := range []int{0, 1, 4, 7} {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i), Val: heavy})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Harmonic(ctx, graphOf(t, a), []int{0, n - 1})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](n, 1)
		f.Row(n - 1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, &Settings{Tolerance: 1e-12}); err != nil {
			t.Errorf("loops of %g: %v", heavy, err)
			continue
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(f.Row(i)[0]-want) > 1e-10 {
				t.Errorf("loops of %g: row %d is %.12g, want %.12g", heavy, i, f.Row(i)[0], want)
			}
		}
	}
}

// The unit of weights makes no difference to a harmonic function: on a path it is the
// straight line between the values of its ends.
func TestHarmonicUnit(t *testing.T) {
	const n = 30
	for _, weight := range []float64{1e-90, 1e-30, 1e-12, 1, 1e12, 1e30, 1e90} {
		var e []sparse.Triplet
		for i := range n - 1 {
			e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(i + 1), Val: weight}, sparse.Triplet{Row: uint32(i + 1), Col: uint32(i), Val: weight})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Harmonic(ctx, graphOf(t, a), []int{0, n - 1})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](n, 1)
		f.Row(n - 1)[0] = 1
		if _, err := h.SolveTo(ctx, f, nil, nil); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := float64(i) / (n - 1); math.Abs(f.Row(i)[0]-want) > 1e-6 {
				t.Errorf("weight %g: row %d is %.12g, want %.12g", weight, i, f.Row(i)[0], want)
			}
		}
	}
}
