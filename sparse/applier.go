package sparse

import "context"

// Applier is a linear map on blocks, through which solvers, Krylov methods and functions of matrices use a graph: an
// operator over a matrix in memory or on disk, or a composition of maps.
type Applier[T Float] interface {
	// Dims returns the number of rows and columns of the map.
	Dims() (r, c int)

	// StepTo stores Alpha·Ā·X + Beta·X + Delta·Prev in dst, see [Operator].
	// dst may be s.Prev; it must not overlap x.
	StepTo(ctx context.Context, dst, x *Block[T], s Step[T]) error
}

var (
	_ Applier[float32] = (*Operator[float32])(nil)
	_ Applier[float64] = (*Operator[float64])(nil)
)
