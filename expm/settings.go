package expm

import (
	"errors"

	"github.com/heatwalk/heatwalk/param"
)

var (
	// ErrTolerance is returned, with a result, when rounding errors alone may
	// exceed the tolerance, because ‖f(H)B‖ is too small compared with ‖B‖.
	ErrTolerance = errors.New("expm: the tolerance is beyond the precision of float64 here")

	// ErrInterval is returned when the vectors of a recurrence grow: the interval of the map, which the caller of [NewBounded]
	// gave, does not contain the spectrum.
	ErrInterval = errors.New("expm: the interval does not hold the spectrum")

	// ErrSmooth is returned for a function whose Chebyshev coefficients do not
	// decay on the interval.
	ErrSmooth = errors.New("expm: the function is not smooth on the interval")

	// ErrOverflow is returned for an exponential whose result is beyond float64.
	ErrOverflow = errors.New("expm: the result overflows")

	// ErrParameter is returned for a function or a block that is out of range. A setting that is out of range gives a
	// [*param.ParameterError] instead.
	ErrParameter = errors.New("expm: parameter out of range")
)

// Method says how a result was computed.
type Method string

const (
	// Chebyshev is a series in the map: a sweep for each term.
	Chebyshev Method = "chebyshev"

	// Resolvent is a Chebyshev series in (I + γH)⁻¹: a solve for each term.
	Resolvent Method = "resolvent"

	// Rational is a sum of shifted inverses and of their powers: a solve for each shift and each power.
	Rational Method = "rational"

	// Projection is the part of B in the null space alone; the rate is so large that the rest is below the tolerance.
	Projection Method = "projection"
)

// Settings configure [Map.ApplyTo]. Nil means the defaults.
type Settings struct {
	// Tolerance bounds ‖Y − f(H)B‖ relative to ‖f(H)B‖, both in the Frobenius
	// norm over the block. 0 means 1e-8; it must be less than 1.
	Tolerance float64

	// Memory is the largest number of bytes that a sampled Cholesky factor may take; 0 means no limit. If the factor needs
	// more, solves continue with Jacobi.
	Memory int64

	// Rows, if not nil, are the rows of f(H)·B that the results have, in this order. No row may be listed twice. A series adds
	// its terms to these rows alone.
	Rows []int

	// Progress, if not nil, is called after every sweep of a series and after every solve. stage is "sweeps", done the number
	// of sweeps so far, and total the expected number.
	Progress func(stage string, done, total int64)

	method Method // forced, for falling exponentials of a Laplacian in comparisons; "": the cheapest
}

const defaultTolerance = 1e-8

func (s *Settings) validate() error {
	if s == nil {
		return nil
	}
	return param.CheckSettings("expm", s.Tolerance, s.Memory)
}

func (s *Settings) withDefaults() Settings {
	var c Settings
	if s != nil {
		c = *s
	}
	if c.Tolerance == 0 {
		c.Tolerance = defaultTolerance
	}
	return c
}

// Result reports on a call of [Map.ApplyTo].
type Result struct {
	Sweeps          int       // sweeps over all functions; a sweep over each slab counts once
	PredictedSweeps int       // sweeps expected when the methods were chosen
	Functions       []Outcome // outcomes, in the order of the functions

	// Condition, if not empty, is an assumption of the bounds about the spectrum, see [Estimated].
	Condition string
}

// Worst returns the largest relative error bound of a function.
func (r *Result) Worst() (relative float64) {
	for i := range r.Functions {
		relative = max(relative, r.Functions[i].Relative)
	}
	return relative
}

// Outcome reports on the block of one function.
type Outcome struct {
	Method Method

	// SampledCholesky is true if solves were preconditioned by a factor.
	SampledCholesky bool

	// ErrorBound is an upper bound of ‖Y − f(H)B‖, and ColumnBound an upper bound for each column. Both bound the errors of
	// truncation and of solves strictly. They allow for rounding errors: 25ε√degree·‖B‖ times the size of the coefficients for
	// a series, and ε times the sum of absolute values of a row for a product of solves.
	ErrorBound  float64
	ColumnBound []float64

	// Rounding is the share of ColumnBound that comes from rounding, which a smaller
	// tolerance hardly reduces.
	Rounding []float64

	// NormLowerBound is a lower bound of ‖f(H)B‖.
	NormLowerBound float64

	// Relative is ErrorBound over NormLowerBound. It is 0 if both are 0.
	Relative float64
}
