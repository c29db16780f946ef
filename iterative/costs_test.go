package iterative

import (
	"math"
	"testing"
)

func TestReview(t *testing.T) {
	const target = 1e-8
	// residual if it falls evenly to the target
	even := func(steps int, all float64) float64 { return math.Pow(target, float64(steps)/all) }
	l := &ladder{jacobiSteps: 50}
	for _, c := range []struct {
		steps    int
		residual float64
		want     status
	}{
		{firstReview, even(firstReview, 49.9), live},
		{firstReview, even(firstReview, 50.1), waiting},
		{firstReview - 1, even(firstReview-1, 500), live}, // no review yet
		{firstReview + 1, even(firstReview+1, 500), live},
		{reviewEvery, even(reviewEvery, 49.9), live},
		{reviewEvery, even(reviewEvery, 50.1), waiting},
		{2 * reviewEvery, 1, waiting},
		{2 * reviewEvery, 2, waiting},
		{4 * reviewEvery, 2 * target, waiting},
		{4 * reviewEvery, target * target, live},
		{5 * reviewEvery, target * target, waiting}, // twice the steps are over
	} {
		columns := []column{{steps: c.steps, first: 1, residual: c.residual, target: target}}
		l.review(columns)
		if got := columns[0].status; got != c.want {
			t.Errorf("%d steps, residual %g: status %d, want %d", c.steps, c.residual, got, c.want)
		}
	}
	columns := []column{{steps: firstReview, first: 1, residual: 1, target: target, status: converged}}
	if l.review(columns); columns[0].status != converged {
		t.Errorf("a column that has converged: status %d", columns[0].status)
	}
}
