package bench

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// Krylov is the report of a workload that runs a Krylov method.
type Krylov struct {
	Timing
	Columns   int     `json:"columns"`
	Tolerance float64 `json:"tolerance"`
	Method    string  `json:"method"`
	Sweeps    int     `json:"sweeps"` // with all columns; of eigen with four

	// Bound is the relative error bound of exponential, and of solve and eigen
	// the largest true residual, relative to the right-hand side or the norm of
	// the matrix.
	Bound    float64   `json:"bound"`
	Error    float64   `json:"error,omitempty"` // the bound itself, of exponential
	Checksum float64   `json:"checksum,omitempty"`
	Values   []float64 `json:"values,omitempty"` // of eigen
}

// Exponential times Y = exp(−βL)·B, the last of betas, or exp(−βL̃)·B with
// normalized, for all betas at once. B has k columns, see [noise]. A factor of the
// matrix takes no more than memory, if that is not 0. The checksum is
// Σ Y_ij·((31·i + 17·j) mod 101 − 50).
func Exponential(ctx context.Context, g *graph.Graph, order []uint32, normalized bool, betas []float64, k int, tolerance float64, memory int64, repeat int) (Krylov, error) {
	b := noise(len(g.Degrees), k, order)
	functions, blocks := make([]expm.Function, len(betas)), make([]*sparse.Block[float64], len(betas))
	for i, beta := range betas {
		functions[i], blocks[i] = expm.Exp(-beta), sparse.NewBlock[float64](b.Rows, k)
	}
	m := expm.NewLaplacianNormalized(g)
	if !normalized {
		var err error
		if m, err = expm.NewLaplacian(ctx, g); err != nil {
			return Krylov{}, err
		}
	}
	var out *expm.Result
	timing, err := measure(repeat, func() (err error) {
		out, err = m.ApplyTo(ctx, blocks, b, functions, &expm.Settings{Tolerance: tolerance, Memory: memory})
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	last := out.Functions[len(betas)-1]
	v := Krylov{Timing: timing, Columns: k, Tolerance: tolerance, Method: last.Method.String(), Sweeps: out.Sweeps}
	for _, o := range out.Functions {
		v.Bound, v.Error = max(v.Bound, o.Relative), max(v.Error, o.ErrorBound)
	}
	v.Checksum = sum(blocks[len(betas)-1], order, signs)
	return v, nil
}

// Solve times the solution of M·X = B with k columns of B, see [noise]. Where M
// needs a factor, the first solve, which does not count, makes it. The checksum
// is that of [Exponential].
func Solve(ctx context.Context, s *iterative.System, order []uint32, k int, tolerance float64, repeat int) (Krylov, error) {
	b := noise(len(s.Graph.Degrees), k, order)
	x := sparse.NewBlock[float64](b.Rows, k)
	var out *iterative.SystemResult
	timing, err := measure(repeat, func() (err error) {
		out, err = s.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: tolerance})
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	v := Krylov{Timing: timing, Columns: k, Tolerance: tolerance, Method: "jacobi", Sweeps: out.Sweeps}
	if out.SampledCholesky {
		v.Method = "sampled Cholesky"
	}
	for _, r := range out.Relative {
		v.Bound = max(v.Bound, r)
	}
	v.Checksum = sum(x, order, signs)
	return v, nil
}

// Eigen times the k eigenpairs that a problem asks for.
func Eigen(ctx context.Context, p *lanczos.Problem, k int, s *lanczos.Settings, repeat int) (Krylov, error) {
	var out *lanczos.Pairs
	timing, err := measure(repeat, func() (err error) {
		out = nil // its vectors make room for the next
		out, err = p.Solve(ctx, k, s)
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	v := Krylov{Timing: timing, Columns: k, Tolerance: s.Tolerance, Method: out.Method.String(), Sweeps: out.Products, Values: out.Values}
	for _, r := range out.Residuals {
		v.Bound = max(v.Bound, r/out.Norm)
	}
	if math.IsNaN(v.Bound) {
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
func signs(i, j int) float64 { return float64((31*i+17*j)%101 - 50) }
