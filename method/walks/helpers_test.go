package walks

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/kernels"
	_ "github.com/heatwalk/heatwalk/papers"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func costOf(cost float64) *engine.Setting {
	return &engine.Setting{Spec: &learnerOf("svm").Path.Spec, Values: param.Values{"cost": param.Of(cost)}}
}

func learnerOf(name string) *classify.Learner { return classify.Learners().Named(name) }

var tinyGrid = contract.Lists(map[string][]param.Value{"alpha": param.Grid(0.1, 0.5, 0.9), "steps": param.Grid(1, 3, 8), "cost": param.Grid(0.5, 4, 32)}, Plain, Honest)

func gridOf(t *testing.T, lists map[string][]param.Value, learner string) *job {
	t.Helper()
	return jobOf(t, &engine.Settings{Lists: lists}, learner)
}

func jobOf(t *testing.T, s *engine.Settings, learner string) *job {
	t.Helper()
	j, err := method{"cwk", learnerOf(learner)}.job(&engine.Problem{Graph: new(graph.Graph), Names: make([]string, 3)}, s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func settingAt(j *job, i int) engine.Parameters {
	return j.Parameters(i/len(j.Values), i%len(j.Values))
}

func onWalk(alpha float64, steps, minSteps int, features string) engine.Parameters {
	return engine.Parameters{Kernel: &engine.Setting{Spec: &Spec, Values: param.Values{
		"alpha": param.Of(alpha), "steps": param.Of(steps), "min-steps": param.Of(minSteps), "features": param.Of(features),
	}}}
}

func walkWith(p engine.Parameters, declared *engine.Setting) engine.Parameters {
	p.Declared = declared
	return p
}

// leastMemory cuts the walks of tinyGrid into slabs.
const leastMemory = 104_000

func TestWorkersAndMemoryAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	p := contract.Planted(t, 4, 300, 60)
	splits, err := choose.Draw(p.Class, choose.Design{Fraction: 0.4, Tuning: true}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	var first *engine.Prediction
	var cross, split *engine.Choice
	for _, workers := range []int{1, 2, 7} {
		for _, memory := range []int64{0, leastMemory} {
			set := &engine.Settings{Lists: tinyGrid, Workers: workers, Memory: memory, RNGSeed: 2}
			c, err := chooseWalks(context.Background(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			s, err := chooseWalksOnSplits(context.Background(), p, splits, set)
			if err != nil {
				t.Fatal(err)
			}
			set.Memory *= 12 // a prediction needs more than a choice
			got, err := predictWalks(context.Background(), p, set)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first, cross, split = got, c, s
				continue
			}
			if !slices.Equal(c.Found.Counts.Right, cross.Found.Counts.Right) || !slices.Equal(s.Found.Counts.Right, split.Found.Counts.Right) {
				t.Errorf("%d workers, memory %d: other hits", workers, memory)
			}
			if memory > 0 && c.Work.Sweeps <= cross.Work.Sweeps {
				t.Errorf("memory %d: %d sweeps, as without a limit", memory, c.Work.Sweeps)
			}
			if !slices.Equal(got.Scores.Data, first.Scores.Data) || !reflect.DeepEqual(got.Parameters, first.Parameters) {
				t.Errorf("%d workers, memory %d: other scores", workers, memory)
			}
			if diff := cmp.Diff(first.Class, got.Class); diff != "" {
				t.Errorf("%d workers, memory %d: %s", workers, memory, diff)
			}
			if got.Accuracy != first.Accuracy || got.Tested != first.Tested {
				t.Errorf("%d workers, memory %d: accuracy %v of %d", workers, memory, got.Accuracy, got.Tested)
			}
		}
	}
	if first.Work.Sweeps == 0 || first.Settings != gridOf(t, tinyGrid, "svm").Size() {
		t.Errorf("work %+v for %d settings", first.Work, first.Settings)
	}
}

func TestShortGrid(t *testing.T) {
	p := contract.Planted(t, 4, 300, 60)
	set := &engine.Settings{Lists: map[string][]param.Value{"alpha": param.Grid(0.5), "steps": param.Grid(2, 20, 60), "cost": param.Grid(4), "features": {param.Of(Plain)}}}
	j, err := plainWalks().job(p, set)
	if err != nil {
		t.Fatal(err)
	}
	if got := j.newChooser().short(1e3); got == nil || got.Size() != 2 {
		t.Fatalf("%+v", got)
	}
	if got := j.newChooser().short(1e12); got != nil {
		t.Fatalf("%+v for a small graph", got)
	}
}

func TestManyClasses(t *testing.T) {
	for classes, strategy := range map[int]string{20: "one-vs-one", 21: "one-vs-rest"} {
		p := contract.Planted(t, 7, 400, 300)
		p.Names = nil
		for c := range classes {
			p.Names = append(p.Names, string(rune('a'+c)))
		}
		for i := range p.Class {
			p.Class[i] = (p.Class[i]*8 + i%8) % classes
		}
		par := walkWith(onWalk(0.5, 4, 0, Plain), costOf(8))
		got, err := predictWalksWith(context.Background(), p, par, nil)
		if err != nil {
			t.Fatal(err)
		}
		if told := got.Parameters.Declared.Values["strategy"]; told != param.Of(strategy) {
			t.Errorf("%d classes: %v, want %s", classes, told, strategy)
		}
		for i := range got.Class {
			sum := float32(0)
			for _, v := range got.Scores.Row(i) {
				sum += v
			}
			if sum < 0.99999 || sum > 1.00001 {
				t.Fatalf("scores of row %d sum to %v", i, sum)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	p := contract.Planted(t, 8, 100, 40)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := predictWalks(ctx, p, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestValidate(t *testing.T) {
	p := contract.Planted(t, 8, 100, 40)
	none, one := *p, *p
	none.Row, none.Class = nil, nil
	one.Class = make([]int, len(p.Class))
	for _, test := range []struct {
		p    *engine.Problem
		want string
	}{
		{&none, "method: no labelled node"},
		{&one, `method: all labelled nodes have the same class, "a"`},
	} {
		if _, err := predictWalks(context.Background(), test.p, nil); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	bad := *p
	bad.Graph = &graph.Graph{A: p.A}
	defer func() {
		if recover() == nil {
			t.Error("no panic for degrees that do not fit")
		}
	}()
	_ = bad.Validate()
}

func plainWalks() method { return method{"cwk", classify.Learners()[0]} }

func predictWalks(ctx context.Context, p *engine.Problem, s *engine.Settings) (*engine.Prediction, error) {
	return plainWalks().engine().Fit(ctx, p, nil, s)
}

func predictWalksWith(ctx context.Context, p *engine.Problem, par engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
	return plainWalks().engine().Fit(ctx, p, &par, s)
}

func chooseWalks(ctx context.Context, p *engine.Problem, s *engine.Settings) (*engine.Choice, error) {
	j, err := plainWalks().begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	if choose.TooFew(p.Class) {
		return &engine.Choice{Parameters: j.Parameters(0, 0), Settings: j.Size()}, nil
	}
	return j.ByFolds(ctx)
}

func chooseWalksOnSplits(ctx context.Context, p *engine.Problem, splits *choose.Splits, s *engine.Settings) (*engine.Choice, error) {
	return plainWalks().engine().Choose(ctx, p, splits, s)
}

func engineOf(t *testing.T, name string) *engine.Engine {
	t.Helper()
	list := slices.Concat(Engines(), kernels.Engines())
	i := slices.IndexFunc(list, func(e *engine.Engine) bool { return e.Name == name })
	if i < 0 {
		t.Fatal(name)
	}
	return list[i]
}

func memoryOf(t *testing.T, m *engine.Engine, p *engine.Problem, s *engine.Settings) int64 {
	t.Helper()
	w, err := m.Declare(p, s, budget.Workspace{})
	if err != nil {
		t.Fatal(err)
	}
	return w.Required(1) + w.Optional
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
