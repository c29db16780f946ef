package method

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
)

func TestTrying(t *testing.T) {
	ridge := &param.Spec{Name: "ridge", Params: []param.Param{
		{Name: "lambda", Default: param.Of(1.0), Grid: []param.Value{param.Of(1.0), param.Of(2.0)}, On: func(float64, param.Values, param.Graph) (float64, error) {
			panic("on a graph")
		}},
		{Name: "cost", Instead: "lambda"},
	}}
	of := (&engine.Settings{Lists: map[string][]param.Value{"lambda": {param.Of(3.0), param.Of(5.0)}}}).WithGrids(ridge)
	if p := of.Param("lambda"); len(p.Grid) != 2 || p.Grid[1] != param.Of(5.0) || p.On != nil {
		t.Errorf("%v: listed values do not stand for themselves", p.Grid)
	}
	if ridge.Params[0].Grid[1] != param.Of(2.0) {
		t.Error("the declaration itself has changed")
	}
	of = (&engine.Settings{Lists: map[string][]param.Value{"cost": {param.Of(1.0)}}}).WithGrids(ridge)
	if of.Param("lambda") != nil || of.Param("cost").Instead != "" {
		t.Errorf("λ is still among the parameters although C was listed: %v", of.Takes())
	}
	if of = (&engine.Settings{Fixed: true}).WithGrids(ridge); of.Param("lambda").Grid != nil {
		t.Errorf("%v: defaults have a grid", of.Param("lambda").Grid)
	}
}
