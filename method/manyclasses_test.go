package method

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

func manyClasses(t *testing.T) *engine.Problem {
	p, _ := contract.Blocks(t, 3, 600, 160, 40, 12, 0.05)
	return p
}

// The number of classes does not admit the parameters, which would need terabytes.
func TestEstimateOfLongSequences(t *testing.T) {
	p := *manyClasses(t)
	p.Names = make([]string, 1000)
	wrong := new(param.ParameterError)
	if _, err := methodOf(t, "rl").Declare(&p, nil, budget.Workspace{}); !errors.As(err, &wrong) || wrong.Parameter != "walk" {
		t.Errorf("two steps: %v", err)
	}
	if _, err := methodOf(t, "rl").Declare(&p, &engine.Settings{Given: param.Values{"walk": param.Of(1)}}, budget.Workspace{}); err != nil {
		t.Errorf("one step: %v", err)
	}
}
