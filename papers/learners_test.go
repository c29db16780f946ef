package papers

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	names := []string{"perceptron", "dkm"}
	for _, base := range deepBases {
		if base != "density" {
			names = append(names, "dkm-"+base)
		}
	}
	for _, name := range names {
		d := classify.Learners().Named(name)
		contract.Check(t, d)
		contract.CheckBalanced(t, d)
		if !testing.Short() {
			contract.CheckBits(t, d)
		}
	}
	contract.CheckCalibrated(t, &perceptron)
}

func TestOnSeveralProcesses(t *testing.T) {
	contract.CheckOnProcesses(t, &relaxationLabelling)
	contract.CheckOnProcesses(t, &gpTransduction)
}
