package papers

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/classify/classifytest"
	"github.com/heatwalk/heatwalk/propagate/propagatetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestContract checks what every learner on kernels must do.
func TestContract(t *testing.T) {
	names := []string{"perceptron", "dkm"}
	for _, base := range deepBases {
		if base != "density" {
			names = append(names, "dkm-"+base)
		}
	}
	for _, name := range names {
		d := classify.Learners().Named(name)
		classifytest.Check(t, d)
		classifytest.CheckBalanced(t, d)
		if !testing.Short() {
			classifytest.CheckBits(t, d)
		}
	}
	classifytest.CheckCalibrated(t, &perceptron)
}

func TestOnSeveralProcesses(t *testing.T) {
	propagatetest.CheckOnProcesses(t, &relaxationLabelling)
	propagatetest.CheckOnProcesses(t, &gpTransduction)
}
