package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// grid returns a square grid with a tail of as many nodes, on which Jacobi is slow.
func grid(side int) *sparse.CSR {
	n := side * side
	var e []sparse.Triplet
	edge := func(i, j int) {
		e = append(e, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: 1}, sparse.Triplet{Row: uint32(j), Col: uint32(i), Val: 1})
	}
	for i := range n {
		if i%side+1 < side {
			edge(i, i+1)
		}
		if i+side < n {
			edge(i, i+side)
		}
		edge(n-1+i, n+i)
	}
	a, err := sparse.FromTriplets(2*n, 2*n, e)
	if err != nil {
		panic(err)
	}
	return a
}

func TestLadder(t *testing.T) {
	g := graphOf(t, grid(40))
	n := len(g.Degrees)
	b := randomBlock(1, n, 10)
	for _, c := range []struct {
		alpha  float64
		factor bool
	}{{0.5, false}, {0.999, true}} {
		s, err := VonNeumann(g, true, c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		x := sparse.NewBlock[float64](n, 10)
		res, err := s.SolveTo(ctx, x, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.CompleteCholesky != c.factor || res.Steps > 60 {
			t.Errorf("α = %g: factor %v, %d steps", c.alpha, res.CompleteCholesky, res.Steps)
		}
		if c.factor && slices.Max(res.ColumnSteps) <= firstReview {
			t.Errorf("steps of columns %v", res.ColumnSteps)
		}
		s, err = VonNeumann(g, true, c.alpha)
		if err != nil {
			t.Fatal(err)
		}
		s.Memory = 1000
		y := sparse.NewBlock[float64](n, 10)
		_, err = s.SolveTo(ctx, y, b, nil)
		if errors.Is(err, budget.ErrMemory) != c.factor {
			t.Errorf("α = %g within 1000 bytes: %v", c.alpha, err)
		}
		if err == nil && !slices.Equal(x.Data, y.Data) {
			t.Errorf("α = %g: other bits within 1000 bytes", c.alpha)
		}
	}
}

func TestPseudoInverseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "nodes")
		most := n * (n + 1) / 2
		a := testgraph.Random(rapid.Uint64().Draw(t, "rng seed"), n, rapid.IntRange(0, min(most, 3*n)).Draw(t, "edges"), rapid.Bool().Draw(t, "weighted"))
		g, err := graph.New(ctx, a, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		s, err := ShiftedLaplacian(g, false, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		plus := sparse.NewBlock[float64](n, n)
		if _, err := s.SolveTo(ctx, plus, identity(n, rows), &Settings{Tolerance: 1e-11}); err != nil {
			t.Fatal(err)
		}
		var p, q mat.Dense
		l := denseLaplacian(a, g.Degrees, false)
		p.Mul(l, plus)
		q.Mul(&p, l)
		tol := 1e-9 * (1 + mat.Norm(l, 1)) * (1 + mat.Norm(plus, 1)) // condition times tolerance
		if !mat.EqualApprox(&q, l, tol) {
			t.Fatal("L·L⁺·L is not L")
		}
		if !mat.EqualApprox(plus, plus.T(), tol) {
			t.Fatal("L⁺ is not symmetric")
		}
	})
}

// With such weights, a preconditioned residual can consist of rounding errors while the residual is still large.
func TestUnevenWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(-4, 4), 1, 40).Draw(t, "decimal exponents")
		n := len(weights) + 1
		var e []sparse.Triplet
		for i, exponent := range weights {
			leaf, w := uint32(i+1), math.Pow(10, exponent)
			e = append(e, sparse.Triplet{Row: 0, Col: leaf, Val: w}, sparse.Triplet{Row: leaf, Col: 0, Val: w})
		}
		a, err := sparse.FromTriplets(n, n, e)
		if err != nil {
			t.Fatal(err)
		}
		g, err := graph.New(ctx, a, &graph.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := ShiftedLaplacian(g, false, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		x := sparse.NewBlock[float64](n, n)
		res, err := s.SolveTo(ctx, x, identity(n, rows), &Settings{Tolerance: 1e-11})
		if err != nil && !errors.Is(err, ErrStagnation) {
			t.Fatal(err)
		}
		// rounding errors of computing the residual
		rounding := 1e-13 * slices.Max(g.Degrees) * mat.Norm(x, 2)
		if worst := slices.Max(res.Residual); !(worst <= max(1e-11, rounding)) {
			t.Fatalf("a residual of %g is left where %g is rounding: %v", worst, rounding, err)
		}
	})
}

func TestSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	// Two ranges and more.
	testSameBits(t, grid(70))
	if !testing.Short() {
		testSameBits(t, testgraph.Random(9, 9000, 11000, true))
	}
}

func testSameBits(t *testing.T, a *sparse.CSR) {
	n, _ := a.Dims()
	b := randomBlock(4, n, 41)
	for turn, c := range []struct {
		name string
		make func(g *graph.Graph) (*System, error)
	}{
		{"I − αS", func(g *graph.Graph) (*System, error) { return VonNeumann(g, true, 0.9) }},
		{"L⁺", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, false, 1, 0) }},
		{"L̃⁺", func(g *graph.Graph) (*System, error) { return ShiftedLaplacian(g, true, 1, 0) }},
	} {
		name := c.name
		if testing.Short() && turn > 0 {
			continue // they take many times as many steps
		}
		var want *sparse.Block[float64]
		for _, workers := range testgraph.Workers(turn) {
			g, err := graph.New(ctx, a, &graph.Settings{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			s, err := c.make(g)
			if err != nil {
				t.Fatal(err)
			}
			x := sparse.NewBlock[float64](n, b.Cols)
			if _, err := s.SolveTo(ctx, x, b, nil); err != nil {
				t.Fatal(name, err)
			}
			if want == nil {
				want = x
			}
			sameBits(t, fmt.Sprint(name, ", ", workers, " workers"), x, want)
			part := sparse.NewBlock[float64](n, 3)
			if _, err := s.SolveTo(ctx, part, b.Columns(5, 8), nil); err != nil {
				t.Fatal(name, err)
			}
			sameBits(t, name+", three columns", part, want.Columns(5, 8))
		}
	}
}

func sameBits(t *testing.T, what string, got, want *sparse.Block[float64]) {
	t.Helper()
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			if g := got.Row(i)[j]; math.Float64bits(g) != math.Float64bits(w) {
				t.Fatalf("%s: (%d, %d) is %v, want %v", what, i, j, g, w)
			}
		}
	}
}

func TestParametersOutOfRange(t *testing.T) {
	g := graphOf(t, testgraph.Path(4))
	for name, make := range map[string]func() (*System, error){
		"α = 1":     func() (*System, error) { return VonNeumann(g, true, 1) },
		"α = 0":     func() (*System, error) { return VonNeumann(g, true, 0) },
		"α = NaN":   func() (*System, error) { return VonNeumann(g, false, math.NaN()) },
		"a = 0":     func() (*System, error) { return ShiftedLaplacian(g, false, 0, 1) },
		"c < 0":     func() (*System, error) { return ShiftedLaplacian(g, true, 1, -1) },
		"a = +Inf":  func() (*System, error) { return ShiftedLaplacian(g, false, math.Inf(1), 1) },
		"α = 2 (D)": func() (*System, error) { return VonNeumann(g, false, 2) },
	} {
		if _, err := make(); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	minus, err := sparse.FromTriplets(2, 2, []sparse.Triplet{{Row: 0, Col: 1, Val: -1}, {Row: 1, Col: 0, Val: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newCholesky(ctx, minus, 1, nil, 0, 0); !errors.Is(err, graph.ErrWeight) {
		t.Errorf("factor: %v", err)
	}
}

// No step would reduce these residuals.
func TestRightHandSidesOutOfRange(t *testing.T) {
	g := graphOf(t, testgraph.Path(4))
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1e200} {
		for name, make := range map[string]func() (*System, error){
			"aL + cI": func() (*System, error) { return ShiftedLaplacian(g, false, 1, 1) },
			"L⁺":      func() (*System, error) { return ShiftedLaplacian(g, true, 1, 0) },
			"I − αS":  func() (*System, error) { return VonNeumann(g, true, 0.5) },
		} {
			s, err := make()
			if err != nil {
				t.Fatal(err)
			}
			x, b := sparse.NewBlock[float64](4, 2), sparse.NewBlock[float64](4, 2)
			b.Row(1)[1] = bad
			limited, stop := context.WithTimeout(ctx, time.Minute)
			if _, err = s.SolveTo(limited, x, b, nil); !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), "column 1") {
				t.Errorf("%s, %v: %v", name, bad, err)
			}
			stop()
		}
		s, err := Harmonic(ctx, g, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		f := sparse.NewBlock[float64](4, 1)
		f.Row(0)[0] = bad
		limited, stop := context.WithTimeout(ctx, time.Minute)
		if _, err = s.SolveTo(limited, f, nil, nil); !errors.Is(err, ErrParameter) {
			t.Errorf("harmonic, %v: %v", bad, err)
		}
		stop()
	}
}

// Squares of the refused weights overflow or underflow.
func TestScale(t *testing.T) {
	for _, c := range []struct {
		light, heavy float64
		refused      bool
	}{
		{1e200, 1e200, true}, {1e-200, 1e-200, true}, {1e-101, 1, true}, {1, 1e101, true},
		{math.MaxFloat64, math.MaxFloat64, true}, // degrees are not finite
		{1e-100, 1e-100, false}, {4e99, 4e99, false}, {1e-100, 4e99, false}, {0, 1, false}, {0, 0, false},
	} {
		a, err := sparse.FromTriplets(4, 4, []sparse.Triplet{
			{Row: 0, Col: 1, Val: c.heavy}, {Row: 1, Col: 0, Val: c.heavy},
			{Row: 1, Col: 2, Val: c.heavy}, {Row: 2, Col: 1, Val: c.heavy},
			{Row: 2, Col: 3, Val: c.light}, {Row: 3, Col: 2, Val: c.light},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = graph.New(ctx, a, &graph.Settings{Workers: 1})
		if c.refused != errors.Is(err, graph.ErrScale) || !c.refused && err != nil {
			t.Errorf("weights %g and %g: %v", c.light, c.heavy, err)
		}
	}
}

func TestKnownComponents(t *testing.T) {
	a := testgraph.TwoCliques(4)
	parts, err := sparse.FindComponents(ctx, a, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(ctx, a, &graph.Settings{Components: parts, Workers: 1})
	if err != nil || g.Components != parts {
		t.Errorf("%v, %v", g, err)
	}
	if want := graphOf(t, a); !slices.Equal(g.Degrees, want.Degrees) || !slices.Equal(g.Components.Sizes, want.Components.Sizes) {
		t.Errorf("%v, not %v", g, want)
	}
}

func TestCancel(t *testing.T) {
	g := graphOf(t, grid(30))
	s, err := ShiftedLaplacian(g, false, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := len(g.Degrees)
	s.Sampled = true
	for _, at := range []int{0, 1, 20, 25} {
		stop, cancel := context.WithCancel(ctx)
		x := sparse.NewBlock[float64](n, 3)
		res, err := s.SolveTo(stop, x, randomBlock(1, n, 3), &Settings{Recorder: func(step int, _ []float64) {
			if step == at {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("cancelled at step %d: %v", at, err)
		}
	}
}

// The part of B in the known eigenvectors takes no steps.
func TestEasyVectors(t *testing.T) {
	a := testgraph.Random(6, 300, 330, true)
	g := graphOf(t, a)
	n := len(g.Degrees)
	for name, system := range map[string]func() (*System, error){
		"I − αS":  func() (*System, error) { return VonNeumann(g, true, 0.99) },
		"I + αL":  func() (*System, error) { return ShiftedLaplacian(g, false, 50, 1) },
		"I + αL̃": func() (*System, error) { return ShiftedLaplacian(g, true, 50, 1) },
	} {
		s, err := system()
		if err != nil {
			t.Fatal(err)
		}
		// Another multiple of each component's vector in either column.
		b := sparse.NewBlock[float64](n, 2)
		for i := range n {
			u := 1.0
			if s.Scale != nil {
				u = s.Scale[i]
			}
			b.Row(i)[0], b.Row(i)[1] = u, u*float64(g.Components.Of[i]%3)
		}
		x := sparse.NewBlock[float64](n, 2)
		r, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12})
		if err != nil || r.Steps > 0 {
			t.Errorf("%s: %d steps, error %v", name, r.Steps, err)
		}
		r, err = s.SolveTo(ctx, x, randomBlock(3, n, 2), nil)
		const residuals = 2 // computed by a sweep
		if err != nil || r.Steps == 0 || r.Sweeps != r.Steps+residuals {
			t.Errorf("%s: %d sweeps for %d steps, error %v; the start needs none", name, r.Sweeps, r.Steps, err)
		}
	}
}
