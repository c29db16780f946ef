package iterative

import (
	"context"
	"math"
)

// ladder starts the columns of a solve with Jacobi and moves columns that converge too slowly to the factor. The decision for
// a column depends on this column alone, so that bits do not depend on other columns.
type ladder struct {
	jacobiSteps int // steps of Jacobi that cost as much as a solve with the factor
	allowed     int // steps with the factor; 0: as many as the settings say
	climb       func(ctx context.Context) (Preconditioner, error)

	again   bool // the factor is the next preconditioner
	climbed bool // to the factor
}

const (
	// A step with the factor costs about three sweeps and some fifteen are
	// enough. Making the factor is worth fifteen more where it may not be
	// needed: a singular system is as hard as its graph.
	stepsDefinite = 60
	stepsSingular = 45

	// A sweep over the few columns of a harmonic function costs little compared with making
	// the factor, which takes as long as 40 steps on a road map, 150 to 260 on a web or a
	// grid, 450 to 650 on R-MAT, where Jacobi needs 30 to 80.
	stepsHarmonic = 300

	// On a large grid or mesh without a complete factor, making the sampled one takes as long as 150 to 260 steps, and several
	// times as much memory as a solve.
	stepsSlow = 180

	// reviewEvery is the number of steps between reviews. Hopeless columns show before the first review: by then a singular
	// system that Jacobi solves in 38 steps is predicted to take 31, and systems that take hundreds are predicted to take 60
	// to 290.
	reviewEvery = 20
	firstReview = 8

	// factorStepsPerDigit bounds the steps with the factor.
	factorStepsPerDigit = 10
)

// review sets aside the columns for which Jacobi is predicted to need more steps
// than it is worth: their residuals fall as they did on average so far.
func (l *ladder) review(columns []column) {
	for j := range columns {
		c := &columns[j]
		if c.status != live || c.steps%reviewEvery != 0 && c.steps != firstReview {
			continue
		}
		steps := float64(c.steps) * math.Log(c.target/c.first) / math.Log(c.residual/c.first)
		if c.residual >= c.first || steps > float64(l.jacobiSteps) ||
			c.steps >= 2*l.jacobiSteps {
			c.status = waiting
		}
	}
}
