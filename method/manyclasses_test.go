package method

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/test/contract"
)

// manyClasses is a graph with 40 classes.
func manyClasses(t *testing.T) *engine.Problem {
	p, _ := contract.Blocks(t, 3, 600, 160, 40, 12, 0.05)
	return p
}

// TestEstimateOfLongSequences tests that an estimate reports parameters that the number of classes does
// not admit, in place of the terabytes that they would need.
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
