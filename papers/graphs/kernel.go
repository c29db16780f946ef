package graphs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Kernel declares a kernel between graphs.
type Kernel struct {
	param.Spec

	// New prepares a collection for the computation of values. The error is the error of ctx, or a [*GraphError].
	New func(ctx context.Context, c *graphfile.Collection, v param.Values, s *Settings) (Rows, error)

	// Radius returns the largest spectral radius in the collection, which bounds the weights of walks; nil: the kernel has no walks
	// of unbounded length.
	Radius func(ctx context.Context, c *graphfile.Collection, s *Settings) (float64, error)

	// Memory returns the memory of New and of the vectors of all workers; nil: it is small.
	Memory func(s *graphfile.Shape, v param.Values, workers int) int64
}

// Rows computes the values of a kernel on a collection. It may be used concurrently by workers with different numbers.
type Rows interface {
	// RowTo stores K(i, j) for lo ≤ j < hi in dst[j−lo]. K(i, j) and K(j, i) must have the same bits.
	RowTo(ctx context.Context, worker int, dst []float64, i, lo, hi int) error
}

var kernels = param.List[*Kernel]{&labelPair, &labelSequence, &cyclicPatterns,
	&intersection, &union, &tanimoto, &cross}

func init() { param.Claim("kernel", kernels.Specs()...) }

// Kernels returns the kernels of this package and the registered kernels.
func Kernels() param.List[*Kernel] {
	return slices.Clone(kernels)
}

// Register adds a kernel of another package to the commands on collections. It must be called from an init function. It panics
// if New is nil, if the name is taken, or if a learner has a parameter of the same name.
func Register(k *Kernel) {
	param.Claim("kernel", &k.Spec)
	kernels.Add(k, k.New != nil)
	if k.Memory == nil {
		k.Memory = func(*graphfile.Shape, param.Values, int) int64 { return 0 }
	}
}

// Settings configure a computation; nil means the defaults.
type Settings struct {
	Workers int // goroutines; 0: one for each processor

	// Measure, if not nil, is the measure of each element of the sets, in byte order of their names.
	Measure []float64

	// Base, if not nil, is the symmetric kernel between elements for the kernel cross, in place of 1 for equal elements and
	// else 0.
	Base *sparse.Block[float64]

	// Cosine divides values by the norms of the two graphs, K(i, i)^½·K(j, j)^½. A graph of norm 0 has the value 0 with all other
	// graphs and 1 with itself.
	Cosine bool

	// Progress, if not nil, is called concurrently with the stage "comparing", the number of finished rows and the number of graphs.
	Progress func(stage string, done, total int64)
}

// Gram computes the kernel values of a collection.
type Gram struct {
	Values param.Values // values of all parameters

	n        int
	set      *Settings
	values   Rows
	diagonal []float64 // diagonal of the values; nil: values are not divided by norms
	rowCount atomic.Int64
}

type collection struct {
	ctx    context.Context
	k      *Kernel
	c      *graphfile.Collection
	s      *Settings
	radius float64 // 0: unknown
}

// On returns the properties of a collection on which grids and defaults of parameters depend, see
// [param.Param.GridOn].
func (k *Kernel) On(ctx context.Context, c *graphfile.Collection,
	s *Settings) param.Graph {
	if s == nil {
		s = new(Settings)
	}
	return &collection{ctx: ctx, k: k, c: c, s: s}
}

// Len implements [param.Graph].
func (c *collection) Len() int { return len(c.c.Graphs) }

// MeanDegree implements [param.Graph].
func (c *collection) MeanDegree() float64 {
	vertices := 0
	arcs := 0
	for i := range c.c.Graphs {
		vertices += c.c.Graphs[i].Len()
		arcs += len(c.c.Graphs[i].To)
	}
	return float64(arcs) / float64(max(1, vertices))
}

// MaxDegree implements [param.Graph].
func (c *collection) MaxDegree() float64 {
	largest := int64(1)
	for i := range c.c.Graphs {
		ptr := c.c.Graphs[i].Ptr
		for v := range c.c.Graphs[i].Len() {
			largest = max(largest, int64(ptr[v+1]-ptr[v]))
		}
	}
	return float64(largest)
}

// Radius implements [param.Graph] with the radius of walks.
func (c *collection) Radius(bool) (_ float64, err error) {
	if c.radius == 0 {
		c.radius, err = c.k.Radius(c.ctx, c.c, c.s)
	}
	return c.radius, err
}

// Prepare returns the values of the kernel on a collection. Parameters that are not in params have their defaults. The error
// is a [*param.ParameterError] for a wrong parameter, or if the sum over walks diverges, and a [*GraphError] if the kernel is
// not defined for a graph.
func (k *Kernel) Prepare(ctx context.Context, c *graphfile.Collection,
	params param.Values, s *Settings) (*Gram, error) {
	if s == nil {
		s = new(Settings)
	}
	v, err := k.Resolve(params, k.On(ctx, c, s))
	if err != nil {
		return nil, err
	}
	values, err := k.New(ctx, c, v, s)
	if err != nil {
		return nil, err
	}
	g := &Gram{Values: v, n: len(c.Graphs), set: s, values: values}
	if s.Cosine {
		g.diagonal = make([]float64, g.n)
		err = sched.Run(ctx, s.Workers, g.n, func(worker, i int) error {
			return values.RowTo(ctx, worker, g.diagonal[i:i+1], i, i, i+1)
		})
	}
	return g, err
}

// RowsTo stores K(lo+i, j) in row i of dst, for all graphs j. If two graphs both have a row in dst, it computes their value
// once. The error is the error of the context, or a [*GraphError].
func (g *Gram) RowsTo(ctx context.Context, dst *sparse.Block[float64],
	lo int) error {
	hi := lo + dst.Rows
	if dst.Cols != g.n || lo < 0 || hi > g.n {
		panic(badShape)
	}
	err := sched.Run(ctx, g.set.Workers, dst.Rows, func(worker, r int) error {
		row := dst.Row(r)
		i := lo + r
		if err := g.values.RowTo(ctx, worker, row[:lo], i, 0, lo); err != nil {
			return err
		}
		err := g.values.RowTo(ctx, worker, row[i:], i, i, g.n)
		if done := g.rowCount.Add(1); g.set.Progress != nil {
			g.set.Progress("comparing", done, int64(g.n))
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := lo; i < hi; i++ {
		for j := lo; j < i; j++ {
			dst.Row(i - lo)[j] = dst.Row(j - lo)[i]
		}
	}
	for i := lo; i < hi && g.diagonal != nil; i++ {
		divide(dst.Row(i-lo), g.diagonal, i)
	}
	return nil
}

// divide divides row i by the norms of the graphs, see [Settings.Cosine].
func divide(row, diagonal []float64, i int) {
	for j, d := range diagonal {
		switch {
		case i == j:
			row[j] = 1
		case d > 0 && diagonal[i] > 0:
			row[j] /= math.Sqrt(d) * math.Sqrt(diagonal[i])
		default:
			row[j] = 0
		}
	}
}

// Pairs implements [Rows] by a function of two graphs i ≤ j, which is called concurrently.
type Pairs func(worker, i, j int) (float64, error)

// RowTo implements [Rows].
func (f Pairs) RowTo(ctx context.Context, worker int, dst []float64,
	i, lo, hi int) (err error) {
	for j := lo; j < hi; j++ {
		if err := sched.Cause(ctx); err != nil {
			return err
		}
		if dst[j-lo], err = f(worker, min(i, j), max(i, j)); err != nil {
			return err
		}
	}
	return nil
}

// GraphError is an error about one graph of a collection.
type GraphError struct {
	ID   string
	What string // the problem and the remedy
}

// Error implements error.
func (e *GraphError) Error() string {
	return fmt.Sprintf("graph %s: %s", e.ID, e.What)
}

var errOverflow = errors.New("graphs: a value exceeds float64; take smaller weights")

const badShape = "graphs: dimension mismatch"
