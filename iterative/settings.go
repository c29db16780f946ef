package iterative

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/param"
)

var (
	// ErrIterationLimit is returned, with a result, when a method has done the
	// steps it was allowed and some column has not reached its tolerance.
	ErrIterationLimit = errors.New("iterative: tolerance not reached within the iteration limit")

	// ErrIndefinite is returned, with a result, when a direction p with
	// pᵀAp ≤ 0 shows that the map is not positive definite on the complement
	// of its null space.
	ErrIndefinite = errors.New("iterative: the map is not positive definite")

	// ErrStagnation is returned, with a result, when rounding keeps the
	// residual of some column above its tolerance.
	ErrStagnation = errors.New("iterative: the tolerance is beyond the precision of the map")
)

// Settings configure a solve. Nil means the defaults.
type Settings struct {
	// Tolerance is the residual at which a column has converged: the norm of the residual relative to the norm of the
	// right-hand side, outside the null space. 0 means 1e-8; it must be less than 1.
	Tolerance float64

	// Absolute, if not nil, holds the norm of the residual at which each
	// column has converged, in place of Tolerance.
	Absolute []float64

	// MaxIterations is the largest number of steps of a column; 0 means 10 000.
	MaxIterations int

	// Start says that X holds a first approximation; otherwise it is zero.
	Start bool

	// Recurrence reports the residuals that the recurrence carries along. They
	// equal the true ones up to rounding of the order ε·steps·‖A‖·‖X‖, and
	// save the last sweep, and ErrStagnation is not found.
	Recurrence bool

	// Recorder, if not nil, is called before the first and after every step
	// with the relative residuals of all columns, in a slice that is valid
	// during the call.
	Recorder func(step int, residual []float64)

	// Eliminate makes [System.SolveTo] use [System.EliminateTo] on graphs of up to [ExactFirst]
	// nodes, because a small residual does not imply a small error where the weights span many
	// orders of magnitude.
	Eliminate bool

	// Enough, if not nil, is shown X and the residual that the recurrence carries
	// along before the first and after every step of [CG.SolveTo] for one column
	// without Scale, and ends the solve when it returns true. If several processes share the rows,
	// it must return the same in all of them.
	Enough func(x, residual []float64) bool
}

const (
	defaultTolerance     = 1e-8
	defaultMaxIterations = 10_000
)

// validate reports every setting that is out of range.
func (s *Settings) validate() error {
	if s == nil {
		return nil
	}
	problems := []error{param.CheckTolerance("iterative", s.Tolerance)}
	for j, t := range s.Absolute {
		if !(t > 0) {
			problems = append(problems,
				fmt.Errorf("%w: absolute tolerance %g of column %d; it must be positive", ErrParameter, t, j))
			break
		}
	}
	if s.MaxIterations < 0 {
		problems = append(problems,
			fmt.Errorf("%w: iteration limit %d; it must be positive, or 0 for %d",
				ErrParameter, s.MaxIterations, defaultMaxIterations))
	}
	return errors.Join(problems...)
}

// withDefaults returns a copy in which zero values are replaced.
func (s *Settings) withDefaults() Settings {
	var c Settings
	if s != nil {
		c = *s
	}
	if c.Tolerance == 0 {
		c.Tolerance = defaultTolerance
	}
	if c.MaxIterations == 0 {
		c.MaxIterations = defaultMaxIterations
	}
	return c
}

// Result reports on a solve, also on one that failed. The fields behind History are filled by
// a [System] alone.
type Result struct {
	Steps       int   // of the block, or of groups of its columns in turn, each with one sweep
	Sweeps      int   // all sweeps, those for residuals included
	ColumnSteps []int // of each column, until it was frozen

	// Residual holds ‖B − A·X‖ for each column, where the part of B in the null space is
	// left out; Relative is the same over the norm of that B.
	Residual, Relative []float64

	// History holds the largest relative residual before the first step and
	// after each.
	History []float64

	// ErrorBound is never below ‖X − M⁺B‖, for each column: the residual and
	// the rounding errors of computing it, over the System's Least. Nil if that is 0.
	ErrorBound []float64

	// ErrorEstimate estimates ‖X − M⁺B‖ for each column where no bound is known, from how the
	// iteration converged. It may be below the error. Nil if ErrorBound is known.
	ErrorEstimate []float64

	// Rounding is the part of ErrorBound that a smaller residual would not
	// change.
	Rounding []float64

	SampledCholesky  bool // the sampled factor was used
	CompleteCholesky bool // the complete factor was used

	estimate []float64 // of the errors of columns, relative to them
}
