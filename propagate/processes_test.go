package propagate_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestLearnersOnSeveralProcesses(t *testing.T) {
	for _, l := range propagate.Learners() {
		contract.CheckOnProcesses(t, l)
	}
}
