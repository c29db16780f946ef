package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

var background = context.Background()

func mustNew(t testing.TB, g *graph.Graph, name string, p spec.Values) Kernel {
	t.Helper()
	k, err := New(background, g, name, p)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustMatrix(t testing.TB, k Kernel, rows, cols []int, s *Settings) (*sparse.Block[float64], *Report) {
	t.Helper()
	b, r, err := Matrix(background, k, rows, cols, s)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

// text lists the parameters.
func (c named) text() string { return FamilyOf(c.name).Text(c.p) }

// named is a kernel with its parameters.
type named struct {
	name string
	p    spec.Values
}

// symmetricKernels are the kernels that are symmetric and positive semidefinite, with
// parameters.
var symmetricKernels = []named{
	{"diffusion", spec.Values{"laplacian": spec.Word(combinatorial), "beta": spec.Number(1.5)}},
	{"diffusion", spec.Values{"laplacian": spec.Word(normalized), "beta": spec.Number(20)}},
	{"exponential", spec.Values{"beta": spec.Number(0.3)}},
	{"exponential", spec.Values{"matrix": spec.Word(normalizedAdjacency), "beta": spec.Number(2)}},
	{"von-neumann", spec.Values{"alpha": spec.Number(0.95)}},
	{"von-neumann", spec.Values{"matrix": spec.Word(adjacency), "alpha": spec.Number(0.03)}},
	{"regularized-laplacian", spec.Values{"laplacian": spec.Word(combinatorial), "alpha": spec.Number(5)}},
	{"regularized-laplacian", spec.Values{"laplacian": spec.Word(normalized), "alpha": spec.Number(0.5)}},
	{"pseudo-inverse", spec.Values{"laplacian": spec.Word(combinatorial)}},
	{"pseudo-inverse", spec.Values{"laplacian": spec.Word(normalized)}},
	{"regularized-commute-time", spec.Values{"alpha": spec.Number(0.9)}},
	{"p-step", spec.Values{"steps": spec.Int(4)}},
	{"p-step", spec.Values{"shift": spec.Number(3), "steps": spec.Int(3)}},
	{"matern", spec.Values{"laplacian": spec.Word(combinatorial), "nu": spec.Number(1.5), "kappa": spec.Number(2)}},
	{"matern", spec.Values{"laplacian": spec.Word(normalized), "nu": spec.Number(0.3), "kappa": spec.Number(1)}},
	{"modularity", spec.Values{}},
	{"modularity", spec.Values{"rank": spec.Int(3)}},
	{"pagerank", spec.Values{"alpha": spec.Number(0.85), "symmetric": spec.On(true)}},
	{"heat-pagerank", spec.Values{"beta": spec.Number(3), "symmetric": spec.On(true)}},
	{"von-neumann", spec.Values{"alpha": spec.Number(0.995)}},
	{"regularized-laplacian", spec.Values{"laplacian": spec.Word(combinatorial), "alpha": spec.Number(50)}},
	{"pagerank", spec.Values{"alpha": spec.Number(0.999), "symmetric": spec.On(true)}},
	{"vertex", spec.Values{"beta": spec.Number(0.05)}},
}

// asymmetric are the kernels that are not, and the commute time.
var others = []named{
	{"commute-time", spec.Values{}},
	{"diffusion", spec.Values{"laplacian": spec.Word(randomWalk), "beta": spec.Number(2)}},
	{"regularized-laplacian", spec.Values{"laplacian": spec.Word(randomWalk), "alpha": spec.Number(2)}},
	{"matern", spec.Values{"laplacian": spec.Word(randomWalk), "nu": spec.Number(1), "kappa": spec.Number(2)}},
	{"pagerank", spec.Values{"alpha": spec.Number(0.5)}},
	{"heat-pagerank", spec.Values{"beta": spec.Number(3)}},
}

// Blocks of nodes among themselves, by half steps or without, equal their
// transpose to the bit and have no eigenvalue below what their error bound and
// rounding allow, on a weighted graph with isolated nodes and several
// components. Every kernel is among them, but for the one that is a distance.
func TestSymmetricAndSemidefinite(t *testing.T) {
	g := newGraph(t, testgraph.Random(5, 90, 80, true), 2)
	isolated, larger := 0, 0
	for _, size := range g.Components.Sizes {
		if size == 1 {
			isolated++
		} else {
			larger++
		}
	}
	if isolated == 0 || larger < 2 {
		t.Fatalf("%d isolated nodes and %d larger components", isolated, larger)
	}
	for _, name := range Names() {
		if name != "commute-time" && !slices.ContainsFunc(symmetricKernels, func(c named) bool { return c.name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
	halves := map[string]int{}
	for _, c := range symmetricKernels {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			k := mustNew(t, g, c.name, c.p)
			for _, nodes := range [][]int{upTo(90), {7, 3, 80, 3, 0}} {
				b, r := mustMatrix(t, k, nodes, nodes, nil)
				if r.HalfSteps {
					halves[c.name]++
				}
				sym := mat.NewSymDense(len(nodes), nil)
				for i := range nodes {
					for j := range nodes {
						if b.Row(i)[j] != b.Row(j)[i] {
							t.Fatalf("(%d, %d) is %v, (%d, %d) is %v", i, j, b.Row(i)[j], j, i, b.Row(j)[i])
						}
						sym.SetSym(i, j, b.Row(i)[j])
					}
				}
				var e mat.EigenSym
				if !e.Factorize(sym, false) {
					t.Fatal("no eigenvalues")
				}
				m := float64(len(nodes))
				if least := slices.Min(e.Values(nil)); least < -m*(r.ErrorBound+4*epsilon*r.Largest) {
					t.Errorf("the least eigenvalue is %g, with the bound %g", least, r.ErrorBound)
				}
			}
		})
	}
	want := map[string]int{"diffusion": 4, "exponential": 4, "von-neumann": 4, "regularized-laplacian": 4, "p-step": 2,
		"matern": 4, "modularity": 4, "pagerank": 2, "heat-pagerank": 2}
	if fmt.Sprint(halves) != fmt.Sprint(want) {
		t.Errorf("half steps of %v, want %v", halves, want)
	}
}

// Any rows and columns, any memory and any number of workers give the same
// values, and those of nodes among themselves the same bits.
func TestSameBits(t *testing.T) {
	a := testgraph.Random(8, 200, 500, true)
	rows, cols := []int{5, 199, 17, 40, 41, 5}, upTo(140)
	kernels := slices.Concat(symmetricKernels, others)
	if testing.Short() {
		kernels = kernels[:3]
	}
	for _, c := range kernels {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			for _, lists := range [][2][]int{{cols, cols}, {rows, cols}, {cols, rows}} {
				var want *sparse.Block[float64]
				for _, workers := range []int{1, 2, 7} {
					k := mustNew(t, newGraph(t, a, workers), c.name, c.p)
					memory := int64(0)
					for range 5 {
						got, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Memory: memory})
						var over *budget.OverError
						switch {
						case memory == 0:
							memory = 8 << 20
						case errors.As(err, &over):
							memory = over.Need
						default:
							memory /= 4
						}
						if over != nil {
							continue
						}
						if err != nil {
							if errors.Is(err, budget.ErrOver) || strings.Contains(err.Error(), "memory") {
								break
							}
							t.Fatal(err)
						}
						if want == nil {
							want = got
						}
						for i := range want.Data {
							if math.Float64bits(got.Data[i]) != math.Float64bits(want.Data[i]) {
								t.Fatalf("%d workers, %d bytes: element %d is %v, not %v", workers, memory, i, got.Data[i], want.Data[i])
							}
						}
					}
				}
			}
		})
	}
}

// Blocks between different lists agree with the block of all nodes, within
// both bounds.
func TestBlocksAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(9, 120, 200, true), 2)
	rows, cols := []int{0, 119, 17, 40, 17}, []int{17, 3}
	for _, c := range slices.Concat(symmetricKernels, others) {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			k := mustNew(t, g, c.name, c.p)
			all, r0 := mustMatrix(t, k, upTo(120), upTo(120), nil)
			for _, lists := range [][2][]int{{rows, cols}, {cols, rows}} {
				got, r1 := mustMatrix(t, k, lists[0], lists[1], nil)
				want := sparse.NewBlock[float64](got.Rows, got.Cols)
				for i, row := range lists[0] {
					for j, col := range lists[1] {
						want.Row(i)[j] = all.Row(row)[col]
					}
				}
				if e := worstError(t, got, want); e > r0.ErrorBound+r1.ErrorBound {
					t.Errorf("the difference is %g, the bounds are %g and %g", e, r0.ErrorBound, r1.ErrorBound)
				}
			}
		})
	}
}

// The bound holds for loose tolerances too, against a much tighter result.
func TestBoundHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	a := testgraph.Random(10, 400, 1500, true)
	g := newGraph(t, a, 2)
	rows, cols := upTo(70), []int{399, 12, 100}
	for _, c := range slices.Concat(symmetricKernels, others) {
		t.Run(c.name+" "+c.text(), func(t *testing.T) {
			for _, lists := range [][2][]int{{rows, rows}, {rows, cols}} {
				exact, r0 := mustMatrix(t, mustNew(t, g, c.name, c.p), lists[0], lists[1], nil)
				for _, tolerance := range []float64{1e-2, 1e-4, 1e-7} {
					got, r := mustMatrix(t, mustNew(t, g, c.name, c.p), lists[0], lists[1], &Settings{Tolerance: tolerance})
					if e := worstError(t, got, exact); e > r.ErrorBound+r0.ErrorBound {
						t.Errorf("tolerance %g: the error is %g, the bound %g", tolerance, e, r.ErrorBound)
					}
					if r.relative() > tolerance && r.Largest > 1e-3 && &lists[1][0] == &rows[0] && c.name != "commute-time" {
						t.Errorf("tolerance %g: the bound is %g of the largest value", tolerance, r.relative())
					}
				}
			}
		})
	}
}

// On a dense graph a step of a solve makes the residual some ten times smaller,
// so that it is often far below what was asked for and yet not small enough.
func TestTolerancesAreReached(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for seed := range uint64(20) {
		g := newGraph(t, testgraph.Random(seed, 31, 465, true), 1)
		k := mustNew(t, g, "regularized-commute-time", spec.Values{"alpha": spec.Number(0.9)})
		for tolerance := 1e-2; tolerance > 1e-10; tolerance /= 1.3 {
			_, r := mustMatrix(t, k, upTo(31), []int{3, 9, 27}, &Settings{Tolerance: tolerance})
			if r.relative() > tolerance {
				t.Errorf("tolerance %g: the bound is %g of the largest value", tolerance, r.relative())
			}
		}
	}
}

// Errors of a kernel that is similar to a symmetric one grow by the square root of a
// ratio of degrees, and keep to the tolerance nevertheless.
func TestTolerancesAreReachedWithUnevenDegrees(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, a := range []*sparse.CSR{testgraph.Star(80), testgraph.Random(3, 120, 260, true)} {
		g := newGraph(t, a, 1)
		n := len(g.Degrees)
		for _, c := range []named{
			{"diffusion", spec.Values{"laplacian": spec.Word(randomWalk), "beta": spec.Number(2)}},
			{"regularized-laplacian", spec.Values{"laplacian": spec.Word(randomWalk), "alpha": spec.Number(30)}},
			{"pagerank", spec.Values{"alpha": spec.Number(0.98)}},
			{"heat-pagerank", spec.Values{"beta": spec.Number(3)}},
		} {
			k := mustNew(t, g, c.name, c.p)
			for tolerance := 1e-1; tolerance > 1e-15; tolerance /= 1.7 {
				for _, cols := range [][]int{{0, 1, n - 1}, {1, 2, n - 1}, upTo(n)} {
					_, r, err := Matrix(background, k, upTo(n), cols, &Settings{Tolerance: tolerance})
					if err != nil && (tolerance > 1e-10 || !errors.Is(err, ErrTolerance)) {
						t.Fatal(err)
					}
					if err == nil && r.relative() > tolerance {
						t.Errorf("%d nodes, %s, tolerance %g: the bound is %g of the largest value", n, c.name, tolerance, r.relative())
					}
				}
			}
		}
	}
}

// A tolerance that rounding errors keep from being met is refused, or let be, after
// one computation, and what can be promised is.
func TestHopelessTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 4000
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
	k := mustNew(t, g, "diffusion", spec.Values{"laplacian": spec.Word(combinatorial), "beta": spec.Number(20)})
	sweeps := 0
	compute := func(tolerance float64) (*Report, error) {
		sweeps = 0
		_, r, err := Matrix(background, k, upTo(n), []int{5, 70, 900}, &Settings{Tolerance: tolerance, Progress: func(done, _ int) { sweeps = done }})
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

// What a refusal of a tolerance promises is kept, by solves of systems that are all
// but singular too; it is what rounding the values leaves.
func TestPromisedTolerances(t *testing.T) {
	for _, c := range []named{
		{"pagerank", spec.Values{"alpha": spec.Number(1 - 2.5e-13), "symmetric": spec.On(true)}},
		{"pagerank", spec.Values{"alpha": spec.Number(1 - 3e-12)}},
		{"von-neumann", spec.Values{"alpha": spec.Number(1 - 1e-13)}},
		{"regularized-commute-time", spec.Values{"alpha": spec.Number(1 - 1e-9)}},
		{"regularized-laplacian", spec.Values{"laplacian": spec.Word(combinatorial), "alpha": spec.Number(1e9)}},
		{"pseudo-inverse", spec.Values{"laplacian": spec.Word(combinatorial)}},
		{"commute-time", spec.Values{}},
	} {
		for seed := range uint64(8) {
			nodes := 20 + int(seed)
			rng := rand.New(rand.NewPCG(seed, 1))
			var entries []sparse.Triplet
			for i := 1; i < nodes; i++ { // a tree, with uneven weights
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
			if !(promised < 1e-12) {
				t.Errorf("%s, %v, rng seed %d: promised %g only", c.name, c.p, seed, promised)
			}
			if err := compute(promised); err != nil {
				t.Errorf("%s, %v, rng seed %d: promised %g: %v", c.name, c.p, seed, promised, err)
			}
		}
	}
}

// L·L⁺·L = L, for both Laplacians, with several components.
func TestPseudoInverse(t *testing.T) {
	g := newGraph(t, testgraph.Random(11, 60, 70, true), 1)
	if len(g.Components.Sizes) < 3 {
		t.Fatal("the graph has too few components")
	}
	for l, op := range map[string]*sparse.Operator[float64]{
		combinatorial: sparse.NewLaplacian[float64](g.A, g.Degrees),
		normalized:    sparse.NewLaplacianNormalized[float64](g.A, g.Degrees),
	} {
		k := mustNew(t, g, "pseudo-inverse", spec.Values{"laplacian": spec.Word(l)})
		identity := sparse.NewBlock[float64](60, 60)
		for i := range 60 {
			identity.Row(i)[i] = 1
		}
		lap, x, y := sparse.NewBlock[float64](60, 60), sparse.NewBlock[float64](60, 60), sparse.NewBlock[float64](60, 60)
		if err := op.ApplyTo(background, lap, identity); err != nil {
			t.Fatal(err)
		}
		r, err := k.ApplyTo(background, x, lap, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := op.ApplyTo(background, y, x); err != nil {
			t.Fatal(err)
		}
		// ‖L·ΔX‖ ≤ ‖L‖·‖ΔX‖ with ‖L‖ ≤ 2·max d.
		if e, most := worstError(t, y, lap), 2*slices.Max(g.Degrees)*r.ErrorBound+1e-12; e > max(most, 2*r.ErrorBound) {
			t.Errorf("%s: L·L⁺·L differs from L by %g, more than %g", l, e, most)
		}
	}
}

// exp(−(a+b)L) = exp(−aL)·exp(−bL).
func TestSemigroup(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "nodes")
		edges := rapid.IntRange(0, n*(n-1)/4).Draw(t, "edges")
		a := testgraph.Random(rapid.Uint64().Draw(t, "rng seed"), n, edges, true)
		s, u := rapid.Float64Range(0.01, 4).Draw(t, "a"), rapid.Float64Range(0.01, 4).Draw(t, "b")
		g, err := graph.New(background, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		l := rapid.SampledFrom([]string{combinatorial, normalized, randomWalk}).Draw(t, "laplacian")
		of := func(beta float64) Kernel {
			k, err := New(background, g, "diffusion", spec.Values{"laplacian": spec.Word(l), "beta": spec.Number(beta)})
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		sum, _, err := Gram(background, of(s+u), upTo(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := Gram(background, of(u), upTo(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		product := sparse.NewBlock[float64](n, n)
		if _, err := of(s).ApplyTo(background, product, second, nil); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				if d := math.Abs(product.Row(i)[j] - sum.Row(i)[j]); d > 1e-7*max(1, largestOf(sum)) {
					t.Fatalf("(%d, %d) differs by %g", i, j, d)
				}
			}
		}
	})
}

// Closed forms: on the complete graph exp(−βL) is e^−nβ on top of (1−e^−nβ)/n;
// on the cycle a sum of cosines; on the hypercube a power of tanh β.
func TestClosedForms(t *testing.T) {
	const beta = 0.7
	check := func(name string, a sparse.Matrix, want func(i, j int) float64) {
		t.Helper()
		n, _ := a.Dims()
		got, r := mustMatrix(t, mustNew(t, newGraph(t, a, 1), "diffusion", spec.Values{"laplacian": spec.Word(combinatorial), "beta": spec.Number(beta)}), upTo(n), upTo(n), nil)
		for i := range n {
			for j := range n {
				if e := math.Abs(got.Row(i)[j] - want(i, j)); e > r.ErrorBound+1e-14 {
					t.Fatalf("%s (%d, %d): %v, want %v", name, i, j, got.Row(i)[j], want(i, j))
				}
			}
		}
	}
	check("complete", testgraph.Complete(7), func(i, j int) float64 {
		v := -math.Expm1(-7*beta) / 7
		if i == j {
			v += math.Exp(-7 * beta)
		}
		return v
	})
	check("cycle", testgraph.Cycle(9), func(i, j int) (sum float64) {
		for q := range 9 {
			angle := 2 * math.Pi * float64(q) / 9
			sum += math.Exp(-beta*(2-2*math.Cos(angle))) * math.Cos(angle*float64(i-j)) / 9
		}
		return sum
	})
	var edges []sparse.Triplet
	for i := range uint32(16) {
		for b := range 4 {
			edges = append(edges, sparse.Triplet{Row: i, Col: i ^ 1<<b, Val: 1})
		}
	}
	cube, err := sparse.FromTriplets(16, 16, edges)
	if err != nil {
		t.Fatal(err)
	}
	check("hypercube", cube, func(i, j int) float64 {
		v := math.Pow((1+math.Exp(-2*beta))/2, 4)
		for b := range 4 {
			if (i^j)>>b&1 == 1 {
				v *= math.Tanh(beta)
			}
		}
		return v
	})
}

// On a path of unit weights the commute time is twice the number of edges
// times the distance.
func TestCommuteTimeOfPath(t *testing.T) {
	got, r := mustMatrix(t, mustNew(t, newGraph(t, testgraph.Path(12), 1), "commute-time", spec.Values{}), upTo(12), upTo(12), nil)
	for i := range 12 {
		for j := range 12 {
			want := 22 * math.Abs(float64(i-j))
			if e := math.Abs(got.Row(i)[j] - want); e > r.ErrorBound {
				t.Errorf("(%d, %d): %v, want %v, the bound is %g", i, j, got.Row(i)[j], want, r.ErrorBound)
			}
		}
	}
}

// Every row of a PageRank and of its heat kernel is a distribution.
func TestPageRankSums(t *testing.T) {
	g := newGraph(t, testgraph.Random(12, 80, 100, true), 1)
	for _, c := range []struct {
		name string
		p    spec.Values
	}{{"pagerank", spec.Values{"alpha": spec.Number(0.85)}}, {"heat-pagerank", spec.Values{"beta": spec.Number(4)}}} {
		b, _ := mustMatrix(t, mustNew(t, g, c.name, c.p), upTo(80), upTo(80), nil)
		for i := range 80 {
			var sum float64
			for _, v := range b.Row(i) {
				sum += v
			}
			if math.Abs(sum-1) > 1e-8 {
				t.Errorf("%s: row %d sums to %v", c.name, i, sum)
			}
		}
	}
}

// What the least eigenvalue of a singular Laplacian takes does not grow with the
// number of components.
func TestManyComponentsTakeNoMore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	const n = 20_000
	a := testgraph.Random(3, n, n/2, false)
	g := newGraph(t, a, 1)
	if parts := len(g.Components.Sizes); parts < n/4 {
		t.Fatalf("only %d components", parts)
	}
	k := mustNew(t, g, "pseudo-inverse", spec.Values{"laplacian": spec.Word(combinatorial)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Gram(background, k, upTo(5), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 10_000*n {
		t.Errorf("%d bytes a node", got/n)
	}
}

// A graph without edges, and with one node.
func TestNoEdges(t *testing.T) {
	for _, n := range []int{1, 4} {
		a, err := sparse.FromTriplets(n, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := newGraph(t, a, 1)
		for _, c := range []struct {
			name            string
			p               spec.Values
			diagonal, other float64
		}{
			{"diffusion", spec.Values{"laplacian": spec.Word(combinatorial), "beta": spec.Number(2)}, 1, 0},
			{"exponential", spec.Values{"beta": spec.Number(2)}, 1, 0},
			{"von-neumann", spec.Values{"alpha": spec.Number(0.5)}, 1, 0},
			{"von-neumann", spec.Values{"alpha": spec.Number(5), "matrix": spec.Word(adjacency)}, 1, 0},
			{"regularized-laplacian", spec.Values{"laplacian": spec.Word(combinatorial), "alpha": spec.Number(2)}, 1, 0},
			{"pseudo-inverse", spec.Values{"laplacian": spec.Word(combinatorial)}, 0, 0},
			{"pseudo-inverse", spec.Values{"laplacian": spec.Word(normalized)}, 0, 0},
			{"commute-time", spec.Values{}, 0, math.Inf(1)},
			{"regularized-commute-time", spec.Values{"alpha": spec.Number(0.5)}, 0, 0},
			{"p-step", spec.Values{"shift": spec.Number(3), "steps": spec.Int(2)}, 9, 0},
			{"matern", spec.Values{"laplacian": spec.Word(combinatorial), "nu": spec.Number(0.5), "kappa": spec.Number(1)}, 1, 0},
			{"modularity", spec.Values{}, 0, 0},
			{"pagerank", spec.Values{"alpha": spec.Number(0.5)}, 1, 0},
			{"heat-pagerank", spec.Values{"beta": spec.Number(1)}, 1, 0},
		} {
			b, _ := mustMatrix(t, mustNew(t, g, c.name, c.p), upTo(n), upTo(n), nil)
			for i := range n {
				for j, v := range b.Row(i) {
					want := c.other
					if i == j {
						want = c.diagonal
					}
					if v != want && !(math.Abs(v-want) < 1e-12) {
						t.Errorf("%d nodes, %s (%d, %d): %v, want %v", n, c.name, i, j, v, want)
					}
				}
			}
		}
	}
}

// Progress never goes back, and ends with what the report says.
func TestProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(15, 300, 1200, true), 2)
	for _, c := range slices.Concat(symmetricKernels, others) {
		if c.name == "modularity" {
			continue // a dense eigenproblem here
		}
		k := mustNew(t, g, c.name, c.p)
		last, calls := 0, 0
		_, r := mustMatrix(t, k, upTo(200), upTo(200), &Settings{Progress: func(done, expected int) {
			calls++
			if done < last || expected < done {
				t.Errorf("%s: %d of %d after %d", c.name, done, expected, last)
			}
			last = done
		}})
		if calls == 0 || last > r.Sweeps {
			t.Errorf("%s: %d calls, the last at %d of %d sweeps", c.name, calls, last, r.Sweeps)
		}
	}
}

// Pieces cover a block once, whatever the memory.
func TestPiecesCover(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := newGraph(t, testgraph.Random(17, 200, 500, true), 2)
	for _, c := range slices.Concat(symmetricKernels, others) {
		k := mustNew(t, g, c.name, c.p)
		for _, lists := range [][2][]int{{upTo(140), upTo(140)}, {upTo(140), upTo(3)}, {upTo(3), upTo(140)}} {
			for _, memory := range []int64{0, 1<<20 + 1<<19} {
				seen := sparse.NewBlock[float64](len(lists[0]), len(lists[1]))
				_, err := k.Block(background, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
					for i := range piece.Rows {
						for j := range piece.Cols {
							seen.Row(lo + i)[left+j]++
						}
					}
					return nil
				}, &Settings{Memory: memory})
				if err != nil {
					t.Fatalf("%s %v: %v", c.name, c.p, err)
				}
				for i := range seen.Rows {
					for j, times := range seen.Row(i) {
						if times != 1 {
							t.Fatalf("%s %v, %d bytes: (%d, %d) came %v times", c.name, c.p, memory, i, j, times)
						}
					}
				}
			}
		}
	}
}
