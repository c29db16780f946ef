package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ErrWeight is returned if an edge weight is not finite, or is negative where weights must not be negative.
var ErrWeight = errors.New("graph: an edge weight is negative or not finite")

// ErrScale is returned if products of degrees would overflow or underflow.
var ErrScale = blocks.ErrScale

// ErrAsymmetric is returned if edges have a direction but must not.
var ErrAsymmetric = blocks.ErrAsymmetric

// Graph is a symmetric matrix A, and vectors derived from it. In a directed graph, row i of A holds the arcs from node i,
// and In is Aᵀ.
//
// A graph with negative weights is signed: a negative weight is an edge between opponents. With the degrees d_i = Σ_j
// |a_ij|, L = D − A is positive semidefinite and the eigenvalues of S lie in [−1, 1], as without signs. A has no walk: T is
// not a matrix of probabilities.
type Graph struct {
	A          sparse.Matrix
	In         sparse.Matrix      // Aᵀ; nil: A is symmetric
	Hyperedges bool               // A is the incidence graph of a hypergraph
	Signed     bool               // some weight is negative
	Symmetric  bool               // A equals Aᵀ
	Degrees    []float64          // sums of |a_ij| by row, to half an ulp
	Loops      []float64          // diagonal of A; nil if it is zero
	Least      float64            // smallest |a_ij| other than 0
	Components *sparse.Components // components in the order of the ids
	Nodes      *shard.Nodes       // ids of the rows; nil: node i is row i
	Workers    int                // goroutines; 0: one for each processor; does not change results

	// Memory is the limit in bytes of the search for an eigenvalue of A, and of a factorization for harmonic functions; 0
	// means no limit. A factorization that needs more is not computed.
	Memory int64

	// TempDir is the directory for temporary files; "": the system's.
	TempDir string

	// loopless and looplessDegrees are A and the degrees without positive self loops. negativeLoops are the other loops of a
	// signed graph. They are nil if no loop is heavy, see WithoutHeavyLoops.
	loopless        sparse.Matrix
	looplessDegrees []float64
	negativeLoops   []float64

	sides []float64                        // sides of a signed graph, see sparse.FindSides
	null  map[bool]func() *blocks.Disjoint // null spaces of L and, normalized, of L̃; nil: not cached

	// Radius and RoughRadius cache the spectral radius of A and an approximation of it. Package kernel computes each at its
	// first use. A nil field caches nothing.
	Radius, RoughRadius *blocks.Lazy

	symmetry *blocks.Lazy // 1: A was compared with Aᵀ; nil: not cached
}

// Team returns the processes that share the rows of the graph; nil means a single process.
func (g *Graph) Team() *sparse.Team { return sparse.TeamOf(g.A) }

// WithMemory returns a copy of g with another limit of memory. g and the copy share computed results.
func (g *Graph) WithMemory(bytes int64) *Graph {
	out := *g
	out.Memory = bytes
	return &out
}

// NullSpace returns the null space of L, or if normalized is set, of L̃. It is spanned by the restrictions of
// [NullWeights] to the components. A graph of [New] caches the result.
func (g *Graph) NullSpace(normalized bool) *blocks.Disjoint {
	if cached := g.null[normalized]; cached != nil {
		return cached()
	}
	return newNullSpace(g, normalized)
}

// newNullSpace computes [Graph.NullSpace]. In a signed graph, some components may have no null vector.
func newNullSpace(g *Graph, normalized bool) *blocks.Disjoint {
	team := sparse.TeamOf(g.A)
	weights := NullWeights(g, normalized)
	if g.Signed {
		return blocks.NewDisjointOf(team, g.Components.Of, len(g.Components.Sizes), weights)
	}
	return blocks.NewDisjoint(team, g.Components, weights)
}

// NullWeights returns the vector w whose restrictions to the components are null vectors of L, or if normalized is set,
// of L̃. Without negative weights, w is nil for L, which means ones, and d^½ for L̃. In a signed graph, w has the signs
// of the two sides of a balanced component, see [sparse.FindSides], and is 0 in other components, where L is definite.
func NullWeights(g *Graph, normalized bool) []float64 {
	if !normalized {
		return slices.Clone(g.sides)
	}
	weights := blocks.Roots(g.Degrees)
	for i, side := range g.sides {
		weights[i] *= side
	}
	return weights
}

// AbsoluteWeights returns the graph with the weights |a_ij|. If g is not signed, it returns g.
func AbsoluteWeights(ctx context.Context, g *Graph) (*Graph, error) {
	if !g.Signed {
		return g, nil
	}
	a, err := sparse.MapValues(ctx, g.A,
		func(_, _ int, w float64) float64 { return math.Abs(w) })
	return &Graph{A: a, Symmetric: g.Symmetric, Degrees: g.Degrees, Components: g.Components,
		Nodes: g.Nodes, Workers: g.Workers, Memory: g.Memory,
		TempDir: g.TempDir}, err
}

// Sweeps is the number of sweeps of [New]. With negative weights New takes one more sweep.
const Sweeps = 2

// Settings holds known properties of the matrix of a graph, and options. Nil means the zero
// value.
type Settings struct {
	Workers int // goroutines; 0: one for each processor; does not change results

	// Components are the components of the matrix; nil: New computes them, in the order of the ids.
	Components *sparse.Components

	// Nodes are the ids of the rows; nil: node i is row i.
	Nodes *shard.Nodes

	// Symmetric means that A equals Aᵀ. New then reads fewer entries and does not compare A with Aᵀ.
	Symmetric bool

	// Degrees are the degrees; nil: New computes them. If Degrees is set, all entries must be 1, and none on the diagonal.
	Degrees []float64

	// KeepLoops computes L = D − A with the diagonal of A even if a self loop is heavy.
	KeepLoops bool

	// Signed accepts negative elements of a matrix of [FromMat].
	Signed bool
}

// New returns the graph of the matrix a. If several processes share the rows of a, s.Components must be set. The error wraps
// [ErrWeight] or [ErrScale], or comes from a sweep. Cost: [Sweeps].
func New(ctx context.Context, a sparse.Matrix, s *Settings) (*Graph, error) {
	var set Settings
	if s != nil {
		set = *s
	}
	g := &Graph{A: a, Components: set.Components, Nodes: set.Nodes,
		Workers: set.Workers, Symmetric: set.Symmetric, Degrees: set.Degrees, null: map[bool]func() *blocks.Disjoint{},
		Radius: new(blocks.Lazy), RoughRadius: new(blocks.Lazy), symmetry: new(blocks.Lazy)}
	for _, normalized := range []bool{false, true} {
		g.null[normalized] = sync.OnceValue(
			func() *blocks.Disjoint { return newNullSpace(g, normalized) })
	}
	var err error
	if g.Degrees == nil {
		err = g.weigh(ctx)
	} else if a.NNZ() > 0 {
		g.Least = 1
	}
	if err == nil {
		err = blocks.CheckScale[float64](sparse.TeamOf(a), g.Degrees)
	}
	if err != nil {
		return nil, err
	}
	if set.KeepLoops {
		g.looplessDegrees = nil
	}
	if err := g.leaveLoopsOut(ctx); err != nil {
		return nil, err
	}
	if g.Components == nil {
		if g.Components, err = g.FindComponents(ctx); err != nil {
			return nil, err
		}
	}
	if g.Signed {
		if g.sides, err = sparse.FindSides(ctx, a, 1, g.Workers); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// FromMat returns the graph of a symmetric gonum matrix. If s.Signed is not set, weights must be ≥ 0. A matrix that can
// visit its nonzero elements is not converted to dense form. Elements (i, j) and (j, i) that differ by at most 1e-10 of the
// larger element are replaced by their mean. If the matrix is not square or not symmetric, the error wraps
// [sparse.ErrStructure]. Otherwise it wraps [ErrWeight], or is an error of [New].
func FromMat(ctx context.Context, m mat.Matrix, s *Settings) (*Graph, error) {
	var set Settings
	if s != nil {
		set = *s
	}
	a, err := sparse.SymmetricFromMat(ctx, m, set.Workers)
	if err == nil && a.Negative > 0 && !set.Signed {
		err = fmt.Errorf("%w; Settings.Signed accepts negative weights", ErrWeight)
	}
	set.Symmetric = true
	if err != nil {
		return nil, err
	}
	return New(ctx, a.CSR, &set)
}

// CheckSymmetric returns [ErrAsymmetric] if A differs from Aᵀ by more than rounding. It compares random products of both. A
// graph of [New] caches the result. Cost: a sweep of two columns, or nothing if g.Symmetric is set.
func (g *Graph) CheckSymmetric(ctx context.Context) error {
	switch {
	case g.In != nil:
		return ErrAsymmetric
	case g.Symmetric:
		return nil
	}
	_, err := g.symmetry.Get(func() (float64, error) {
		// Elements of the vectors are below 1, so that the terms together are at most the sum of the degrees; one arc among
		// many changes a product by more.
		team := g.Team()
		rounding := 1e-13 * math.Sqrt(float64(team.TotalOf(len(g.Degrees)))+64) * blocks.Total(team, g.Degrees)
		return 1, blocks.CheckSymmetric(ctx, &sparse.Operator[float64]{A: g.A, Workers: g.Workers}, rounding)
	})
	return err
}

// FindComponents returns the components of the matrix in the order of the ids. Cost: one sweep.
func (g *Graph) FindComponents(ctx context.Context) (*sparse.Components, error) {
	n, _ := g.A.Dims()
	nodes := g.Nodes
	if nodes == nil {
		nodes = shard.NewNumericNodes(sparse.TeamOf(g.A).TotalOf(n))
	}
	return sparse.FindComponentsInOrder(ctx, g.A, g.Symmetric, nodes.Rows(), g.Workers)
}
