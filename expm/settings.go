package expm

import (
	"errors"

	"github.com/heatwalk/heatwalk/param"
)

var (
	// ErrTolerance is returned, with a result, when rounding errors alone may
	// exceed the tolerance, because ‖f(H)B‖ is too small compared with ‖B‖.
	ErrTolerance = errors.New("expm: the tolerance is beyond the precision of float64 here")

	// ErrInterval is returned when the vectors of a recurrence of a map from
	// [NewBounded] grow, which they cannot while the interval holds the
	// spectrum.
	ErrInterval = errors.New("expm: the interval does not hold the spectrum")

	// ErrSmooth is returned for a function whose Chebyshev coefficients do not
	// decay on the interval.
	ErrSmooth = errors.New("expm: the function is not smooth on the interval")

	// ErrOverflow is returned for an exponential whose result is beyond float64.
	ErrOverflow = errors.New("expm: the result overflows")

	// ErrParameter is returned for a function or a block out of range; settings out of range give a [*param.ParameterError].
	ErrParameter = errors.New("expm: parameter out of range")
)

// Method says how a result was computed.
type Method string

const (
	// Chebyshev is a series in the map: a sweep for each term.
	Chebyshev Method = "chebyshev"

	// Resolvent is a Chebyshev series in (I + γH)⁻¹: a solve for each term.
	Resolvent Method = "resolvent"

	// Rational is a sum of shifted inverses and of their powers. It takes a solve for each.
	Rational Method = "rational"

	// Projection is the part of B in the null space alone: all that is left of
	// B for a rate so large that the rest is below the tolerance.
	Projection Method = "projection"
)

// Settings configure [Map.ApplyTo]. Nil means the defaults.
type Settings struct {
	// Tolerance bounds ‖Y − f(H)B‖ relative to ‖f(H)B‖, both in the Frobenius
	// norm over the block. 0 means 1e-8; it must be less than 1.
	Tolerance float64

	// Memory is the largest number of bytes that a sampled Cholesky factor may
	// take; 0 means no limit. Where it does not fit, Jacobi stays.
	Memory int64

	// Rows, unless nil, are the rows of f(H)·B that the results have, in this order; no row may be listed twice. A series then
	// adds its terms to these rows alone.
	Rows []int

	// Progress, if not nil, is called after every sweep, and with solves after every solve,
	// with "sweeps", the number done and the number that is expected in all.
	Progress func(stage string, done, total int64)

	method Method // forced method for falling exponentials of a Laplacian, for comparisons; "": the cheapest
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
	Sweeps          int       // done, over all functions; a sweep over each slab of the columns counts once
	PredictedSweeps int       // expected when the methods were chosen
	Functions       []Outcome // one for each function, in their order

	// Condition, if not empty, is the assumption of the bounds beyond the arithmetic.
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

	// ErrorBound is an upper bound of ‖Y − f(H)B‖, and ColumnBound an upper bound for each column. They bound truncation and
	// residuals exactly. For rounding they have an allowance: 25ε√degree·‖B‖ for a series, times the size of the
	// coefficients, and ε times the sum of absolute values of a row for a product of solves.
	ErrorBound  float64
	ColumnBound []float64

	// Rounding is the share of ColumnBound that comes from rounding, which a smaller
	// tolerance hardly reduces.
	Rounding []float64

	// NormLowerBound is never above ‖f(H)B‖.
	NormLowerBound float64

	// Relative is ErrorBound over NormLowerBound, 0 for 0 over 0.
	Relative float64
}
