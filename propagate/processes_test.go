package propagate_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/propagate/propagatetest"
)

func TestLearnersOnSeveralProcesses(t *testing.T) {
	for _, l := range propagate.Learners() {
		propagatetest.CheckOnProcesses(t, l)
	}
}
