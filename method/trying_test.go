package method

import (
	"testing"

	"github.com/heatwalk/heatwalk/spec"
)

func TestTrying(t *testing.T) {
	ridge := &spec.Spec{Name: "ridge", Params: []spec.Param{
		{Name: "lambda", Default: spec.Of(1.0), Grid: []spec.Value{spec.Of(1.0), spec.Of(2.0)}, On: func(float64, spec.Values, spec.Graph) (float64, error) {
			panic("on a graph")
		}},
		{Name: "cost", Instead: "lambda"},
	}}
	of := (&Settings{Lists: map[string][]spec.Value{"lambda": {spec.Of(3.0), spec.Of(5.0)}}}).trying(ridge)
	if p := of.Param("lambda"); len(p.Grid) != 2 || p.Grid[1] != spec.Of(5.0) || p.On != nil {
		t.Errorf("%v: listed values do not stand for themselves", p.Grid)
	}
	if ridge.Params[0].Grid[1] != spec.Of(2.0) {
		t.Error("the declaration itself has changed")
	}
	of = (&Settings{Lists: map[string][]spec.Value{"cost": {spec.Of(1.0)}}}).trying(ridge)
	if of.Param("lambda") != nil || of.Param("cost").Instead != "" {
		t.Errorf("λ is still among the parameters although C was listed: %v", of.Takes())
	}
	if of = (&Settings{Fixed: true}).trying(ridge); of.Param("lambda").Grid != nil {
		t.Errorf("%v: defaults have a grid", of.Param("lambda").Grid)
	}
}
