package bench

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/lanczos/spectral"
	"github.com/heatwalk/heatwalk/sparse"
)

// Systems are the matrices M of solve: I − αS, I + αL and L, with L̃ for L where that is
// asked for.
var Systems = []string{"von-neumann", "regularized-laplacian", "pseudo-inverse"}

// Numbers and checksums of Krylov methods follow the order of the ids: Σ Y_ij·((31·i +
// 17·j) mod 101 − 50).

// exponential times Y = exp(−βL)·B, the last of the betas, for all of them at once. B is
// [noise].
func exponential(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	g := t.graph
	b := noise(len(g.Degrees), s.Columns, t.Order)
	functions := make([]expm.Function, len(s.Betas))
	blocks := make([]*sparse.Block[float64], len(s.Betas))
	for i, beta := range s.Betas {
		functions[i], blocks[i] = expm.Exp(-beta),
			sparse.NewBlock[float64](b.Rows, s.Columns)
	}
	kind := sparse.Laplacian
	if s.Normalized {
		kind = sparse.NormalizedLaplacian
	}
	m, err := expm.New(ctx, g, kind)
	if err != nil {
		return nil, err
	}
	var out *expm.Result
	v, err := measure(s.Repeat, func() (err error) {
		out, err = m.ApplyTo(ctx, blocks, b, functions,
			&expm.Settings{Tolerance: s.Tolerance, Memory: s.Limit})
		return err
	})
	if err != nil {
		return nil, err
	}
	last := len(s.Betas) - 1
	v.krylov(s, string(out.Functions[last].Method), out.Sweeps)
	for _, o := range out.Functions {
		*v.Bound = max(*v.Bound, o.Relative)
		v.Error = max(v.Error, o.ErrorBound)
	}
	v.Checksum = sum(blocks[last], t.Order, signs)
	return v, nil
}

// krylov notes how a method ran.
func (v *Report) krylov(s *Settings, method string, sweeps int) {
	v.Columns = s.Columns
	v.Tolerance = s.Tolerance
	v.Method = method
	v.Sweeps = sweeps
	v.Bound = new(float64)
}

// system returns M.
func (s *Settings) system(g *graph.Graph) (*iterative.System, error) {
	bound := 1.0
	if s.System == "pseudo-inverse" {
		bound = 0
	}
	if s.System == "von-neumann" {
		return iterative.VonNeumann(g, true, s.Alpha)
	}
	return iterative.ShiftedLaplacian(g, s.Normalized, s.Alpha, bound)
}

// solve times the solution of M·X = B, where B is [noise]. Where M needs a factor, the
// first solve, which does not count, makes it.
func solve(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	g := t.graph
	m, err := s.system(g)
	if err != nil {
		return nil, err
	}
	m.Memory = s.Limit
	b := noise(len(g.Degrees), s.Columns, t.Order)
	x := sparse.NewBlock[float64](b.Rows, s.Columns)
	var out *iterative.Result
	v, err := measure(s.Repeat, func() (err error) {
		out, err = m.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: s.Tolerance})
		return err
	})
	if err != nil {
		return nil, err
	}
	v.krylov(s, "jacobi", out.Sweeps)
	switch {
	case out.CompleteCholesky:
		v.Method = "complete Cholesky"
	case out.SampledCholesky:
		v.Method = "sampled Cholesky"
	}
	for _, r := range out.Relative {
		*v.Bound = max(*v.Bound, r)
	}
	v.Checksum = sum(x, t.Order, signs)
	return v, nil
}

// eigen times the eigenpairs of [Settings.Problem].
func eigen(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	g := t.graph
	var out *spectral.Pairs
	v, err := measure(s.Repeat, func() (err error) {
		out = nil // its vectors make room for the next
		out, err = s.Problem.Solve(ctx, g, s.Columns,
			&lanczos.Settings{Tolerance: s.Tolerance, RNGSeed: s.RNGSeed,
				Workers: g.Workers})
		return err
	})
	if err != nil {
		return nil, err
	}
	v.krylov(s, out.Method, out.Products)
	v.Values = out.Values
	for _, r := range out.Residuals {
		*v.Bound = max(*v.Bound, r/out.Norm)
	}
	if math.IsNaN(*v.Bound) {
		return v, errNoMatrix
	}
	return v, nil
}

var errNoMatrix = errors.New("bench: the matrix is zero; take a graph with edges")

// noise returns a block of numbers that look random, of an equal distribution
// on [−1, 1): B_ij = h/2³¹ − 1 with h = i·k + j, i in the order of the ids, and
// then twice h = (h xor h/2¹⁶)·73244475 mod 2³², and h = h xor h/2¹⁶.
func noise(n, k int, order []uint32) *sparse.Block[float64] {
	b := sparse.NewBlock[float64](n, k)
	for r := range n {
		i := position(order, r)
		for j := range b.Row(r) {
			h := uint32(i*k + j)
			for range 2 {
				h = (h ^ h>>16) * 73244475
			}
			b.Row(r)[j] = float64(h^h>>16)/(1<<31) - 1
		}
	}
	return b
}

// signs are the weights of checksums of results with numbers of both signs.
func signs(i, j int) float64 {
	return float64((31*i+17*j)%101 - 50)
}
