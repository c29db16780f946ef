package kernel

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// perron bounds the spectral radius ρ of A ≥ 0 from both sides. It converges even if many eigenvalues are close to ρ,
// as on a grid, where Lanczos is slow. It is Noda's iteration (1971): for σ > ρ and b > 0 the solution of
//
//	(I − A/σ)·y = b
//
// is positive, and so is its approximation by conjugate gradients if this is close enough. By the theorems of Collatz
// and Wielandt and of Rayleigh
//
//	σ − σ·yᵀq/yᵀy ≤ ρ ≤ σ − σ·min_i q_i/y_i,  q = (I − A/σ)·y
//
// The next b is y, and the next σ is about the upper bound: each round reduces the distance from ρ to some
// hundredths.
//
// If a solve needs many products, for example on a long path, it is preconditioned by a sampled factor of the matrix,
// balanced by an earlier y.
type perron struct {
	graph        *graph.Graph
	team         *sparse.Team
	cg           iterative.CG
	b, y, q      *sparse.Block[float64]
	lower, upper float64
	best         []float64 // the y with the least ratio, divided by its largest element; nil before the first round
	ratio        float64   // max (Ay)_i/y_i for y = best
	products     int
	noFactor     bool // the factor fills in, or several processes share the rows
}

type shiftedMap struct {
	*sparse.Operator[float64]
	sigma float64
}

// StepTo implements [sparse.Applier].
func (m *shiftedMap) StepTo(ctx context.Context, dst, x *sparse.Block[float64],
	s sparse.Step[float64]) error {
	s.Alpha, s.Beta = -s.Alpha/m.sigma, s.Beta+s.Alpha
	return m.Operator.StepTo(ctx, dst, x, s)
}

const (
	perronRounds   = 12
	perronProducts = 20000
	perronExact    = 1e-10 // relative distance of the bounds

	// perronRest is the largest ratio of a residual r_i of a solve to b_i. perronFloor is the smallest element
	// of b, because an eigenvector may almost vanish somewhere.
	perronRest  = 0.01
	perronFloor = 1e-5

	// A factor costs as much as productsOfFactor products of one column. It is kept while a solve with it needs at most
	// stepsWithFactor steps.
	productsOfFactor = 250
	stepsWithFactor  = 30
)

var errPerron = errors.New("kernel: the largest eigenvalue is not separated from its neighbours")

// newPerron returns the iteration for ρ. upper bounds ρ, and may be far above it.
func newPerron(g *graph.Graph, upper float64) *perron {
	n := len(g.Degrees)
	team := sparse.TeamOf(g.A)
	return &perron{
		graph: g, team: team, cg: iterative.CG{Workers: g.Workers},
		noFactor: team != nil, // a factor requires all entries in one process
		b:        blocks.Ones(team, n), y: sparse.NewBlock[float64](n, 1),
		q:     sparse.NewBlock[float64](n, 1),
		upper: upper, ratio: math.Inf(1),
	}
}

func (w *perron) search(ctx context.Context, enough func() bool) error {
	for round := 0; w.upper-w.lower > perronExact*w.upper && !enough(); round++ {
		if round == perronRounds {
			return errPerron
		}
		if err := w.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// round solves for y, and computes bounds and the next b from it.
func (w *perron) round(ctx context.Context) error {
	// A σ slightly above the bound lets the solve converge.
	sigma := w.upper + (w.upper-w.lower)/16 + perronExact/16*w.upper
	w.cg.A = &shiftedMap{&sparse.Operator[float64]{A: w.graph.A,
		Workers: w.graph.Workers}, sigma}
	guess := sigma / (sigma - w.lower)
	for i, v := range w.b.Data {
		w.y.Data[i] = guess * v
	}
	if err := w.solve(ctx, sigma); err != nil {
		return err
	}
	if err := w.cg.A.StepTo(ctx, w.q, w.y, sparse.Step[float64]{Alpha: 1}); err != nil {
		return err
	}
	b := w.b.Data
	y := w.y.Data
	q := w.q.Data
	ends := []float64{math.Inf(-1), 0} // −min q_i/y_i and max y_i
	for i, v := range y {
		if !w.team.IsPadding(i) {
			ends[0], ends[1] = max(ends[0], -q[i]/v), max(ends[1], v)
		}
	}
	w.team.Max(ends)
	low, high := -ends[0], ends[1]
	if !(low > 0) {
		return errPerron
	}
	const rounding = 64 * epsilon
	if ratio := sigma * (1 - low + rounding); ratio < w.ratio {
		w.ratio = ratio
		w.best = append(w.best[:0], y...)
		blocks.Scale(sparse.BlockOf(len(y), 1, w.best), 1/high)
	}
	w.upper = min(w.upper, w.ratio)
	w.lower = max(w.lower,
		sigma*(1-blocks.Dot(w.team, y, q)/blocks.Dot(w.team, y, y)-rounding))
	for i, v := range y {
		if !w.team.IsPadding(i) {
			b[i] = max(v/high, perronFloor)
		}
	}
	return nil
}

// solve computes y from b, starting at the current y.
func (w *perron) solve(ctx context.Context, sigma float64) error {
	for fresh := false; ; fresh = true {
		limit := perronProducts - w.products
		climbs := !fresh && !w.noFactor && w.best != nil
		switch {
		case climbs && w.cg.Precond == nil:
			limit = productsOfFactor - w.products
		case climbs:
			limit = min(limit, stepsWithFactor)
		}
		if limit > 0 {
			result, err := w.cg.SolveTo(ctx, w.y, w.b, &iterative.Settings{
				Start: true, Recurrence: true, Tolerance: epsilon,
				Enough: w.isSolved, MaxIterations: limit,
			})
			switch {
			case errors.Is(err, iterative.ErrIndefinite): // rounding makes σ too small
				return errPerron
			case err != nil && !errors.Is(err, iterative.ErrIterationLimit):
				return err
			}
			w.products += result.Sweeps
			if err == nil {
				return nil
			}
		}
		if !climbs {
			return errPerron
		}
		if err := w.precondition(ctx, sigma); err != nil {
			return err
		}
	}
}

func (w *perron) precondition(ctx context.Context, sigma float64) error {
	g := w.graph
	w.cg.Precond = nil
	w.noFactor = true
	system, err := iterative.VonNeumannAdjacency(ctx, g, 1/sigma,
		slices.Clone(w.best), 0)
	if err == nil {
		system.Sampled = true
		system.Memory = budget.Subtract(g.Memory, lanczos.Workspace(len(g.Degrees), 1, 0).Required(0)+budget.Vector[float64](graphVectors*len(g.Degrees)))
		var (
			factor   iterative.Preconditioner
			factored bool
		)
		if factor, factored, err = system.Preconditioner(ctx); factored {
			w.cg.Precond = factor
			w.noFactor = false
		}
	}
	if errors.Is(err, iterative.ErrParameter) || errors.Is(err, graph.ErrScale) { // rounding is the cause
		return nil
	}
	return err
}

func (w *perron) isSolved(y, residual []float64) bool {
	open := 0.0 // 1: a row has too large a residual
	for i, r := range residual {
		if (!(math.Abs(r) <= perronRest*w.b.Data[i]) || !(y[i] > 0)) &&
			!w.team.IsPadding(i) {
			open = 1
			break
		}
	}
	return blocks.MaxOver(w.team, open) == 0
}
