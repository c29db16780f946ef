package expm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestIntervals(t *testing.T) {
	for gi, a := range []*sparse.CSR{hubs(300), testgraph.Random(3, 90, 200, true), testgraph.Random(3, 90, 50, true), testgraph.Star(50), testgraph.Complete(8), testgraph.Cycle(20), testgraph.Random(1, 9, 0, false)} {
		g := graphOf(t, a, 1)
		for _, name := range []string{"L", "A"} {
			m := mapOf(t, g, name)
			values := eigenOf(g, name).values
			hi := m.Hi
			edge := 0.0 // Anderson and Morley, or Gershgorin
			a.DoNonZero(func(i, j int, _ float64) {
				d := g.Degrees[i]
				if name == "L" {
					// Self loops cancel.
					d += g.Degrees[j] - a.At(i, i) - a.At(j, j)
				}
				if name == "A" || i != j {
					edge = max(edge, d)
				}
			})
			top := max(values[len(values)-1], -values[0])
			if name == "L" {
				top = values[len(values)-1]
			}
			if !(hi >= top*(1-1e-13)) || !(hi <= edge*(1+1e-8)) {
				t.Errorf("graph %d, %s: bound %g, largest eigenvalue %g, bound by edges %g", gi, name, hi, top, edge)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	g := graphOf(t, hubs(300), 1)
	l, s, a := mapOf(t, g, "L"), mapOf(t, g, "S"), mapOf(t, g, "A")
	b := randomBlock(4, l.n, 2)
	y := newBlocks(l.n, 2, 1)
	for _, c := range []struct {
		m        *Map
		f        Function
		settings Settings
		err      error
		text     string
	}{
		{l, Exp(math.NaN()), Settings{}, ErrParameter, "rate"},
		{a, Exp(1e4), Settings{}, ErrOverflow, "exp(10000·x)"},
		{s, Inverse(1, -1), Settings{}, ErrParameter, "zero"},
		{a, Inverse(1, -1), Settings{}, ErrParameter, "zero"},
		{l, Matern(0, 1), Settings{}, ErrParameter, "shift"},
		{l, Matern(1, 0), Settings{}, ErrParameter, "power"},
		{a, Matern(1, 1), Settings{}, ErrParameter, "Laplacian"},
		{l, Power(2, -1), Settings{}, ErrParameter, "power -1"},
		{l, Smooth(math.Sqrt), Settings{}, ErrSmooth, "decay"},
		{l, Exp(-1), Settings{Tolerance: 1e-15}, ErrTolerance, "loosen"},
		{l, Exp(-10), Settings{Tolerance: 1e-15, method: Resolvent}, ErrTolerance, "loosen"},
	} {
		r, err := c.m.ApplyTo(ctx, y, b, []Function{c.f}, &c.settings)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v, want %v about %s", c.settings, err, c.err, c.text)
			continue
		}
		if (r != nil) != (c.err == ErrTolerance) {
			t.Errorf("%v: result %v", err, r)
		}
	}
	for _, s := range []Settings{{Tolerance: -1}, {Tolerance: math.NaN()}, {Memory: -1}} {
		if _, err := l.ApplyTo(ctx, y, b, []Function{Exp(-1)}, &s); !errors.As(err, new(*param.ParameterError)) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	// The result is valid.
	r, _ := l.ApplyTo(ctx, y, b, []Function{Exp(-1)}, &Settings{Tolerance: 1e-15})
	want := eigenOf(g, "L").function(func(x float64) float64 { return math.Exp(-x) }, b)
	if d, _, _ := distance(y[0], want); d > r.Functions[0].ErrorBound+1e-13 {
		t.Errorf("error %g, bound %g", d, r.Functions[0].ErrorBound)
	}
}

func TestBlockOutOfRange(t *testing.T) {
	g := graphOf(t, testgraph.Random(3, 200, 800, false), 1)
	for _, bad := range []float64{math.NaN(), math.Inf(-1), 1e155, 3e200, 1e-170, -1e-300} {
		for _, of := range []string{"L", "L̃"} {
			for _, f := range []Function{Exp(-3), Exp(-1e5), Matern(0.1, 2), Inverse(1, 2)} {
				m := mapOf(t, g, of)
				b := randomBlock(4, m.n, 2)
				for i := range m.n {
					b.Row(i)[1] = bad
				}
				says := fmt.Sprintf("the largest value of column 1 of the block is %.3g; scale columns", math.Abs(bad))
				_, err := m.ApplyTo(ctx, newBlocks(m.n, 2, 1), b, []Function{f}, nil)
				if !errors.Is(err, ErrParameter) || !strings.Contains(err.Error(), says) {
					t.Errorf("%g: %v", bad, err)
				}
			}
		}
	}
}

func TestWrongInterval(t *testing.T) {
	g := graphOf(t, testgraph.Random(3, 200, 800, false), 1)
	l := mapOf(t, g, "L")
	m, err := NewBounded(sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees), 0, l.Hi*.7, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := randomBlock(4, m.n, 2)
	if _, err := m.ApplyTo(ctx, newBlocks(m.n, 2, 1), b, []Function{Exp(-3)}, nil); !errors.Is(err, ErrInterval) {
		t.Errorf("error %v", err)
	}
	right, err := NewBounded(sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees), 0, l.Hi, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := apply(t, right, b, 1e-9, Exp(-1))
	want, _ := apply(t, l, b, 1e-9, Exp(-1))
	if d, norm, _ := distance(got[0], want[0]); d > 2e-9*norm {
		t.Errorf("%g of %g", d, norm)
	}
	if _, err := NewBounded(right.sweep, 2, 1, 0); !errors.Is(err, ErrParameter) {
		t.Errorf("an empty interval: %v", err)
	}
}

func TestCancel(t *testing.T) {
	g := graphOf(t, hubs(3000), 2)
	m := mapOf(t, g, "L")
	b := randomBlock(4, m.n, 2)
	for _, method := range []Method{Chebyshev, Resolvent} {
		c, cancel := context.WithCancel(ctx)
		calls := 0
		_, err := m.ApplyTo(c, newBlocks(m.n, 2, 1), b, []Function{Exp(-10)}, &Settings{method: method, Progress: func(_ string, done, total int64) {
			if calls++; calls == 2 {
				cancel()
			}
			if done > total {
				t.Errorf("%d sweeps of %d", done, total)
			}
		}})
		if !errors.Is(err, context.Canceled) || calls > 3 {
			t.Errorf("%v: %v after %d calls", method, err, calls)
		}
		cancel()
	}
}

func TestCallersMistakes(t *testing.T) {
	m := mapOf(t, graphOf(t, testgraph.Path(5), 1), "L")
	b := randomBlock(1, 5, 2)
	for name, f := range map[string]func(){
		"rows":    func() { m.ApplyTo(ctx, newBlocks(4, 2, 1), b, []Function{Exp(-1)}, nil) },
		"columns": func() { m.ApplyTo(ctx, newBlocks(5, 3, 1), b, []Function{Exp(-1)}, nil) },
		"count":   func() { m.ApplyTo(ctx, newBlocks(5, 2, 2), b, []Function{Exp(-1)}, nil) },
		"alias":   func() { m.ApplyTo(ctx, []*sparse.Block[float64]{b}, b, []Function{Exp(-1)}, nil) },
		"twice": func() {
			y := newBlocks(5, 2, 1)
			m.ApplyTo(ctx, append(y, y[0]), b, []Function{Exp(-1), Exp(-2)}, nil)
		},
	} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "expm: ") {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			f()
		}()
	}
}

// A wrong interval is refused, or the result is within its bound.
func TestNearlyRightInterval(t *testing.T) {
	g := graphOf(t, testgraph.Random(3, 200, 800, false), 1)
	b, e := randomBlock(4, 200, 2), eigenOf(g, "L")
	want := e.function(func(x float64) float64 { return math.Exp(-x) }, b)
	top, refused := e.values[len(e.values)-1], 0
	for share := 0.99; share > 0.7; share -= 0.01 {
		m, err := NewBounded(sparse.NewOperator[float64](sparse.Laplacian, g.A, g.Degrees), 0, share*top, 1)
		if err != nil {
			t.Fatal(err)
		}
		y := newBlocks(m.n, 2, 1)
		r, err := m.ApplyTo(ctx, y, b, []Function{Exp(-1)}, &Settings{Tolerance: 1e-6})
		if errors.Is(err, ErrInterval) {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d, _, _ := distance(y[0], want); d > r.Functions[0].ErrorBound {
			t.Errorf("up to %.2f of the largest eigenvalue: error %g, bound %g", share, d, r.Functions[0].ErrorBound)
		}
	}
	if refused == 0 {
		t.Error("no interval is refused")
	}
}
