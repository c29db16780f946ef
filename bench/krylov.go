package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/lanczos/spectral"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Systems are the matrices M of solve: I − αS, I + αL and L, with L̃ for L where that is
// asked for.
var Systems = []string{"von-neumann", "regularized-laplacian", "pseudo-inverse"}

// Numbers and checksums of Krylov methods follow the order of the ids: Σ Y_ij·((31·i +
// 17·j) mod 101 − 50).

// checkPairs refuses a tolerance that residuals do not reach.
func checkPairs(s *Settings) error {
	if s.Tolerance >= lanczos.Tolerances.Least {
		return nil
	}
	return &param.ParameterError{Of: "eigen", Parameter: "tolerance", What: fmt.Sprintf("%v is out of range; eigen takes %v", s.Tolerance, lanczos.Tolerances.Text("tolerance"))}
}

func eigenBytes(t *Target, s *Settings) (int64, error) {
	return s.Problem.Bytes(len(t.Degrees), t.A.NNZ(), t.Components, s.Columns), nil
}

func exponentialBytes(t *Target, s *Settings) (int64, error) {
	last := len(s.Betas) - 1
	extra := int64(last) * blocks.BlockBytes[float64](len(t.Degrees), s.Columns)
	return s.applyBytes(t, "diffusion", param.Values{"beta": param.Of(s.Betas[last])}, extra)
}

// inverseKernel returns the kernel that is M⁻¹, or takes as much.
func (s *Settings) inverseKernel() (name string, values param.Values) {
	if s.System == "pseudo-inverse" {
		// As with an α that is very large: its least eigenvalue is not looked for.
		return "regularized-laplacian", param.Values{"alpha": param.Of(1e12)}
	}
	return s.System, param.Values{"alpha": param.Of(s.Alpha)}
}

// checkSystem refuses an α that the kernel does not take.
func checkSystem(s *Settings) error {
	name, values := s.inverseKernel()
	_, err := kernel.Families().Named(name).Resolve(values, nil)
	return err
}

func solveBytes(t *Target, s *Settings) (int64, error) {
	name, values := s.inverseKernel()
	return s.applyBytes(t, name, values, 0)
}

// applyBytes returns the memory of applying a kernel to a block, plus more.
func (s *Settings) applyBytes(t *Target, name string, values param.Values, extra int64) (int64, error) {
	family := kernel.Families().Named(name)
	if family.Param("laplacian") != nil && !s.Normalized {
		values["laplacian"] = param.Of("combinatorial")
	}
	v, err := family.Resolve(values, kernel.OnDegrees(t.Degrees))
	if err != nil {
		return 0, err
	}
	return family.ApplyBytes(v, t.Degrees, s.Columns) + extra, nil
}

// exponential times Y = exp(−βL)·B, the last of the betas, for all of them at once. B is
// [noise].
func exponential(ctx context.Context, t *Target, s *Settings) (*Report, error) {
	g := t.graph
	b := noise(len(g.Degrees), s.Columns, t.Order)
	functions, blocks := make([]expm.Function, len(s.Betas)), make([]*sparse.Block[float64], len(s.Betas))
	for i, beta := range s.Betas {
		functions[i], blocks[i] = expm.Exp(-beta), sparse.NewBlock[float64](b.Rows, s.Columns)
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
		out, err = m.ApplyTo(ctx, blocks, b, functions, &expm.Settings{Tolerance: s.Tolerance, Memory: s.Limit})
		return err
	})
	if err != nil {
		return nil, err
	}
	last := len(s.Betas) - 1
	v.krylov(s, string(out.Functions[last].Method), out.Sweeps)
	for _, o := range out.Functions {
		*v.Bound, v.Error = max(*v.Bound, o.Relative), max(v.Error, o.ErrorBound)
	}
	v.Checksum = sum(blocks[last], t.Order, signs)
	return v, nil
}

// krylov notes how a method ran.
func (v *Report) krylov(s *Settings, method string, sweeps int) {
	v.Columns, v.Tolerance, v.Method, v.Sweeps, v.Bound = s.Columns, s.Tolerance, method, sweeps, new(float64)
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
	if out.SampledCholesky {
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
		out, err = s.Problem.Solve(ctx, g, s.Columns, &lanczos.Settings{Tolerance: s.Tolerance, RNGSeed: s.RNGSeed, Workers: g.Workers})
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
func signs(i, j int) float64 { return float64((31*i+17*j)%101 - 50) }
