package iterative

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Preconditioner is a symmetric positive semidefinite map that approximates the inverse of the map to be solved. It must be
// linear and must not change during a solve.
type Preconditioner interface {
	// ApplyTo stores M⁻¹·R in dst, which must not overlap r.
	ApplyTo(ctx context.Context, dst, r *sparse.Block[float64]) error
}

// jacobi is a diagonal preconditioner, whose product [CG] computes inside other passes.
type jacobi struct {
	inverse []float64 // 1/A_ii, or 0 if row i of A is empty
}

// NewJacobi returns the preconditioner whose diagonal is the inverse of diag. If an element of diag is not positive, its
// row must be empty.
func NewJacobi(diag []float64) Preconditioner {
	return &jacobi{blocks.Inverses(diag)}
}

// ApplyTo implements [Preconditioner].
func (p *jacobi) ApplyTo(_ context.Context, dst, r *sparse.Block[float64]) error {
	if len(p.inverse) != r.Rows || dst.Rows != r.Rows || dst.Cols != r.Cols {
		panic(badShape)
	}
	blocks.ScaleRows(dst, r, p.inverse)
	return nil
}

const (
	badShape   = "iterative: dimension mismatch"
	badClamp   = "iterative: a clamped row that only one process has"
	badOverlap = "iterative: X and B are the same block"
)
