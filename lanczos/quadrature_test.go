package lanczos

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// apply returns f(m)·b from the eigenpairs of m.
func apply(m *mat.SymDense, f func(float64) float64, b *sparse.Block[float64]) *mat.Dense {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		panic("eigenpairs")
	}
	var v, c, y mat.Dense
	e.VectorsTo(&v)
	c.Mul(v.T(), b)
	for i, x := range e.Values(nil) {
		for j := range b.Cols {
			c.Set(i, j, f(x)*c.At(i, j))
		}
	}
	y.Mul(&v, &c)
	return &y
}

func TestIntervalEncloses(t *testing.T) {
	for seed := range uint64(3) {
		for _, a := range []*sparse.CSR{
			testgraph.Random(seed, 200, 350, true),
			testgraph.Random(seed, 200, 1200, false),
			testgraph.Star(100), testgraph.Path(150), testgraph.TwoCliques(20), hypercube(t, 7),
		} {
			deg := degreesOf(t, a)
			for _, kd := range kinds {
				op := kd.op(a, deg)
				all := spectrum(denseOf(t, op), Smallest)
				for _, steps := range []int{8, 20} {
					b, err := Interval(ctx, op, &IntervalSettings{Steps: steps, RNGSeed: seed})
					if err != nil {
						t.Fatal(err)
					}
					lo, hi := all[0], all[len(all)-1]
					if b.Lo > lo || b.Hi < hi {
						t.Errorf("%s: [%g, %g] does not hold [%g, %g]", kd.name, b.Lo, b.Hi, lo, hi)
					}
					if norm := max(math.Abs(lo), math.Abs(hi)); b.Norm > norm*(1+1e-12) || b.Norm < norm/2 {
						t.Errorf("%s: norm %g, at least %g", kd.name, norm, b.Norm)
					}
					if steps == 20 && b.Hi-b.Lo > 1.8*(hi-lo)+1e-12 {
						t.Errorf("%s: [%g, %g] is far wider than [%g, %g]", kd.name, b.Lo, b.Hi, lo, hi)
					}
				}
			}
		}
		if testing.Short() {
			break
		}
	}
}

func exponential(t float64) func(float64) float64 {
	return func(x float64) float64 { return math.Exp(t * x) }
}

func TestTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	a := testgraph.Random(8, 250, 750, true)
	deg := degreesOf(t, a)
	op := sparse.NewLaplacian[float64](a, deg)
	all := spectrum(denseOf(t, op), Smallest)
	known := NewKnown(componentsOf(t, a), nil, 0)
	fs := []func(float64) float64{
		exponential(-0.1), exponential(-1), exponential(-10), func(x float64) float64 { return 1 / (1 + x) },
	}
	for _, k := range []*Known{nil, known} {
		out, err := Trace(ctx, op, fs, &TraceSettings{Probes: 64, Known: k, Bounds: &Bounds{Lo: 0, Hi: 2 * slices.Max(deg)}})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range fs {
			var want float64
			for _, x := range all {
				want += f(x)
			}
			e := out[i]
			if math.Abs(e.Value-want) > 4*e.StdErr+e.Upper-e.Lower {
				t.Errorf("function %d: %g ± %g, want %g", i, e.Value, e.StdErr, want)
			}
			if e.StdErr > 0.1*want {
				t.Errorf("function %d: standard error %g of %g", i, e.StdErr, want)
			}
			if !(e.Lower <= e.Value && e.Value <= e.Upper && e.Upper-e.Lower <= 1e-4*e.Value) {
				t.Errorf("function %d: %g in [%g, %g]", i, e.Value, e.Lower, e.Upper)
			}
		}
	}
}

// TestBracket: with few steps the quadrature of a probe is poor, and its
// bracket says so.
func TestBracket(t *testing.T) {
	a := testgraph.Random(8, 150, 450, true)
	deg := degreesOf(t, a)
	op := sparse.NewLaplacian[float64](a, deg)
	m := denseOf(t, op)
	spectrumBounds := &Bounds{Lo: 0, Hi: 2*slices.Max(deg) + 1}
	f := exponential(-2)
	for steps := 1; steps < 30; steps += 2 {
		q, err := newQuadrature(op, []func(float64) float64{f}, &TraceSettings{Probes: 3, Bounds: spectrumBounds})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.start(ctx); err != nil {
			t.Fatal(err)
		}
		z := sparse.NewBlock[float64](150, 3)
		copy(z.Data, q.r.u.Data)
		y := apply(m, f, z)
		for range steps {
			if err := q.r.step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for j := range 3 {
			var want float64
			for i := range 150 {
				want += z.At(i, j) * y.At(i, j)
			}
			lower, upper := q.r.columns[j].bracket(f, spectrumBounds)
			if slack := 1e-12 * want; want < lower-slack || want > upper+slack {
				t.Errorf("%d steps: %g is not in [%g, %g]", steps, want, lower, upper)
			}
			if steps > 20 && upper-lower > 0.01*want {
				t.Errorf("%d steps: bracket [%g, %g]", steps, lower, upper)
			}
		}
	}
}

// TestRadau: the node asked for is one of the rule's, whose others are inside.
func TestRadau(t *testing.T) {
	c := chain{Tridiagonal: symmetric.Tridiagonal{Diag: []float64{2, 3, 1.5, 2.5}, Off: []float64{0.5, 0.7, 0.3}}, last: 0.4}
	for _, end := range []float64{0, 0.3, 4.5, 9} {
		radau, ok := c.radau(end)
		if !ok {
			t.Fatalf("no rule with a node at %g", end)
		}
		values, _ := radau.EigenRows()
		slices.Sort(values)
		got := values[0]
		if end > 4 {
			got = values[len(values)-1]
		}
		if math.Abs(got-end) > 1e-14*(1+end) {
			t.Errorf("the last node is %g, want %g", got, end)
		}
	}
	if _, ok := c.radau(2); ok {
		t.Error("a node inside of the others")
	}
}

func TestLogDet(t *testing.T) {
	a := testgraph.Random(8, 250, 750, true)
	deg := degreesOf(t, a)
	for _, alpha := range []float64{0.1, 1, 100} {
		diag := make([]float64, len(deg))
		scale := make([]float64, len(deg))
		var most float64
		for i, d := range deg {
			diag[i] = 1 + alpha*d
			scale[i] = diag[i]
			most = max(most, diag[i])
		}
		op := &sparse.Operator[float64]{A: a, Scale: -alpha, Diag: diag}
		var want float64
		for _, x := range spectrum(denseOf(t, op), Smallest) {
			want += math.Log(x)
		}
		e, err := LogDet(ctx, op, scale, &TraceSettings{Probes: 32, Bounds: &Bounds{Lo: 1 / most, Hi: 2}})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-want) > 4*e.StdErr+e.Upper-e.Lower || e.StdErr > 0.02*want {
			t.Errorf("α = %g: %g ± %g, want %g", alpha, e.Value, e.StdErr, want)
		}
		plain, err := LogDet(ctx, op, nil, &TraceSettings{Probes: 32, Bounds: &Bounds{Lo: 1, Hi: 2 * most}})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(plain.Value-want) > 4*plain.StdErr+plain.Upper-plain.Lower {
			t.Errorf("α = %g: %g ± %g without a scale, want %g", alpha, plain.Value, plain.StdErr, want)
		}
		if alpha == 100 && e.Steps >= plain.Steps {
			t.Errorf("%d steps with the scale, %d without", e.Steps, plain.Steps)
		}
	}
	op := sparse.NewLaplacian[float64](a, deg)
	if _, err := LogDet(ctx, op, nil, nil); err == nil {
		t.Error("a singular map was accepted")
	}
	if _, err := LogDet(ctx, op, make([]float64, 250), nil); err == nil {
		t.Error("a zero scale was accepted")
	}
}

func TestTridiagonal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 2, 3, 10, 60} {
		for range 5 {
			tri := symmetric.Tridiagonal{Diag: make([]float64, n), Off: make([]float64, n-1)}
			m := mat.NewSymDense(n, nil)
			for i := range n {
				tri.Diag[i] = rng.NormFloat64()
				m.SetSym(i, i, tri.Diag[i])
				if i+1 < n {
					if rng.IntN(5) > 0 {
						tri.Off[i] = math.Exp(4 * rng.NormFloat64())
					}
					m.SetSym(i, i+1, tri.Off[i])
				}
			}
			rows := make([]int, n)
			for i := range rows {
				rows[i] = i
			}
			values, z := tri.EigenRows(rows...)
			size := 1 + tri.Norm()
			for k, v := range values {
				for i := range n {
					var sum float64
					for j := range n {
						sum += m.At(i, j) * z[k*n+j]
					}
					if math.Abs(sum-v*z[k*n+i]) > 1e-13*size*math.Sqrt(float64(n)) {
						t.Fatalf("n = %d: residual %g", n, sum-v*z[k*n+i])
					}
				}
			}
			some, last := tri.EigenRows(0, n-1)
			for k := range values {
				if some[k] != values[k] || last[2*k] != z[k*n] || last[2*k+1] != z[k*n+n-1] {
					t.Fatal("rows differ")
				}
			}
		}
	}
}

func TestCancelQuadrature(t *testing.T) {
	a := testgraph.Random(8, 2000, 6000, true)
	op := sparse.NewLaplacian[float64](a, degreesOf(t, a))
	stop, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Trace(stop, op, []func(float64) float64{exponential(-1)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := Interval(stop, op, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
