package iterative

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Harmonic stores in the rows U of f that are not clamped, in components that
// have a clamped row L, the harmonic function with the clamped rows' values,
//
//	L_UU·F_U = A_UL·F_L,  F_U = (I − T_UU)⁻¹·T_UL·F_L
//
// and leaves all other rows as they are. It is the limit of [Propagate], by
// conjugate gradients with Jacobi. Settings, result and errors are those of
// [CG], but for Start, which is not used; residuals are relative to A_UL·F_L
// and F_L together.
//
// Cost: that of [CG], one sweep more, and [HarmonicBytes].
func (g *Graph) Harmonic(ctx context.Context, f *sparse.Block[float64], clamped []int, s *Settings) (*Result, error) {
	n := len(g.Degrees)
	if f.Rows != n {
		panic(badShape)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	reached := g.Components.Reached(clamped)
	free := make([]float64, n) // 1 in U, 0 in L and in what L does not reach
	for i := range roaring.Values(reached) {
		free[i] = 1
	}
	for _, i := range clamped {
		free[i] = 0
	}
	diag, precondition := make([]float64, n), make([]float64, n)
	for i, u := range free {
		diag[i], precondition[i] = 1, 1
		if u == 0 {
			continue
		}
		clear(f.Row(i))
		diag[i], precondition[i] = g.Degrees[i], g.Degrees[i]
		if g.Loops != nil {
			precondition[i] -= g.Loops[i]
		}
	}
	b := sparse.NewBlock[float64](n, f.Cols)
	known := &sparse.Operator[float64]{A: g.A, Left: free, Workers: g.Workers}
	if err := known.StepTo(ctx, b, f, sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	held := func(to, from *sparse.Block[float64]) {
		for i, u := range free {
			if u == 0 {
				copy(to.Row(i), from.Row(i))
			}
		}
	}
	held(b, f)
	set := s.withDefaults()
	set.Start = false
	inner := &sparse.Operator[float64]{A: g.A, Scale: -1, Left: free, Right: free, Diag: diag, Workers: g.Workers}
	c := CG{A: inner, Precond: NewJacobi(precondition), Workers: g.Workers}
	res, err := c.SolveTo(ctx, f, b, &set)
	held(f, b)
	return res, err
}

// HarmonicBytes bounds the memory that [Graph.Harmonic] takes beside f: five
// blocks, one of them the scaled copy that a step gathers from, seven vectors and
// the marks of reached rows, and sums by chunk.
func HarmonicBytes(n, cols int) int64 {
	return 5*sparse.BlockBytes[float64](n, cols) + (7*8+1)*int64(n) + 16*int64(cols)*int64(chunkCount(n))
}
