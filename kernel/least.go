package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// findLeast computes the smallest eigenvalue of a singular system outside its null space. It uses at most the memory
// of the following solve of cols columns, and may already make the factor for that solve.
func (e *solves) findLeast(ctx context.Context, cols int) error {
	s := e.system
	if s.Least > 0 {
		return nil
	}
	n := len(s.Graph.Degrees)
	components := len(s.Graph.Components.Sizes)
	if components == sparse.TeamOf(s.Graph.A).TotalOf(n) {
		s.Least = 1 // the map is zero
		return nil
	}
	l := newLeastSearch(s, cols)
	// The residual must be small compared with the eigenvalue, which may be far below the norm of the map; a coarse
	// first search shows its magnitude.
	const tightest = 1e-13
	for tolerance := firstLook; ; {
		pairs, err := l.find(ctx, tolerance)
		if errors.Is(err, lanczos.ErrKnown) { // rounding puts another eigenvalue below the known 0
			return noDigit("")
		}
		if err != nil {
			return err
		}
		value := pairs.Values[0]
		residual := pairs.Residuals[0]
		rounded := mapRounding * epsilon * pairs.Norm
		bound := value - residual - rounded
		last := tolerance == tightest
		switch {
		case residual < value/10 && rounded < value/2, last && bound > value/10:
			s.Least = bound
			e.assumed = "the smallest positive eigenvalue, found by iteration, is the smallest"
			return nil
		case last, rounded >= value:
			return noDigit(fmt.Sprintf(": the Laplacian's smallest positive eigenvalue, at most %.2g, is lost in the rounding errors of the largest, at least %.2g", value+residual, pairs.Norm))
		}
		tolerance = max(tightest, min(tolerance/10, value/20/pairs.Norm))
	}
}

// mapRounding bounds the rounding error of an eigenvalue of a Laplacian, in units of ε·λ_max.
const mapRounding = 2

func noDigit(why string) error {
	return refuse(pkg, pkg,
		"it is an inverse that has no sure digit on this graph%s; take regularized-laplacian", why)
}

// leastSearch finds the smallest eigenvalue outside the null space. The diagonal preconditions while the search
// converges fast enough, and then a factor.
type leastSearch struct {
	system   *iterative.System
	problem  lanczos.Problem
	settings lanczos.Settings
	diagonal iterative.Preconditioner
	factored bool
}

func newLeastSearch(s *iterative.System, cols int) *leastSearch {
	g := s.Graph
	l := &leastSearch{system: s}
	memory := s.Memory
	if memory > 0 {
		memory += budget.Times(inverseBlocks-2, budget.Block[float64](len(g.Degrees), cols)) // memory of the following solve, without its argument and result
	}
	op := g.Laplacian()
	weights := s.Scale
	diag := graph.LaplacianDiagonal(g)
	if weights != nil {
		op = sparse.NewOperator[float64](sparse.NormalizedLaplacian, g.A, g.Degrees)
		op.Workers = g.Workers
		diag = op.Diag
	}
	l.diagonal = iterative.NewJacobi(diag)
	l.problem = lanczos.Problem{A: op, Which: lanczos.Smallest,
		Known: &lanczos.Known{Components: g.Components,
			Weights: graph.NullWeights(g, weights != nil)}, Beyond: true}
	l.excludeIsolated()
	l.settings = lanczos.Settings{Relative: 1. / 20, Preconditioned: true,
		Memory: memory, Workers: g.Workers}
	return l
}

// excludeIsolated takes isolated nodes out of the eigenproblem, which makes a dense matrix smaller.
func (l *leastSearch) excludeIsolated() {
	g := l.system.Graph
	known := l.problem.Known
	team := sparse.TeamOf(g.A)
	for i, d := range g.Degrees {
		if d > 0 || team.IsPadding(i) {
			continue
		}
		if known.Weights == nil {
			known.Weights = slices.Repeat([]float64{1}, len(g.Degrees))
		}
		known.Weights[i] = 0
		l.problem.Excluded = append(l.problem.Excluded, uint32(i))
	}
}

func (l *leastSearch) canFactor() bool {
	return sparse.TeamOf(l.system.Graph.A) == nil && !l.system.Graph.Signed
}

const (
	firstLook = 1e-6 // tolerance of the first search

	// With the diagonal as preconditioner, the residual must reach firstLook after paceReach iterations and fall by a
	// factor e every paceIterations before. The pace is checked from iteration paceReview on. Social networks keep it, in
	// a tenth of the time of a factor; webs, grids, road maps and trees are far behind at the first check.
	paceReview, paceIterations, paceReach = 12, 6, 42
)

var errBehind = errors.New("kernel: a factor pays")

func (l *leastSearch) find(ctx context.Context,
	tolerance float64) (*lanczos.Pairs, error) {
	settings := l.settings
	settings.Tolerance = tolerance
	if l.factored {
		return l.problem.Solve(ctx, 1, &settings)
	}
	paced, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.problem.Precondition = func(context.Context, int64) (lanczos.Preconditioner, error) {
		return l.diagonal.ApplyTo, nil
	}
	if l.canFactor() {
		settings.Recorder = func(iterations int, residual float64) {
			if iterations >= paceReview &&
				residual > firstLook*math.Exp((paceReach-
					float64(iterations))/paceIterations) {
				stop(errBehind)
			}
		}
	}
	pairs, err := l.problem.Solve(paced, 1, &settings)
	if l.canFactor() && context.Cause(paced) == errBehind {
		l.behind()
		settings.Recorder = nil
		return l.problem.Solve(ctx, 1, &settings)
	}
	return pairs, err
}

// behind replaces the diagonal by a factor as the preconditioner, after a search whose residual falls too slowly.
func (l *leastSearch) behind() {
	l.factored = true
	l.problem.Precondition = func(ctx context.Context, _ int64) (lanczos.Preconditioner, error) {
		defer func(memory int64) { l.system.Memory = memory }(l.system.Memory)
		l.system.Memory = l.settings.Memory // blocks of the solve are not allocated yet
		p, _, err := l.system.Preconditioner(ctx)
		if err != nil {
			return nil, err
		}
		return p.ApplyTo, nil
	}
}
