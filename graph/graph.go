package graph

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ErrWeight is returned for a graph with an edge weight that is negative or not finite.
var ErrWeight = errors.New("graph: an edge weight is negative or not finite")

// ErrScale is returned for a graph whose weights are so large or so small
// that computing with them would overflow or vanish.
var ErrScale = tall.ErrScale

// Graph is a symmetric matrix A with weights ≥ 0, and vectors derived from it. In a directed
// graph, which few algorithms accept, row i of A holds the arcs that leave node i, and In is
// Aᵀ.
type Graph struct {
	A          sparse.Matrix
	In         sparse.Matrix      // Aᵀ; nil: A is symmetric
	Hyperedges bool               // A is the incidence graph of a hypergraph
	Degrees    []float64          // A·1, to half an ulp
	Loops      []float64          // the diagonal of A; nil if it is zero
	Components *sparse.Components // in the order of the ids
	Nodes      *shard.Nodes       // the ids of the rows; nil: node i is row i
	Workers    int                // goroutines of everything, 0: one for each processor; never changes a result

	// Memory is the largest number of bytes that searching for an eigenvalue of A, or
	// a factor of harmonic functions, may take; 0 means no limit. It decides whether a
	// factor is made.
	Memory int64

	Temporary string       // a directory that Close removes; "": none
	store     *shard.Store // closed by Close; may be nil

	beside []float64 // sums of rows without the diagonal, where L is made of these, see WithoutHeavyLoops

	once [2]sync.Once
	null [2]*NullSpace // of L and L̃

	finding sync.Mutex
	radius  [2]float64 // of A, exact and rough; 0: not found yet
	weights [2]float64 // smallest and largest; 0: not found yet
}

// Radius returns the spectral radius of A, or with rough an approximation of it. It calls find
// until that has succeeded once for each of the two, and keeps the values.
func (g *Graph) Radius(rough bool, find func() (float64, error)) (float64, error) {
	g.finding.Lock()
	defer g.finding.Unlock()
	known := &g.radius[0]
	if rough {
		known = &g.radius[1]
	}
	if *known > 0 {
		return *known, nil
	}
	radius, err := find()
	if err == nil {
		*known = radius
	}
	return radius, err
}

// NullSpace returns the null space of L, or of L̃ with normalized: the constants
// on each component, or d^½. It is made once.
func (g *Graph) NullSpace(normalized bool) *NullSpace {
	which, weights := 0, []float64(nil)
	if normalized {
		which = 1
	}
	g.once[which].Do(func() {
		if normalized {
			weights = tall.Roots(g.Degrees)
		}
		g.null[which] = tall.NewDisjoint(g.Components, weights)
	})
	return g.null[which]
}

// NullSpace is spanned by orthonormal vectors with disjoint rows, one for each
// component of a graph. Its projector is P₀.
type NullSpace = tall.Disjoint

// Sweeps is the number of sweeps that [New] makes.
const Sweeps = 2

// Settings hold known properties of the matrix of a graph, and options. Nil means all
// defaults.
type Settings struct {
	Workers int // goroutines; 0: one for each processor. It never changes a result

	// Components are those of the matrix, nil where they are not known yet. They
	// are numbered anew in the order of the ids, where that is another one.
	Components *sparse.Components

	// Nodes are the ids of the rows; nil: node i is row i.
	Nodes *shard.Nodes

	// KeepLoops makes the Laplacian with the diagonal of the matrix, whatever that weighs.
	KeepLoops bool
}

// New returns the graph of the matrix a. Cost: [Sweeps].
// The error wraps [ErrWeight] or [ErrScale], or is that of a sweep.
func New(ctx context.Context, a sparse.Matrix, s *Settings) (*Graph, error) {
	var set Settings
	if s != nil {
		set = *s
	}
	g := &Graph{A: a, Components: set.Components, Nodes: set.Nodes, Workers: set.Workers}
	if err := g.weigh(ctx); err != nil {
		return nil, err
	}
	if err := tall.CheckScale[float64](g.Degrees); err != nil {
		return nil, err
	}
	if set.KeepLoops {
		g.beside = nil
	}
	if g.Components == nil {
		var err error
		if g.Components, err = sparse.FindComponents(ctx, a, set.Workers); err != nil {
			return nil, err
		}
	}
	if g.Nodes != nil && g.Nodes.Order != nil {
		renumber(g.Components, g.Nodes.Rows())
	}
	return g, nil
}

// renumber numbers components in the order in which rows, all of them, names the first of
// each.
func renumber(c *sparse.Components, rows iter.Seq[int]) {
	const none = ^uint32(0)
	number, sizes := make([]uint32, len(c.Sizes)), make([]int, 0, len(c.Sizes))
	for g := range number {
		number[g] = none
	}
	for i := range rows {
		if g := c.Of[i]; number[g] == none {
			number[g] = uint32(len(sizes))
			sizes = append(sizes, c.Sizes[g])
		}
	}
	for i, g := range c.Of {
		c.Of[i] = number[g]
	}
	c.Sizes = sizes
}
