package kernel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// needs is a list summed up.
type needs struct {
	Bytes, Perhaps int64 // all, and what is optional
}

func summed(list []spec.Bytes) needs { return needs{spec.Sum(list), spec.Sum(list) - spec.Least(list)} }

func blockNeedsOf(name string, given spec.Values, degrees []float64, entries int64, rows, cols []int, s *Settings) (needs, error) {
	f := Families().Named(name)
	v, err := f.Resolve(given, OnDegrees(degrees))
	if err != nil {
		return needs{}, err
	}
	limit := int64(0)
	if s != nil {
		limit = s.Memory
	}
	return summed(f.blockMemory(v, degrees, entries, rows, cols, limit)), nil
}

func gramsNeedsOf(name string, given []spec.Values, degrees []float64, entries int64, nodes []int, s *Settings) (needs, error) {
	f := Families().Named(name)
	vs := make([]spec.Values, len(given))
	for i, v := range given {
		var err error
		if vs[i], err = f.Resolve(v, OnDegrees(degrees)); err != nil {
			return needs{}, err
		}
	}
	return summed(f.gramsMemory(vs, degrees, entries, nodes, 0)), nil
}

func applyBytesOf(name string, degrees []float64) (int64, error) {
	f := Families().Named(name)
	v, err := f.Resolve(nil, OnDegrees(degrees))
	if err != nil {
		return 0, err
	}
	return spec.Sum(f.applyMemory(v, degrees, 1)), nil
}

// Every block is computed within the memory that is planned for it.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 400
	a := testgraph.Random(9, n, 1400, true)
	g := newGraph(t, a, 2)
	few := []int{3, 1, 4, 15, 92}
	cases := slices.Concat(symmetricKernels, others, []named{
		{"modularity", spec.Values{"rank": spec.Of(1)}}, {"modularity", spec.Values{"rank": spec.Of(100)}}, {"modularity", spec.Values{"rank": spec.Of(n)}},
	})
	for _, c := range cases {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			if c.p["matrix"] == spec.Of(adjacency) {
				c.p = spec.Values{"matrix": c.p["matrix"], "alpha": spec.Of(c.p.Number("alpha") / 10)}
			}
			for _, nodes := range [][2][]int{{few, few}, {upTo(n), few}, {upTo(100), upTo(100)}} {
				needs, err := blockNeedsOf(c.name, c.p, g.Degrees, a.NNZ(), nodes[0], nodes[1], nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes[0], nodes[1], &Settings{Memory: needs.Bytes}); err != nil {
					t.Error(fmt.Errorf("%d × %d within %d bytes: %w", len(nodes[0]), len(nodes[1]), needs.Bytes, err))
				}
			}
		})
	}
}

// A diffusion of L is the series or the sum of solves that its plan is for, alone
// and together with others.
func TestDiffusionAsPlanned(t *testing.T) {
	a := testgraph.Star(3000)
	g := newGraph(t, a, 1)
	nodes := []int{1, 2, 3}
	for beta, planned := range map[float64]string{.001: "chebyshev", .05: "chebyshev", 5: "resolvent"} {
		p := spec.Values{"laplacian": spec.Of(combinatorial), "beta": spec.Of(beta)}
		needs, err := blockNeedsOf("diffusion", p, g.Degrees, a.NNZ(), nodes, upTo(5), nil)
		if err != nil || needs.Perhaps > 0 != (planned == "resolvent") {
			t.Errorf("β = %g: %+v, %v", beta, needs, err)
		}
		_, r, err := Matrix(background, mustNew(t, g, "diffusion", p), nodes, upTo(5), nil)
		if err != nil || r.Method != planned {
			t.Errorf("β = %g by %+v, %v; %s is planned", beta, r, err, planned)
		}
	}
	together := []spec.Values{{"laplacian": spec.Of(combinatorial), "beta": spec.Of(.001)}, {"laplacian": spec.Of(combinatorial), "beta": spec.Of(.05)}}
	needs, err := gramsNeedsOf("diffusion", together, g.Degrees, a.NNZ(), nodes, nil)
	if err != nil || needs.Perhaps != 0 {
		t.Errorf("two together: %+v, %v", needs, err)
	}
}

// The basis of the iteration that finds the least eigenvalue is planned for,
// whatever the limit.
func TestLeastEigenvalueIsPlanned(t *testing.T) {
	const n = 100_000
	degrees := make([]float64, n)
	for i := range degrees {
		degrees[i] = 2
	}
	basis := lanczos.FactoredBytes(n, 1, 0)
	for _, name := range []string{"pseudo-inverse", "commute-time"} {
		for _, limit := range []int64{0, 1 << 20} {
			got, err := blockNeedsOf(name, spec.Values{}, degrees, 2*n, upTo(3), upTo(3), &Settings{Memory: limit})
			if err != nil || got.Bytes < basis {
				t.Errorf("%s within %d: %+v, %v; the basis alone takes %d", name, limit, got, err, basis)
			}
		}
		if got, err := applyBytesOf(name, degrees); err != nil || got < basis {
			t.Errorf("%s: %d bytes to apply it, %v; the basis alone takes %d", name, got, err, basis)
		}
	}
}

// So is that of the search for the largest eigenvalue, where a kernel of A needs
// it for its range or its default.
func TestRadiusIsPlanned(t *testing.T) {
	const n = 100_000
	degrees := make([]float64, n)
	for i := range degrees {
		degrees[i] = 2
	}
	for _, c := range []struct {
		name string
		p    spec.Values
		want bool
	}{
		{"exponential", spec.Values{}, true},
		{"exponential", spec.Values{"matrix": spec.Of(normalizedAdjacency)}, false},
		{"von-neumann", spec.Values{"matrix": spec.Of(adjacency)}, true},
		{"von-neumann", spec.Values{"matrix": spec.Of(adjacency), "alpha": spec.Of(0.1)}, true},
		{"von-neumann", spec.Values{}, false},
	} {
		got, err := blockNeedsOf(c.name, c.p, degrees, 2*n, upTo(3), upTo(3), &Settings{Memory: 1 << 20})
		if err != nil || got.Bytes >= radiusBytes(n) != c.want {
			t.Errorf("%s %v: %+v, %v; the search takes %d", c.name, c.p, got, err, radiusBytes(n))
		}
		// Where it is wanted to many digits a factor may help, if there is room.
		factor := c.want && c.name == "von-neumann"
		free, err := blockNeedsOf(c.name, c.p, degrees, 2*n, upTo(3), upTo(3), nil)
		f := Families().Named(c.name)
		v, _ := f.Resolve(c.p, OnDegrees(degrees))
		planned := slices.ContainsFunc(f.blockMemory(v, degrees, 2*n, upTo(3), upTo(3), 0), func(b spec.Bytes) bool {
			return b.What == "a factor of the graph" && b.Bytes >= iterative.CholeskyBytes(n, 2*n, 0)
		})
		if err != nil || planned != factor {
			t.Errorf("%s %v: %+v, %v; a factor is planned: %v", c.name, c.p, free, err, planned)
		}
		all := free.Bytes
		for memory, with := range map[int64]bool{all: factor, all - 1: false} {
			got, err := blockNeedsOf(c.name, c.p, degrees, 2*n, upTo(3), upTo(3), &Settings{Memory: memory})
			if err != nil || factor && got.Bytes >= all != with || with && got.Perhaps == 0 {
				t.Errorf("%s %v within %d: %+v, %v; with a factor the search takes %d", c.name, c.p, memory, got, err, all)
			}
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
		p    spec.Values
		slow bool
	}{
		{"regularized-laplacian", spec.Values{"laplacian": spec.Of(combinatorial), "alpha": spec.Of(4.0)}, false},
		{"regularized-laplacian", spec.Values{"laplacian": spec.Of(combinatorial), "alpha": spec.Of(1e4)}, true},
		{"regularized-laplacian", spec.Values{"alpha": spec.Of(1e4), "laplacian": spec.Of(normalized)}, true},
		{"von-neumann", spec.Values{"alpha": spec.Of(0.8)}, false},
		{"von-neumann", spec.Values{"alpha": spec.Of(0.9999)}, true},
		{"pagerank", spec.Values{"alpha": spec.Of(0.9999)}, true},
		{"regularized-commute-time", spec.Values{"alpha": spec.Of(0.8)}, false},
		{"regularized-commute-time", spec.Values{"alpha": spec.Of(0.9999)}, true},
	} {
		needs, err := blockNeedsOf(c.name, c.p, g.Degrees, g.A.NNZ(), nodes, nodes[:1], nil)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if c.slow {
			want = iterative.CholeskyBytes(n, g.A.NNZ(), 1)
		}
		if needs.Perhaps != want || needs.Bytes <= want {
			t.Errorf("%s %v: %+v; a factor takes %d", c.name, c.p, needs, want)
		}
		_, r, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes, nodes[:1], &Settings{Memory: needs.Bytes})
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
		e := mustNew(t, newGraph(t, testgraph.Path(n), 1), "pseudo-inverse", spec.Values{"laplacian": spec.Of(combinatorial)}).(*spectral).whole.(*solves)
		if err := e.findLeast(background, 1); err != nil {
			t.Fatal(err)
		}
		sine := math.Sin(math.Pi / (2 * float64(n)))
		if want := 4 * sine * sine; !(e.system.Least <= want*(1+1e-9)) || e.system.Least < 0.8*want {
			t.Errorf("%d nodes: %v, want %v", n, e.system.Least, want)
		}
	}
}

// Of uneven degrees L⁺ is made by L̃, whose eigenvalue is searched for beside what that
// takes: within what is planned without a factor it is found.
func TestMemoryOfASearch(t *testing.T) {
	const n = 20_000
	a := testgraph.Star(n)
	g := newGraph(t, a, 2)
	rows, cols := []int{0, 1, 2, 3}, []int{5, 6}
	for _, name := range []string{"commute-time", "pseudo-inverse"} {
		p := spec.Values{}
		if name == "pseudo-inverse" {
			p["laplacian"] = spec.Of(combinatorial)
		}
		needs, err := blockNeedsOf(name, p, g.Degrees, a.NNZ(), rows, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Matrix(background, mustNew(t, g, name, p), rows, cols, &Settings{Memory: needs.Bytes - needs.Perhaps}); err != nil {
			t.Errorf("%s within %d bytes: %v", name, needs.Bytes-needs.Perhaps, err)
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
	needs, err := blockNeedsOf("exponential", nil, g.Degrees, a.NNZ(), []int{0, 1}, []int{2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Memory = needs.Bytes / 4
	if _, err := New(background, g, "exponential", nil); !errors.Is(err, sparse.ErrMemory) {
		t.Errorf("within %d bytes: %v", g.Memory, err)
	}
	g.Memory = needs.Bytes
	if _, err := New(background, g, "exponential", nil); err != nil {
		t.Errorf("within %d bytes: %v", g.Memory, err)
	}
}

// What a block of one slab allocates is what is planned for it, give or take a
// tenth: vectors that are soon garbage count here.
func TestMemoryIsWhatIsAllocated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 60_000
	a := testgraph.Random(3, n, 3*n, false)
	g := newGraph(t, a, 2)
	nodes := upTo(48)
	for _, c := range []named{
		{"regularized-laplacian", spec.Values{"laplacian": spec.Of(combinatorial)}},
		{"regularized-commute-time", spec.Values{}},
		{"von-neumann", spec.Values{}},
		{"von-neumann", spec.Values{"matrix": spec.Of(adjacency), "alpha": spec.Of(0.01)}},
		{"p-step", spec.Values{"steps": spec.Of(7)}},
		{"diffusion", spec.Values{"laplacian": spec.Of(normalized)}},
		{"matern", spec.Values{"laplacian": spec.Of(normalized)}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Matrix(background, mustNew(t, g, c.name, c.p), nodes, nodes[:16], nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		needs, err := blockNeedsOf(c.name, c.p, g.Degrees, a.NNZ(), nodes, nodes[:16], nil)
		if err != nil {
			t.Fatal(err)
		}
		sure := needs.Bytes - needs.Perhaps
		if taken := int64(after.TotalAlloc - before.TotalAlloc); taken > sure/10*11 || taken < sure/10*9 {
			t.Errorf("%s %v: %d bytes were allocated, %d are planned", c.name, c.p, taken, sure)
		}
	}
}

// What a graph and a kernel on it hold between blocks is within the vectors that every list
// begins with.
func TestVectorsOfTheGraph(t *testing.T) {
	const n = 10_000
	a := testgraph.Random(3, n, 2*n, true)
	for _, c := range symmetricKernels {
		before := inUse()
		g := newGraph(t, a, 1)
		k := mustNew(t, g, c.name, c.p)
		held := inUse() - before
		runtime.KeepAlive(g)
		if runtime.KeepAlive(k); held > spec.Sum(vectorsOf(n)) {
			t.Errorf("%s %v: %d bytes are held, %d are listed", c.name, c.p, held, spec.Sum(vectorsOf(n)))
		}
	}
}

// What solves with I − αA hold near the pole, beside what those with I − αS do, is planned, and
// a quarter of what is planned at least: finding v takes more for a while.
func TestVectorsOfBalancedSolves(t *testing.T) {
	const n = 20_000
	g := newGraph(t, testgraph.Random(3, n, 3*n, false), 1)
	radius, err := On(background, g).Radius(true)
	if err != nil {
		t.Fatal(err)
	}
	held := func(matrix string, alpha float64) int64 {
		before := inUse()
		k := mustNew(t, g, "von-neumann", spec.Values{"matrix": spec.Of(matrix), "alpha": spec.Of(alpha)})
		mustMatrix(t, k, []int{1}, []int{2}, &Settings{Tolerance: 1e-2})
		after := inUse()
		runtime.KeepAlive(k)
		return after - before
	}
	plain := held(normalizedAdjacency, 1-1e-3)
	more := held(adjacency, (1-1e-3)/radius) - plain
	runtime.KeepAlive(g)
	if planned := (work{balanced: true}).bytes(n, 1); more > planned || more < planned/4 {
		t.Errorf("%d bytes more are held, %d are planned", more, planned)
	}
}

// A factor that a limit has no room for is not made, and so not listed: what is listed stays
// within the limit.
func TestFactorsWithinTheLimit(t *testing.T) {
	const n = 10_000
	a := testgraph.Path(n)
	g := newGraph(t, a, 1)
	factors := 0
	for _, c := range []named{
		{"regularized-laplacian", spec.Values{"alpha": spec.Of(1000.0)}},
		{"pseudo-inverse", nil},
		{"matern", spec.Values{"kappa": spec.Of(200.0)}},
	} {
		f := Families().Named(c.name)
		v, err := f.Resolve(c.p, OnDegrees(g.Degrees))
		if err != nil {
			t.Fatal(err)
		}
		list := func(limit int64) []spec.Bytes { return f.blockMemory(v, g.Degrees, a.NNZ(), upTo(n), upTo(40), limit) }
		free := list(0)
		if !slices.ContainsFunc(free, func(b spec.Bytes) bool { return b.What == "a factor of the graph" && b.Bytes > 0 }) {
			continue
		}
		factors++
		if limit := spec.Sum(free) - 1; spec.Sum(list(limit)) > limit {
			t.Errorf("%s within %d: %+v", c.name, limit, list(limit))
		}
		several := func(limit int64) int64 {
			return spec.Sum(f.gramsMemory([]spec.Values{v}, g.Degrees, a.NNZ(), upTo(300), limit))
		}
		if limit := several(0) - 1; several(limit) > limit {
			t.Errorf("%s within %d: %d bytes beside blocks that are kept", c.name, limit, several(limit))
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
	runtime.GC() // pools keep what they have for one
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a block of many columns holds while it hands out its pieces is within its list, and
// at least half of what of that is sure, with as many columns of the root as a limit lets it hold.
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
		{named{"p-step", spec.Values{"steps": spec.Of(2)}}, 0},
		{named{"p-step", spec.Values{"steps": spec.Of(2)}}, 15 << 20},
		{named{"regularized-laplacian", spec.Values{}}, 0},
	} {
		k := mustNew(t, g, c.name, c.p)
		needs, err := blockNeedsOf(c.name, c.p, g.Degrees, a.NNZ(), nodes, nodes, &Settings{Memory: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		before, most := inUse(), int64(0)
		take := func(int, int, *sparse.Block[float64]) error {
			most = max(most, inUse()-before)
			return nil
		}
		if _, err := Block(background, k, nodes, nodes, take, &Settings{Memory: c.limit, Tolerance: 1e-6}); err != nil {
			t.Fatal(err)
		}
		if sure := needs.Bytes - needs.Perhaps; most > sure || 2*most < sure || c.limit > 0 && sure > c.limit {
			t.Errorf("%s within %d: %d bytes are held, %d are listed", c.name, c.limit, most, sure)
		}
	}
}

// A machine's block needs no more than its columns: half steps would hold all of
// them, and functions of one matrix share theirs.
func TestGramsHaveNoHalfSteps(t *testing.T) {
	const n, labels = 100_000, 1000
	degrees := make([]float64, n)
	for i := range degrees {
		degrees[i] = 8
	}
	blocks := int64(8 * labels * labels)
	for _, c := range []named{
		{"p-step", spec.Values{"steps": spec.Of(2)}}, {"diffusion", spec.Values{"laplacian": spec.Of(normalized), "beta": spec.Of(1.0)}}, {"regularized-laplacian", spec.Values{"laplacian": spec.Of(combinatorial), "alpha": spec.Of(0.1)}},
	} {
		one, err := gramsNeedsOf(c.name, []spec.Values{c.p}, degrees, 8*n, upTo(labels), nil)
		if err != nil || one.Bytes > blocks+250e6 {
			t.Errorf("%s: %+v, %v", c.name, one, err)
		}
		other := maps.Clone(c.p)
		for name, x := range other {
			if x != spec.Of(other[name].String()) {
				other[name] = spec.Of(3 * other.Number(name))
			}
		}
		two, err := gramsNeedsOf(c.name, []spec.Values{c.p, other}, degrees, 8*n, upTo(labels), nil)
		if err != nil || two.Bytes > one.Bytes+2*blocks {
			t.Errorf("%s: %+v for two, %+v for one, %v", c.name, two, one, err)
		}
	}
}

// An attempt without the factor does not hide that one before it had one.
func TestFactorIsTold(t *testing.T) {
	c := new(computation)
	const with = "conjugate gradients with a sampled Cholesky factor"
	for _, method := range []string{"conjugate gradients", with, "conjugate gradients"} {
		c.note(2, method)
	}
	if c.report.Method != with || c.report.Sweeps != 6 {
		t.Errorf("%d sweeps, %s", c.report.Sweeps, c.report.Method)
	}
}

// A limit that leaves room for everything changes no plan.
func TestLimitWithRoom(t *testing.T) {
	const n = 3000
	g := newGraph(t, testgraph.Path(n), 2)
	nodes := []int{0, n / 2}
	for _, c := range []named{
		{"diffusion", spec.Values{"laplacian": spec.Of(normalized), "beta": spec.Of(1000.0)}},
		{"matern", spec.Values{"laplacian": spec.Of(combinatorial), "nu": spec.Of(1.0), "kappa": spec.Of(0.01)}},
		{"regularized-laplacian", spec.Values{"laplacian": spec.Of(combinatorial), "alpha": spec.Of(1e4)}},
		{"von-neumann", spec.Values{"alpha": spec.Of(0.9999)}},
		{"pseudo-inverse", spec.Values{"laplacian": spec.Of(combinatorial)}},
	} {
		free, err := blockNeedsOf(c.name, c.p, g.Degrees, g.A.NNZ(), nodes, nodes[:1], nil)
		if err != nil {
			t.Fatal(err)
		}
		limited, err := blockNeedsOf(c.name, c.p, g.Degrees, g.A.NNZ(), nodes, nodes[:1], &Settings{Memory: 1 << 40})
		if err != nil || limited != free {
			t.Errorf("%s: %+v within a limit, %+v without: %v", c.name, limited, free, err)
		}
	}
}

// Functions of several matrices are computed one matrix after the other, so that none takes
// less beside others than by itself.
func TestGramsOfSeveralMatrices(t *testing.T) {
	degrees := make([]float64, 20_000)
	for i := range degrees {
		degrees[i] = 4
	}
	for name, of := range map[string][2]spec.Values{
		"diffusion":   {{"laplacian": spec.Of(normalized)}, {"laplacian": spec.Of(combinatorial)}},
		"exponential": {{"matrix": spec.Of(normalizedAdjacency), "beta": spec.Of(1.0)}, {"matrix": spec.Of(adjacency), "beta": spec.Of(1.0)}},
	} {
		both, err := gramsNeedsOf(name, of[:], degrees, 80_000, upTo(300), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range of {
			alone, err := gramsNeedsOf(name, []spec.Values{v}, degrees, 80_000, upTo(300), nil)
			if err != nil {
				t.Fatal(err)
			}
			if block := int64(8 * 300 * 300); both.Bytes < alone.Bytes+block {
				t.Errorf("%s: both kernels take %d bytes, that of %v alone %d, and a block of the other %d", name, both.Bytes, v, alone.Bytes, block)
			}
		}
	}
}
