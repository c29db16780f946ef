package method

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestRegister(t *testing.T) {
	inner := methodOf(t, "lgc")
	spec := *inner.Specs[0]
	spec.Name = "another"
	Register(&engine.Engine{Name: spec.Name, Takes: spec.Takes(), Specs: []*param.Spec{&spec},
		Fit: func(ctx context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
			return inner.Fit(ctx, p, par, s)
		}})
	defer func() { registered = registered[:len(registered)-1] }()
	p := contract.Planted(t, 3, 120, 60)
	want, err := inner.Predict(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := methodOf(t, "another")
	got, err := m.Predict(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := m.Keep(got, &engine.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := predictKept(t.Context(), kept, p, &engine.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Parameters.String() != want.Parameters.String() || got.Settings != want.Settings || got.Estimate != want.Estimate || !slices.Equal(got.Scores.Data, want.Scores.Data) || !slices.Equal(again.Scores.Data, want.Scores.Data) {
		t.Errorf("%v of %d, %+v, want %v of %d, %+v", got.Parameters, got.Settings, got.Estimate, want.Parameters, want.Settings, want.Estimate)
	}
}

// Values are kept by the names of parameters, so that a learner must share none with a kernel or a walk.
func TestRegisterSharedParameter(t *testing.T) {
	learner := func(s param.Spec) {
		classify.Register(&classify.Learner{Spec: s, Fit: func(context.Context, classify.Gram, []int, int, param.Values) (*classify.Model, error) {
			return nil, nil
		}})
	}
	for parameter, register := range map[string]func(s param.Spec){"beta": learner, "steps": learner, "cost": func(s param.Spec) {
		kernel.Register(&kernel.Family{Spec: s, New: func(context.Context, *graph.Graph, param.Values) (kernel.Kernel, error) { return nil, nil }})
	}} {
		func() {
			defer func() {
				if problem, _ := recover().(string); !strings.Contains(problem, "has a parameter "+parameter+"; rename it") {
					t.Errorf("%s: panic %q", parameter, problem)
				}
			}()
			register(param.Spec{Name: "another", Params: []param.Param{{Name: parameter}}})
		}()
	}
}
