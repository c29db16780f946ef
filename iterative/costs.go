package iterative

import (
	"context"
	"math"
)

// ladder starts the columns of a solve with Jacobi's preconditioner, and continues slow columns with a Cholesky factor. The
// decision about a column depends on this column alone.
type ladder struct {
	jacobiSteps int // steps that cost as much as a solve with the factor
	allowed     int // steps with the factor; 0: only the settings' limit
	climb       func(ctx context.Context) (Preconditioner, error)

	again   bool // the factor is next
	climbed bool
}

const (
	// A solve with the factor takes about fifteen steps of about three sweeps. stepsDefinite adds fifteen steps for making the
	// factor; stepsSingular does not, because a singular system is as hard as its graph.
	stepsDefinite = 60
	stepsSingular = 45

	// stepsHarmonic is larger, because a harmonic function has few columns and cheap sweeps. Making the factor takes as long
	// as 40 steps on a road map, 150 to 260 on a web or a grid, and 450 to 650 on R-MAT, where Jacobi needs 30 to 80 steps.
	stepsHarmonic = 300

	// stepsSlow is for a large grid or mesh. Making its sampled factor takes as long as 150 to 260 steps, and several times as
	// much memory as a solve.
	stepsSlow = 180

	// reviewEvery is the number of steps between reviews of Jacobi. The first review finds hopeless columns: it predicts 31
	// steps for a singular system that Jacobi solves in 38, and 60 to 290 for systems that take hundreds.
	reviewEvery = 20
	firstReview = 8

	// factorStepsPerDigit bounds the steps with the factor, for each digit of the tolerance.
	factorStepsPerDigit = 10
)

// review gives columns the status waiting if Jacobi is predicted to take more than jacobiSteps steps, at the mean rate so
// far.
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
