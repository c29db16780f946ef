package iterative

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
)

// pathOf returns a path with the weights, and nodes without edges behind.
func pathOf(t *testing.T, weights []float64, alone int) *sparse.CSR {
	var list []sparse.Triplet
	for i, w := range weights {
		i := uint32(i)
		list = append(list, sparse.Triplet{Row: i, Col: i + 1, Val: w}, sparse.Triplet{Row: i + 1, Col: i, Val: w})
	}
	n := len(weights) + 1 + alone
	a, err := sparse.FromTriplets(n, n, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A current through a path with conductances over 16 decades makes potentials that are
// sums of resistances, to the last digit, where no eigenvalue is known.
func TestRefinedPotentials(t *testing.T) {
	weights := []float64{3, 1e-9, 7e5, 0.3, 1e-11, 2e3, 1, 1}
	g := graphOf(t, pathOf(t, weights, 2))
	n, last := len(g.Degrees), len(weights)
	s, err := ShiftedLaplacian(g, true, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Plain = true
	const columns = 5 // which two at a time are solved for do not divide
	b, x := sparse.NewBlock[float64](n, columns), sparse.NewBlock[float64](n, columns)
	for j := range columns {
		b.Row(0)[j], b.Row(last)[j] = float64(j+1), -float64(j+1)
	}
	r, err := s.RefineTo(ctx, x, b, 0)
	if err != nil {
		t.Fatal(err)
	}
	for j := range columns {
		want := make([]*big.Float, last+1)
		mean, sum := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
		for i := last; i >= 0; i-- {
			want[i] = new(big.Float).Copy(sum)
			mean.Add(mean, sum)
			if i > 0 {
				resistance := new(big.Float).SetPrec(200).SetInt64(int64(j + 1))
				sum.Add(sum, resistance.Quo(resistance, big.NewFloat(weights[i-1])))
			}
		}
		mean.Quo(mean, big.NewFloat(float64(last+1)))
		var square, norm float64
		for i, v := range want {
			v.Sub(v, mean)
			d, _ := v.Sub(v, big.NewFloat(x.Row(i)[j])).Float64()
			square += d * d
			norm += x.Row(i)[j] * x.Row(i)[j]
		}
		for i := last + 1; i < n; i++ {
			if x.Row(i)[j] != 0 {
				t.Errorf("a node without edges has %g", x.Row(i)[j])
			}
		}
		off, bound := math.Sqrt(square), r.ErrorBound[j]
		if !(off <= bound && bound <= 16*epsilon*math.Sqrt(norm)) {
			t.Errorf("column %d: error %g, bound %g, norm %g", j, off, bound, math.Sqrt(norm))
		}
	}
}

// Refined solutions have the same bits for any number of workers, and whatever columns
// are solved beside them; rows that come in pieces are added up like others.
func TestRefinedWorkersAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n, hub = 1<<14 + 300, 7 // whose row is longer than a range
	var list []sparse.Triplet
	for i := range uint32(n) {
		if i != hub {
			w := math.Pow(10, 4*rng.Float64())
			list = append(list, sparse.Triplet{Row: hub, Col: i, Val: w}, sparse.Triplet{Row: i, Col: hub, Val: w})
		}
	}
	a, err := sparse.FromTriplets(n, n, list)
	if err != nil {
		t.Fatal(err)
	}
	b := sparse.NewBlock[float64](n, 2)
	b.Row(0)[0], b.Row(hub)[1] = 1, 1
	var first *sparse.Block[float64]
	for _, workers := range []int{1, 2, 7} {
		g := graphOf(t, a)
		g.Workers = workers
		s, err := ShiftedLaplacian(g, true, 1e9, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := sparse.NewBlock[float64](n, 2)
		r, err := s.RefineTo(ctx, x, b, 0)
		if err != nil {
			t.Fatal(err)
		}
		for j, bound := range r.ErrorBound {
			if !(bound < 1e-14) {
				t.Errorf("column %d: bound %g", j, bound)
			}
		}
		// The mean of all, weighted by degrees, is kept by I + αL̃.
		for j, at := range []int{0, hub} {
			var sum float64
			for i, d := range g.Degrees {
				sum += math.Sqrt(d) * x.Row(i)[j]
			}
			if want := math.Sqrt(g.Degrees[at]); math.Abs(sum-want) > 1e-9*want {
				t.Errorf("column %d: %g, want %g", j, sum, want)
			}
		}
		if first == nil {
			first = x
			continue
		}
		for i, v := range first.Data {
			if v != x.Data[i] {
				t.Fatalf("%d workers: element %d is %g, not %g", workers, i, x.Data[i], v)
			}
		}
	}
}

// Systems whose matrix is itself rounded have no refinement.
func TestNoRefinement(t *testing.T) {
	g := graphOf(t, pathOf(t, []float64{1, 2}, 0))
	s, err := VonNeumannAdjacency(ctx, g, 0.1, []float64{1, 1, 1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RefineTo(ctx, nil, nil, 0); !errors.Is(err, ErrStagnation) {
		t.Error(err)
	}
}

// A refinement that memory has no room for is refused, before and after it is prepared.
func TestRefinementKeepsToMemory(t *testing.T) {
	g := graphOf(t, pathOf(t, []float64{1, 2}, 0))
	s, err := ShiftedLaplacian(g, false, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	if _, err := s.RefineTo(ctx, nil, nil, 40*n); !errors.Is(err, ErrMemory) {
		t.Errorf("prepared in %d bytes: %v", 40*n, err)
	}
	if _, err := s.RefineTo(ctx, nil, nil, 1<<20); err != nil {
		t.Fatal(err)
	}
	x, b := sparse.NewBlock[float64](n, 64), sparse.NewBlock[float64](n, 64)
	if _, err := s.RefineTo(ctx, x, b, 40*n+tall.BlockBytes[float64](n, 32)-1); !errors.Is(err, ErrMemory) {
		t.Errorf("solved with a byte too few: %v", err)
	}
	if _, err := s.RefineTo(ctx, x, b, 40*n+tall.BlockBytes[float64](n, 32)); err != nil {
		t.Error(err)
	}
}
