package lanczos

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// byFolding solves p by the folded map, however few rows there are.
func byFolding(p *Problem, k int, s *Settings) (*Pairs, error) {
	w, err := p.prepare(k, s)
	if err != nil {
		return nil, err
	}
	return w.interior().solve(ctx)
}

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
// within its residual of another one of them, and the distances from σ
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
				for _, solve := range []func(p *Problem, k int, s *Settings) (*Pairs, error){
					func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.Solve(ctx, k, s) },
					byFolding,
				} {
					pairs, err := solve(p, 9, nil)
					if err != nil {
						t.Fatal(err)
					}
					checkInterior(t, p, pairs, exact, defaultTolerance)
				}
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
	pairs, err := byFolding(p, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkInterior(t, p, pairs, exact, defaultTolerance)
	for _, workers := range []int{2, 7} {
		again, err := byFolding(p, 6, &Settings{Workers: workers})
		if err != nil || !slices.Equal(again.Vectors.Data, pairs.Vectors.Data) || !slices.Equal(again.Values, pairs.Values) {
			t.Errorf("%d workers give other bits, error %v", workers, err)
		}
	}
}

// TestInteriorProgress holds that no more products pass without a report than a block and its residuals take.
func TestInteriorProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	a := testgraph.Random(7, 800, 2400, false)
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Near: 3}
	last, longest := int64(0), int64(0)
	pairs, err := byFolding(p, 6, &Settings{MaxProducts: 50_000, Progress: func(_ string, done, _ int64) {
		if done < last {
			t.Errorf("%d after %d", done, last)
		}
		longest = max(longest, done-last)
		last = done
	}})
	if err != nil {
		t.Fatal(err)
	}
	if longest > int64(pairs.Degree+2*width) {
		t.Errorf("%d of %d products, each of degree %d, passed without a report", longest, pairs.Products, pairs.Degree)
	}
}

func TestInteriorLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 3100
	a := randomGraph(n)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a)), Which: Interior, Near: 0.1}
	out, err := p.Solve(ctx, 10, &Settings{MaxProducts: 4000})
	if !errors.Is(err, ErrIterationLimit) || out == nil || out.Converged == 10 {
		t.Fatalf("error %v, result %v", err, out)
	}
	checkPairs(t, p.A, out, out.Values, 0)
	bytes := Bytes(n, 10, 0, Interior, 0)
	if _, err := p.Solve(ctx, 10, &Settings{Memory: bytes / 2}); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("in half the memory: error %v", err)
	}
	if _, err := p.Solve(ctx, 10, &Settings{Memory: bytes, MaxProducts: 4000}); !errors.Is(err, ErrIterationLimit) {
		t.Errorf("error %v", err)
	}
}

// TestInteriorBetweenMany looks for eigenvalues that lie much closer together than the resolution of a
// first basis, at or next to multiple ones, like those of the normalized Laplacian of trees that grow
// at their hubs.
func TestInteriorBetweenMany(t *testing.T) {
	const n = 600
	rng := rand.New(rand.NewPCG(3, 0))
	var entries []sparse.Triplet
	ends := []uint32{0}
	for i := uint32(1); i < n; i++ {
		j := ends[rng.IntN(len(ends))]
		if ends = append(ends, i, j); i%20 == 0 { // another tree begins
			continue
		}
		entries = append(entries, sparse.Triplet{Row: i, Col: j, Val: 1}, sparse.Triplet{Row: j, Col: i, Val: 1})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	op := sparse.NewOperator[float64](sparse.NormalizedLaplacian, a, degreesOf(t, a))
	exact, _, err := fallingEigen(ctx, denseOf(t, op), func([]float64) int { return 0 }, 2)
	if err != nil {
		t.Fatal(err)
	}
	nears := []float64{0.5, 0, 0.05, 0.3, 1, 1.5, 1.99}
	if testing.Short() {
		nears = nears[:1]
	}
	for _, near := range nears {
		p := &Problem{A: op, Which: Interior, Near: near}
		pairs, err := byFolding(p, 3, &Settings{MaxProducts: 4000})
		if err != nil {
			t.Errorf("near %g: %v", near, err)
			continue
		}
		checkInterior(t, p, pairs, exact, defaultTolerance)
	}
}

// TestInteriorOfMatching looks at the same distance from the eigenvalues 0 and 2, which have many
// copies because the graph consists of single edges and a path.
func TestInteriorOfMatching(t *testing.T) {
	const n, path = 700, 12
	var entries []sparse.Triplet
	for i := uint32(0); i < n-1; i++ {
		if i < path-1 || i >= path && i%2 == 0 {
			entries = append(entries, sparse.Triplet{Row: i, Col: i + 1, Val: 1}, sparse.Triplet{Row: i + 1, Col: i, Val: 1})
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	op := sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
	exact, _, err := fallingEigen(ctx, denseOf(t, op), func([]float64) int { return 0 }, 2)
	if err != nil {
		t.Fatal(err)
	}
	nears := []float64{1, 1 + 1e-8, 1.01}
	if testing.Short() {
		nears = nears[:1]
	}
	for _, near := range nears {
		for _, k := range []int{1, 7, 20} {
			p := &Problem{A: op, Which: Interior, Near: near}
			pairs, err := byFolding(p, k, &Settings{MaxProducts: 20_000})
			if err != nil {
				t.Errorf("%d near %g: %v", k, near, err)
				continue
			}
			checkInterior(t, p, pairs, exact, defaultTolerance)
		}
	}
}
