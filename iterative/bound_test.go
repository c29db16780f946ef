package iterative

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// The bound by rows is close to the error, measured by the scaled system, which is well conditioned.
func TestErrorBoundOfUnevenWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const n, alpha = 40, 0.99
	var entries []sparse.Triplet
	join := func(i, j int, w float64) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := 1; i < n-1; i++ { // the last node has no edges
		join(i, i-1, math.Pow(10, 12*rng.Float64()-6))
		if i > 2 {
			join(i, rng.IntN(i-1), math.Pow(10, 12*rng.Float64()-6))
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	g := graphOf(t, a)
	s, err := VonNeumann(g, false, alpha)
	if err != nil {
		t.Fatal(err)
	}
	b, x := sparse.NewBlock[float64](n, n), sparse.NewBlock[float64](n, n)
	scaled := mat.NewDense(n, n, nil)
	root := make([]float64, n)
	for i := range n {
		b.Row(i)[i] = 1
		scaled.Set(i, i, 1)
		root[i] = math.Sqrt(max(g.Degrees[i], 1e-300))
	}
	a.DoNonZero(func(i, j int, w float64) { scaled.Set(i, j, -alpha*w/root[i]/root[j]) })
	var want mat.Dense
	if err := want.Inverse(scaled); err != nil {
		t.Fatal(err)
	}
	res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-15})
	if err != nil && !errors.Is(err, ErrStagnation) {
		t.Fatal(err)
	}
	for j := range n - 1 {
		var square, size float64
		for i := range n - 1 {
			exact := want.At(i, j) / root[i] / root[j]
			square += (x.Row(i)[j] - exact) * (x.Row(i)[j] - exact)
			size += exact * exact
		}
		if !(res.Rounding[j] > 0 && res.Rounding[j] <= res.ErrorBound[j]) {
			t.Errorf("column %d: rounding of %g in a bound of %g", j, res.Rounding[j], res.ErrorBound[j])
		}
		if bound := res.ErrorBound[j]; !(math.Sqrt(square) <= bound+1e-13*math.Sqrt(size)) || !(bound <= 1e-9*math.Sqrt(size)) {
			t.Errorf("column %d: error %g, bound %g, norm %g", j, math.Sqrt(square), bound, math.Sqrt(size))
		}
	}
}

func TestBoundIsAbove(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := testgraph.Random(5, 150, 260, true)
	g := graphOf(t, a)
	b := randomBlock(2, 150, 6)
	for _, tol := range []float64{1e-2, 1e-6, 1e-10} {
		for _, alpha := range []float64{0.3, 0.9, 0.99} {
			check := func(name string, s *System, err error, want *mat.Dense) {
				if err != nil {
					t.Fatal(err)
				}
				x := sparse.NewBlock[float64](150, 6)
				res, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: tol})
				if err != nil {
					t.Fatal(name, err)
				}
				exact := times(want, b)
				for j, bound := range res.ErrorBound {
					var d float64
					for i := range 150 {
						d = math.Hypot(d, x.At(i, j)-exact.At(i, j))
					}
					if d > bound {
						t.Errorf("%s, tolerance %g, column %d: error %g above %g", name, tol, j, d, bound)
					}
				}
			}
			normalized := denseLaplacian(a, g.Degrees, true)
			l := denseLaplacian(a, g.Degrees, false)
			s, err := ShiftedLaplacian(g, false, 100*alpha, 1)
			check("I + αL", s, err, function(l, func(x float64) float64 { return 1 / (1 + 100*alpha*x) }))
			s, err = ShiftedLaplacian(g, true, alpha, 0.1)
			check("αL̃ + 0.1·I", s, err, function(normalized, func(x float64) float64 { return 1 / (0.1 + alpha*x) }))
			s, err = VonNeumann(g, false, alpha)
			m := mat.NewSymDense(150, nil)
			for i, d := range g.Degrees {
				for j := i; j < 150; j++ {
					m.SetSym(i, j, -alpha*a.At(i, j))
				}
				m.SetSym(i, i, m.At(i, i)+d)
			}
			check("D − αA", s, err, function(m, inverse))
		}
	}
}

// X is large compared with B.
func TestRoundingOfBound(t *testing.T) {
	const n, least = 200, 1e-3
	a := testgraph.Complete(n)
	g, err := graph.New(context.Background(), a, &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, normalized := range []bool{false, true} {
		s, err := ShiftedLaplacian(g, normalized, 1, least)
		if err != nil {
			t.Fatal(err)
		}
		rowSum := 2 * (n - 1.0) // row sum of |L|, or of |L̃|
		if normalized {
			rowSum = 2
		}
		b, x := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
		for i := range n {
			b.Row(i)[0] = 1 // an eigenvector: X = B/least
		}
		out, err := s.SolveTo(context.Background(), x, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		norm := math.Sqrt(n)
		if want := 10 * 0x1p-52 * (norm + (rowSum+least)*norm/least) / least; math.Abs(out.Rounding[0]/want-1) > 1e-9 || out.ErrorBound[0] < want {
			t.Errorf("rounding of %v in a bound of %v, want %v", out.Rounding[0], out.ErrorBound[0], want)
		}
	}
}

// If degrees are equal, the bound is the eigenvalue of the vector of ones.
func TestLeastIsTheEigenvalue(t *testing.T) {
	const alpha, degree = 0.99, 2
	g := graphOf(t, testgraph.Cycle(12))
	for _, normalized := range []bool{false, true} {
		s, err := VonNeumann(g, normalized, alpha)
		if err != nil {
			t.Fatal(err)
		}
		want := 1 - alpha
		if !normalized {
			want *= degree
		}
		if math.Abs(s.Least/want-1) > 1e-12 {
			t.Errorf("normalized %v: %v, want %v", normalized, s.Least, want)
		}
	}
}
