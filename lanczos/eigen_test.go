package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

func degreesOf(t testing.TB, a sparse.Matrix) []float64 {
	t.Helper()
	deg, err := sparse.Degrees(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return deg
}

func componentsOf(t testing.TB, a sparse.Matrix) *sparse.Components {
	t.Helper()
	c, err := sparse.FindComponents(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// roots returns d^½, with 1 in place of 0.
func roots(deg []float64) []float64 {
	r := make([]float64, len(deg))
	for i, d := range deg {
		r[i] = 1
		if d > 0 {
			r[i] = math.Sqrt(d)
		}
	}
	return r
}

// denseOf returns the matrix of a map.
func denseOf(t testing.TB, a sparse.Applier[float64]) *mat.SymDense {
	t.Helper()
	n, _ := a.Dims()
	x, y := sparse.NewBlock[float64](n, n), sparse.NewBlock[float64](n, n)
	for i := range n {
		x.Row(i)[i] = 1
	}
	if err := a.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
		t.Fatal(err)
	}
	m := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			m.SetSym(i, j, (y.At(i, j)+y.At(j, i))/2)
		}
	}
	return m
}

// spectrum returns all eigenvalues by gonum, from the wanted end.
func spectrum(m *mat.SymDense, which Which) []float64 {
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		panic("eigenvalues")
	}
	v := e.Values(nil)
	if which == Largest {
		slices.Reverse(v)
	}
	return v
}

// checkPairs compares values, and holds vectors to orthonormality and to the
// residuals that were reported, by other roads.
func checkPairs(t *testing.T, a sparse.Applier[float64], p *Pairs, want []float64, tolerance float64) {
	t.Helper()
	k, n := len(p.Values), p.Vectors.Rows
	for i, v := range p.Values {
		if d := math.Abs(v - want[i]); d > tolerance {
			t.Errorf("value %d is %.15g, want %.15g", i, v, want[i])
		}
	}
	y := sparse.NewBlock[float64](n, k)
	if err := a.StepTo(ctx, y, p.Vectors, sparse.Step[float64]{Alpha: 1}); err != nil {
		t.Fatal(err)
	}
	for i := range k {
		var square float64
		for r := range n {
			d := y.At(r, i) - p.Values[i]*p.Vectors.At(r, i)
			square += d * d
		}
		if got, res := p.Residuals[i], math.Sqrt(square); math.Abs(got-res) > 1e-6*res+1e-14*(1+p.Norm) {
			t.Errorf("residual %d is %g, reported %g", i, res, got)
		}
		for j := range i + 1 {
			var dot float64
			for r := range n {
				dot += p.Vectors.At(r, i) * p.Vectors.At(r, j)
			}
			if i == j {
				dot--
			}
			if math.Abs(dot) > 1e-11 {
				t.Errorf("vectors %d and %d: product off by %g", i, j, dot)
			}
		}
	}
}

// A problem of each kind that the package is made for.
type kind struct {
	name  string
	op    func(a *sparse.CSR, deg []float64) *sparse.Operator[float64]
	which Which
	known func(c *sparse.Components, deg []float64) *Known
}

func isolatedOut(deg []float64) []float64 {
	r := make([]float64, len(deg))
	for i, d := range deg {
		r[i] = math.Sqrt(d)
	}
	return r
}

var kinds = []kind{
	{"A_largest", func(a *sparse.CSR, _ []float64) *sparse.Operator[float64] { return &sparse.Operator[float64]{A: a} }, Largest, nil},
	{"S_largest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewNormalizedAdjacency[float64](a, d)
	}, Largest, func(c *sparse.Components, d []float64) *Known { return NewKnown(c, isolatedOut(d), 1) }},
	{"M_largest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewModularity[float64](a, d, 1)
	}, Largest, nil},
	{"M_smallest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewModularity[float64](a, d, 1)
	}, Smallest, nil},
	{"L_smallest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewLaplacian[float64](a, d)
	}, Smallest, func(c *sparse.Components, _ []float64) *Known { return NewKnown(c, nil, 0) }},
	{"Lnorm_smallest", func(a *sparse.CSR, d []float64) *sparse.Operator[float64] {
		return sparse.NewLaplacianNormalized[float64](a, d)
	}, Smallest, func(c *sparse.Components, d []float64) *Known { return NewKnown(c, roots(d), 0) }},
}

// methods are the ways to eigenpairs; the iterations are forced on small maps.
var methods = []struct {
	name  string
	solve func(p *Problem, k int, s *Settings) (*Pairs, error)
}{
	{"dense", func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.Lanczos(ctx, k, s) }},
	{"lanczos", func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.forced(k, s, (*solve).byLanczos) }},
	{"lobpcg", func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.forced(k, s, (*solve).byLOBPCG) }},
}

func (p *Problem) forced(k int, s *Settings, by func(w *solve, ctx context.Context) (*Pairs, error)) (*Pairs, error) {
	w, err := p.prepare(k, s)
	if err != nil {
		return nil, err
	}
	return by(w, ctx)
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"karate", "wrand60", "sbm300"} {
		if name == "sbm300" && testing.Short() {
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
					compareVectors(t, out, vectors, spectrum(denseOf(t, p.A), kd.which))
				})
			}
		}
	}
}

// compareVectors compares single vectors where the gaps determine them, and
// projectors of clusters, from all values. A cluster that is cut at the end is
// left out.
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

// hypercube returns the graph of the d-cube.
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
					p := &Problem{A: sparse.NewLaplacian[float64](c.a, deg), Which: which}
					want := slices.Clone(all)
					if which == Smallest {
						p.Known = NewKnown(componentsOf(t, c.a), nil, 0)
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
				out, err := p.Lanczos(ctx, max(k, 1), nil)
				if err != nil {
					t.Fatalf("%s, %d of %d: %v", kd.name, k, n, err)
				}
				checkPairs(t, op, out, spectrum(denseOf(t, op), kd.which), 1e-8*(1+out.Norm))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	a := testgraph.Path(10)
	p := &Problem{A: &sparse.Operator[float64]{A: a}}
	for _, k := range []int{-1, 0, 11} {
		if _, err := p.Lanczos(ctx, k, nil); err == nil || err.Error() != fmt.Sprintf("lanczos: %d eigenpairs of a map with 10 rows; ask for 1 to 10", k) {
			t.Errorf("k = %d: error %v", k, err)
		}
	}
	err := (&Settings{Tolerance: 2, MaxProducts: -1, Patience: -1, Basis: -1, Memory: -1}).Validate()
	for _, part := range []string{"tolerance", "product limit", "patience", "basis", "memory"} {
		if err == nil || !contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

func contains(s, part string) bool {
	for i := range len(s) - len(part) + 1 {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

// randomGraph is connected and large enough for the iterations.
func randomGraph(n int) *sparse.CSR { return testgraph.Random(9, n, 4*n, false) }

func TestWorkersAgree(t *testing.T) {
	a := randomGraph(1500)
	deg := degreesOf(t, a)
	for _, m := range methods[1:] {
		var first *Pairs
		for _, workers := range []int{1, 2, 7} {
			op := sparse.NewNormalizedAdjacency[float64](a, deg)
			op.Workers = workers
			p := &Problem{A: op, Known: NewKnown(componentsOf(t, a), isolatedOut(deg), 1)}
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

func TestLimits(t *testing.T) {
	a := randomGraph(2000)
	deg := degreesOf(t, a)
	p := &Problem{A: sparse.NewNormalizedAdjacency[float64](a, deg)}
	for _, m := range methods[1:] {
		out, err := m.solve(p, 10, &Settings{MaxProducts: 15})
		if !errors.Is(err, ErrIterationLimit) || out == nil {
			t.Fatalf("%s: error %v, result %v", m.name, err, out != nil)
		}
		if out.Converged == 10 {
			t.Errorf("%s: all converged", m.name)
		}
		checkPairs(t, p.A, out, out.Values, 0)
	}
	if _, err := p.Lanczos(ctx, 10, &Settings{Memory: 1 << 16}); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v", err)
	}
	if _, err := p.LOBPCG(ctx, 10, &Settings{Memory: 1 << 16}); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v", err)
	}
	// A smaller basis does too.
	w, _ := p.prepare(10, nil)
	out, err := p.Lanczos(ctx, 10, &Settings{Memory: w.bytes(40)})
	if err != nil || out.Basis > 40 {
		t.Errorf("basis %d, error %v", out.Basis, err)
	}
}

func TestCancel(t *testing.T) {
	a := randomGraph(5000)
	deg := degreesOf(t, a)
	p := &Problem{A: sparse.NewNormalizedAdjacency[float64](a, deg)}
	for _, m := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			stop, cancel := context.WithCancel(ctx)
			_, err := p.Lanczos(stop, 20, &Settings{Progress: func(Progress) { cancel() }})
			cancel()
			return err
		},
		func(ctx context.Context) error {
			stop, cancel := context.WithCancel(ctx)
			_, err := p.LOBPCG(stop, 20, &Settings{Progress: func(Progress) { cancel() }})
			cancel()
			return err
		},
	} {
		if err := m(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

func TestKnownAtTheWrongEnd(t *testing.T) {
	a := randomGraph(1000)
	p := &Problem{A: sparse.NewLaplacian[float64](a, degreesOf(t, a)), Which: Largest, Known: NewKnown(componentsOf(t, a), nil, 0)}
	if _, err := p.Lanczos(ctx, 5, nil); !errors.Is(err, ErrKnown) {
		t.Errorf("error %v", err)
	}
}

// TestProjection removes known vectors of components of many sizes, and
// compares with dot products of the whole vectors.
func TestProjection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := 20000
	c := &sparse.Components{Of: make([]uint32, n), Sizes: make([]int, 40)}
	weights := make([]float64, n)
	for i := range n {
		g := 0
		if rng.IntN(2) == 0 {
			g = rng.IntN(len(c.Sizes))
		}
		c.Of[i] = uint32(g)
		c.Sizes[g]++
		weights[i] = 1 + rng.Float64()
		if g == 3 {
			weights[i] = 0
		}
	}
	k := NewKnown(c, weights, 0)
	if k.Count() != len(c.Sizes)-1 {
		t.Fatalf("%d vectors", k.Count())
	}
	x := sparse.NewBlock[float64](n, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	before := slices.Clone(x.Data)
	p := projection{Known: k, workers: 2}
	if err := p.remove(ctx, x); err != nil {
		t.Fatal(err)
	}
	v := sparse.NewBlock[float64](n, 1)
	want := before
	for g := range k.Count() {
		k.vectorTo(v, 0, g)
		for j := range 3 {
			var dot, length float64
			for i := range n {
				dot += v.Row(i)[0] * before[i*x.Stride+j]
				length += v.Row(i)[0] * v.Row(i)[0]
			}
			if math.Abs(length-1) > 1e-12 {
				t.Fatalf("vector %d has length² %g", g, length)
			}
			for i := range n {
				want[i*x.Stride+j] -= dot * v.Row(i)[0]
			}
		}
	}
	for i := range n {
		for j := range 3 {
			if d := x.Row(i)[j] - want[i*x.Stride+j]; math.Abs(d) > 1e-12 {
				t.Fatalf("row %d, column %d: off by %g", i, j, d)
			}
		}
	}
}

// tridiagonalInverse is the exact inverse of the path's L + shift·I.
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

// TestSolveChanges: at the lower end of a long path Lanczos is given up, and
// LOBPCG with the inverse needs few iterations.
func TestSolveChanges(t *testing.T) {
	n := 2000
	a := testgraph.Path(n)
	deg := degreesOf(t, a)
	built := 0
	p := &Problem{
		A: sparse.NewLaplacian[float64](a, deg), Which: Smallest, Known: NewKnown(componentsOf(t, a), nil, 0),
		Precondition: func(context.Context) (Preconditioner, error) {
			built++
			return tridiagonalInverse{deg: deg, shift: 1e-7}, nil
		},
	}
	out, err := p.Solve(ctx, 12, &Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(err)
	}
	if out.Method != LOBPCG || out.Restarts > 12 || built != 1 {
		t.Errorf("%v, %d iterations, %d preconditioners", out.Method, out.Restarts, built)
	}
	want := make([]float64, 12)
	for i := range want {
		want[i] = 2 - 2*math.Cos(math.Pi*float64(i)/float64(n))
	}
	checkPairs(t, p.A, out, want, 1e-12)

	// The other end of a random graph is easy for Lanczos.
	b := randomGraph(2000)
	p = &Problem{A: sparse.NewNormalizedAdjacency[float64](b, degreesOf(t, b)), Precondition: p.Precondition}
	if out, err = p.Solve(ctx, 3, &Settings{MaxProducts: 1000}); err != nil || out.Method != Lanczos || built != 1 {
		t.Errorf("%v, %d preconditioners, error %v", out.Method, built, err)
	}

	failure := errors.New("no memory for a factor")
	p = &Problem{A: sparse.NewLaplacian[float64](a, deg), Precondition: func(context.Context) (Preconditioner, error) { return nil, failure }}
	if _, err := p.LOBPCG(ctx, 3, nil); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

// TestManyComponents: more known vectors than anyone asks for, of all sizes.
func TestManyComponents(t *testing.T) {
	a := testgraph.Random(3, 3000, 1700, true) // hundreds of isolated nodes
	deg := degreesOf(t, a)
	c := componentsOf(t, a)
	p := &Problem{A: sparse.NewLaplacian[float64](a, deg), Which: Smallest, Known: NewKnown(c, nil, 0)}
	if p.Known.Count() != len(c.Sizes) {
		t.Fatalf("%d vectors for %d components", p.Known.Count(), len(c.Sizes))
	}
	out, err := p.Lanczos(ctx, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkPairs(t, p.A, out, make([]float64, 50), 0)
	if out.Method != Dense || out.Products > 50 || out.Converged != 50 {
		t.Errorf("%v, %d products, %d converged", out.Method, out.Products, out.Converged)
	}
}

// TestNotFinite: a map that overflows is an error, not an endless search.
func TestNotFinite(t *testing.T) {
	for _, n := range []int{50, 3000} {
		a := testgraph.Path(n)
		p := &Problem{A: &sparse.Operator[float64]{A: a, Scale: math.Inf(1)}}
		if _, err := p.Lanczos(ctx, 3, nil); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%d rows: error %v", n, err)
		}
		if _, err := p.LOBPCG(ctx, 3, nil); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%d rows, LOBPCG: error %v", n, err)
		}
	}
}

// TestOrthonormalize splits columns that depend on each other, on the basis or
// on nothing, and columns of very different lengths.
func TestOrthonormalize(t *testing.T) {
	n := 700
	rng := rand.New(rand.NewPCG(1, 1))
	e := newEngine(n, 2)
	fill := func(_ context.Context, w columns) error {
		for i := range n {
			for j := range w.width() {
				column(w.panel(i/segment), j, w.width())[i%segment] = rng.NormFloat64()
			}
		}
		return nil
	}
	set := func(v *basis, j int, of func(i int) float64) {
		for i := range n {
			column(v.panel(i/segment, j), 0, 1)[i%segment] = of(i)
		}
	}
	at := func(v *basis, i, j int) float64 { return column(v.panel(i/segment, j), 0, 1)[i%segment] }
	o := orthonormalizer{engine: e, fill: fill}
	v := newBasis(n, 14)
	if err := fill(ctx, v.slice(0, 10)); err != nil {
		t.Fatal(err)
	}
	c, r := make([]float64, 10*10), make([]float64, 10*10)
	if width, err := o.run(ctx, v.slice(0, 0), v.slice(0, 10), 0, c, r); err != nil || width != 10 {
		t.Fatal(width, err)
	}
	for name, of := range map[string]func(i, j int) float64{
		"random":     func(_, _ int) float64 { return rng.NormFloat64() },
		"equal":      func(i, _ int) float64 { return math.Sin(float64(i)) },
		"nearly":     func(i, j int) float64 { return math.Sin(float64(i)) + 1e-9*float64(j)*math.Cos(float64(i*j)) },
		"in V":       func(i, j int) float64 { return at(v, i, j) + at(v, i, 9) },
		"near V":     func(i, j int) float64 { return at(v, i, j) + 1e-10*rng.NormFloat64() },
		"lengths":    func(_, j int) float64 { return math.Pow(1e4, float64(-j)) * rng.NormFloat64() },
		"zero":       func(_, _ int) float64 { return 0 },
		"one is":     func(i, j int) float64 { return float64(j % 2 * i) },
		"very small": func(_, _ int) float64 { return 1e-100 * rng.NormFloat64() },
	} {
		before := newBasis(n, 4)
		for j := range 4 {
			set(v, 10+j, func(i int) float64 { return of(i, j) })
			set(before, j, func(i int) float64 { return at(v, i, 10+j) })
		}
		o.longest = 0
		c, r := make([]float64, 10*4), make([]float64, 4*4)
		width, err := o.run(ctx, v.slice(0, 10), v.slice(10, 14), 0, c, r)
		if err != nil || width != 4 {
			t.Fatalf("%s: width %d, error %v", name, width, err)
		}
		for a := range 14 {
			for b := range a + 1 {
				var dot float64
				for i := range n {
					dot += at(v, i, a) * at(v, i, b)
				}
				if a == b {
					dot--
				}
				if math.Abs(dot) > 1e-14 {
					t.Errorf("%s: columns %d and %d: off by %g", name, a, b, dot)
				}
			}
		}
		for j := range 4 {
			var size, off float64
			for i := range n {
				sum := at(before, i, j)
				size = math.Hypot(size, sum)
				for k := range 10 {
					sum -= at(v, i, k) * c[k*4+j]
				}
				for k := range 4 {
					sum -= at(v, i, 10+k) * r[k*4+j]
				}
				off = math.Hypot(off, sum)
			}
			if off > 1e-12*size && off > 1e-13*o.longest {
				t.Errorf("%s: column %d of length %g is missed by %g", name, j, size, off)
			}
		}
	}
}

// TestDecomposition holds the relation M·V = V·H + Q·R to account, column by
// column, through restarts and changes of the filter. One eigenvalue of the
// filtered map is ten thousand times the others.
func TestDecomposition(t *testing.T) {
	a := randomGraph(2000)
	p := &Problem{A: sparse.NewNormalizedAdjacency[float64](a, degreesOf(t, a))}
	w, err := p.prepare(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &w.krylov
	x, y := sparse.NewBlock[float64](w.n, width), sparse.NewBlock[float64](w.n, width)
	relations := 0
	w.s.Progress = func(Progress) {
		entry := func(i, c int) float64 { return column(k.v.panel(i/segment, c), 0, 1)[i%segment] }
		for at := 0; at < k.size; at += width {
			if err := k.e.unpack(ctx, x, k.v.slice(at, at+width)); err != nil {
				t.Fatal(err)
			}
			image, err := k.f.apply(ctx, k.a, x, y)
			if err != nil {
				t.Fatal(err)
			}
			var off float64
			for j := range width {
				for i := range w.n {
					left := image.At(i, j)
					for c := range k.size {
						left -= entry(i, c) * k.h[c*k.stride+at+j]
					}
					if at+width == k.size {
						for c := range k.block {
							left -= entry(i, k.size+c) * k.r[c*width+j]
						}
					} else if k.last == 0 {
						continue
					}
					off = math.Hypot(off, left)
				}
			}
			if off > 1e-14*k.theta[0] {
				t.Errorf("degree %d, columns from %d on: off by %g, the map has norm %g", k.f.degree, at, off, k.theta[0])
			}
		}
		relations++
	}
	out, err := w.byLanczos(ctx)
	if err != nil || relations < 3 || out.Degree < 5 {
		t.Errorf("%d decompositions, degree %d, error %v", relations, out.Degree, err)
	}
}

// TestFilter compares the filter with the cosines that define it, on
// eigenvectors of a path, and its inverse and slope with the polynomial.
func TestFilter(t *testing.T) {
	n := 40
	op := sparse.NewLaplacian[float64](testgraph.Path(n), degreesOf(t, testgraph.Path(n)))
	chebyshev := func(d int, t float64) float64 {
		before, now := 1.0, t
		for range d - 1 {
			before, now = now, 2*t*now-before
		}
		return now
	}
	for _, sign := range []float64{1, -1} {
		for _, degree := range []int{1, 3, 5, 9} {
			f := filter{sign: sign, centre: sign * 1.7, half: 1.2, degree: degree}
			x, y := sparse.NewBlock[float64](n, 1), sparse.NewBlock[float64](n, 1)
			for k := range n {
				lambda := sign * (2 - 2*math.Cos(math.Pi*float64(k)/float64(n)))
				want := lambda
				if degree > 1 {
					want = chebyshev(degree, (lambda-f.centre)/f.half)
				}
				v := func(i int) float64 { return math.Cos(math.Pi * float64(k) * (float64(i) + 0.5) / float64(n)) }
				for i := range n {
					x.Row(i)[0] = v(i)
				}
				image, err := f.apply(ctx, op, x, y)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					if d := image.At(i, 0) - want*v(i); math.Abs(d) > 1e-9 { // the polynomial reaches 1e5 elsewhere
						t.Fatalf("sign %g, degree %d, eigenvector %d: off by %g", sign, degree, k, d)
					}
				}
				if lambda < f.centre+f.half {
					continue
				}
				if d := f.lambda(want) - lambda; math.Abs(d) > 1e-12 {
					t.Errorf("degree %d: eigenvalue %g from %g: off by %g", degree, lambda, want, d)
				}
				for mu := f.centre - f.half; mu < f.centre+f.half; mu += 0.01 {
					value := mu
					if degree > 1 {
						value = chebyshev(degree, (mu-f.centre)/f.half)
					}
					if slope := (want - value) / (lambda - mu); slope < f.slope(want)*(1-1e-12) {
						t.Fatalf("degree %d: slope %g from %g to %g, bound %g", degree, slope, mu, lambda, f.slope(want))
					}
				}
			}
		}
	}
}
