package lanczos

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var (
	// ErrIterationLimit is returned, with the best result so far, if a method has not reached its tolerance within the limit of
	// products, or if rounding prevents it.
	ErrIterationLimit = errors.New("lanczos: tolerance not reached")

	// ErrNotFinite is returned when a product of the map has elements that are not finite.
	ErrNotFinite = errors.New("lanczos: the map gave numbers that are not finite")

	// ErrKnown is returned if the known eigenvalue is not the end of the spectrum.
	ErrKnown = errors.New("lanczos: the known eigenvalue is not at the wanted end of the spectrum")
)

// Which is the wanted part of the spectrum.
type Which uint8

const (
	Largest  Which = iota // the algebraically largest eigenvalues
	Smallest              // the algebraically smallest eigenvalues
)

func (w Which) check() error {
	if w > Smallest {
		return param.Refuse("lanczos", "which", "%d is no part of the spectrum; give Largest or Smallest", w)
	}
	return nil
}

func (w Which) sign() float64 {
	if w == Smallest {
		return -1
	}
	return 1
}

// Problem asks for eigenpairs at one end of the spectrum of a symmetric map.
type Problem struct {
	A     sparse.Applier[float64]
	Which Which

	// Known, if not nil, are the known eigenvectors at the wanted end. They come first in the result, and the other vectors
	// are orthogonal to them.
	Known *Known

	// Beyond omits the known pairs from the result, which has the next k pairs, or fewer if the map has fewer.
	Beyond bool

	// Positive omits pairs of the largest eigenvalues if the eigenvalue is not above 4n·ε·‖A‖ with ε = 2⁻⁵², because rounding
	// may turn 0 into such a number. The result may have fewer than k pairs, or no pairs and a nil block of vectors.
	Positive bool

	// Precondition builds the preconditioner of LOBPCG, a symmetric positive semidefinite map that approximates the inverse of
	// A near the wanted end of its spectrum. A solve calls it at most once, with a limit on its memory in bytes; 0 means no
	// limit. If Precondition is nil, LOBPCG is not used, or runs without a preconditioner if [Settings.Preconditioned] is set.
	Precondition func(ctx context.Context, memory int64) (Preconditioner, error)

	// Excluded lists rows that are zero in A, and whose columns are zero, for example of nodes without edges. Their pairs of
	// the eigenvalue 0 are neither found nor returned. Vectors are 0 in these rows.
	Excluded []uint32

	// Entries is the number of stored entries of A, from which the cost of a product is estimated; 0 means unknown.
	Entries int64

	// Scale = s > 0 asks for the pairs of the map diag(1/s)·A·diag(s), which is similar to A. Vectors are diag(1/s)·V,
	// orthonormal in the product with diag(s)². Nil means ones.
	Scale []float64
}

// Preconditioner stores M⁻¹·R in dst, which does not overlap r.
type Preconditioner = func(ctx context.Context, dst, r *sparse.Block[float64]) error

// Settings configure an eigenproblem. Nil means the defaults.
type Settings struct {
	// Tolerance is the norm of a residual Ax − λx, for a unit vector x,
	// relative to ‖A‖, at which the pair has converged. 0 means 1e-8; it must
	// be less than 1.
	Tolerance float64

	// Relative, if not 0, is a second tolerance of LOBPCG. Residuals must then also be at most Relative·|λ|, or 1e-13·‖A‖ if
	// this is larger, so that values far below ‖A‖ have correct digits. Lanczos ignores Relative.
	Relative float64

	// MaxProducts limits the products of A with a block of up to four columns. 0 means 200 000. With 0, a map of up to 1024
	// rows is solved as a dense matrix if the products do not suffice.
	MaxProducts int

	// Preconditioned makes Solve use LOBPCG from the beginning, without Lanczos.
	Preconditioned bool

	// Basis is the number of basis vectors of Lanczos; 0 means a number that
	// grows with k.
	Basis int

	// RNGSeed seeds the start vectors.
	RNGSeed uint64

	Memory  int64 // bytes in addition to A, 0: no limit; never changes a result
	Workers int   // goroutines, 0: one for each processor; never changes a result

	defaultLimit bool // MaxProducts was 0

	// Progress, if not nil, is called after the products with each block. stage is "products", done the number of products,
	// and total is 0: it is not known.
	Progress func(stage string, done, total int64)

	// Recorder, if not nil, is called in each iteration of LOBPCG with its number, from 0, and the largest residual of the
	// wanted pairs relative to ‖A‖, or 0 once all pairs have converged.
	Recorder func(iteration int, residual float64)
}

// Tolerances is the range of tolerances that residuals can reach in spite of rounding.
var Tolerances = param.Range{Least: leastResidual, Most: 1, BelowMost: true}

const (
	defaultTolerance   = 1e-8
	defaultMaxProducts = 200_000
)

func (s *Settings) validate() error {
	if s == nil {
		return nil
	}
	problems := []error{param.CheckSettings("lanczos", s.Tolerance, s.Memory)}
	if !(s.Relative >= 0 && s.Relative < 1) {
		problems = append(problems,
			fmt.Errorf("lanczos: relative tolerance %g; it must be in (0, 1), or 0 for none", s.Relative))
	}
	if s.MaxProducts < 0 {
		problems = append(problems,
			fmt.Errorf("lanczos: product limit %d; it must be positive, or 0 for %d", s.MaxProducts, defaultMaxProducts))
	}
	if s.Basis < 0 {
		problems = append(problems,
			fmt.Errorf("lanczos: basis of %d vectors; it must be positive, or 0 for a size that grows with k", s.Basis))
	}
	return errors.Join(problems...)
}

// Pairs are eigenpairs, from the wanted end of the spectrum inwards.
type Pairs struct {
	Values  []float64              `json:"values"`
	Vectors *sparse.Block[float64] `json:"-"` // orthonormal columns; the entry of largest size is positive, the first among equals to 1e-9

	// Residuals holds ‖Ax − λx‖ for each pair. An eigenvalue of A lies within this distance of λ.
	Residuals []float64 `json:"residuals"`

	Norm      float64 `json:"norm"` // a lower bound of ‖A‖, to which tolerances are relative
	Converged int     `json:"-"`    // pairs whose residual is within the tolerance

	Known int `json:"known"` // number of known pairs, which come first

	// Omitted is the largest positive eigenvalue that [Problem.Positive] omitted as a rounding error of 0, or 0 if there was
	// none.
	Omitted float64 `json:"-"`

	// Method is "lanczos" for block Lanczos with thick restarts, or "lobpcg" for locally optimal preconditioned conjugate
	// gradients. It is "dense" for a dense eigenproblem, and if all pairs were known.
	Method   string `json:"method"`
	Products int    `json:"products"` // products of A with a block of up to four columns
	Restarts int    `json:"restarts"` // restarts of Lanczos, or iterations of LOBPCG
	Basis    int    `json:"basis"`    // largest number of basis vectors in use
	Degree   int    `json:"degree"`   // degree of the last polynomial in A that Lanczos ran on; 1: A itself
}

const badShape = "lanczos: dimension mismatch"
