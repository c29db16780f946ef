package evaluate

import (
	"context"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/walks"
	_ "github.com/heatwalk/heatwalk/papers"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // features are short-lived
	goleak.VerifyTestMain(m)
}

func planted(t testing.TB, seed uint64, n, labelled int) *engine.Problem {
	return problemOf(testgraph.Planted(t, seed, n, labelled))
}

func problemOf(g testgraph.Labelled) *engine.Problem {
	return &engine.Problem{Graph: &graph.Graph{A: g.A, Degrees: g.Degrees}, Row: g.Row, Class: g.Class, Names: g.Names}
}

func onWalk(alpha float64, steps int, declared *engine.Setting) engine.Parameters {
	return engine.Parameters{Declared: declared, Kernel: &engine.Setting{Spec: &cwk.Spec, Values: param.Values{
		"alpha": param.Of(alpha), "steps": param.Of(steps), "min-steps": param.Of(0), "features": param.Of(walks.Plain),
	}}}
}

var tinyGrid = contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.1, 0.5, 0.9), "steps": param.Grid(1, 3, 8), "cost": param.Grid(0.5, 4, 32)}, walks.Plain, walks.Honest)

func TestNoLeak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := planted(t, 5, 120, 80)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.5}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	trainTest := splits.At(0)
	other := *p
	other.Class = slices.Clone(p.Class)
	for _, i := range trainTest.Test {
		other.Class[i] = (p.Class[i] + 1) % 3
	}
	list, err := method.Parse("auto,lp,lgc,wvrn,cwk,cwk+rls,diffusion,diffusion+rls,diffusion+gp,p-step+dkm-svm")
	if err != nil {
		t.Fatal(err)
	}
	if testgraph.Hunt {
		list = nil
		for _, m := range method.All() {
			list = append(list, engine.Entry{Method: m})
		}
	}
	for _, e := range list {
		m := e.Method
		var saw []*engine.Prediction
		for _, q := range []*engine.Problem{p, &other} {
			spy := *m
			spy.Fit = func(ctx context.Context, p *engine.Problem, par *engine.Parameters, set *engine.Settings) (*engine.Prediction, error) {
				out, err := m.Fit(ctx, p, par, set)
				saw = append(saw, out)
				return out, err
			}
			plan := &Plan{Methods: []engine.Entry{{Method: &spy}}, Given: []choose.Split{trainTest}, Settings: &engine.Settings{Lists: tinyGrid}}
			if _, err := Run(context.Background(), q, plan); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(saw[0].Class, saw[1].Class) || !slices.Equal(saw[0].Scores.Data, saw[1].Scores.Data) {
			t.Errorf("%s: other labels of test nodes change predictions", m.Name)
		}
	}
}

func TestComponentsAreFoundOnce(t *testing.T) {
	p := planted(t, 4, 300, 60)
	a := &counting{Matrix: p.A}
	p.A = a
	methods, err := method.Parse("majority")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), p, &Plan{Methods: methods, Fractions: []float64{0.2, 0.5}, Splits: 3}); err != nil {
		t.Fatal(err)
	}
	if a.sweeps.Load() != 1 {
		t.Errorf("%d sweeps", a.sweeps.Load())
	}
}

type counting struct {
	sparse.Matrix
	sweeps atomic.Int64
}

func (c *counting) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	c.sweeps.Add(1)
	return c.Matrix.SweepRows(ctx, lo, hi, workers, visit)
}
