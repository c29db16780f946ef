package expm

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// hubs has two hubs, so that its spectrum is wide.
func hubs(n int) *sparse.CSR {
	var entries []sparse.Triplet
	edge := func(i, j int, w float64) {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: w}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: w})
	}
	for i := 2; i < n; i++ {
		edge(i%2, i, 1+float64(i%7)/4)
		if j := (i*i*31 + 7*i) % n; j > i {
			edge(i, j, 0.5)
		}
	}
	edge(0, 1, 3)
	a, err := sparse.FromTriplets(n+2, n+2, entries) // two isolated nodes
	if err != nil {
		panic(err)
	}
	return a
}

func applyBy(t testing.TB, m *Map, b *sparse.Block[float64], method Method, tolerance float64, fs ...Function) ([]*sparse.Block[float64], *Result) {
	t.Helper()
	y := newBlocks(b.Rows, b.Cols, len(fs))
	r, err := m.ApplyTo(ctx, y, b, fs, &Settings{Tolerance: tolerance, method: method})
	if err != nil {
		t.Fatal(err)
	}
	return y, r
}

// Every map with resolvents, many rates in one run.
func TestResolvent(t *testing.T) {
	for gi, a := range []*sparse.CSR{hubs(300), testgraph.Random(11, 90, 70, true), testgraph.Random(3, 120, 300, true), testgraph.Path(60)} {
		if testing.Short() && gi != 1 {
			continue
		}
		g := graphOf(t, a, 2)
		for _, name := range []string{"L", "L̃"} {
			m, e := mapOf(t, g, name), eigenOf(g, name)
			b := randomBlock(3, m.n, 3)
			_, norm, _ := distance(b, b)
			rates := []float64{.3, 1, 2, 3, 50, 400}
			var fs []Function
			for _, r := range rates {
				fs = append(fs, Exp(-r))
			}
			for _, tolerance := range []float64{1e-3, 1e-9} {
				y, r := applyBy(t, m, b, Resolvent, tolerance, fs...)
				for i, f := range fs {
					o := r.Functions[i]
					want := e.function(f.value, b)
					certified(t, fmt.Sprintf("graph %d, %s, rate %g, %g", gi, name, rates[i], tolerance), y[i], want, o, tolerance, 1e-13*norm)
					if o.Method != Resolvent && o.Method != Projection {
						t.Errorf("method %v", o.Method)
					}
				}
			}
		}
	}
}

// Near the rounding limit, solves leave enough accuracy; a series would have more rounding errors.
func TestResolventNearRounding(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a third of a second")
	}
	m := mapOf(t, graphOf(t, hubs(4000), 2), "L")
	b := randomBlock(5, m.n, 4)
	for _, tolerance := range []float64{1e-9, 4e-12, 1e-13} {
		y := newBlocks(m.n, b.Cols, 1)
		r, err := m.ApplyTo(ctx, y, b, []Function{Exp(-20)}, &Settings{Tolerance: tolerance})
		if tolerance < 1e-12 != errors.Is(err, ErrTolerance) {
			t.Fatalf("%g: %v", tolerance, err)
		}
		if o := r.Functions[0]; o.Method != Resolvent || r.Sweeps > 2*r.PredictedSweeps {
			t.Errorf("%g: %v, %d sweeps where %d were expected", tolerance, o.Method, r.Sweeps, r.PredictedSweeps)
		}
	}
}

// Without a part in the null space, results have any size; a second run finds it.
func TestResolventWithoutNullSpace(t *testing.T) {
	g := graphOf(t, hubs(300), 2)
	m, e := mapOf(t, g, "L"), eigenOf(g, "L")
	b := randomBlock(3, m.n, 2)
	m.null.RemoveTo(b, b, 1)
	for _, rate := range []float64{.1, 1, 4} {
		y, r := applyBy(t, m, b, Resolvent, 1e-7, Exp(-rate))
		want := e.function(func(x float64) float64 { return math.Exp(-rate * x) }, b)
		certified(t, fmt.Sprint(rate), y[0], want, r.Functions[0], 1e-7, 1e-14)
	}
}

// Beyond some rate only the null space is left.
func TestChoice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	g := graphOf(t, hubs(4000), 2)
	m := mapOf(t, g, "L")
	b := randomBlock(5, m.n, 4)
	var fs []Function
	for _, r := range []float64{1e4, .001, 100, 5, 10, 20, .01, 1e6} {
		fs = append(fs, Exp(-r))
	}
	y, r := apply(t, m, b, 1e-8, fs...)
	for i, want := range []Method{Projection, Chebyshev, Resolvent, Resolvent, Resolvent, Resolvent, Chebyshev, Projection} {
		if got := r.Functions[i].Method; got != want && !(want == Resolvent && got == Projection) {
			t.Errorf("function %d by %v, want %v", i, got, want)
		}
	}
	// A Chebyshev series in L is independent of the resolvent.
	for _, i := range []int{2, 3, 4, 6} {
		want, s := applyBy(t, m, b, Chebyshev, 2e-9, fs[i])
		certified(t, fmt.Sprint("function ", i), y[i], want[0], r.Functions[i], 1e-8, s.Functions[0].ErrorBound)
		if i == 2 && s.Sweeps < 2*r.Sweeps {
			t.Errorf("%d sweeps, by Chebyshev %d", r.Sweeps, s.Sweeps)
		}
	}
	one, _ := apply(t, m, b, 1e-8, fs[4])
	if d, norm, _ := distance(one[0], y[4]); d > 2e-8*norm {
		t.Errorf("alone and in company: %g of %g", d, norm)
	}
}

func TestMaternByResolvents(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for gi, a := range []*sparse.CSR{hubs(300), testgraph.Random(11, 90, 70, true), testgraph.Path(40)} {
		g := graphOf(t, a, 2)
		for _, name := range []string{"L", "L̃"} {
			m, e := mapOf(t, g, name), eigenOf(g, name)
			b := randomBlock(3, m.n, 3)
			_, norm, _ := distance(b, b)
			for _, c := range [][2]float64{{1e-3, .3}, {1e-3, 1}, {2e-3, 1.5}, {3e-3, 2.7}, {1e-3, 1e-10}, {1e-3, 1 + 1e-10}} {
				if m.Hi <= WideSpectrum*c[0] {
					t.Fatal("the spectrum is narrow")
				}
				for _, tolerance := range []float64{1e-3, 1e-8} {
					y, r := apply(t, m, b, tolerance, Matern(c[0], c[1]))
					want := e.function(func(x float64) float64 { return math.Pow(c[0]+math.Max(x, 0), -c[1]) }, b)
					certified(t, fmt.Sprintf("graph %d, %s, σ %g, ν %g, %g", gi, name, c[0], c[1], tolerance), y[0], want, r.Functions[0], tolerance, 1e-12*norm*math.Pow(c[0], -c[1]))
					if r.Functions[0].Method != Rational {
						t.Errorf("by %v", r.Functions[0].Method)
					}
				}
			}
		}
	}
}

func TestAgainstDenseExponential(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "nodes")
		edges := rapid.IntRange(0, n*(n-1)/4).Draw(rt, "edges")
		a := testgraph.Random(rapid.Uint64().Draw(rt, "rng seed"), n, edges, rapid.Bool().Draw(rt, "weighted"))
		name := rapid.SampledFrom(mapNames).Draw(rt, "map")
		rate := rapid.Float64Range(-3, .5).Draw(rt, "rate")
		g := graphOf(t, a, 1)
		m := mapOf(t, g, name)
		h := dense(g, name)
		var x, exp mat.Dense
		x.Scale(rate, h)
		exp.Exp(&x)
		y := newBlocks(n, n, 1)
		r, err := m.ApplyTo(ctx, y, identity(n, all(n)...), []Function{Exp(rate)}, &Settings{Tolerance: 1e-9})
		if errors.Is(err, ErrTolerance) && m.null == nil {
			rt.Skip("the interval is too wide for the tolerance")
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := sparse.NewBlock[float64](n, n)
		for i := range n {
			for j := range n {
				want.Row(i)[j] = exp.At(i, j)
			}
		}
		_, norm, _ := distance(want, want)
		certified(t, name, y[0], want, r.Functions[0], 1e-9, 1e-12*norm)
	})
}

func TestClosedForms(t *testing.T) {
	const beta, tolerance = .7, 1e-12
	kernel := func(a *sparse.CSR) (*sparse.Block[float64], int) {
		n, _ := a.Dims()
		y, _ := apply(t, mapOf(t, graphOf(t, a, 1), "L"), identity(n, all(n)...), tolerance, Exp(-beta))
		return y[0], n
	}
	check := func(name string, got *sparse.Block[float64], want func(i, j int) float64) {
		for i := range got.Rows {
			for j, v := range got.Row(i) {
				if d := math.Abs(v - want(i, j)); d > 1e-11 {
					t.Fatalf("%s: (%d, %d) is %g, want %g", name, i, j, v, want(i, j))
				}
			}
		}
	}
	y, n := kernel(testgraph.Complete(9))
	check("complete graph", y, func(i, j int) float64 {
		e := math.Exp(-beta * float64(n))
		if i == j {
			return (1 + float64(n-1)*e) / float64(n)
		}
		return (1 - e) / float64(n)
	})
	y, n = kernel(testgraph.Cycle(17))
	check("cycle", y, func(i, j int) (sum float64) {
		for k := range n {
			w := 2 * math.Pi * float64(k) / float64(n)
			sum += math.Exp(-beta*(2-2*math.Cos(w))) * math.Cos(w*float64(i-j)) / float64(n)
		}
		return sum
	})
	const dim = 6
	var entries []sparse.Triplet
	for i := range 1 << dim {
		for d := range dim {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(i ^ 1<<d), Val: 1})
		}
	}
	cube, err := sparse.FromTriplets(1<<dim, 1<<dim, entries)
	if err != nil {
		t.Fatal(err)
	}
	y, _ = kernel(cube)
	check("hypercube", y, func(i, j int) float64 {
		v := 1.0
		for d := range dim {
			sign := 1 - 2*float64((i^j)>>d&1)
			v *= (1 + sign*math.Exp(-2*beta)) / 2
		}
		return v
	})
}

// exp(−(a+b)H) = exp(−aH)·exp(−bH).
func TestSemigroup(t *testing.T) {
	g := graphOf(t, hubs(2000), 2)
	for _, name := range []string{"L", "L̃", "A"} {
		m := mapOf(t, g, name)
		b := randomBlock(1, m.n, 4)
		one, first := apply(t, m, b, 1e-9, Exp(-.25))
		two, r := apply(t, m, one[0], 1e-9, Exp(-1))
		both, s := apply(t, m, b, 1e-9, Exp(-1.25))
		growth := 1.0
		if name == "A" {
			growth = math.Exp(m.Hi)
		}
		limit := first.Functions[0].ErrorBound*growth + r.Functions[0].ErrorBound + s.Functions[0].ErrorBound
		if d, norm, _ := distance(two[0], both[0]); d > limit {
			t.Errorf("%s: %g of %g, bounds %g", name, d, norm, limit)
		}
	}
}

func TestWorkersAgree(t *testing.T) {
	graphs, maps := []*sparse.CSR{hubs(3000), testgraph.Hub()}, []string{"S", "L", "L̃"}
	if testing.Short() {
		graphs, maps = graphs[:1], maps[:1]
	}
	for turn, a := range graphs {
		for i, name := range testgraph.Sample(t, 2-turn, maps) {
			var first []*sparse.Block[float64]
			var bounds []float64
			for _, workers := range testgraph.Workers(turn + i) {
				m := mapOf(t, graphOf(t, a, workers), name)
				fs := []Function{Exp(-.02), Exp(-.5), Matern(.01, .5)}
				if name == "L" {
					fs = append(fs, Exp(-30))
				}
				if name == "S" {
					fs = fs[:2]
				}
				y, r := apply(t, m, randomBlock(2, m.n, 5), 1e-6, fs...)
				if first == nil {
					first = y
					for _, o := range r.Functions {
						bounds = append(bounds, o.ErrorBound)
					}
					continue
				}
				for i := range y {
					if !slices.Equal(y[i].Data, first[i].Data) || r.Functions[i].ErrorBound != bounds[i] {
						t.Errorf("%s, function %d: other bits with %d workers", name, i, workers)
					}
				}
			}
		}
	}
}

func TestManyFunctions(t *testing.T) {
	g := graphOf(t, testgraph.Random(9, 500, 2000, false), 2)
	for _, name := range []string{"L̃", "A"} {
		m := mapOf(t, g, name)
		b := randomBlock(4, m.n, 3)
		fs := []Function{Exp(-.5), Power(2, 3), Exp(-.1), Inverse(100, 1), Exp(0)}
		together, r := apply(t, m, b, 1e-9, fs...)
		most := 0
		for i, f := range fs {
			alone, s := apply(t, m, b, 1e-9, f)
			most = max(most, s.Sweeps)
			if !slices.Equal(alone[0].Data, together[i].Data) {
				t.Errorf("%s, function %d differs in company", name, i)
			}
			if s.Functions[0].ErrorBound != r.Functions[i].ErrorBound {
				t.Errorf("%s, function %d: bound %g, in company %g", name, i, s.Functions[0].ErrorBound, r.Functions[i].ErrorBound)
			}
		}
		if r.Sweeps != most {
			t.Errorf("%s: %d sweeps together, at most %d alone", name, r.Sweeps, most)
		}
	}
}

func isZero(x float64) float64 {
	if x == 0 {
		return 1
	}
	return 0
}

func TestHugeRates(t *testing.T) {
	g := graphOf(t, hubs(300), 2)
	m, e := mapOf(t, g, "L"), eigenOf(g, "L")
	b := randomBlock(4, m.n, 2)
	for _, rate := range []float64{1e7 / m.Hi, 1e6, 1e9, 1e300} {
		y, r := apply(t, m, b, 1e-6, Exp(-rate))
		want := e.function(isZero, b)
		if rate < 1e6 {
			want = e.function(func(x float64) float64 { return math.Exp(-rate * math.Max(x, 0)) }, b)
		}
		certified(t, fmt.Sprint(rate), y[0], want, r.Functions[0], 1e-6, 1e-11)
	}
	// The series with z = 5e6.
	norm := mapOf(t, g, "L̃")
	y, r := applyBy(t, norm, b, Chebyshev, 1e-6, Exp(-1e5))
	want := eigenOf(g, "L̃").function(isZero, b)
	certified(t, "series", y[0], want, r.Functions[0], 1e-6, 1e-11)
}

// On long paths Jacobi is slow.
func TestSampledCholesky(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	n := 1200
	g := graphOf(t, testgraph.Path(n), 2)
	m := mapOf(t, g, "L")
	b := randomBlock(4, n, 3)
	y, r := applyBy(t, m, b, Resolvent, 1e-7, Exp(-1e4))
	if !r.Functions[0].SampledCholesky {
		t.Error("there is no factor")
	}
	want, s := applyBy(t, m, b, Chebyshev, 1e-10, Exp(-1e4))
	certified(t, "path", y[0], want[0], r.Functions[0], 1e-7, s.Functions[0].ErrorBound)
}

func TestPrediction(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for name, a := range map[string]*sparse.CSR{"hubs": hubs(3000), "path": testgraph.Path(600), "sparse": testgraph.Random(3, 1000, 3000, false)} {
		m := mapOf(t, graphOf(t, a, 2), "L")
		b := randomBlock(4, m.n, 2)
		for _, rate := range []float64{1, 100} {
			_, auto := applyBy(t, m, b, "", 1e-6, Exp(-rate))
			_, c := applyBy(t, m, b, Chebyshev, 1e-6, Exp(-rate))
			_, s := applyBy(t, m, b, Resolvent, 1e-6, Exp(-rate))
			best := min(c.Sweeps, s.Sweeps)
			t.Logf("%s, rate %g: %d sweeps (%v, predicted %d), series %d, resolvent %d", name, rate, auto.Sweeps, auto.Functions[0].Method, auto.PredictedSweeps, c.Sweeps, s.Sweeps)
			if auto.Sweeps > best*3/2+10 {
				t.Errorf("%s, rate %g: %d sweeps, the other way %d", name, rate, auto.Sweeps, best)
			}
		}
	}
}

// On a long path the first solve must end before it has cost as much as the series.
func TestFirstSolveIsLimited(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	m := mapOf(t, graphOf(t, testgraph.Path(3000), 2), "L")
	b := randomBlock(4, m.n, 2)
	const rate, tolerance = 1e4, 1e-8
	want, series := applyBy(t, m, b, Chebyshev, tolerance/10, Exp(-rate))
	for _, method := range []Method{"", Resolvent} {
		y, r := applyBy(t, m, b, method, tolerance, Exp(-rate))
		if r.Sweeps > series.Sweeps/3 || !r.Functions[0].SampledCholesky {
			t.Errorf("%q: %d sweeps, by a series %d", method, r.Sweeps, series.Sweeps)
		}
		certified(t, "path", y[0], want[0], r.Functions[0], tolerance, series.Functions[0].ErrorBound)
	}
	// A limit never changes a result.
	over := new(budget.Error)
	if _, err := m.ApplyTo(ctx, newBlocks(m.n, b.Cols, 1), b, []Function{Exp(-rate)}, &Settings{Tolerance: tolerance, Memory: 1}); !errors.As(err, &over) {
		t.Errorf("without memory for a factor: %v", err)
	}
}

// If rounding uses up the tolerance, a single attempt is made.
func TestResolventBeyondRounding(t *testing.T) {
	m := mapOf(t, graphOf(t, hubs(2500), 2), "L")
	b := identity(m.n, 5, 70, 900)
	y := newBlocks(m.n, b.Cols, 1)
	tolerances := []float64{3e-12, 1e-12, 1e-13}
	if testing.Short() {
		tolerances = tolerances[:1]
	}
	for _, tolerance := range tolerances {
		r, err := m.ApplyTo(ctx, y, b, []Function{Exp(-20)}, &Settings{Tolerance: tolerance, method: Resolvent})
		if !errors.Is(err, ErrTolerance) || r.Sweeps > r.PredictedSweeps*3/2 {
			t.Errorf("%g: %d sweeps where %d were expected: %v", tolerance, r.Sweeps, r.PredictedSweeps, err)
		}
	}
}

func TestMaySolve(t *testing.T) {
	g := graphOf(t, hubs(4000), 2)
	m := mapOf(t, g, "L")
	for _, beta := range []float64{.001, .01, 5, 20} {
		_, r := apply(t, m, randomBlock(7, m.n, 2), 1e-8, Exp(-beta))
		got, solves := r.Functions[0].Method, MaySolve(sparse.Laplacian, DiagonalOf(nil, g.Degrees), beta)
		if solves == m.SeriesOnly([]Function{Exp(-beta)}) || solves != (beta > 1) || solves != (got != Chebyshev) {
			t.Errorf("β = %g by %v; resolvents are predicted: %v", beta, got, solves)
		}
	}
}

func TestBoundOfOneColumn(t *testing.T) {
	g := graphOf(t, hubs(300), 1)
	b := randomBlock(3, 302, 1)
	for _, name := range []string{"L", "L̃"} {
		m := mapOf(t, g, name)
		for _, c := range []struct {
			f      Function
			method Method
		}{{Exp(-0.5), Chebyshev}, {Exp(-3), Resolvent}, {Exp(-1e9), Projection}, {Matern(1e-3, 2), Rational}} {
			settings := &Settings{Tolerance: 1e-11, method: c.method}
			if c.method == Projection || c.method == Rational {
				settings.method = ""
			}
			r, err := m.ApplyTo(ctx, newBlocks(302, 1, 1), b, []Function{c.f}, settings)
			if err != nil && !errors.Is(err, ErrTolerance) {
				t.Fatal(err)
			}
			o := r.Functions[0]
			if o.Method != c.method || math.Abs(o.ErrorBound/o.ColumnBound[0]-1) > 1e-9 {
				t.Errorf("%s, %v: the block has the bound %v, its column %v", name, o.Method, o.ErrorBound, o.ColumnBound[0])
			}
		}
	}
}

// The bound is sharp if all coefficients have the same sign.
func TestSensitivity(t *testing.T) {
	coef := []float64{1, 0.5, 0.25, 0.125, 1, 0.0625}
	s, end := newExpansion(coef, 0), len(coef)-1
	for j := range end {
		worst := 0.0
		for _, mu := range []float64{0, 0.3, 0.7, 1} {
			sum := func(wrong float64) (y float64) {
				before, now := 0.0, 1.0
				y = coef[0]
				for i := range end {
					x := mu * now
					if i == j {
						x += wrong
					}
					next := 2*(2*x-now) - before
					if i == 0 {
						next = 2*x - now
					}
					before, now = now, next
					y += coef[i+1] * now
				}
				return y
			}
			worst = max(worst, math.Abs(sum(1)-sum(0)))
		}
		if said := s.sensitivities(end)[j]; math.Abs(said-worst) > 1e-12*worst {
			t.Errorf("solve %d: %v is said, %v seen", j, said, worst)
		}
	}
}
