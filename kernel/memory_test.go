package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// resolved returns the named family with complete values.
func resolved(t *testing.T, name string, given param.Values, degrees []float64) (*Family, param.Values) {
	t.Helper()
	f := Families().Named(name)
	v, err := f.Resolve(given, OnDegrees(degrees))
	if err != nil {
		t.Fatal(err)
	}
	return f, v
}

// blockBytesOf returns the estimate of a block within a limit, 0 for none.
func blockBytesOf(t *testing.T, name string, given param.Values, degrees []float64, entries int64, rows, cols []int, limit int64) int64 {
	t.Helper()
	f, v := resolved(t, name, given, degrees)
	return f.Bytes(v, degrees, entries, false, rows, cols, &Settings{Memory: limit})
}

// gramsBytesOf returns the estimate of the Gram matrices of several kernels of a family.
func gramsBytesOf(t *testing.T, name string, given []param.Values, degrees []float64, entries int64, nodes []int) int64 {
	t.Helper()
	vs := make([]param.Values, len(given))
	var f *Family
	for i, v := range given {
		f, vs[i] = resolved(t, name, v, degrees)
	}
	return f.GramsBytes(vs, degrees, entries, nodes, 0)
}

// TestMemory checks that every block is computed within its estimate as the limit, and that a limit which everything fits
// changes no estimate.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 400
	a := testgraph.Random(9, n, 1400, true)
	g := newGraph(t, a, 2)
	few := []int{3, 1, 4, 15, 92}
	cases := slices.Concat(symmetricKernels, others, []named{
		{"modularity", param.Values{"rank": param.Of(1)}}, {"modularity", param.Values{"rank": param.Of(100)}}, {"modularity", param.Values{"rank": param.Of(n)}},
	})
	for _, c := range cases {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			if c.p["matrix"] == param.Of(adjacency) {
				c.p = param.Values{"matrix": c.p["matrix"], "alpha": param.Of(c.p.Number("alpha") / 10)}
			}
			for _, nodes := range [][2][]int{{few, few}, {upTo(n), few}, {upTo(100), upTo(100)}} {
				limit := blockBytesOf(t, c.name, c.p, g.Degrees, a.NNZ(), nodes[0], nodes[1], 0)
				if roomy := blockBytesOf(t, c.name, c.p, g.Degrees, a.NNZ(), nodes[0], nodes[1], 1<<40); roomy != limit {
					t.Errorf("%d × %d: %d within a limit, %d without", len(nodes[0]), len(nodes[1]), roomy, limit)
				}
				if _, _, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes[0], nodes[1], &Settings{Memory: limit}); err != nil {
					t.Error(fmt.Errorf("%d × %d within %d bytes: %w", len(nodes[0]), len(nodes[1]), limit, err))
				}
			}
		})
	}
}

// TestEstimateKnowsTheMethod checks that a diffusion of L is computed by the method for which its
// memory is estimated, alone and together with others.
func TestEstimateKnowsTheMethod(t *testing.T) {
	a := testgraph.Star(3000)
	g := newGraph(t, a, 1)
	nodes := []int{1, 2, 3}
	for beta, planned := range map[float64]string{.001: "chebyshev", .05: "chebyshev", 5: "resolvent"} {
		p := param.Values{"laplacian": param.Of(combinatorial), "beta": param.Of(beta)}
		if w := describe(nil, g.Degrees).diffusionWork(combinatorial, beta); w.series != (planned == "chebyshev") {
			t.Errorf("β = %g: %+v", beta, w)
		}
		_, r, err := Matrix(background, mustNew(t, g, "diffusion", p), nodes, upTo(5), nil)
		if err != nil || r.Method != planned {
			t.Errorf("β = %g by %+v, %v; %s is planned", beta, r, err, planned)
		}
	}
	together := []param.Values{{"laplacian": param.Of(combinatorial), "beta": param.Of(.001)}, {"laplacian": param.Of(combinatorial), "beta": param.Of(.05)}}
	const n, blocks = 3002, 2 * 8 * 3 * 3
	if got, want := gramsBytesOf(t, "diffusion", together, g.Degrees, a.NNZ(), nodes), blocks+functionOf(sparse.Laplacian, true).slabBytes(n, 3, 2, 0); got < want*9/10 || got > 3*want {
		t.Errorf("two together: %d bytes, want %d", got, want)
	}
}

// TestSearchesArePlanned checks that an estimate includes the search for the least eigenvalue of an inverse or for the
// largest one of A, whatever the limit, and a factor where it may help and fits.
func TestSearchesArePlanned(t *testing.T) {
	const n = 100_000
	degrees := slices.Repeat([]float64{2}, n)
	least := lanczos.Bytes(n, 1, 0, &lanczos.Settings{Preconditioned: true})
	for _, c := range []struct {
		name   string
		p      param.Values
		search int64 // its memory; 0: none
		factor bool
	}{
		{"pseudo-inverse", nil, least, true},
		{"commute-time", nil, least, true},
		{"exponential", nil, radiusBytes(n), false},
		{"exponential", param.Values{"matrix": param.Of(normalizedAdjacency)}, 0, false},
		{"von-neumann", param.Values{"matrix": param.Of(adjacency)}, radiusBytes(n), true},
		{"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(0.1)}, radiusBytes(n), true},
		{"von-neumann", nil, 0, false},
	} {
		f, v := resolved(t, c.name, c.p, degrees)
		bytes := func(limit int64) int64 {
			return f.Bytes(v, degrees, 2*n, false, upTo(3), upTo(3), &Settings{Memory: limit, Tolerance: 1e-6})
		}
		all := bytes(0)
		factor := iterative.SampledBytes(n, 2*n, 3)
		switch within := bytes(1 << 20); {
		case within < c.search || f.ApplyBytes(v, degrees, 1) < c.search:
			t.Errorf("%s %v: %d bytes; the search requires %d", c.name, c.p, within, c.search)
		case c.search == 0 && within >= min(least, radiusBytes(n)):
			t.Errorf("%s %v: %d bytes without a search", c.name, c.p, within)
		case c.factor != (all-within >= factor) || c.factor && bytes(all) != all:
			t.Errorf("%s %v: %d bytes, %d within a limit; a factor has %d", c.name, c.p, all, within, factor)
		}
	}
}

// A solve that is slow with Jacobi has room for a factor in its plan: on a path it
// is exact.
func TestSlowSolvesPlanTheirFactor(t *testing.T) {
	const n = 3000
	g := newGraph(t, testgraph.Path(n), 2)
	nodes := []int{0, n / 2}
	for _, c := range []struct {
		name string
		p    param.Values
		slow bool
	}{
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(4.0)}, false},
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(1e4)}, true},
		{"regularized-laplacian", param.Values{"alpha": param.Of(1e4), "laplacian": param.Of(normalized)}, true},
		{"von-neumann", param.Values{"alpha": param.Of(0.8)}, false},
		{"von-neumann", param.Values{"alpha": param.Of(0.9999)}, true},
		{"pagerank", param.Values{"alpha": param.Of(0.9999)}, true},
		{"regularized-commute-time", param.Values{"alpha": param.Of(0.8)}, false},
		{"regularized-commute-time", param.Values{"alpha": param.Of(0.9999)}, true},
	} {
		f, v := resolved(t, c.name, c.p, g.Degrees)
		if f.work(v, describe(nil, g.Degrees)).factor != c.slow {
			t.Errorf("%s %v: a factor is estimated: %v", c.name, c.p, !c.slow)
		}
		limit := blockBytesOf(t, c.name, c.p, g.Degrees, g.A.NNZ(), nodes, nodes[:1], 0)
		_, r, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes, nodes[:1], &Settings{Memory: limit})
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.p, err)
		} else if c.slow && r.Sweeps > 100 {
			t.Errorf("%s %v: %d sweeps, %s", c.name, c.p, r.Sweeps, r.Method)
		}
	}
}

// The bounds of a pseudo-inverse rest on a number that is not above the least
// eigenvalue: of a path it is 2 − 2cos(π/n).
func TestLeastEigenvalueIsABound(t *testing.T) {
	for _, n := range []int{20, 700, 3000} {
		e := mustNew(t, newGraph(t, testgraph.Path(n), 1), "pseudo-inverse", param.Values{"laplacian": param.Of(combinatorial)}).(*spectral).full.(*solves)
		if err := e.findLeast(background, 1); err != nil {
			t.Fatal(err)
		}
		sine := math.Sin(math.Pi / (2 * float64(n)))
		if want := 4 * sine * sine; !(e.system.Least <= want*(1+1e-9)) || e.system.Least < 0.8*want {
			t.Errorf("%d nodes: %v, want %v", n, e.system.Least, want)
		}
	}
}

// TestMemoryOfASearch checks the limit of L⁺ of a graph with uneven degrees, which is computed by L̃:
// the least eigenvalue is found in the memory that is estimated without a factor.
func TestMemoryOfASearch(t *testing.T) {
	const n = 20_000
	a := testgraph.Star(n)
	g := newGraph(t, a, 2)
	rows, cols := []int{0, 1, 2, 3}, []int{5, 6}
	for _, name := range []string{"commute-time", "pseudo-inverse"} {
		p := param.Values{}
		if name == "pseudo-inverse" {
			p["laplacian"] = param.Of(combinatorial)
		}
		f, v := resolved(t, name, p, g.Degrees)
		width := 2
		if f.Distance != "" {
			width = 4
		}
		limit := f.work(v, describe(nil, g.Degrees)).slabBytes(len(g.Degrees), width, 1, 5)
		if _, _, err := Matrix(background, mustNew(t, g, name, p), rows, cols, &Settings{Memory: limit}); err != nil {
			t.Errorf("%s within %d bytes: %v", name, limit, err)
		}
	}
}

// TestMemoryOfTheRadius: the search for the largest eigenvalue keeps to the memory of the graph,
// or is refused.
func TestMemoryOfTheRadius(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const n = 60_000
	a := testgraph.Path(n)
	g := newGraph(t, a, 2)
	estimate := blockBytesOf(t, "exponential", nil, g.Degrees, a.NNZ(), []int{0, 1}, []int{2}, 0)
	g.Memory = estimate / 4
	if _, err := New(background, g, "exponential", nil); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("within %d bytes: %v", g.Memory, err)
	}
	g.Memory = estimate
	if _, err := New(background, g, "exponential", nil); err != nil {
		t.Errorf("within %d bytes: %v", g.Memory, err)
	}
}

// TestMemoryIsWhatIsAllocated checks that the bytes which a block of one slab allocates are at most those of
// its slab, and at least a third of these. Vectors that are garbage soon count here.
func TestMemoryIsWhatIsAllocated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 60_000
	a := testgraph.Random(3, n, 3*n, false)
	g := newGraph(t, a, 2)
	nodes := upTo(48)
	for _, c := range testgraph.Sample(t, 3, []named{
		{"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial)}},
		{"regularized-commute-time", param.Values{}},
		{"von-neumann", param.Values{}},
		{"von-neumann", param.Values{"matrix": param.Of(adjacency), "alpha": param.Of(0.01)}},
		{"p-step", param.Values{"steps": param.Of(7)}},
		{"diffusion", param.Values{"laplacian": param.Of(normalized)}},
		{"matern", param.Values{"laplacian": param.Of(normalized)}},
	}) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes, nodes[:16], nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		f, v := resolved(t, c.name, c.p, g.Degrees)
		slab := f.work(v, describe(nil, g.Degrees)).slabBytes(n, 16, 1, len(nodes))
		if taken := int64(after.TotalAlloc - before.TotalAlloc); taken > slab/10*11 || 3*taken < slab {
			t.Errorf("%s %v: %d bytes were allocated, the estimate is %d", c.name, c.p, taken, slab)
		}
	}
}

// TestVectorsOfTheGraph checks that a graph and a kernel keep no more between blocks than the vectors
// that every estimate includes.
func TestVectorsOfTheGraph(t *testing.T) {
	const n = 10_000
	a := testgraph.Random(3, n, 2*n, true)
	for _, c := range symmetricKernels {
		before := inUse()
		g := newGraph(t, a, 1)
		k := mustNew(t, g, c.name, c.p)
		held := inUse() - before
		runtime.KeepAlive(g)
		if runtime.KeepAlive(k); held > vectorBytes(n) {
			t.Errorf("%s %v: %d bytes are kept, the estimate is %d", c.name, c.p, held, vectorBytes(n))
		}
	}
}

// TestFactorsWithinTheLimit checks that an estimate within a limit leaves out a factor that does not
// fit it, because that is not made.
func TestFactorsWithinTheLimit(t *testing.T) {
	const n = 10_000
	a := testgraph.Path(n)
	g := newGraph(t, a, 1)
	factors := 0
	for _, c := range []named{
		{"regularized-laplacian", param.Values{"alpha": param.Of(1000.0)}},
		{"pseudo-inverse", nil},
		{"matern", param.Values{"kappa": param.Of(200.0)}},
	} {
		f, v := resolved(t, c.name, c.p, g.Degrees)
		if f.work(v, describe(nil, g.Degrees)).factor {
			factors++
		}
		block := func(limit int64) int64 {
			return f.Bytes(v, g.Degrees, a.NNZ(), false, upTo(n), upTo(40), &Settings{Memory: limit})
		}
		if limit := block(0) - 1; block(limit) > limit {
			t.Errorf("%s within %d: %d bytes", c.name, limit, block(limit))
		}
		grams := func(limit int64) int64 {
			return f.GramsBytes([]param.Values{v}, g.Degrees, a.NNZ(), upTo(300), limit)
		}
		if limit := grams(0) - 1; grams(limit) > limit {
			t.Errorf("%s within %d: %d bytes of Gram matrices", c.name, limit, grams(limit))
		}
	}
	if factors == 0 {
		t.Error("no kernel wants a factor")
	}
}

// inUse returns the bytes of the heap that are in use.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep their content for one collection
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryOfManyColumns checks that the memory of a block of many columns, while its pieces are handed
// out, is between a third of the estimate and the estimate, with as many columns of the root as a limit
// allows.
func TestMemoryOfManyColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const n = 4000
	a := testgraph.Random(3, n, 2*n, false)
	g := newGraph(t, a, 2)
	nodes := upTo(320)
	for _, c := range []struct {
		named
		limit int64
	}{
		{named{"p-step", param.Values{"steps": param.Of(2)}}, 0},
		{named{"p-step", param.Values{"steps": param.Of(2)}}, 15 << 20},
		{named{"regularized-laplacian", param.Values{}}, 0},
	} {
		k := mustNew(t, g, c.name, c.p)
		f, v := resolved(t, c.name, c.p, g.Degrees)
		estimate := f.Bytes(v, g.Degrees, a.NNZ(), false, nodes, nodes, &Settings{Memory: c.limit})
		estimate -= f.work(v, describe(nil, g.Degrees)).root().factorBytes(len(g.Degrees), a.NNZ(), 64, c.limit, 0)
		before, most := inUse(), int64(0)
		take := func(int, int, *sparse.Block[float64]) error {
			most = max(most, inUse()-before)
			return nil
		}
		if _, err := Block(background, k, nodes, nodes, take, &Settings{Memory: c.limit, Tolerance: 1e-6}); err != nil {
			t.Fatal(err)
		}
		if most > estimate || 3*most < estimate || c.limit > 0 && estimate > c.limit {
			t.Errorf("%s within %d: %d bytes are used, the estimate is %d", c.name, c.limit, most, estimate)
		}
	}
}

// TestGramsHaveNoHalfSteps checks that Gram matrices require no more than a slab of columns: half steps
// would keep all columns, and functions of one matrix share theirs.
func TestGramsHaveNoHalfSteps(t *testing.T) {
	const n, labels = 100_000, 1000
	degrees := make([]float64, n)
	for i := range degrees {
		degrees[i] = 8
	}
	blocks := int64(8 * labels * labels)
	for _, c := range []named{
		{"p-step", param.Values{"steps": param.Of(2)}}, {"diffusion", param.Values{"laplacian": param.Of(normalized), "beta": param.Of(1.0)}}, {"regularized-laplacian", param.Values{"laplacian": param.Of(combinatorial), "alpha": param.Of(0.1)}},
	} {
		one := gramsBytesOf(t, c.name, []param.Values{c.p}, degrees, 8*n, upTo(labels))
		if one > blocks+350e6 {
			t.Errorf("%s: %d bytes", c.name, one)
		}
		other := maps.Clone(c.p)
		for name, x := range other {
			if x != param.Of(other[name].String()) {
				other[name] = param.Of(3 * other.Number(name))
			}
		}
		if two := gramsBytesOf(t, c.name, []param.Values{c.p, other}, degrees, 8*n, upTo(labels)); two > one+2*blocks {
			t.Errorf("%s: %d bytes for two, %d for one", c.name, two, one)
		}
	}
}

// An attempt without the factor does not hide that one before it had one.
func TestFactorIsTold(t *testing.T) {
	c := new(computation)
	const with = "conjugate gradients with a sampled Cholesky factor"
	for _, method := range []string{"conjugate gradients", with, "conjugate gradients"} {
		c.log.note(2, method)
	}
	if c.log.report.Method != with || c.log.report.Sweeps != 6 {
		t.Errorf("%d sweeps, %s", c.log.report.Sweeps, c.log.report.Method)
	}
}

// TestGramsOfSeveralMatrices checks that the estimate of functions of several matrices, which are
// computed one matrix after the other, is at least that of each alone.
func TestGramsOfSeveralMatrices(t *testing.T) {
	degrees := make([]float64, 20_000)
	for i := range degrees {
		degrees[i] = 4
	}
	for name, of := range map[string][2]param.Values{
		"diffusion":   {{"laplacian": param.Of(normalized)}, {"laplacian": param.Of(combinatorial)}},
		"exponential": {{"matrix": param.Of(normalizedAdjacency), "beta": param.Of(1.0)}, {"matrix": param.Of(adjacency), "beta": param.Of(1.0)}},
	} {
		both := gramsBytesOf(t, name, of[:], degrees, 80_000, upTo(300))
		for _, v := range of {
			alone := gramsBytesOf(t, name, []param.Values{v}, degrees, 80_000, upTo(300))
			if block := int64(8 * 300 * 300); both < alone+block {
				t.Errorf("%s: both kernels require %d bytes, that of %v alone %d, and a block of the other %d", name, both, v, alone, block)
			}
		}
	}
}
