package bench

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
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

// KrylovSettings say what is measured.
type KrylovSettings struct {
	Workload        string // one of KrylovWorkloads
	Columns, Repeat int    // of B, or eigenpairs; repetitions that count
	Tolerance       float64
	Normalized      bool // L̃ in place of L

	Betas []float64 // of exponential, rising; all are computed at once

	// System is M of solve, one of Systems, with its α.
	System string
	Alpha  float64

	Problem spectral.Problem // of eigen
	RNGSeed uint64

	Limit int64 // bytes that a factor may take; 0: none
}

// KrylovWorkloads are exp(−βL)·B, the solution of M·X = B, and eigenpairs. Systems are
// the matrices M: I − αS, I + αL and L, with L̃ for L where that is asked for.
var (
	KrylovWorkloads = []string{"exponential", "solve", "eigen"}
	Systems         = []string{"von-neumann", "regularized-laplacian", "pseudo-inverse"}
)

// Memory lists what Run takes beside a graph of these degrees, but for a factor; it has
// so many entries and components.
func (s *KrylovSettings) Memory(degrees []float64, entries int64, components int) ([]spec.Bytes, error) {
	n := len(degrees)
	if s.Workload == "eigen" {
		return measured(spec.Least(s.Problem.Memory(n, entries, components, s.Columns, nil))), nil
	}
	name, given, more := s.System, spec.Values{"alpha": spec.Number(s.Alpha)}, int64(0)
	switch {
	case s.Workload == "exponential":
		name, given = "diffusion", spec.Values{"beta": spec.Number(s.Betas[len(s.Betas)-1])}
		more = int64(len(s.Betas)-1) * sparse.BlockBytes[float64](n, s.Columns)
	case name == "pseudo-inverse":
		// As with an α that is very large: its least eigenvalue is not looked for.
		name, given["alpha"] = "regularized-laplacian", spec.Number(1e12)
	}
	family := kernel.FamilyOf(name)
	if family.Param("laplacian") != nil && !s.Normalized {
		given["laplacian"] = spec.Word("combinatorial")
	}
	v, err := family.Resolve(given, kernel.OnDegrees(degrees))
	if err != nil {
		return nil, err
	}
	return measured(spec.Sum(family.ApplyMemory(v, degrees, s.Columns)) + more), nil
}

// Run measures the workload on g. order gives for each row its place in the order of the
// ids, nil if they are the same; numbers and checksums follow that: Σ Y_ij·((31·i +
// 17·j) mod 101 − 50).
func (s *KrylovSettings) Run(ctx context.Context, g *graph.Graph, order []uint32) (Krylov, error) {
	switch s.Workload {
	case "exponential":
		return s.exponential(ctx, g, order)
	case "solve":
		system, err := s.system(g)
		if err != nil {
			return Krylov{}, err
		}
		system.Memory = s.Limit
		return s.solve(ctx, system, order)
	}
	return s.eigen(ctx, g)
}

// exponential times Y = exp(−βL)·B, the last of the betas, for all of them at once. B is
// [noise].
func (s *KrylovSettings) exponential(ctx context.Context, g *graph.Graph, order []uint32) (Krylov, error) {
	b := noise(len(g.Degrees), s.Columns, order)
	functions, blocks := make([]expm.Function, len(s.Betas)), make([]*sparse.Block[float64], len(s.Betas))
	for i, beta := range s.Betas {
		functions[i], blocks[i] = expm.Exp(-beta), sparse.NewBlock[float64](b.Rows, s.Columns)
	}
	m, err := expm.NewLaplacian(ctx, g, s.Normalized)
	if err != nil {
		return Krylov{}, err
	}
	var out *expm.Result
	timing, err := measure(s.Repeat, func() (err error) {
		out, err = m.ApplyTo(ctx, blocks, b, functions, &expm.Settings{Tolerance: s.Tolerance, Memory: s.Limit})
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	last := len(s.Betas) - 1
	v := s.report(timing, string(out.Functions[last].Method), out.Sweeps)
	for _, o := range out.Functions {
		v.Bound, v.Error = max(v.Bound, o.Relative), max(v.Error, o.ErrorBound)
	}
	v.Checksum = sum(blocks[last], order, signs)
	return v, nil
}

// report is that of a run without what it found.
func (s *KrylovSettings) report(timing Timing, method string, sweeps int) Krylov {
	return Krylov{Timing: timing, Columns: s.Columns, Tolerance: s.Tolerance, Method: method, Sweeps: sweeps}
}

// system returns M.
func (s *KrylovSettings) system(g *graph.Graph) (*iterative.System, error) {
	least := 1.0
	if s.System == "pseudo-inverse" {
		least = 0
	}
	if s.System == "von-neumann" {
		return iterative.VonNeumann(g, s.Alpha)
	}
	return iterative.ShiftedLaplacian(g, s.Normalized, s.Alpha, least)
}

// solve times the solution of M·X = B, where B is [noise]. Where M needs a factor, the
// first solve, which does not count, makes it.
func (s *KrylovSettings) solve(ctx context.Context, m *iterative.System, order []uint32) (Krylov, error) {
	b := noise(len(m.Graph.Degrees), s.Columns, order)
	x := sparse.NewBlock[float64](b.Rows, s.Columns)
	var out *iterative.Result
	timing, err := measure(s.Repeat, func() (err error) {
		out, err = m.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: s.Tolerance})
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	v := s.report(timing, "jacobi", out.Sweeps)
	if out.SampledCholesky {
		v.Method = "sampled Cholesky"
	}
	for _, r := range out.Relative {
		v.Bound = max(v.Bound, r)
	}
	v.Checksum = sum(x, order, signs)
	return v, nil
}

// eigen times the eigenpairs of [KrylovSettings.Problem].
func (s *KrylovSettings) eigen(ctx context.Context, g *graph.Graph) (Krylov, error) {
	var out *spectral.Pairs
	timing, err := measure(s.Repeat, func() (err error) {
		out = nil // its vectors make room for the next
		out, err = s.Problem.Solve(ctx, g, s.Columns, &lanczos.Settings{Tolerance: s.Tolerance, RNGSeed: s.RNGSeed, Workers: g.Workers})
		return err
	})
	if err != nil {
		return Krylov{}, err
	}
	v := s.report(timing, out.Method, out.Products)
	v.Values = out.Values
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
