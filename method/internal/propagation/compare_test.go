package propagation

import (
	"testing"

	"github.com/heatwalk/heatwalk/method/internal/problemtest"
)

// Labels that are far from each other are compared by walks that come from one to the next.
func TestCompareFarLabels(t *testing.T) {
	const apart, block = 97, 1000
	p := problemtest.Path(t, 8000, false)
	p.Row, p.Class = nil, nil
	var fold []int
	for v := 0; v < len(p.Degrees); v += apart {
		p.Row, p.Class, fold = append(p.Row, v), append(p.Class, v/block%2), append(fold, len(fold)%10)
	}
	l := &Propagation{P: p, Alpha: 1}
	lp, _, _, err := l.Compare(t.Context(), fold, 10)
	if err != nil {
		t.Fatal(err)
	}
	if lp.Accuracy < 0.85 {
		t.Errorf("label propagation is said to be right at %v of the labels", lp.Accuracy)
	}
}
