package shift

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/method/problem"
)

// Of two classes the probabilities differ by the same number, which is one difference: its standard errors are those of a mean.
func TestProbabilitiesOfTwoClasses(t *testing.T) {
	c := &problem.Comparison{Labels: []float64{50, 52}, HeldOut: []float64{0.6, 0.4}, Others: []float64{0.5, 0.5}, Variance: []float64{0.04, 0.04}}
	share := compareProbabilities(&problem.Problem{Names: []string{"a", "b"}}, c, 400)
	if want := 0.1 / math.Sqrt((0.04+leastVariance)*(1.0/100+1.0/400)); math.Abs(share.Errors-want) > 1e-12 {
		t.Errorf("%v standard errors, want %v", share.Errors, want)
	}
	if want := math.Sqrt2 * math.Erfinv(1-shareRate); math.Abs(share.Limit-want) > 1e-9 {
		t.Errorf("limit %v, want %v", share.Limit, want)
	}
}
