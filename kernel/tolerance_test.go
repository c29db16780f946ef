package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestBoundHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	a := testgraph.Random(10, 400, 1500, true)
	g := newGraph(t, a, 2)
	rows, cols := upTo(70), []int{399, 12, 100}
	for _, c := range testgraph.Sample(t, 8, slices.Concat(symmetricKernels, others)) {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			for _, lists := range [][2][]int{{rows, rows}, {rows, cols}} {
				exact, r0 := mustMatrix(t, mustNew(t, g, c.name, c.p), lists[0], lists[1], nil)
				for _, tolerance := range []float64{1e-2, 1e-4, 1e-7} {
					got, r := mustMatrix(t, mustNew(t, g, c.name, c.p), lists[0], lists[1], &Settings{Tolerance: tolerance})
					if e := worstError(t, got, exact); e > r.ErrorBound+r0.ErrorBound {
						t.Errorf("tolerance %g: the error is %g, the bound %g", tolerance, e, r.ErrorBound)
					}
					if relative(r) > tolerance && r.Largest > 1e-3 && &lists[1][0] == &rows[0] && c.name != "commute-time" {
						t.Errorf("tolerance %g: the bound is %g of the largest value", tolerance, relative(r))
					}
				}
			}
		})
	}
}

// On a dense graph a step reduces the residual about ten times, so that it is often far below a tolerance and not
// small enough for the next.
func TestTolerancesAreReached(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for seed := range uint64(20) {
		g := newGraph(t, testgraph.Random(seed, 31, 465, true), 1)
		k := mustNew(t, g, "regularized-commute-time", param.Values{"alpha": param.Of(0.9)})
		for tolerance := 1e-2; tolerance > 1e-10; tolerance /= 1.3 {
			_, r := mustMatrix(t, k, upTo(31), []int{3, 9, 27}, &Settings{Tolerance: tolerance})
			if relative(r) > tolerance {
				t.Errorf("tolerance %g: the bound is %g of the largest value", tolerance, relative(r))
			}
		}
	}
}

// Errors of a similar kernel grow by the square root of a ratio of degrees.
func TestTolerancesAreReachedWithUnevenDegrees(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	factor := 3.7
	if testgraph.Hunt {
		factor = 1.7
	}
	for _, a := range []*sparse.CSR{testgraph.Star(80), testgraph.Random(3, 120, 260, true)} {
		g := newGraph(t, a, 1)
		n := len(g.Degrees)
		for _, c := range []named{
			{"diffusion", param.Values{"laplacian": param.Of(randomWalk), "beta": param.Of(2.0)}},
			{"regularized-laplacian", param.Values{"laplacian": param.Of(randomWalk), "alpha": param.Of(30.0)}},
			{"pagerank", param.Values{"alpha": param.Of(0.98)}},
			{"heat-pagerank", param.Values{"beta": param.Of(3.0)}},
		} {
			k := mustNew(t, g, c.name, c.p)
			for tolerance := 1e-1; tolerance > 1e-15; tolerance /= factor {
				for _, cols := range [][]int{{0, 1, n - 1}, {1, 2, n - 1}, upTo(n)} {
					_, r, err := Matrix(background, k, upTo(n), cols, &Settings{Tolerance: tolerance})
					if err != nil && (tolerance > 1e-10 || !errors.Is(err, ErrTolerance)) {
						t.Fatal(err)
					}
					if err == nil && relative(r) > tolerance {
						t.Errorf("%d nodes, %s, tolerance %g: the bound is %g of the largest value", n, c.name, tolerance, relative(r))
					}
				}
			}
		}
	}
}

func TestHopelessTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 2500
	var entries []sparse.Triplet
	edge := func(i, j int) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	for i := 2; i < n; i++ {
		edge(i%2, i)
		if j := (i*i*31 + 7*i) % n; j > i {
			edge(i, j)
		}
	}
	g := newGraph(t, mustTriplets(t, n, entries), 2)
	k := mustNew(t, g, "diffusion", param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(20.0)})
	sweeps := 0
	compute := func(tolerance float64) (*Report, error) {
		sweeps = 0
		_, r, err := Matrix(background, k, upTo(n), []int{5, 70, 900}, &Settings{Tolerance: tolerance, Progress: func(_ string, done, _ int64) { sweeps = int(done) }})
		return r, err
	}
	if _, err := compute(1e-9); err != nil {
		t.Fatal(err)
	}
	once := sweeps
	_, err := compute(1e-12)
	if !errors.Is(err, ErrTolerance) || sweeps > 2*once {
		t.Fatalf("%d sweeps, %d with a tolerance that can be met: %v", sweeps, once, err)
	}
	var promised float64
	if _, after, ok := strings.Cut(err.Error(), "where "); ok {
		_, err = fmt.Sscanf(after, "%g can", &promised)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compute(promised); err != nil {
		t.Error(err)
	}
	if r, err := compute(0); err != nil || sweeps > 3*once {
		t.Errorf("%d sweeps: %v, %v", sweeps, r, err)
	}
}

func TestPromisedTolerances(t *testing.T) {
	for _, c := range []named{
		{"pagerank", param.Values{"alpha": param.Of(1 - 2.5e-13), "symmetric": param.Of(true)}},
		{"pagerank", param.Values{"alpha": param.Of(1 - 3e-12)}},
		{"von-neumann", param.Values{"alpha": param.Of(1 - 1e-13)}},
		{"regularized-commute-time", param.Values{"alpha": param.Of(1 - 1e-9)}},
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(1e9)}},
		{"pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}},
		{"commute-time", param.Values{}},
	} {
		seeds := uint64(8)
		if testing.Short() {
			seeds = 2
		}
		for seed := range seeds {
			nodes := 20 + int(seed)
			rng := rand.New(rand.NewPCG(seed, 1))
			var entries []sparse.Triplet
			for i := 1; i < nodes; i++ { // tree with uneven weights
				w, j := math.Pow(10, 6*rng.Float64()-3), rng.IntN(i)
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
			}
			g := newGraph(t, mustTriplets(t, nodes, entries), 1)
			compute := func(tolerance float64) error {
				_, _, err := Matrix(background, mustNew(t, g, c.name, c.p), upTo(nodes-3), upTo(nodes), &Settings{Tolerance: tolerance})
				return err
			}
			err := compute(1e-16)
			if !errors.Is(err, ErrTolerance) {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			_, after, ok := strings.Cut(err.Error(), "where ")
			var promised float64
			if _, err = fmt.Sscanf(after, "%g can", &promised); !ok || err != nil {
				t.Fatal(err)
			}
			if !(promised < 1e-9) { // roots of degrees take three digits
				t.Errorf("%s, %v, rng seed %d: promised %g only", c.name, c.p, seed, promised)
			}
			if err := compute(promised); err != nil {
				t.Errorf("%s, %v, rng seed %d: promised %g: %v", c.name, c.p, seed, promised, err)
			}
		}
	}
}
