package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // blocks are short-lived
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/heatwalk/heatwalk/internal/sched.Abandon.func1"))
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		if name != "karate" && testing.Short() {
			break
		}
		g := testgraph.Load(t, name)
		for _, kd := range kinds {
			for _, m := range methods {
				t.Run(name+"/"+kd.name+"/"+m.name, func(t *testing.T) {
					values := testgraph.Golden(t, fmt.Sprintf("%s/eigval_%s.npy", name, kd.name))
					vectors := testgraph.Golden(t, fmt.Sprintf("%s/eigvec_%s.npy", name, kd.name))
					p := &Problem{A: kd.op(g.A, g.Degrees), Which: kd.which}
					if kd.known != nil {
						p.Known = kd.known(componentsOf(t, g.A), g.Degrees)
					}
					out, err := m.solve(p, values.Rows, &Settings{Tolerance: 1e-12})
					if err != nil {
						t.Fatal(err)
					}
					want := make([]float64, values.Rows)
					var largest float64
					for i := range want {
						want[i] = values.At(i, 0)
						largest = max(largest, math.Abs(want[i]))
					}
					checkPairs(t, p.A, out, want, 1e-10+1e-9*largest)
					compareVectors(t, out, vectors, exactValues(denseOf(t, p.A), kd.which))
				})
			}
		}
	}
}

// compareVectors compares single vectors if gaps determine them, and projectors of complete clusters.
func compareVectors(t *testing.T, p *Pairs, want *sparse.Block[float64], values []float64) {
	t.Helper()
	const gap = 1e-4
	for lo := 0; lo < want.Cols; {
		hi := lo + 1
		for hi < len(values) && math.Abs(values[hi]-values[hi-1]) < gap {
			hi++
		}
		if hi > want.Cols {
			break
		}
		const tolerance = 1e-7
		if hi-lo == 1 {
			for i := range want.Rows {
				if d := math.Abs(p.Vectors.At(i, lo) - want.At(i, lo)); d > tolerance {
					t.Fatalf("vector %d, row %d: %g, want %g", lo, i, p.Vectors.At(i, lo), want.At(i, lo))
				}
			}
		} else {
			for i := range want.Rows {
				for j := range want.Rows {
					var d float64
					for c := lo; c < hi; c++ {
						d += p.Vectors.At(i, c)*p.Vectors.At(j, c) - want.At(i, c)*want.At(j, c)
					}
					if math.Abs(d) > tolerance {
						t.Fatalf("projector of vectors %d to %d, element %d, %d: off by %g", lo, hi-1, i, j, d)
					}
				}
			}
		}
		lo = hi
	}
}

func hypercube(t testing.TB, d int) *sparse.CSR {
	var entries []sparse.Triplet
	n := 1 << d
	for i := range n {
		for b := range d {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(i ^ 1<<b), Val: 1})
		}
	}
	m, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestClosedForms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name  string
		a     *sparse.CSR
		value func(i, n int) float64 // all eigenvalues of L, in any order
	}{
		{"path", testgraph.Path(300), func(i, n int) float64 { return 2 - 2*math.Cos(math.Pi*float64(i)/float64(n)) }},
		{"cycle", testgraph.Cycle(301), func(i, n int) float64 { return 2 - 2*math.Cos(2*math.Pi*float64(i)/float64(n)) }},
		{"complete", testgraph.Complete(300), func(i, n int) float64 {
			if i == 0 {
				return 0
			}
			return float64(n)
		}},
		{"star", testgraph.Star(300), func(i, n int) float64 {
			switch i {
			case 0:
				return 0
			case 1:
				return float64(n)
			}
			return 1
		}},
		{"hypercube", hypercube(t, 9), func(i, _ int) float64 {
			ones := 0
			for ; i > 0; i &= i - 1 {
				ones++
			}
			return 2 * float64(ones)
		}},
	} {
		n, _ := c.a.Dims()
		deg := degreesOf(t, c.a)
		all := make([]float64, n)
		for i := range all {
			all[i] = c.value(i, n)
		}
		slices.Sort(all)
		for _, which := range []Which{Smallest, Largest} {
			for _, m := range methods[1:] {
				t.Run(fmt.Sprintf("%s/%v/%s", c.name, which, m.name), func(t *testing.T) {
					p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, c.a, deg), Which: which}
					want := slices.Clone(all)
					if which == Smallest {
						p.Known = &Known{Components: componentsOf(t, c.a)}
					} else {
						slices.Reverse(want)
					}
					out, err := m.solve(p, 14, &Settings{Tolerance: 1e-9})
					if err != nil {
						t.Fatal(err)
					}
					checkPairs(t, p.A, out, want, 1e-8*out.Norm)
					if m.name == "lanczos" {
						t.Logf("products %d, restarts %d, degree %d", out.Products, out.Restarts, out.Degree)
					}
				})
			}
		}
	}
}

func TestAgainstDense(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, n := range []int{5, 40, 150} {
		for _, k := range []int{1, 3, n / 4, n - 1, n} {
			a := testgraph.Random(uint64(n), n, 3*n/2, true)
			deg := degreesOf(t, a)
			for _, kd := range kinds {
				op := kd.op(a, deg)
				p := &Problem{A: op, Which: kd.which}
				if kd.known != nil {
					p.Known = kd.known(componentsOf(t, a), deg)
				}
				out, err := p.Solve(ctx, max(k, 1), nil)
				if err != nil {
					t.Fatalf("%s, %d of %d: %v", kd.name, k, n, err)
				}
				checkPairs(t, op, out, exactValues(denseOf(t, op), kd.which), 1e-8*(1+out.Norm))
			}
		}
	}
}

func randomGraph(n int) *sparse.CSR { return testgraph.Random(9, n, 4*n, false) }

func TestWorkersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := randomGraph(1500)
	deg := degreesOf(t, a)
	for _, m := range methods[1:] {
		var first *Pairs
		for _, workers := range []int{1, 2, 7} {
			op := sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, deg)
			op.Workers = workers
			p := &Problem{A: op, Known: &Known{Components: componentsOf(t, a), Weights: isolatedOut(deg), Value: 1}}
			out, err := m.solve(p, 8, &Settings{Workers: workers, Tolerance: 1e-5})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = out
				continue
			}
			if !slices.Equal(out.Values, first.Values) || !slices.Equal(out.Vectors.Data, first.Vectors.Data) || !slices.Equal(out.Residuals, first.Residuals) {
				t.Errorf("%s: %d workers give other bits", m.name, workers)
			}
		}
	}
}

func TestKnownAtTheWrongEnd(t *testing.T) {
	a := randomGraph(1000)
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Which: Largest, Known: &Known{Components: componentsOf(t, a)}}
	if _, err := p.Solve(ctx, 5, nil); !errors.Is(err, ErrKnown) {
		t.Errorf("error %v", err)
	}
}

func TestBeyond(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, n := range []int{100, 1500} {
		a := testgraph.Random(5, n, 3*n/2, false) // several components
		known := &Known{Components: componentsOf(t, a)}
		p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Which: Smallest, Known: known}
		count := known.Count(nil)
		for _, m := range methods {
			p.Beyond = false
			all, err := m.solve(p, count+4, nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Beyond = true
			some, err := m.solve(p, 4, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkPairs(t, p.A, some, all.Values[count:], 0)
			for i, v := range some.Values {
				if d := v - all.Values[count+i]; math.Abs(d) > 1e-7 || v < 1e-6 {
					t.Errorf("%d rows, %s: eigenvalue %d is %g, want %g", n, m.name, i, v, all.Values[count+i])
				}
			}
			if n > 100 {
				continue
			}
			if rest, err := m.solve(p, n-count+1, nil); err != nil || len(rest.Values) != n-count {
				t.Errorf("%d rows, %s: not all that there are, error %v", n, m.name, err)
			}
		}
	}
}

type tridiagonalInverse struct {
	deg   []float64
	shift float64
}

func (p tridiagonalInverse) ApplyTo(_ context.Context, dst, r *sparse.Block[float64]) error {
	n := len(p.deg)
	pivot := make([]float64, n)
	for j := range r.Cols {
		for i := range n {
			pivot[i] = p.deg[i] + p.shift
			v := r.Row(i)[j]
			if i > 0 {
				pivot[i] -= 1 / pivot[i-1]
				v += dst.Row(i - 1)[j] / pivot[i-1]
			}
			dst.Row(i)[j] = v
		}
		for i := n - 1; i >= 0; i-- {
			if i+1 < n {
				dst.Row(i)[j] += dst.Row(i + 1)[j]
			}
			dst.Row(i)[j] /= pivot[i]
		}
	}
	return nil
}

// At the lower end of a long path LOBPCG replaces Lanczos.
func TestSolveChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	n := 8000
	a := testgraph.Path(n)
	deg := degreesOf(t, a)
	built := 0
	p := &Problem{
		A: sparse.NewOperator[float64](sparse.Laplacian, a, deg), Which: Smallest, Known: &Known{Components: componentsOf(t, a)},
		Precondition: func(context.Context, int64) (func(ctx context.Context, dst, r *sparse.Block[float64]) error, error) {
			built++
			return tridiagonalInverse{deg: deg, shift: 1e-7}.ApplyTo, nil
		},
	}
	spent := int64(0) // products of Lanczos
	out, err := p.Solve(ctx, 12, &Settings{Tolerance: 1e-11, Progress: func(_ string, done, _ int64) {
		if built == 0 {
			spent = done
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if out.Method != "lobpcg" || out.Restarts > 14 || built != 1 {
		t.Errorf("%v, %d iterations, %d preconditioners", out.Method, out.Restarts, built)
	}
	if spent < 10 || spent > 4000 {
		t.Errorf("given up after %d products", spent)
	}
	want := make([]float64, 12)
	for i := range want {
		want[i] = 2 - 2*math.Cos(math.Pi*float64(i)/float64(n))
	}
	checkPairs(t, p.A, out, want, 1e-12)

	// Lanczos suffices at the other end.
	b := randomGraph(2000)
	p = &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, b, degreesOf(t, b)), Precondition: p.Precondition}
	if out, err = p.Solve(ctx, 3, &Settings{MaxProducts: 1000}); err != nil || out.Method != "lanczos" || built != 1 {
		t.Errorf("%v, %d preconditioners, error %v", out.Method, built, err)
	}

	failure := errors.New("no memory for a factor")
	p = &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, deg), Which: Smallest, Precondition: func(context.Context, int64) (func(ctx context.Context, dst, r *sparse.Block[float64]) error, error) {
		return nil, failure
	}}
	if _, err := p.Solve(ctx, 3, &Settings{Preconditioned: true}); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}

}

// The smallest values are far below the norm.
func TestRelative(t *testing.T) {
	const n = 2000
	a := testgraph.Path(n)
	deg := degreesOf(t, a)
	p := &Problem{
		A: sparse.NewOperator[float64](sparse.Laplacian, a, deg), Which: Smallest, Known: &Known{Components: componentsOf(t, a)}, Beyond: true,
		Precondition: func(context.Context, int64) (func(ctx context.Context, dst, r *sparse.Block[float64]) error, error) {
			return tridiagonalInverse{deg: deg, shift: 1e-7}.ApplyTo, nil
		},
	}
	var iterations [2]int
	for i, relative := range []float64{0, 1. / 20} {
		out, err := p.Solve(ctx, 2, &Settings{Preconditioned: true, Tolerance: 1e-3, Relative: relative})
		if err != nil {
			t.Fatal(err)
		}
		iterations[i] = out.Restarts
		for j, r := range out.Residuals {
			if relative > 0 && r > relative*out.Values[j] {
				t.Errorf("value %g has a residual of %g", out.Values[j], r)
			}
		}
	}
	if iterations[0] >= iterations[1] {
		t.Errorf("%d iterations, and %d for digits of the values", iterations[0], iterations[1])
	}
	// Residuals that rounding leaves are accepted.
	p.Known, p.Beyond = nil, false
	if out, err := p.Solve(ctx, 1, &Settings{Preconditioned: true, Tolerance: 1e-3, Relative: 1. / 20}); err != nil || out.Residuals[0] > 1e-12*out.Norm {
		t.Errorf("of the zero: %v", err)
	}
}

func TestManyComponents(t *testing.T) {
	a := testgraph.Random(3, 3000, 1700, true) // hundreds of isolated nodes
	deg := degreesOf(t, a)
	c := componentsOf(t, a)
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, deg), Which: Smallest, Known: &Known{Components: c}}
	if p.Known.Count(nil) != len(c.Sizes) {
		t.Fatalf("%d vectors for %d components", p.Known.Count(nil), len(c.Sizes))
	}
	out, err := p.Solve(ctx, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkPairs(t, p.A, out, make([]float64, 50), 0)
	if out.Method != "dense" || out.Products > 50 || out.Converged != 50 {
		t.Errorf("%v, %d products, %d converged", out.Method, out.Products, out.Converged)
	}
}

func TestPreconditioned(t *testing.T) {
	a := randomGraph(1000)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a))}
	want, err := p.Solve(ctx, 3, nil)
	if err != nil || want.Method != "lanczos" {
		t.Fatalf("%v, error %v", want, err)
	}
	out, err := p.Solve(ctx, 3, &Settings{Preconditioned: true})
	if err != nil || out.Method != "lobpcg" {
		t.Fatalf("%v, error %v", out, err)
	}
	checkPairs(t, p.A, out, want.Values, 1e-9)
}

// The Laplacian of a complete tripartite graph has the eigenvalues 0, n and n less the size of a part. Images are nearly
// dependent, and rounded parts of a known vector would grow.
func TestFewEigenvalues(t *testing.T) {
	const n, k = 260, 6
	var entries []sparse.Triplet
	for i := range n {
		for j := range n {
			if i%3 != j%3 {
				entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1})
			}
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Which: Smallest, Known: &Known{Components: componentsOf(t, a)}}
	out, err := p.Solve(ctx, k, &Settings{Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]float64{n - 87}, k)
	want[0] = 0
	checkPairs(t, p.A, out, want, 1e-11*n)
}

// Rounded parts of the known vectors would dominate a filter.
func TestKnownFarAway(t *testing.T) {
	const n = 260
	rng := rand.New(rand.NewPCG(1, 2))
	weights := make([]float64, n*n)
	ptr, col, val := []int64{0}, []uint32(nil), []float64(nil)
	for i := range n {
		for j := range n {
			if j > i {
				weights[i*n+j] = 1 + 1e-6*rng.Float64()
				weights[j*n+i] = weights[i*n+j]
			}
			if j != i {
				col, val = append(col, uint32(j)), append(val, weights[i*n+j])
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	a, err := sparse.NewCSR(n, n, ptr, col, val)
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Which: Smallest, Known: &Known{Components: componentsOf(t, a)}, Beyond: true}
	out, err := p.Solve(ctx, 1, nil)
	if err != nil || out.Products > 100 || math.Abs(out.Values[0]-n) > 1e-3 {
		t.Errorf("error %v, result %v", err, out)
	}
}

// For S of a star whose leaves form a ring, the eigenvalues 2/3·cos(2πj/(n−1)) lie far closer
// together than the tolerance, and the known eigenvalue 1 would dominate the filter.
func TestCrowdedBehindKnown(t *testing.T) {
	const n, k = 4001, 12
	var entries []sparse.Triplet
	for i := 1; i < n; i++ {
		next := i%(n-1) + 1
		for _, e := range [][2]int{{0, i}, {i, 0}, {i, next}, {next, i}} {
			entries = append(entries, sparse.Triplet{Row: uint32(e[0]), Col: uint32(e[1]), Val: 1})
		}
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	deg := degreesOf(t, a)
	p := &Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, deg), Known: &Known{Components: componentsOf(t, a), Weights: blocks.Roots(deg), Value: 1}}
	out, err := p.Solve(ctx, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1}
	for j := 1; len(want) < k; j++ {
		value := 2. / 3 * math.Cos(2*math.Pi*float64(j)/(n-1))
		want = append(want, value, value)
	}
	checkPairs(t, p.A, out, want, 1e-9)
	if out.Products > 3000 {
		t.Errorf("%d products", out.Products)
	}
}

// Copies of a graph have more copies of an eigenvalue than a block has columns.
func TestMultiplicities(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 120
	single := testgraph.Random(17, n, 3*n, true)
	dense := denseOf(t, &sparse.Operator[float64]{A: single})
	for _, copies := range []int{5, 8, 13, 20} {
		var entries []sparse.Triplet
		for c := range copies {
			for i := range n {
				for j := range n {
					if v := dense.At(i, j); v != 0 {
						entries = append(entries, sparse.Triplet{Row: uint32(c*n + i), Col: uint32(c*n + j), Val: v})
					}
				}
			}
		}
		a, err := sparse.FromTriplets(copies*n, copies*n, entries)
		if err != nil {
			t.Fatal(err)
		}
		for _, which := range []Which{Largest, Smallest} {
			var want []float64
			for _, v := range exactValues(dense, which) {
				want = append(want, slices.Repeat([]float64{v}, copies)...)
			}
			p := &Problem{A: &sparse.Operator[float64]{A: a}, Which: which}
			out, err := p.Solve(ctx, 2*copies+1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.Method != "lanczos" {
				t.Errorf("%d copies: by %s", copies, out.Method)
			}
			checkPairs(t, p.A, out, want, 1e-8*out.Norm)
		}
	}
}
