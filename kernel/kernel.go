package kernel

import (
	"cmp"
	"context"
	"errors"
	"math"
	"unsafe"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var (
	// ErrTolerance is wrapped by a [*ToleranceError]: float64 is not precise enough for the tolerance.
	ErrTolerance = errors.New("kernel: the tolerance is beyond the precision of float64")

	// ErrRange is returned for values that float64 cannot hold.
	ErrRange = errors.New("kernel: values are out of the range of float64")

	// ErrDistance is returned by ApplyTo of a distance.
	ErrDistance = errors.New("kernel: a distance cannot be applied to a block")

	// ErrAsymmetric is returned for a matrix that is not symmetric.
	ErrAsymmetric = graph.ErrAsymmetric
)

// Kernel is a function of two nodes. A kernel keeps results about its graph between calls, and must not be used
// concurrently. Other packages may implement Kernel, see [Register].
type Kernel interface {
	// Len returns the number of nodes.
	Len() int

	// Block computes the values between rows and cols and passes them to take in pieces that cover the block without
	// overlap, in any order, one at a time. A piece is valid during the call and may be changed. If rows and cols are
	// equal and the kernel is symmetric, the block is symmetric to the bit. The error is an error of the settings,
	// ErrTolerance, [sparse.ErrMemory], the error of the context, an error of a sweep, or the first error of take.
	Block(ctx context.Context, rows, cols []int,
		take Sink,
		s *Settings) (*Report, error)

	// ApplyTo stores K·X in dst, which must not overlap x. The tolerance is relative to the norm of the result. Errors are
	// as in Block.
	ApplyTo(ctx context.Context, dst, x *sparse.Block[float64],
		s *Settings) (*Report, error)
}

// Sink takes a piece of a block, whose first element is at row lo and column left of the block. See [Kernel].
type Sink = func(lo, left int, piece *sparse.Block[float64]) error

// Settings configure a computation. Nil means defaults.
type Settings struct {
	// Tolerance bounds the error of every value of a block, relative to the largest value in the columns computed for
	// the block. It must be less than 1; 0 means Tolerance 1e-10, Lenient, and Limit 1e-8. If float64 cannot meet the
	// tolerance, the error wraps [ErrTolerance].
	Tolerance float64

	// Lenient accepts errors up to Limit if float64 cannot meet Tolerance. The report has the error bound.
	Lenient bool

	// Limit is the largest error bound that Lenient accepts, measured as Tolerance; 0 means any bound.
	Limit float64

	// Memory is the largest number of bytes to use in addition to the graph and the pieces that the caller keeps; 0
	// means no limit. If several processes share the rows, the smallest limit counts.
	Memory int64

	// Progress, if not nil, is called with the stage, always "computing", the sweeps done and the expected total.
	Progress func(stage string, done, total int64)
}

func (s *Settings) progress(done, total int) {
	if s.Progress != nil {
		s.Progress("computing", int64(done), int64(total))
	}
}

const (
	defaultTolerance = 1e-10
	defaultLimit     = 1e-8
	singleLimit      = 1e-6 // limit of values rounded to float32
)

// complete returns s with defaults, and with the smallest memory limit of a team.
func (s *Settings) complete(team *sparse.Team) (set Settings, err error) {
	if err := s.validate(); err != nil {
		return set, err
	}
	if s != nil {
		set = *s
	}
	if set.Tolerance == 0 && !set.Lenient {
		set.Lenient = true
		set.Limit = defaultLimit
	}
	set.Tolerance = cmp.Or(set.Tolerance, defaultTolerance)
	set.Memory = team.LeastLimit(set.Memory)
	return set, nil
}

func (s *Settings) limit() float64 {
	if s.Lenient {
		return cmp.Or(s.Limit, math.Inf(1))
	}
	return s.Tolerance
}

// certifies reports whether errors on n nodes must have a bound rather than an estimate. They must if the tolerance
// is strict or the graph is small.
func (s *Settings) certifies(n int) bool {
	return s.Tolerance > 0 && !s.Lenient || n <= iterative.ExactFirst
}

func (s *Settings) validate() error {
	if s == nil {
		return nil
	}
	return param.CheckSettings(pkg, s.Tolerance, s.Memory)
}

// Report describes a result.
type Report struct {
	Method string // such as "chebyshev" or "conjugate gradients"
	Sweeps int    // over all entries of the graph

	// HalfSteps says that the block is UᵀU, where U holds columns of K^½.
	HalfSteps bool

	// ErrorBound is an upper bound of the error of every value of a block, and Largest the size of the largest value.
	ErrorBound, Largest float64

	// ColumnBound bounds the norm of the error of each column of K·X; of ApplyTo only.
	ColumnBound []float64

	// Condition, if not empty, says what the bound assumes, for example that an eigenvalue found by iteration is the
	// right one, or that the bound is an estimate.
	Condition string
}

// Scale multiplies all bounds by factor ≥ 0.
func (r *Report) Scale(factor float64) {
	r.ErrorBound *= factor
	r.Largest *= factor
	for j := range r.ColumnBound {
		r.ColumnBound[j] *= factor
	}
}

const estimated = "the error is estimated from the convergence of conjugate gradients; with a tolerance it is bounded"

// IsEstimate reports whether the error may exceed ErrorBound.
func (r *Report) IsEstimate() bool {
	return r.Condition == estimated
}

// Values is [Block] with values rounded to T. Tolerance and bounds apply to the rounded values; the tolerance 0 means
// about the precision of T. If T cannot hold the largest value of the block, the error is a [*param.ParameterError].
func Values[T sparse.Float](ctx context.Context, k Kernel, rows, cols []int,
	take Sink,
	s *Settings) (*Report, error) {
	var set Settings
	if s != nil {
		set = *s
	}
	rounding := 0x1p-53
	single := unsafe.Sizeof(T(0)) == 4
	if single {
		rounding = 0x1p-24
	}
	switch {
	case set.Tolerance == 0 && single && !set.Lenient:
		set.Tolerance = 3 * rounding
		set.Lenient = true
		set.Limit = singleLimit - rounding
	case set.Tolerance >= 2*rounding:
		set.Tolerance -= rounding
	case set.Tolerance > 0:
		return nil, &ToleranceError{Asked: set.Tolerance, Reached: 2 * rounding}
	}
	report, err := Block(ctx, k, rows, cols, take, &set)
	if err == nil && math.IsNaN(report.Largest+report.ErrorBound) {
		err = ErrRange
	}
	if err != nil || !single {
		return report, err
	}
	const denormal, normal = 0x1p-149, 0x1p-126 // least positive numbers
	if report.Largest > 0 && report.Largest < normal {
		return nil, refuse(pkg, "dtype",
			"the largest value, %.3g, is too small for float32; give float64",
			report.Largest)
	}
	report.ErrorBound += rounding*report.Largest + denormal/2
	return report, nil
}

// Matrix returns the block of k between rows and cols. It needs memory for the computation and the block.
func Matrix(ctx context.Context, k Kernel, rows, cols []int,
	s *Settings) (*sparse.Block[float64], *Report, error) {
	checkNodes(k.Len(), rows, cols)
	out := sparse.BlockOf(len(rows), len(cols),
		make([]float64, len(rows)*len(cols)))
	report, err := Block(ctx, k, rows, cols, func(lo, left int, piece *sparse.Block[float64]) error {
		for i := range piece.Rows {
			copy(out.Row(lo + i)[left:], piece.Row(i))
		}
		return nil
	}, s)
	return out, report, err
}

// Block calls k.Block. It panics if rows or cols have a node that the graph does not have.
func Block(ctx context.Context, k Kernel, rows, cols []int,
	take Sink,
	s *Settings) (*Report, error) {
	checkNodes(k.Len(), rows, cols)
	return k.Block(ctx, rows, cols, take, s)
}

const (
	badShape   = "kernel: dimension mismatch"
	badNode    = "kernel: a node outside of the graph"
	badOverlap = "kernel: the result is the argument"
)
