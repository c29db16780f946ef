package auto

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/contract"
)

// Walks reach all nodes before they reach the next label, without which no model can be learned.
func TestLabelsAtEqualDistances(t *testing.T) {
	p, truth := contract.FarLabels(t, 4000)
	out := evident(t, p, &settings{Settings: engine.Settings{Effort: engine.LowEffort}})
	if got := contract.Accuracy(p, out.Class, truth); got < 0.95 || out.Accuracy < 0.75 {
		t.Errorf("accuracy %v, estimated %v", got, out.Accuracy)
	}
}
