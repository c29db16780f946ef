package iterative

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var ctx = context.Background()

func nullSpace(c *sparse.Components, weights []float64) *blocks.Disjoint {
	return blocks.NewDisjoint(nil, c, weights)
}

func randomBlock(rngSeed uint64, rows, cols int) *sparse.Block[float64] {
	rng := rand.New(rand.NewPCG(rngSeed, uint64(cols)))
	b := sparse.NewBlock[float64](rows, cols)
	for i := range rows {
		for j := range cols {
			b.Row(i)[j] = rng.NormFloat64()
		}
	}
	return b
}

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

func denseLaplacian(a *sparse.CSR, deg []float64, normalized bool) *mat.SymDense {
	n := len(deg)
	l := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := -a.At(i, j)
			if i == j {
				v += deg[i]
			}
			if normalized {
				if deg[i] > 0 && deg[j] > 0 {
					v /= math.Sqrt(deg[i] * deg[j])
				} else {
					v = 0
				}
			}
			l.SetSym(i, j, v)
		}
	}
	return l
}

func function(m *mat.SymDense, f func(float64) float64) *mat.Dense {
	n, _ := m.Dims()
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		panic("eigenpairs")
	}
	var v, w, r mat.Dense
	e.VectorsTo(&v)
	d := mat.NewDiagDense(n, nil)
	for i, x := range e.Values(nil) {
		d.SetDiag(i, f(x))
	}
	w.Mul(&v, d)
	r.Mul(&w, v.T())
	return &r
}

func times(m mat.Matrix, b *sparse.Block[float64]) *sparse.Block[float64] {
	var r mat.Dense
	r.Mul(m, b)
	out := sparse.NewBlock[float64](b.Rows, b.Cols)
	for i := range b.Rows {
		for j := range b.Cols {
			out.Row(i)[j] = r.At(i, j)
		}
	}
	return out
}

// inverse makes function return the pseudo-inverse; eigenvalues below 1e-9 count as 0.
func inverse(x float64) float64 {
	if math.Abs(x) < 1e-9 {
		return 0
	}
	return 1 / x
}

func TestCGAgainstDense(t *testing.T) {
	a := testgraph.Random(3, 90, 200, true)
	deg := degreesOf(t, a)
	diag := make([]float64, len(deg))
	for i, d := range deg {
		diag[i] = 1 + d - a.At(i, i)
	}
	op := sparse.NewOperator[float64](sparse.Laplacian, a, slices.Clone(deg))
	for i := range deg {
		op.Diag[i] += 1
	}
	for _, cols := range []int{1, 3, 8, 20} {
		b := randomBlock(5, 90, cols)
		want := times(function(denseLaplacian(a, deg, false), func(x float64) float64 { return 1 / (1 + x) }), b)
		for _, p := range []Preconditioner{nil, NewJacobi(diag)} {
			cg := &CG{A: op, Precond: p}
			x := sparse.NewBlock[float64](90, cols)
			res, err := cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			testgraph.Close(t, x, want, 0, 1e-11)
			if m := slices.Max(res.Relative); m > 1e-12 {
				t.Errorf("relative residual %g", m)
			}
		}
	}
}

func TestCGOnTheComplementOfTheNullSpace(t *testing.T) {
	// Sparse enough for several components and isolated nodes.
	a := testgraph.Random(11, 120, 110, true)
	deg, c := degreesOf(t, a), componentsOf(t, a)
	if len(c.Sizes) < 4 || slices.Min(c.Sizes) > 1 {
		t.Fatal("too few components")
	}
	b := randomBlock(5, 120, 5)
	root := make([]float64, len(deg))
	scale := make([]float64, len(deg))
	for i, d := range deg {
		root[i], scale[i] = math.Sqrt(d), 1
		if d > 0 {
			scale[i] = root[i]
		}
	}
	diag := slices.Clone(deg)
	for i := range diag {
		diag[i] -= a.At(i, i)
	}
	l := sparse.NewOperator[float64](sparse.Laplacian, a, deg)
	for _, p := range []Preconditioner{nil, NewJacobi(diag)} {
		for name, cg := range map[string]*CG{
			"L":          {A: l, Null: nullSpace(c, nil), Precond: p},
			"L̃":         {A: sparse.NewOperator[float64](sparse.NormalizedLaplacian, a, deg), Null: nullSpace(c, root)},
			"L̃, scaled": {A: l, Null: nullSpace(c, root), Scale: scale, Precond: p},
		} {
			want := times(function(denseLaplacian(a, deg, name != "L"), inverse), b)
			x := sparse.NewBlock[float64](120, 5)
			_, err := cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatal(name, err)
			}
			testgraph.Close(t, x, want, 0, 1e-10)
		}
	}
}

func TestIterationLimit(t *testing.T) {
	a := testgraph.Path(200)
	op := sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
	cg := &CG{A: op, Null: nullSpace(componentsOf(t, a), nil)}
	b, x := randomBlock(1, 200, 2), sparse.NewBlock[float64](200, 2)
	res, err := cg.SolveTo(ctx, x, b, &Settings{MaxIterations: 7})
	if !errors.Is(err, ErrIterationLimit) || res == nil || res.Steps != 7 || len(res.History) != 8 {
		t.Fatalf("%v, %+v", err, res)
	}
}

func TestWorstColumnIsNamed(t *testing.T) {
	a := testgraph.Path(200)
	cg := &CG{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Null: nullSpace(componentsOf(t, a), nil)}
	b, x := randomBlock(1, 200, 3), sparse.NewBlock[float64](200, 3)
	for worst, absolute := range [][]float64{{1e-9, 1e-3, 1e-6}, {1e-3, 1e-9, 1e-6}, {1e-3, 1e-6, 1e-9}} {
		_, err := cg.SolveTo(ctx, x, b, &Settings{MaxIterations: 7, Absolute: absolute})
		if want := fmt.Sprintf("column %d ", worst); !errors.Is(err, ErrIterationLimit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it of %s", err, want)
		}
	}
}

func TestNothingIsWorseThanZero(t *testing.T) {
	a := testgraph.Path(200)
	op := sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
	cg := &CG{A: op, Null: nullSpace(componentsOf(t, a), nil)}
	b, x := randomBlock(1, 200, 2), sparse.NewBlock[float64](200, 2)
	for i := range x.Rows {
		x.Row(i)[1] = 1e6 * b.Row(i)[0]
	}
	res, err := cg.SolveTo(ctx, x, b, &Settings{MaxIterations: 1, Start: true})
	if !errors.Is(err, ErrIterationLimit) {
		t.Fatal(err)
	}
	if math.Abs(res.Relative[1]-1) > 1e-12 {
		t.Errorf("a residual of %v times the right-hand side", res.Relative[1])
	}
	for i := range x.Rows {
		if x.Row(i)[1] != 0 {
			t.Fatalf("row %d is %v", i, x.Row(i)[1])
		}
	}
}

func TestIndefinite(t *testing.T) {
	a := testgraph.Cycle(12)
	cg := &CG{A: &sparse.Operator[float64]{A: a}} // A itself, of eigenvalues −2 … 2
	b, x := randomBlock(1, 12, 3), sparse.NewBlock[float64](12, 3)
	res, err := cg.SolveTo(ctx, x, b, nil)
	if !errors.Is(err, ErrIndefinite) || res == nil {
		t.Fatalf("%v, %+v", err, res)
	}
	// Negative definite: no step is taken.
	minus := make([]float64, 12)
	for i := range minus {
		minus[i] = -3
	}
	cg = &CG{A: &sparse.Operator[float64]{A: a, Diag: minus}}
	res, err = cg.SolveTo(ctx, x, b, nil)
	if !errors.Is(err, ErrIndefinite) || slices.Max(res.ColumnSteps) != 0 {
		t.Fatalf("%v, steps %v", err, res.ColumnSteps)
	}
}

func TestStagnation(t *testing.T) {
	a := testgraph.Path(400)
	cg := &CG{A: sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a)), Null: nullSpace(componentsOf(t, a), nil)}
	b, x := randomBlock(1, 400, 2), sparse.NewBlock[float64](400, 2)
	res, err := cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-16})
	if !errors.Is(err, ErrStagnation) || slices.Max(res.Relative) > 1e-9 {
		t.Fatalf("%v, residuals %v", err, res.Relative)
	}
	if _, err = cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-15, Recurrence: true}); err != nil {
		t.Errorf("by the recurrence: %v", err)
	}
}

func TestStart(t *testing.T) {
	g := graphOf(t, testgraph.Random(2, 80, 160, true))
	s, err := VonNeumann(g, true, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	b, x := randomBlock(1, 80, 4), sparse.NewBlock[float64](80, 4)
	first, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-6, Start: true})
	if err != nil || second.Steps != 0 {
		t.Errorf("%v: %d steps from the solution", err, second.Steps)
	}
	third, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-12, Start: true})
	if err != nil || third.Steps > first.Steps+8 || slices.Max(third.Relative) > 1e-12 {
		t.Errorf("%v: %d steps, then %d, residuals %v", err, first.Steps, third.Steps, third.Relative)
	}
}

func TestAbsoluteTolerances(t *testing.T) {
	g := graphOf(t, testgraph.Random(2, 80, 400, true)) // isLean is false
	s, err := ShiftedLaplacian(g, false, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 1e-3, 1e-9}
	b, x := randomBlock(1, 80, 3), sparse.NewBlock[float64](80, 3)
	var steps []int
	res, err := s.SolveTo(ctx, x, b, &Settings{Absolute: want, Recorder: func(step int, residual []float64) {
		steps = append(steps, step)
		if len(residual) != 3 {
			t.Errorf("%d residuals", len(residual))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for j, r := range res.Residual {
		if r > want[j] || r < want[j]/1e3 {
			t.Errorf("column %d: residual %g, asked for %g", j, r, want[j])
		}
	}
	if !slices.IsSorted(res.ColumnSteps) || len(steps) != res.Steps+1 || steps[0] != 0 {
		t.Errorf("steps of columns %v; recorded %v", res.ColumnSteps, steps)
	}
}

func TestZeroColumns(t *testing.T) {
	g := graphOf(t, testgraph.Path(5))
	s, err := ShiftedLaplacian(g, false, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, x := sparse.NewBlock[float64](5, 2), randomBlock(1, 5, 2)
	for i := range 5 {
		b.Row(i)[1] = 3 // the column lies in the null space
	}
	res, err := s.SolveTo(ctx, x, b, nil)
	if err != nil || res.Steps != 0 {
		t.Fatalf("%v, %+v", err, res)
	}
	for i := range 5 {
		if x.At(i, 0) != 0 || math.Abs(x.At(i, 1)) > 1e-15 {
			t.Errorf("row %d: %v", i, x.Row(i))
		}
	}
}

func TestSettings(t *testing.T) {
	bad := &Settings{Tolerance: 1, MaxIterations: -1, Absolute: []float64{0}}
	err := bad.validate()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 3 {
		t.Errorf("%v", err)
	}
	if err := (*Settings)(nil).validate(); err != nil {
		t.Error(err)
	}
}

func TestSteadyStateAllocatesNothingThatGrows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := testgraph.Cycle(3000)
	deg := degreesOf(t, a)
	cg := &CG{A: sparse.NewOperator[float64](sparse.Laplacian, a, deg), Null: nullSpace(componentsOf(t, a), nil), Workers: 1}
	cg.A.(*sparse.Operator[float64]).Workers = 1
	b, x := randomBlock(1, 3000, 4), sparse.NewBlock[float64](3000, 4)
	count := func(steps int) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := cg.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-15, MaxIterations: steps}); !errors.Is(err, ErrIterationLimit) {
				t.Fatal(err)
			}
		})
	}
	few, many := count(10), count(210)
	if perStep := (many - few) / 200; perStep > 8 {
		t.Errorf("%.1f allocations per step", perStep)
	}
}

// X and the residual are from the step for which Enough returns true.
func TestEnough(t *testing.T) {
	a := testgraph.Random(3, 300, 900, true)
	deg, err := sparse.Degrees(context.Background(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	op := sparse.NewOperator[float64](sparse.Laplacian, a, deg)
	op.Diag = append([]float64(nil), op.Diag...)
	for i := range op.Diag {
		op.Diag[i]++
	}
	x, b := sparse.NewBlock[float64](300, 1), sparse.NewBlock[float64](300, 1)
	for i := range b.Data {
		b.Data[i] = float64(i%7) - 2.5
	}
	const some = 0.03 // tolerance for each element; the tolerance of the norm is far smaller
	small := func(residual []float64) bool {
		for i, r := range residual {
			if math.Abs(r) > some*math.Abs(b.Data[i]) {
				return false
			}
		}
		return true
	}
	asked, said := 0, 0
	cg := CG{A: op}
	res, err := cg.SolveTo(context.Background(), x, b, &Settings{Tolerance: 1e-12, Recurrence: true, Enough: func(y, residual []float64) bool {
		asked++
		image := sparse.NewBlock[float64](300, 1)
		if err := op.StepTo(context.Background(), image, sparse.BlockOf(300, 1, y), sparse.Step[float64]{Alpha: 1}); err != nil {
			t.Fatal(err)
		}
		for i, r := range residual {
			if e := b.Data[i] - image.Data[i] - r; math.Abs(e) > 1e-12 {
				t.Fatalf("step %d: the residual of row %d is off by %g", asked-1, i, e)
			}
		}
		if small(residual) {
			said++
			return true
		}
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	if said != 1 || asked != res.Steps+1 || res.Steps < 3 || res.Relative[0] < 1e-9 {
		t.Errorf("asked %d times, told %d times, %d steps, residual %g", asked, said, res.Steps, res.Relative[0])
	}
}
