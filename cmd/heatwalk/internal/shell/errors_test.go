package shell

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/iterative"
)

func TestUnsolved(t *testing.T) {
	costs := new(Costs)
	end := fmt.Errorf("%w: after 18 steps column 0 has residual 3.6e+08, asked for 1.2e+07", iterative.ErrIterationLimit)
	for what, err := range map[string]error{
		"kernel": costs.GraphError(end, "g", LoosenTolerance), "method": costs.GraphError(end, "g", AnotherMethod),
	} {
		if text := err.Error(); !strings.HasPrefix(text, "g: "+unsolved+"; ") || ExitCode(err) != 1 || !errors.Is(err, iterative.ErrIterationLimit) {
			t.Errorf("%s: %v, exit code %d", what, err, ExitCode(err))
		}
	}
}
