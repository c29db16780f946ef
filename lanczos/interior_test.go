package lanczos

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

func init() { denseInterior = denseRows }

// nearestOf returns the k values nearest to σ, nearest first.
func nearestOf(values []float64, near float64, k int) []float64 {
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b float64) int {
		if math.Abs(a-near) < math.Abs(b-near) {
			return -1
		}
		return 1
	})
	return values[:k]
}

// checkInterior compares pairs with the exact values nearest to σ: each is
// within its residual of one of them, none is named twice, and the distances
// are those of the nearest.
func checkInterior(t *testing.T, p *Problem, pairs *Pairs, exact []float64, tolerance float64) {
	t.Helper()
	checkPairs(t, p.A, pairs, pairs.Values, 0)
	k := len(pairs.Values)
	for i, want := range nearestOf(exact, p.Near, k) {
		got := pairs.Values[i]
		if pairs.Residuals[i] > tolerance*pairs.Norm {
			t.Errorf("near %g: pair %d has a residual of %g, the norm is %g", p.Near, i, pairs.Residuals[i], pairs.Norm)
		}
		if d := math.Abs(got-p.Near) - math.Abs(want-p.Near); math.Abs(d) > 2*tolerance*pairs.Norm {
			t.Errorf("near %g: pair %d is %.15g, must be %.15g", p.Near, i, got, want)
		}
	}
	if pairs.Converged != k {
		t.Errorf("near %g: %d of %d converged", p.Near, pairs.Converged, k)
	}
}

// TestInterior compares pairs around several numbers, eigenvalues, gaps and the
// outside of the spectrum among them, with all that a dense method finds.
func TestInterior(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, n := range []int{60, 500} {
		a := testgraph.Random(7, n, 2*n, true)
		op := sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
		h := mat.NewSymDense(n, nil)
		unit, image := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
		for i := range n {
			clear(unit.Data)
			unit.Row(i)[0] = 1
			if err := op.StepTo(ctx, image, unit, sparse.Step[float64]{Alpha: 1}); err != nil {
				t.Fatal(err)
			}
			for j := i; j < n; j++ {
				h.SetSym(i, j, image.At(j, 0))
			}
		}
		exact, _, err := fallingEigen(ctx, h, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, near := range []float64{exact[n/2], (exact[n/3] + exact[n/3+1]) / 2, exact[0] + 1, 0} {
			t.Run(fmt.Sprintf("%d/%.3g", n, near), func(t *testing.T) {
				p := &Problem{A: op, Which: Interior, Near: near}
				pairs, err := p.Solve(ctx, 9, nil)
				if err != nil {
					t.Fatal(err)
				}
				if (n > denseRows) != (pairs.Method == "lanczos") {
					t.Errorf("method %v", pairs.Method)
				}
				checkInterior(t, p, pairs, exact, defaultTolerance)
			})
		}
	}
}

// TestInteriorOfPath: closed forms, σ midway between two eigenvalues, so that
// all are pairs of the folded map, and with several copies of each.
func TestInteriorOfPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n, copies = 1200, 3
	var entries []sparse.Triplet
	for c := range copies {
		for i := range n/copies - 1 {
			at := uint32(c*n/copies + i)
			entries = append(entries, sparse.Triplet{Row: at, Col: at + 1, Val: 1}, sparse.Triplet{Row: at + 1, Col: at, Val: 1})
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	var exact []float64
	for range copies {
		for i := range n / copies {
			exact = append(exact, 2-2*math.Cos(math.Pi*float64(i)/(n/copies)))
		}
	}
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Which: Interior, Near: 2 - 2*math.Cos(math.Pi*100.5/(n/copies))}
	pairs, err := p.Solve(ctx, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkInterior(t, p, pairs, exact, defaultTolerance)
	for _, workers := range []int{2, 7} {
		again, err := p.Solve(ctx, 6, &Settings{Workers: workers})
		if err != nil || !slices.Equal(again.Vectors.Data, pairs.Vectors.Data) || !slices.Equal(again.Values, pairs.Values) {
			t.Errorf("%d workers give other bits, error %v", workers, err)
		}
	}
}

func TestInteriorLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := randomGraph(2000)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a)), Which: Interior, Near: 0.1}
	out, err := p.Solve(ctx, 10, &Settings{MaxProducts: 3500})
	if !errors.Is(err, ErrIterationLimit) || out == nil || out.Converged == 10 {
		t.Fatalf("error %v, result %v", err, out)
	}
	checkPairs(t, p.A, out, out.Values, 0)
	begin := Memory(2000, 10, 0, Interior, nil)[0]
	bytes, what := begin.Bytes, begin.What
	if _, err := p.Solve(ctx, 10, &Settings{Memory: bytes / 2}); !errors.Is(err, ErrMemory) {
		t.Errorf("%s in half the memory: error %v", what, err)
	}
	if _, err := p.Solve(ctx, 10, &Settings{Memory: bytes, MaxProducts: 3500}); !errors.Is(err, ErrIterationLimit) {
		t.Errorf("%s: error %v", what, err)
	}
}

// TestInteriorDensity compares what is said of the density with exact counts, and
// whether pairs are refused with what they take.
func TestInteriorDensity(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 1200
	a := testgraph.Random(7, n, 8*n, true)
	op := sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a))
	h := denseOf(t, op)
	exact, _, err := fallingEigen(ctx, h, func([]float64) int { return 0 }, 2)
	if err != nil {
		t.Fatal(err)
	}
	count := func(near, within float64) (c int) {
		for _, v := range exact {
			if math.Abs(v-near) <= within {
				c++
			}
		}
		return c
	}
	for _, near := range []float64{-0.2, 0.1} {
		p := &Problem{A: op, Which: Interior, Near: near}
		_, err := p.Solve(ctx, 20, &Settings{MaxProducts: 500})
		var dense *DenseError
		if !errors.As(err, &dense) {
			t.Fatalf("near %g: error %v", near, err)
		}
		if got := float64(count(near, dense.Within)); !(dense.Count > 0.6*got && dense.Count < 1.6*got) || dense.Count < 10 {
			t.Errorf("near %g: %v, but there are %v", near, err, got)
		}
		if _, err := p.Solve(ctx, 20, &Settings{MaxProducts: dense.Products - 1}); !errors.As(err, &dense) {
			t.Errorf("near %g: error %v with one product less than told", near, err)
		}
		out, err := p.Solve(ctx, 20, nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Products < dense.Products {
			t.Errorf("near %g: %d products, refused with less than %d", near, out.Products, dense.Products)
		}
	}
	// Where eigenvalues are few, and in a gap, nothing is refused.
	for _, near := range []float64{exact[0] - 0.01, (exact[0] + exact[1]) / 2, 1.5} {
		p := &Problem{A: op, Which: Interior, Near: near}
		out, err := p.Solve(ctx, 4, &Settings{MaxProducts: 900})
		if err != nil {
			t.Fatalf("near %g: %v", near, err)
		}
		checkInterior(t, p, out, exact, defaultTolerance)
	}
}

// TestInteriorAsksOnce takes the memory that a refusal on the way asks for: with it the
// iteration is not refused again, though its basis is doubled more than once.
func TestInteriorAsksOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const side = 20
	var entries []sparse.Triplet
	for i := range side * side {
		for _, j := range []int{i + 1, i + side} {
			if j < side*side && (j == i+side || j%side > 0) {
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(side*side, side*side, entries)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{A: &sparse.Operator[float64]{A: a}, Which: Interior, Near: 0.1}
	set := &Settings{MaxProducts: 2500, Tolerance: 1e-12}
	set.Memory = Memory(side*side, 2, 0, Interior, set)[0].Bytes
	_, err = p.Solve(ctx, 2, set)
	var over *budget.OverError
	if !errors.As(err, &over) || !strings.Contains(err.Error(), "make no progress") {
		t.Fatalf("with the first basis alone: error %v", err)
	}
	set.Memory = foldedBytes(side*side) + over.Need
	out, err := p.Solve(ctx, 2, set)
	if errors.Is(err, ErrMemory) || out == nil || out.Basis < 4*set.basisSize(2+guards(side*side, 2)) {
		t.Errorf("with %d bytes: error %v, %+v", over.Need, err, out)
	}
}
