package lanczos

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// GraphProblem asks for eigenpairs of a graph's matrix.
type GraphProblem struct {
	Matrix sparse.Kind
	Which  Which

	// Resolution is γ of the modularity matrix; 0 means 1.
	Resolution float64

	// Beyond leaves out the pairs that follow from the components: the pairs of nodes without edges, and for S, T, L and L̃ of
	// a graph without signs the pairs of the eigenvalue that every component has. There may then be fewer pairs than
	// requested, or no pairs and no block of vectors.
	Beyond bool

	// Positive leaves out pairs of the largest eigenvalues if the eigenvalue is not positive. The matrix must be A, S, T or the
	// modularity matrix.
	Positive bool
}

// GraphPairs are eigenpairs of a matrix of a graph. Vectors are orthonormal. For the transition matrix they are right
// eigenvectors w = D^-½v with wᵀDw = 1, where d is 1 for a node without edges.
type GraphPairs struct {
	Pairs

	// ErrorBounds holds the largest distance of each value from an eigenvalue: the residual plus the rounding error of
	// computing the residual.
	ErrorBounds []float64 `json:"error_bounds"`

	Components int `json:"-"` // number of components of the graph
}

// Solve returns k eigenpairs of an undirected graph. Its errors are the errors of [Problem.Solve]; with [ErrIterationLimit] it
// also returns the best pairs.
func (p *GraphProblem) Solve(ctx context.Context, g *graph.Graph, k int,
	s *Settings) (*GraphPairs, error) {
	n := len(g.Degrees)
	if total := sparse.TeamOf(g.A).TotalOf(n); k < 1 || k > total {
		return nil, fmt.Errorf("lanczos: %d eigenpairs of a graph with %d nodes; ask for 1 to %d", k, total, total)
	}
	if g.Signed && (p.Matrix == sparse.Transition ||
		p.Matrix == sparse.Modularity) {
		return nil, param.Refuse(string(p.Matrix), "matrix", "%s", param.NoProbabilities)
	}
	if err := p.Which.check(); err != nil {
		return nil, err
	}
	e, err := p.of(ctx, g)
	if err != nil {
		return nil, err
	}
	var set Settings
	if s != nil {
		set = *s
	}
	set.Memory = budget.Subtract(set.Memory, budget.Vector[float64](graphVectors*n))
	pairs, err := e.solve(ctx, n, k, &set)
	if pairs == nil {
		return nil, err
	}
	out := &GraphPairs{Pairs: *pairs}
	for _, r := range out.Residuals {
		out.ErrorBounds = append(out.ErrorBounds, r+e.rounding)
	}
	return out, err
}

func (e *eigenproblem) solve(ctx context.Context, n, k int,
	s *Settings) (*Pairs, error) {
	pairs := &Pairs{Method: "dense", Degree: 1}
	var err error
	if want := e.search(k); want > 0 {
		if pairs, err = e.Problem.Solve(ctx, want, s); pairs == nil {
			return nil, err
		}
	}
	if e.value != nil {
		for i, v := range pairs.Values {
			pairs.Values[i] = e.value(v)
		}
	}
	if e.isolated == 0 || err != nil && !errors.Is(err, ErrIterationLimit) {
		return pairs, err
	}
	return e.join(pairs, n, k), err
}

// Workspace returns the memory of Solve for k pairs of a graph with n nodes and the given number of stored entries, without
// the graph. The number of components counts only if [GraphProblem.Splits] returns true.
func (p *GraphProblem) Workspace(n int, entries int64, components, k int) budget.Workspace {
	if !p.Splits() {
		components = 0
	}
	w := Workspace(n, k, components).AndHeld(budget.Vector[float64](graphVectors * n))
	if p.Splits() && components < k {
		w = w.And(iterative.FactorWorkspace(n, entries, false))
	}
	return w
}

// graphVectors is the number of vectors of n numbers: the order of the rows, degrees and their roots, components, the matrix,
// known vectors and isolated nodes.
const graphVectors = 8

// Splits reports whether each component has a known eigenvector at the wanted end of the spectrum, and a factor of the
// Laplacian may help to find others.
func (p *GraphProblem) Splits() bool {
	switch p.Matrix {
	case sparse.NormalizedAdjacency, sparse.Transition:
		return p.Which == Largest
	case sparse.Laplacian, sparse.NormalizedLaplacian:
		return p.Which == Smallest
	}
	return false
}

const badMatrix = "lanczos: no such matrix"

// deflateNullSpace declares the null vectors of L, or of L̃ if normalized is set, as the known eigenvectors of the
// eigenvalue value, one for each component. If one process has all rows and no weight is negative, a factor of the
// Laplacian becomes the preconditioner of the search for other eigenvectors.
func (e *eigenproblem) deflateNullSpace(g *graph.Graph, normalized bool, value float64) {
	e.Known = &Known{Components: g.Components,
		Weights: e.weightsOf(graph.NullWeights(g, normalized), len(g.Degrees)),
		Value:   value}
	if e.team != nil || g.Signed {
		return
	}
	e.Precondition = func(ctx context.Context, memory int64) (Preconditioner, error) {
		s, err := iterative.ShiftedLaplacian(g, normalized, 1, 0)
		if err != nil {
			return nil, err
		}
		s.Memory = memory
		p, _, err := s.Preconditioner(ctx)
		if err != nil {
			return nil, err
		}
		return p.ApplyTo, nil
	}
}
