package method

import (
	"context"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

// TestRegister tests that an engine of another module has its parameters chosen, its accuracy estimated and its model kept as
// one of this package with the same predictions.
func TestRegister(t *testing.T) {
	inner := methodOf(t, "lgc")
	spec := *inner.Specs[0]
	spec.Name = "another"
	Register(&Engine{Name: spec.Name, Takes: spec.Takes(), Specs: []*param.Spec{&spec},
		Fit: func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
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
	kept, err := m.Keep(got, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := kept.Predict(t.Context(), p, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Parameters.String() != want.Parameters.String() || got.Settings != want.Settings || got.Estimate != want.Estimate || !slices.Equal(got.Scores.Data, want.Scores.Data) || !slices.Equal(again.Scores.Data, want.Scores.Data) {
		t.Errorf("%v of %d, %+v, want %v of %d, %+v", got.Parameters, got.Settings, got.Estimate, want.Parameters, want.Settings, want.Estimate)
	}
}
