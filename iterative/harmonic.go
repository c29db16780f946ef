package iterative

import (
	"context"

	"github.com/heatwalk/heatwalk/sparse"
)

// Harmonic stores in the rows U of f that are not clamped, in components that
// have a clamped row L, the harmonic function with the clamped rows' values,
//
//	L_UU·F_U = A_UL·F_L,  F_U = (I − T_UU)⁻¹·T_UL·F_L
//
// and leaves all other rows as they are. It is the limit of [Propagate], by
// conjugate gradients with Jacobi. Settings, result and errors are those of
// [CG]; residuals are relative to A_UL·F_L and F_L together.
//
// Cost: that of [CG], one sweep more, and five blocks.
func (g *Graph) Harmonic(ctx context.Context, f *sparse.Block[float64], clamped []int, s *Settings) (*Result, error) {
	n := len(g.Degrees)
	if f.Rows != n {
		panic(badShape)
	}
	reached := make([]bool, len(g.Components.Sizes))
	for _, i := range clamped {
		reached[g.Components.Of[i]] = true
	}
	free := make([]float64, n) // 1 in U, 0 in L and in what L does not reach
	for i, c := range g.Components.Of {
		if reached[c] {
			free[i] = 1
		}
	}
	for _, i := range clamped {
		free[i] = 0
	}
	diag, precondition := make([]float64, n), make([]float64, n)
	held, b := sparse.NewBlock[float64](n, f.Cols), sparse.NewBlock[float64](n, f.Cols)
	for i, u := range free {
		diag[i], precondition[i] = 1, 1
		if u == 0 {
			copy(held.Row(i), f.Row(i))
			continue
		}
		diag[i], precondition[i] = g.Degrees[i], g.Degrees[i]
		if g.Loops != nil {
			precondition[i] -= g.Loops[i]
		}
	}
	known := &sparse.Operator[float64]{A: g.A, Left: free, Workers: g.Workers}
	if err := known.StepTo(ctx, b, held, sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	for i, u := range free {
		if u == 0 {
			copy(b.Row(i), held.Row(i))
		}
	}
	inner := &sparse.Operator[float64]{A: g.A, Scale: -1, Left: free, Right: free, Diag: diag, Workers: g.Workers}
	c := CG{A: inner, Precond: NewJacobi(precondition), Workers: g.Workers}
	return c.SolveTo(ctx, f, b, s)
}
