package auto

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// On a path with a label on every 97th node walks from labels come to all nodes before they
// come to the next label, without which nothing is learned.
func TestLabelsAtEqualDistances(t *testing.T) {
	const apart, block = 97, 1000
	p := problemtest.Path(t, 4000, false)
	p.Row, p.Class = nil, nil
	truth := make([]int, len(p.Degrees))
	for v := range truth {
		truth[v] = v / block % 2
		if v%apart == 0 {
			p.Row, p.Class = append(p.Row, v), append(p.Class, truth[v])
		}
	}
	out := evident(t, p, &Settings{LowEffort: true})
	if got := problemtest.Accuracy(p, out.Class, truth); got < 0.95 || out.Accuracy < 0.75 {
		t.Errorf("%v of the nodes are right, and %v of the labels that are not told", got, out.Accuracy)
	}
}
