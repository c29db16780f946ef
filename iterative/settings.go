package iterative

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/param"
)

var (
	// ErrIterationLimit is returned, with a result, if a column has not reached its tolerance
	// within the allowed steps.
	ErrIterationLimit = errors.New("iterative: tolerance not reached within the iteration limit")

	// ErrIndefinite is returned, with a result, if a direction p with pᵀAp ≤ 0 shows that the map is not positive definite on the
	// complement of its null space.
	ErrIndefinite = errors.New("iterative: the map is not positive definite")

	// ErrStagnation is returned, with a result, if rounding errors keep the residual of a column above its tolerance.
	ErrStagnation = errors.New("iterative: the tolerance is beyond the precision of the map")
)

// Settings configure a solve. Nil means the defaults.
type Settings struct {
	// Tolerance is the residual at which a column has converged: the norm of the residual relative to the norm of the right-hand
	// side, outside the null space. 0 means 1e-8; it must be less than 1.
	Tolerance float64

	// Absolute, if not nil, holds the norm of the residual at which each column has converged, in
	// place of Tolerance.
	Absolute []float64

	// MaxIterations is the largest number of steps of a column; 0 means 10 000.
	MaxIterations int

	// Start states that X holds a first approximation in place of zero.
	Start bool

	// Recurrence reports the residuals of the recurrence in place of the true residuals; they
	// differ by rounding errors of the order ε·steps·‖A‖·‖X‖. It saves the last sweep, but
	// ErrStagnation is then never returned.
	Recurrence bool

	// Recorder, if not nil, is called before the first and after every step with the relative residuals of all columns, in a slice
	// that is valid during the call.
	Recorder func(step int, residual []float64)

	// Eliminate makes [System.SolveTo] use [System.EliminateTo] on graphs of up to [ExactFirst] nodes, for weights that span
	// many orders of magnitude. A [Harmonic] system also uses it on larger forests.
	Eliminate bool

	// Enough, if not nil, is called before the first and after every step of [CG.SolveTo] with X and the residual of the
	// recurrence. The system must have one column and no Scale. The solve ends if Enough returns true. If several processes
	// share the rows, Enough must return the same in all of them.
	Enough func(x, residual []float64) bool
}

const (
	defaultTolerance     = 1e-8
	defaultMaxIterations = 10_000
)

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

// Result describes a solve, including a failed solve. Only a [System] fills the fields after
// History.
type Result struct {
	Steps       int   // steps of the block, each with one sweep; summed over groups of columns
	Sweeps      int   // all sweeps, including sweeps for residuals
	ColumnSteps []int // steps of each column until it ended

	// Residual holds ‖B − A·X‖ for each column, without the part of B in the null space. Relative is Residual over the norm of
	// B, also without this part.
	Residual, Relative []float64

	// History holds the largest relative residual before the first and after each step.
	History []float64

	// ErrorBound is an upper bound of ‖X − M⁺B‖ for each column: the residual plus the rounding errors of computing the
	// residual, divided by the System's Least. It is nil if Least is 0.
	ErrorBound []float64

	// ErrorEstimate estimates ‖X − M⁺B‖ for each column from the convergence of the iteration, and may be smaller than the
	// error. It is nil if ErrorBound is known.
	ErrorEstimate []float64

	// Rounding is the part of ErrorBound that a smaller residual would not change.
	Rounding []float64

	SampledCholesky  bool // the sampled factor was used
	CompleteCholesky bool // the complete factor was used

	estimate []float64 // error estimates of columns, relative to the columns
}
