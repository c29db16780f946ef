package expm

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Refined functions of the Laplacian of a complete graph, whose eigenvalues are 0 and n,
// or n/(n−1), are right to a few ε, by every method.
func TestRefined(t *testing.T) {
	const n = 7
	g, err := graph.New(ctx, testgraph.Complete(n), &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := New(ctx, g, sparse.Laplacian)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Map{plain, mapOf(t, g, "L̃")} {
		top := float64(n)
		if m.normalized {
			top = float64(n) / (n - 1)
		}
		for _, c := range []struct {
			f      Function
			method Method
			value  func(x float64) float64
		}{
			{Exp(-1e-19), Chebyshev, func(float64) float64 { return 1 }},
			{Exp(-0.25), Chebyshev, func(x float64) float64 { return math.Exp(-0.25 * x) }},
			{Exp(-30), Chebyshev, func(x float64) float64 { return math.Exp(-30 * x) }},
			{Exp(-1e9), Projection, func(x float64) float64 { return math.Exp(-1e9 * x) }},
			{Matern(0.5, 3), Rational, func(x float64) float64 { return math.Pow(0.5+x, -3) }},
		} {
			b, y := sparse.NewBlock[float64](n, 2), sparse.NewBlock[float64](n, 2)
			b.Row(2)[0], b.Row(5)[1] = 1, -3
			r, err := m.ApplyTo(ctx, []*sparse.Block[float64]{y}, b, []Function{c.f}, &Settings{Refined: true, Memory: 0})
			if err != nil || r.Functions[0].Method != c.method {
				t.Fatal(r, err)
			}
			for j := range 2 {
				scale := []float64{1, -3}[j]
				for i := range n {
					want := (c.value(0) - c.value(top)) / n
					if b.Row(i)[j] != 0 {
						want += c.value(top)
					}
					if d := math.Abs(y.Row(i)[j] - scale*want); !(d <= r.Functions[0].ColumnBound[j]+2*epsilon*math.Abs(scale*want)) {
						t.Errorf("normalized %v, %v: (%d, %d) is off by %g, bound %g", m.normalized, c.method, i, j, d, r.Functions[0].ColumnBound[j])
					}
				}
				if most := 30 * epsilon * 3 * c.value(0); !(r.Functions[0].ColumnBound[j] <= most) {
					t.Errorf("normalized %v, %v: bound %g, more than %g", m.normalized, c.method, r.Functions[0].ColumnBound[j], most)
				}
			}
		}
		b := sparse.NewBlock[float64](n, 1)
		for _, f := range []Function{Matern(1, 0.5), Exp(1), Inverse(1, 1)} {
			if _, err := m.ApplyTo(ctx, []*sparse.Block[float64]{sparse.NewBlock[float64](n, 1)}, b, []Function{f}, &Settings{Refined: true, Memory: 0}); !errors.Is(err, ErrTolerance) {
				t.Error(err)
			}
		}
		if _, err := m.ApplyTo(ctx, []*sparse.Block[float64]{sparse.NewBlock[float64](n, 1)}, b, []Function{Exp(-1)}, &Settings{Refined: true, Memory: 100}); !errors.Is(err, ErrTolerance) {
			t.Errorf("100 bytes: %v", err)
		}
	}
}

// Rounding errors of a solution that lie in the null space grow by 1/σ in the next one, and
// the bound with them.
func TestRefinedPowerOfASmallShift(t *testing.T) {
	const n, sigma, power = 3, 0x1p-30, 3
	m := mapOf(t, graphOf(t, testgraph.Complete(n), 1), "L")
	b, y := sparse.NewBlock[float64](n, 1), blocks(n, 1, 1)
	for i, v := range []float64{1, 2, -3} { // an eigenvector of n
		b.Row(i)[0] = v
	}
	r, err := m.ApplyTo(ctx, y, b, []Function{Matern(sigma, power)}, &Settings{Refined: true})
	if err != nil {
		t.Fatal(err)
	}
	var off float64
	for i := range n {
		off = math.Hypot(off, y[0].Row(i)[0]-b.Row(i)[0]/math.Pow(n+sigma, power))
	}
	if bound := r.Functions[0].ColumnBound[0]; !(off > 1e3*epsilon && off <= bound) {
		t.Errorf("error %g, bound %g", off, bound)
	}
}

// Where terms cancel, what rounding has made of coefficients is in the bound.
func TestRefinedTermsThatCancel(t *testing.T) {
	const n = 7
	m := mapOf(t, graphOf(t, testgraph.Complete(n), 1), "L")
	b, y := sparse.NewBlock[float64](n, 1), blocks(n, 1, 1)
	b.Row(2)[0], b.Row(5)[0] = 1, -1 // of the eigenvalue n: e^−210 is left of it
	r, err := m.ApplyTo(ctx, y, b, []Function{Exp(-30)}, &Settings{Refined: true})
	if err != nil {
		t.Fatal(err)
	}
	off, _, _ := distance(y[0], sparse.NewBlock[float64](n, 1))
	if o := r.Functions[0]; o.Method != Chebyshev || !(off > 0 && off <= o.ColumnBound[0]) {
		t.Errorf("%v: error %g, bound %g", o.Method, off, o.ColumnBound[0])
	}
}

// What a large rate leaves beside the null space is in the bound of the projection.
func TestRefinedProjectionLeavesLittle(t *testing.T) {
	const heavy, weak = 16, 1e-3 // nodes with edges of weight 1000, and one edge to another node
	var entries []sparse.Triplet
	edge := func(i, j uint32, w float64) {
		entries = append(entries, sparse.Triplet{Row: i, Col: j, Val: w}, sparse.Triplet{Row: j, Col: i, Val: w})
	}
	for i := range uint32(heavy) {
		for j := range i {
			edge(i, j, 1000)
		}
	}
	edge(0, heavy, weak)
	g := graphOf(t, must[*sparse.CSR](t)(sparse.FromTriplets(heavy+1, heavy+1, entries)), 1)
	m, b, y := mapOf(t, g, "L"), sparse.NewBlock[float64](heavy+1, 1), blocks(heavy+1, 1, 1)
	for i := range heavy {
		b.Row(i)[0] = -1. / heavy
	}
	b.Row(heavy)[0] = 1 // all but an eigenvector of weak·(1 + 1/heavy)
	const rate = 36.5 / weak
	r, err := m.ApplyTo(ctx, y, b, []Function{Exp(-rate)}, &Settings{Refined: true})
	if err != nil {
		t.Fatal(err)
	}
	left := 0.999 * math.Exp(-36.5*(1+1./heavy))
	if o := r.Functions[0]; o.Method != Projection || !(o.ColumnBound[0] >= left) {
		t.Errorf("%v: bound %g, %g is left", o.Method, o.ColumnBound[0], left)
	}
}

// A refined solve makes its factor only where the memory holds it: without one, a long path
// takes more sweeps.
func TestRefinedWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const n = 3000
	g, err := graph.New(ctx, testgraph.Path(n), &graph.Settings{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(ctx, g, sparse.Laplacian)
	if err != nil {
		t.Fatal(err)
	}
	b, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
	b.Row(0)[0] = 1
	var sweeps [2]int
	for i, memory := range []int64{0, refinedBlocks * tall.BlockBytes[float64](n, 1)} {
		r, err := m.ApplyTo(ctx, []*sparse.Block[float64]{y}, b, []Function{Matern(1e-4, 1)}, &Settings{Refined: true, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		sweeps[i] = r.Sweeps
	}
	if !(sweeps[0] < sweeps[1]) {
		t.Errorf("%d sweeps without a limit, %d within the blocks alone", sweeps[0], sweeps[1])
	}
}
