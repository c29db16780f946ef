package iterative

import (
	"context"
	"math"
)

// ladder starts the columns of a solve with Jacobi, and continues columns that converge too slowly with the factor. The decision
// for a column depends on this column alone, so that its bits do not depend on other columns.
type ladder struct {
	jacobiSteps int // number of steps with Jacobi that cost as much as a solve with the factor
	allowed     int // largest number of steps with the factor; 0: no limit but the settings'
	climb       func(ctx context.Context) (Preconditioner, error)

	again   bool // the next preconditioner is the factor
	climbed bool // the factor is in use
}

const (
	// A step with the factor costs about three sweeps, and about fifteen steps are enough. Making the factor is worth fifteen more
	// steps if it may not be needed: a singular system is as hard as its graph.
	stepsDefinite = 60
	stepsSingular = 45

	// A sweep over the few columns of a harmonic function costs little compared with making the factor, which takes as long as 40
	// steps on a road map, 150 to 260 on a web or a grid, and 450 to 650 on R-MAT, where Jacobi needs 30 to 80.
	stepsHarmonic = 300

	// On a large grid or mesh without a complete factor, making the sampled factor takes as long as 150 to 260 steps, and several
	// times as much memory as a solve.
	stepsSlow = 180

	// reviewEvery is the number of steps between reviews. The first review, after firstReview steps, finds hopeless columns: there a
	// singular system that Jacobi solves in 38 steps is predicted to take 31, and systems that take hundreds are predicted to take
	// 60 to 290.
	reviewEvery = 20
	firstReview = 8

	// factorStepsPerDigit bounds the steps with the factor.
	factorStepsPerDigit = 10
)

// review sets columns waiting for which Jacobi is predicted to need more steps than the factor is worth. It assumes that
// residuals continue to fall at their mean rate so far.
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
