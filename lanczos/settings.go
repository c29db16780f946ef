package lanczos

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

var (
	// ErrIterationLimit is returned, with the best result so far, when a method
	// has used the products it was allowed and has not reached its tolerance, or rounding
	// lets it come no nearer.
	ErrIterationLimit = errors.New("lanczos: tolerance not reached")

	// ErrNotFinite is returned when the map gave numbers that are not finite.
	ErrNotFinite = errors.New("lanczos: the map gave numbers that are not finite")

	// ErrKnown is returned when an eigenvalue beyond the known ones was found,
	// so that they do not lie at the wanted end of the spectrum.
	ErrKnown = errors.New("lanczos: the known eigenvalue is not at the wanted end of the spectrum")
)

// DenseError is returned, before the iteration, where so many eigenvalues lie
// around [Problem.Near] that it would come to no end.
type DenseError struct {
	Near, Within, Count float64 // about so many within a distance of Near
	Products            int     // of A that the nearest take at least, about
	Limit               int     // products that are allowed
}

// Error implements error.
func (e *DenseError) Error() string {
	return fmt.Sprintf("lanczos: about %.0f eigenvalues lie within %.2g of %.6g: the nearest take about %d products or more, %d are allowed", e.Count, e.Within, e.Near, e.Products, e.Limit)
}

// Which is the wanted part of the spectrum.
type Which uint8

const (
	Largest  Which = iota // the algebraically largest eigenvalues
	Smallest              // the algebraically smallest eigenvalues
	Interior              // the eigenvalues nearest to [Problem.Near]
)

// sign turns the wanted end into the upper one.
func (w Which) sign() float64 {
	if w == Smallest {
		return -1
	}
	return 1
}

// Problem asks for eigenpairs at one end of the spectrum of a symmetric map, or
// around a number.
type Problem struct {
	A     sparse.Applier[float64]
	Which Which

	// Near is the number that the eigenvalues of [Interior] are nearest to; Known
	// and Precondition are not used for them.
	Near float64

	// Known, if not nil, are eigenvectors at the wanted end that need not be
	// found: they come first in the result, and everything else is kept
	// orthogonal to them.
	Known *Known

	// Beyond leaves the known pairs out of the result: all pairs that are asked
	// for lie behind them, of which there may be fewer. Where known eigenvectors are many, their block would
	// be larger than all that finding another takes.
	Beyond bool

	// Positive leaves out the pairs of the largest eigenvalues that are not larger than
	// 4n·ε·‖A‖ with ε = 2⁻⁵², which rounding may make of 0: there may be fewer than were
	// asked for, or none, without a block of vectors.
	Positive bool

	// Precondition builds the preconditioner of LOBPCG, a symmetric positive semidefinite
	// map that resembles the inverse of A near the wanted end of its spectrum: apply stores
	// M⁻¹·R in dst, which does not overlap r. It is called at most once for each solve,
	// with the memory that it may take (0: no limit). Nil: there is none.
	Precondition func(ctx context.Context, memory int64) (Preconditioner, error)

	// Excluded lists rows in which A is zero, with their columns, for example those of nodes
	// without edges: their pairs of the eigenvalue 0 are neither found nor returned, and
	// vectors are 0 there.
	Excluded []uint32

	// Entries is the number of stored entries of A if it is known, 0 otherwise: what a
	// product costs.
	Entries int64

	// Scale = s > 0 makes the result that of the map diag(1/s)·A·diag(s), which is similar
	// to A: vectors are diag(1/s)·V, orthonormal in the product with diag(s)². Nil means
	// ones.
	Scale []float64
}

// Preconditioner stores M⁻¹·R in dst, which does not overlap r.
type Preconditioner = func(ctx context.Context, dst, r *sparse.Block[float64]) error

// Settings are the settings of an eigenproblem. Nil means all defaults.
type Settings struct {
	// Tolerance is the norm of a residual Ax − λx, for a unit vector x,
	// relative to ‖A‖, at which the pair has converged. 0 means 1e-8; it must
	// be less than 1.
	Tolerance float64

	// Relative, if not 0, makes LOBPCG go on until residuals are at most Relative·|λ|
	// as well, or 1e-13·‖A‖: values that are small beside ‖A‖ have so many digits
	// then. Lanczos does not look at it.
	Relative float64

	// MaxProducts limits the products of A with a block of up to four columns;
	// 0 means 100 000, and in the [Interior] 20 000 or, of a small map, as many as
	// half a minute takes.
	MaxProducts int

	// Preconditioned begins with LOBPCG.
	Preconditioned bool

	// Basis is the number of basis vectors of Lanczos; 0 means a number that
	// grows with k.
	Basis int

	// RNGSeed seeds the start vectors.
	RNGSeed uint64

	Memory  int64 // bytes that may be used beside A, 0: no limit; never changes a result
	Workers int   // goroutines, 0: one for each processor; never changes a result

	interiorDefault bool // MaxProducts was 0

	// Progress, if not nil, is called after the products with each block: the stage is
	// "products", done their number, and total 0, because it is not known.
	Progress func(stage string, done, total int64)

	// Recorder, if not nil, is called in each iteration of LOBPCG, counted from 0, with the largest
	// residual of the wanted pairs, relative to ‖A‖; 0 once all have converged.
	Recorder func(iteration int, residual float64)
}

// Tolerances are those that rounding lets residuals reach.
var Tolerances = spec.Range{Least: leastResidual, Most: 1, BelowMost: true}

const (
	defaultTolerance   = 1e-8
	defaultMaxProducts = 100_000
)

// validate reports every setting that is out of range.
func (s *Settings) validate() error {
	if s == nil {
		return nil
	}
	var all []error
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		all = append(all, fmt.Errorf("lanczos: tolerance %g; it must be in (0, 1), or 0 for %g", s.Tolerance, defaultTolerance))
	}
	if !(s.Relative >= 0 && s.Relative < 1) {
		all = append(all, fmt.Errorf("lanczos: relative tolerance %g; it must be in (0, 1), or 0 for none", s.Relative))
	}
	if s.MaxProducts < 0 {
		all = append(all, fmt.Errorf("lanczos: product limit %d; it must be positive, or 0 for %d", s.MaxProducts, defaultMaxProducts))
	}
	if s.Basis < 0 {
		all = append(all, fmt.Errorf("lanczos: basis of %d vectors; it must be positive, or 0 for a size that grows with k", s.Basis))
	}
	if s.Memory < 0 {
		all = append(all, fmt.Errorf("lanczos: memory limit %d bytes; it must be positive, or 0 for none", s.Memory))
	}
	return errors.Join(all...)
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
	if c.interiorDefault = c.MaxProducts == 0; c.interiorDefault {
		c.MaxProducts = defaultMaxProducts
	}
	return c
}

// Pairs are eigenpairs, from the wanted end of the spectrum inwards, or from
// [Problem.Near] outwards.
type Pairs struct {
	Values  []float64              `json:"values"`
	Vectors *sparse.Block[float64] `json:"-"` // orthonormal columns; the entry of largest size is positive, the first among equals to 1e-9

	// Residuals holds ‖Ax − λx‖ for each pair, computed with one more product
	// at the end. It is a certificate: an eigenvalue of A lies within it of λ.
	Residuals []float64 `json:"residuals"`

	Norm      float64 `json:"norm"` // a lower bound of ‖A‖ that residuals were measured against
	Converged int     `json:"-"`    // pairs whose residual is within the tolerance

	Known int `json:"known"` // pairs at the beginning that were known and not looked for

	// Omitted is the largest positive number that [Problem.Positive] took for 0 up to
	// rounding; 0: there was none.
	Omitted float64 `json:"-"`

	// Method is "lanczos", by block Lanczos with thick restarts, "lobpcg", by locally
	// optimal preconditioned conjugate gradients, or "dense", by a dense eigenproblem, also
	// where all pairs were known.
	Method   string `json:"method"`
	Products int    `json:"products"` // of A with a block of up to four columns
	Restarts int    `json:"restarts"` // restarts of Lanczos, or iterations of LOBPCG
	Basis    int    `json:"basis"`    // vectors, the most in use
	Degree   int    `json:"degree"`   // of the polynomial in A that Lanczos ran on last; 1: A itself
}

const badShape = "lanczos: dimension mismatch"
