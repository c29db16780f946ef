package iterative

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// cholesky is a factor G·Gᵀ that resembles scale·L + diag(ground), L the
// Laplacian of a graph, with sampled fill: about as many entries as the graph
// has. Vertices are eliminated in the order of their degrees at the time,
// which makes the factor of a forest exact. It is safe for concurrent use.
type cholesky struct {
	order   []uint32  // the row at each position of the factor
	pivot   []float64 // inverted
	scale   []float64 // s, see scaledBy; nil means ones
	lower   triangle  // by rows: coefficients of earlier positions
	upper   triangle  // the transpose of lower
	levels  []int     // where groups of positions begin that do not depend on each other
	workers int

	substitutions *sync.Pool // of *substitution
}

// triangle is a triangular matrix by rows, without its unit diagonal.
type triangle struct {
	ptr []int64
	col []uint32
	val []float64
}

// CholeskyBytes returns the bytes that making and keeping a sampled Cholesky factor takes at
// most, for n nodes and the given number of stored entries (each edge twice). cols is the number
// of columns of a [System] that frees two of its blocks while it makes the factor; 0 for a factor
// that is made alone.
func CholeskyBytes(n int, entries int64, cols int) int64 {
	memory := choleskyBytes(n, entries)
	if cols > 0 {
		memory = max(memory-2*blocks.BlockBytes[float64](n, cols), keptBytes(n, entries))
	}
	return memory
}

// keptBytes bounds the bytes of a factor that has been made.
func keptBytes(n int, entries int64) int64 { return 24*factorLimit(n, entries) + 36*int64(n) }

// choleskyBytes bounds the bytes of making and keeping a factor.
func choleskyBytes(n int, entries int64) int64 {
	columns := 12 * factorLimit(n, entries)
	// Columns exist together with the records, and each triangle together with its source.
	return max(16*recordsFor(entries)+columns+64*int64(n), 2*columns+100*int64(n))
}

// recordsFor returns the number of records with which an elimination seldom
// has to look for unused ones.
func recordsFor(entries int64) int64 { return entries + entries/4 }

// factorLimit bounds the entries of the triangle where there is a limit on
// memory. That of a social network, a web or a road map has 0.5 to 1.2 times as
// many as the matrix, of a grid of two dimensions or of neighbours in the plane
// 0.8 to 1.2, of three dimensions 1.6 with six neighbours and 1.2 with 26. Random
// graphs and neighbours in more dimensions go beyond: there Jacobi takes few steps.
func factorLimit(n int, entries int64) int64 {
	return min(entries+min(3*(entries/4), 6*int64(n)), int64(n)*int64(n-1)/2)
}

// newCholesky factors M = scale·L + diag(ground), L = D − A, where A is
// symmetric with weights ≥ 0, and ground ≥ 0 or nil for zeros. On each
// component whose ground is zero the factor is that of the singular L.
//
// The factor depends on the matrix alone. Cost: one sweep and
// a sequential elimination; with a limit of memory in bytes at most that of
// [CholeskyBytes], 0 for none. The
// error wraps [ErrMemory], [ErrFill] of a factor that would go beyond that,
// [graph.ErrWeight], or is that of the sweep.
func newCholesky(ctx context.Context, a sparse.Matrix, scale float64, ground []float64, memory int64, workers int) (*cholesky, error) {
	n, cols := a.Dims()
	if n != cols || ground != nil && len(ground) != n {
		panic(badShape)
	}
	limit := int64(math.MaxInt64)
	if memory > 0 {
		if need := choleskyBytes(n, a.NNZ()); need > memory {
			return nil, memoryError(need, memory)
		}
		limit = factorLimit(n, a.NNZ())
	}
	pages.Expect(choleskyBytes(n, a.NNZ()))
	columns, err := eliminate(ctx, a, scale, ground, rngSeed, recordsFor(a.NNZ()), limit)
	if err != nil {
		return nil, err
	}
	c := &cholesky{workers: workers, substitutions: new(sync.Pool)}
	c.arrange(columns)
	return c, nil
}

func memoryError(need, limit int64) error {
	return fmt.Errorf("%w: %w", ErrMemory, budget.Check(limit, need, "the sampled Cholesky factor"))
}

// arrange orders the positions by level: a position's level is one more than
// the highest level among those that it takes from.
func (c *cholesky) arrange(columns *columns) {
	n := len(columns.order)
	level := make([]uint32, n) // of a vertex
	var top uint32
	for step, v := range columns.order {
		top = max(top, level[v])
		for entry, end := columns.start[step], columns.start[step+1]; entry < end; {
			rows, _ := columns.from(entry, end)
			for _, u := range rows {
				level[u] = max(level[u], level[v]+1)
			}
			entry += int64(len(rows))
		}
	}
	c.levels = make([]int, top+2)
	for _, l := range level {
		c.levels[l+1]++
	}
	for l := range top + 1 {
		c.levels[l+1] += c.levels[l]
	}
	next := make([]int, top+1)
	copy(next, c.levels)
	position := make([]uint32, n) // of a vertex
	c.order = make([]uint32, n)
	c.pivot = make([]float64, n)
	for step, v := range columns.order {
		p := next[level[v]]
		next[level[v]]++
		position[v] = uint32(p)
		c.order[p] = v
		c.pivot[p] = columns.pivot[step]
	}

	step := make([]uint32, n) // of a position
	for s, v := range columns.order {
		step[position[v]] = uint32(s)
	}
	c.lower = transpose(n, columns.start, &columns.entries, position, step)
	columns.entries = entries{}
	c.upper = c.lower.transpose()
}

// transpose returns the lower triangle by rows from the columns.
func transpose(n int, start []int64, columns *entries, position, step []uint32) triangle {
	t := triangle{
		ptr: make([]int64, n+1),
		col: pages.Make[uint32](int(columns.count)), val: pages.Make[float64](int(columns.count)),
	}
	for _, rows := range columns.row {
		for _, u := range rows {
			t.ptr[position[u]+1]++
		}
	}
	for p := range n {
		t.ptr[p+1] += t.ptr[p]
	}
	next := append([]int64(nil), t.ptr[:n]...)
	for p := range n {
		for entry, end := start[step[p]], start[step[p]+1]; entry < end; {
			rows, values := columns.from(entry, end)
			for e, row := range rows {
				u := position[row]
				t.col[next[u]] = uint32(p)
				t.val[next[u]] = values[e]
				next[u]++
			}
			entry += int64(len(rows))
		}
	}
	return t
}

func (t triangle) transpose() triangle {
	n := len(t.ptr) - 1
	self := make([]uint32, n)
	for i := range self {
		self[i] = uint32(i)
	}
	count := len(t.col)
	stored := &entries{[][]uint32{t.col}, [][]float64{t.val}, max(1, count), int64(count)}
	return transpose(n, t.ptr, stored, self, self)
}

// scaledBy returns the factor of diag(1/s)·M·diag(1/s), which shares memory
// with c and s: with s = d^½ and M = L that of L̃.
func (c *cholesky) scaledBy(s []float64) *cholesky {
	if len(s) != len(c.order) {
		panic(badShape)
	}
	scaled := *c
	scaled.scale = s
	return &scaled
}

// slabColumns is the number of columns in a cache line of a row.
const slabColumns = 8

// ApplyTo implements [Preconditioner], (G·Gᵀ)⁺·R: one pass over the
// factor forwards and one backwards, columns shared out among the workers.
func (c *cholesky) ApplyTo(ctx context.Context, dst, r *sparse.Block[float64]) error {
	n := len(c.order)
	k := r.Cols
	if r.Rows != n || dst.Rows != n || dst.Cols != k {
		panic(badShape)
	}
	slabs := min(sched.Workers(c.workers), (k+slabColumns-1)/slabColumns)
	registers := (k + slabColumns - 1) / slabColumns
	return sched.Run(ctx, slabs, slabs, func(_, slab int) error {
		lo := registers * slab / slabs * slabColumns
		hi := min(k, registers*(slab+1)/slabs*slabColumns)
		return c.solve(ctx, dst.Columns(lo, hi), r.Columns(lo, hi))
	})
}

// batchBytes is the size of the sums that are kept between the gather and the
// addition, so that they stay in the nearest cache.
const batchBytes = 16 << 10

// solve is ApplyTo for one slab of columns.
func (c *cholesky) solve(ctx context.Context, dst, r *sparse.Block[float64]) error {
	s, _ := c.substitutions.Get().(*substitution)
	if s == nil {
		s = new(substitution)
	}
	defer c.substitutions.Put(s)
	s.begin(dst)
	for p, v := range c.order {
		c.copyRow(v, dst.Row(p), r.Row(int(v)))
	}
	batch := len(s.ones)
	for l := range len(c.levels) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for lo := c.levels[l]; lo < c.levels[l+1]; lo += batch {
			s.forward(&c.lower, lo, min(lo+batch, c.levels[l+1]))
		}
	}
	for l := len(c.levels) - 2; l >= 0; l-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		for lo := c.levels[l]; lo < c.levels[l+1]; lo += batch {
			s.backward(&c.upper, c.pivot, lo, min(lo+batch, c.levels[l+1]))
		}
	}
	c.reorder(dst, s)
	return nil
}

// reorder takes the row of each position to that of its vertex, cycle by cycle.
func (c *cholesky) reorder(b *sparse.Block[float64], s *substitution) {
	for first := range c.order {
		if s.placed[first] {
			continue
		}
		copy(s.row, b.Row(first))
		for p := first; ; {
			v := c.order[p]
			target := b.Row(int(v))
			copy(s.next, target)
			c.copyRow(v, target, s.row)
			s.row, s.next = s.next, s.row
			s.placed[v] = true
			p = int(v)
			if p == first {
				break
			}
		}
	}
}

// copyRow copies a row, times the scale.
func (c *cholesky) copyRow(v uint32, dst, src []float64) {
	if c.scale == nil {
		copy(dst, src)
		return
	}
	for j, x := range src {
		dst[j] = c.scale[v] * x
	}
}

// substitution solves with the triangles in place.
type substitution struct {
	y, sums   simd.Rows[float64] // y by position
	ones      []float64
	row, next []float64 // on the way from a position to a vertex
	placed    []bool    // the rows that belong to their vertices
}

// begin prepares for a block that will hold the solution.
func (s *substitution) begin(b *sparse.Block[float64]) {
	w := b.Cols
	batch := max(1, batchBytes/(8*w))
	s.y = simd.Rows[float64]{Data: b.Data, Stride: b.Stride}
	s.sums = simd.Rows[float64]{Data: blocks.Grow(s.sums.Data, batch*w), Stride: w}
	s.ones = blocks.Grow(s.ones, batch)
	for i := range s.ones {
		s.ones[i] = 1
	}
	s.row, s.next = blocks.Grow(s.row, w), blocks.Grow(s.next, w)
	s.placed = blocks.Grow(s.placed, b.Rows)
	clear(s.placed)
}

// at returns the rows of y from a position on.
func (s *substitution) at(p int) simd.Rows[float64] {
	return simd.Rows[float64]{Data: s.y.Data[p*s.y.Stride:], Stride: s.y.Stride}
}

// forward finishes the positions lo ≤ p < hi: y_p += Σ_q G_pq·y_q.
func (s *substitution) forward(t *triangle, lo, hi int) {
	first := t.ptr[lo]
	end := t.ptr[hi]
	if first == end {
		return
	}
	w := s.sums.Stride
	offset := s.at(lo)
	simd.Gather(s.sums, w, s.ones[:hi-lo], s.y, t.ptr[lo:hi+1], t.col[first:end], t.val[first:end])
	simd.AddRows(offset, hi-lo, w, offset, s.ones[:1], s.sums)
}

// backward finishes the positions lo ≤ p < hi: y_p = y_p/pivot + Σ_q G_qp·y_q.
func (s *substitution) backward(t *triangle, pivot []float64, lo, hi int) {
	first := t.ptr[lo]
	end := t.ptr[hi]
	w := s.sums.Stride
	offset := s.at(lo)
	simd.Gather(s.sums, w, s.ones[:hi-lo], s.y, t.ptr[lo:hi+1], t.col[first:end], t.val[first:end])
	simd.AddRows(offset, hi-lo, w, s.sums, pivot[lo:hi], offset)
}
