package auto

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// On a path with a label on every 97th node walks from labels come to all nodes before they
// come to the next label, without which nothing is learned.
func TestLabelsAtEqualDistances(t *testing.T) {
	p, truth := problemtest.FarLabels(t, 4000)
	out := evident(t, p, &Settings{LowEffort: true})
	if got := problemtest.Accuracy(p, out.Class, truth); got < 0.95 || out.Accuracy < 0.75 {
		t.Errorf("%v of the nodes are right, and %v of the labels that are not told", got, out.Accuracy)
	}
}
