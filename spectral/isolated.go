package spectral

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
)

// split lists the rows with edges and those without.
func (e *eigenproblem) split(degrees []float64) {
	for i, d := range degrees {
		if d == 0 {
			e.isolated = append(e.isolated, uint32(i))
		}
	}
	if e.isolated == nil {
		e.edged = len(degrees)
		return
	}
	for i, d := range degrees {
		if d != 0 {
			e.rows = append(e.rows, uint32(i))
		}
	}
	e.edged = len(e.rows)
}

// shorten returns the elements of v in the rows with edges.
func (e *eigenproblem) shorten(v []float64) []float64 {
	if v == nil || e.isolated == nil {
		return v
	}
	short := make([]float64, len(e.rows))
	for at, i := range e.rows {
		short[at] = v[i]
	}
	return short
}

// components returns those of the rows with edges.
func (e *eigenproblem) components(g *graph.Graph) *sparse.Components {
	if e.isolated == nil {
		return g.Components
	}
	c := &sparse.Components{Sizes: make([]int, len(g.Components.Sizes)), Of: make([]uint32, len(e.rows))}
	for at, i := range e.rows {
		c.Of[at] = g.Components.Of[i]
		c.Sizes[c.Of[at]]++
	}
	return c
}

// search returns how many pairs of the rows with edges are needed for k pairs of the
// matrix. At the end of the spectrum with a known eigenvalue, that of the isolated nodes
// comes directly behind it.
func (e *eigenproblem) search(k int) int {
	switch {
	case e.edged == 0:
		return 0
	case e.first() && !e.Beyond:
		k = max(min(k, e.Known.Count()), k-len(e.isolated))
	}
	return min(k, e.edged)
}

// first reports whether the isolated nodes have the known eigenvalue of the components.
func (e *eigenproblem) first() bool {
	if e.Known == nil || e.isolated == nil {
		return false
	}
	value := e.Known.Value
	if e.value != nil {
		value = e.value(value)
	}
	return value == e.zero
}

// pair is an eigenvalue and the column of its vector, or −1 − the place of the isolated node
// that it belongs to.
type pair struct {
	value float64
	at    int
}

// compare orders pairs from the wanted end, or from near.
func (e *eigenproblem) compare(a, b pair) int {
	switch e.which {
	case lanczos.Largest:
		return cmp.Compare(b.value, a.value)
	case lanczos.Smallest:
		return cmp.Compare(a.value, b.value)
	}
	return cmp.Compare(math.Abs(a.value-e.near), math.Abs(b.value-e.near))
}

// join returns the first k of the pairs found, whose vectors have the rows with edges, and
// of those of the isolated nodes, which have one entry.
func (e *eigenproblem) join(found *lanczos.Pairs, k int) *lanczos.Pairs {
	var all []pair
	for j, v := range found.Values {
		all = append(all, pair{v, j})
	}
	if !e.Beyond && !(e.Problem.Positive && e.zero <= 0) {
		var isolated []pair
		for j := range min(k, len(e.isolated)) {
			isolated = append(isolated, pair{e.zero, -1 - j})
		}
		if e.first() { // whatever rounding does to the values that are not known
			all = slices.Insert(all, found.Known, isolated...)
		} else {
			all = append(all, isolated...)
			slices.SortStableFunc(all[found.Known:], e.compare)
		}
	}
	all = all[:min(k, len(all))]
	out := *found
	out.Values, out.Residuals, out.Known = nil, nil, 0
	out.Converged = max(0, len(all)-(len(found.Values)-found.Converged))
	if out.Vectors = nil; len(all) > 0 {
		out.Vectors = sparse.NewBlock[float64](len(e.rows)+len(e.isolated), len(all))
	}
	for j, p := range all {
		out.Values = append(out.Values, p.value)
		if p.at < 0 {
			i := e.isolated[-1-p.at]
			out.Vectors.Row(int(i))[j] = 1
			out.Residuals = append(out.Residuals, 0)
		} else {
			for at, i := range e.rows {
				out.Vectors.Row(int(i))[j] = found.Vectors.Row(at)[p.at]
			}
			out.Residuals = append(out.Residuals, found.Residuals[p.at])
		}
		if j == out.Known && (p.at < 0 || p.at < found.Known) {
			out.Known++
		}
	}
	return &out
}

// compact is a map without the rows and columns of isolated nodes, which are zero but for
// the diagonal.
type compact struct {
	op      *sparse.Operator[float64]
	rows    []uint32 // that are left
	n       int      // rows of op
	workers int
	x, y    *sparse.Block[float64] // of op
}

func (c *compact) Dims() (rows, cols int) { return len(c.rows), len(c.rows) }

// StepTo is that of [sparse.Applier], without a visitor. Cost: a sweep and two passes over
// the blocks.
func (c *compact) StepTo(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	if err := c.spread(ctx, x); err != nil {
		return err
	}
	if err := c.op.StepTo(ctx, c.y, c.x, sparse.Step[float64]{Alpha: s.Alpha}); err != nil {
		return err
	}
	s.Alpha = 1
	return c.gather(ctx, dst, x, s)
}

// spread stores x in c.x, with zeros in the other rows.
func (c *compact) spread(ctx context.Context, x *sparse.Block[float64]) error {
	if c.x == nil || c.x.Cols != x.Cols {
		c.x, c.y = sparse.NewBlock[float64](c.n, x.Cols), sparse.NewBlock[float64](c.n, x.Cols)
	}
	return c.each(ctx, func(at int) { copy(c.x.Row(int(c.rows[at])), x.Row(at)) })
}

// gather stores Alpha·c.y + Beta·x + Delta·Prev in dst, which may be Prev.
func (c *compact) gather(ctx context.Context, dst, x *sparse.Block[float64], s sparse.Step[float64]) error {
	return c.each(ctx, func(at int) {
		to, y, row := dst.Row(at), c.y.Row(int(c.rows[at])), x.Row(at)
		for j, v := range y {
			v = float64(s.Alpha*v) + float64(s.Beta*row[j])
			if s.Delta != 0 {
				v += float64(s.Delta * s.Prev.Row(at)[j])
			}
			to[j] = v
		}
	})
}

func (c *compact) each(ctx context.Context, do func(at int)) error {
	return sched.Run(ctx, c.workers, tall.Chunks(len(c.rows)), func(_, chunk int) error {
		for at := chunk * tall.ChunkRows; at < min((chunk+1)*tall.ChunkRows, len(c.rows)); at++ {
			do(at)
		}
		return nil
	})
}
