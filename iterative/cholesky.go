package iterative

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// cholesky is a factor G·Gᵀ of scale·L + diag(ground). A sampled factor is approximate, has about as many entries as the
// graph, and is exact for a forest, because vertices are eliminated in the order of their current degrees. It is safe for
// concurrent use.
type cholesky struct {
	order   []uint32  // row at each position
	pivot   []float64 // inverse pivots
	scale   []float64 // s, for a factor of diag(1/s)·M·diag(1/s); nil means ones
	lower   triangle  // coefficients of earlier positions, by rows
	upper   triangle  // the transpose of lower
	levels  []int     // starts of groups of independent positions
	workers int

	substitutions *sync.Pool
}

type triangle struct {
	ptr []int64 // start of each position
	col []uint32
	val []float64
}

// FactorWorkspace declares the largest factor that a solve may make for a graph with n nodes and the given number of stored
// entries, two for each edge. If isSampled is set, it considers only sampled factors. The memory of a factor that every solve
// may make is always counted, so that a refusal comes before the solve.
func FactorWorkspace(n int, entries int64, isSampled bool) (w budget.Workspace) {
	w.Optional = SampledBytes(n, entries)
	if isLean(n, entries) {
		if !isSampled {
			w.Optional = budget.AnyOf(w.Optional, completeBytes(n, entries, completeLimit(n, entries)))
			if IsSlow(n, entries) {
				// Every solve may run tryFill, which takes this memory.
				w.Fixed = budget.AllOf(budget.Times(entries, 12), budget.Times(n, 12), 16<<20)
			}
			if n <= exactWide { // a dense matrix and half of its entries again
				w.Optional = budget.AnyOf(w.Optional, budget.AllOf(budget.Times(n, budget.Times(n, 14)), budget.Times(n, 64)))
			}
		}
		w.Reserved = w.Optional
	}
	w.Fixed = budget.AnyOf(w.Fixed, NeededBytes(n, entries))
	return w
}

// SampledBytes returns the memory of making and keeping the largest sampled factor.
func SampledBytes(n int, entries int64) budget.Size {
	return sampledBytes(n, entries, factorLimit(n, entries))
}

// NeededBytes returns the memory of the factor that every solve may make: the sampled factor of a grid
// or a mesh, see [IsSlow], or the complete factor of a forest, if the graph has at most one edge for each node. Otherwise it
// returns 0.
func NeededBytes(n int, entries int64) budget.Size {
	switch {
	case IsSlow(n, entries):
		return sampledBytes(n, entries, entries+entries/5)
	case isSparseAsForest(n, entries):
		return completeBytes(n, entries, forestFill(n))
	}
	return 0
}

func sampledBytes(n int, entries, fill int64) budget.Size {
	columns := budget.Times(fill, 12)
	return budget.AnyOf( // columns exist at the same time as records, and a triangle as its source
		budget.AllOf(columns, budget.Times(entries, 24), budget.Times(n, 64)),
		budget.AllOf(columns, columns, budget.Times(n, 100)))
}

// isLean reports whether a complete factor is tried: the graph is small, or may be a tree, a road map, a grid or a mesh.
func isLean(n int, entries int64) bool {
	return n <= smallRows || entries <= 8*int64(n)
}

// IsSlow reports whether a graph is too large for a complete factor and may be a grid or a mesh, on which iterations take many
// steps.
func IsSlow(n int, entries int64) bool {
	return isLean(n, entries) && n > leanRows && entries > 3*int64(n)
}

// leanRows is the largest number of rows for which the complete factor of a grid takes less than half a gigabyte.
const leanRows = 1 << 18

// Graphs of at most smallRows rows always get a complete factor, which keeps all digits for weights of any range and takes
// less than a second.
const smallRows = 4096

// completeBytes returns the memory of a complete factor whose triangle has fill entries: the edges, the search for an order,
// the columns, a front and the stack, and then two triangles.
func completeBytes(n int, entries, fill int64) budget.Size {
	return budget.AllOf(budget.Times(entries, 20), budget.Times(fill, 48), budget.Times(n, 200))
}

// factorLimit bounds the entries of the triangle of a sampled factor. For each entry of the matrix, the triangle has 0.5 to
// 1.2 entries in a social network, a web, a road map or a plane grid, 1.6 in a grid of three dimensions, and 2.7 in a random
// graph with eight edges for each node. Denser random graphs exceed the limit, but there Jacobi takes few steps.
func factorLimit(n int, entries int64) int64 {
	return min(entries+min(2*entries, 16*int64(n)), int64(n)*int64(n-1)/2)
}

// newCholesky returns a sampled factor of M = scale·L + diag(ground) for symmetric weights ≥ 0; nil ground means zeros. On
// each component whose ground is zero it factors the singular L. memory limits the bytes of the factor; 0 means no limit.
// The error is a [*budget.Error], wraps [ErrFill] or [graph.ErrWeight], or comes from the sweep. Cost: one sweep and a
// sequential elimination.
func newCholesky(ctx context.Context, a sparse.Matrix, scale float64,
	ground []float64, memory int64, workers int) (*cholesky, error) {
	n, cols := a.Dims()
	if n != cols || ground != nil && len(ground) != n {
		panic(badShape)
	}
	entries := a.NNZ()
	limit := factorLimit(n, entries)
	bytes := func(fill int) budget.Size { return sampledBytes(n, entries, int64(fill)) }
	room := min(limit, int64(budget.Widest(int(limit), memory, bytes)))
	tooLarge := budget.Check(memory, SampledBytes(n, entries), "the sampled Cholesky factor")
	if tooLarge != nil && bytes(int(room)) > memory {
		return nil, tooLarge
	}
	system.Expect(bytes(int(room)))
	columns, err := eliminate(ctx, a, scale, ground, rngSeed, room)
	if errors.Is(err, ErrFill) && tooLarge != nil {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return newFactor(columns, workers), nil
}

func newFactor(columns *columns, workers int) *cholesky {
	c := &cholesky{workers: workers, substitutions: new(sync.Pool)}
	c.arrange(columns)
	return c
}

// arrange fills c with the columns, in positions that increase by level. The level of a position is one more than the
// highest level of the positions that it depends on, so that positions of one level are independent.
func (c *cholesky) arrange(columns *columns) {
	n := len(columns.order)
	level := make([]uint32, n)
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
	next := slices.Clone(c.levels)
	position := make([]uint32, n)
	c.order = make([]uint32, n)
	c.pivot = make([]float64, n)
	step := make([]uint32, n)
	for s, v := range columns.order {
		p := next[level[v]]
		next[level[v]]++
		position[v] = uint32(p)
		c.order[p] = v
		c.pivot[p] = columns.pivot[s]
		step[p] = uint32(s)
	}
	c.upper = newTriangle(n, columns.count)
	c.lower = newTriangle(n, columns.count)
	for p, s := range step {
		count := c.upper.ptr[p]
		for entry, end := columns.start[s], columns.start[s+1]; entry < end; {
			rows, values := columns.from(entry, end)
			copy(c.upper.col[count:], rows)
			copy(c.upper.val[count:], values)
			for _, u := range rows {
				c.lower.ptr[position[u]+1]++
			}
			count += int64(len(rows))
			entry += int64(len(rows))
		}
		c.upper.ptr[p+1] = count
	}
	columns.entries = entries{}
	for p := range n {
		c.lower.ptr[p+1] += c.lower.ptr[p]
	}
	free := slices.Clone(c.lower.ptr[:n])
	for _, v := range columns.order { // neighbouring columns have the same rows
		p := position[v]
		for entry := c.upper.ptr[p]; entry < c.upper.ptr[p+1]; entry++ {
			u := position[c.upper.col[entry]]
			c.lower.col[free[u]] = v
			c.lower.val[free[u]] = c.upper.val[entry]
			free[u]++
		}
	}
}

func newTriangle(n int, entries int64) triangle {
	return triangle{make([]int64, n+1), system.Make[uint32](int(entries)),
		system.Make[float64](int(entries))}
}

const slabColumns = 8

// ApplyTo implements [Preconditioner]: it stores (G·Gᵀ)⁺·R in dst, which may be r. The workers
// share the columns.
func (c *cholesky) ApplyTo(ctx context.Context,
	dst, r *sparse.Block[float64]) error {
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

// batchBytes is the size of the buffer of sums of a [substitution], which stays in the nearest cache.
const batchBytes = 16 << 10

// solve is ApplyTo for one slab of columns.
func (c *cholesky) solve(ctx context.Context, dst, r *sparse.Block[float64]) error {
	s, _ := c.substitutions.Get().(*substitution)
	if s == nil {
		s = new(substitution)
	}
	defer c.substitutions.Put(s)
	s.begin(dst)
	blocks.ScaleRows(dst, r, c.scale)
	batch := len(s.ones)
	for l := range len(c.levels) - 1 {
		if err := sched.Cause(ctx); err != nil {
			return err
		}
		for lo := c.levels[l]; lo < c.levels[l+1]; lo += batch {
			s.forward(&c.lower, c.order, lo, min(lo+batch, c.levels[l+1]))
		}
	}
	for l := len(c.levels) - 2; l >= 0; l-- {
		if err := sched.Cause(ctx); err != nil {
			return err
		}
		for lo := c.levels[l]; lo < c.levels[l+1]; lo += batch {
			s.backward(&c.upper, c.order, c.pivot, lo, min(lo+batch, c.levels[l+1]))
		}
	}
	if c.scale != nil {
		blocks.ScaleRows(dst, dst, c.scale)
	}
	return nil
}

type substitution struct {
	y, sums simd.Rows[float64] // y by vertex, sums by position
	ones    []float64
}

// begin prepares s for a block b that receives the solution.
func (s *substitution) begin(b *sparse.Block[float64]) {
	w := b.Cols
	batch := max(1, batchBytes/(8*w))
	s.y = simd.Rows[float64]{Data: b.Data, Stride: b.Stride}
	s.sums = simd.Rows[float64]{Data: blocks.Grow(s.sums.Data, batch*w), Stride: w}
	s.ones = blocks.Grow(s.ones, batch)
	for i := range s.ones {
		s.ones[i] = 1
	}
}

// fewEntries is the number of entries or positions up to which plain loops are faster than simd.
const fewEntries = 8

// gather stores in s.sums, for positions lo ≤ p < hi, the sum of the coefficients of t times rows of y. It reports whether
// these positions have coefficients.
func (s *substitution) gather(t *triangle, lo, hi int) bool {
	first := t.ptr[lo]
	end := t.ptr[hi]
	if end-first <= fewEntries && hi-lo <= fewEntries {
		w := s.sums.Stride
		for p := lo; p < hi; p++ {
			sums := s.sums.Data[(p-lo)*w:][:w]
			clear(sums)
			for e := t.ptr[p]; e < t.ptr[p+1]; e++ {
				blocks.AddScaled(sums, t.val[e], s.y.Data[int(t.col[e])*s.y.Stride:][:w])
			}
		}
		return first < end
	}
	simd.Gather(s.sums, s.sums.Stride, s.ones[:hi-lo], s.y, t.ptr[lo:hi+1],
		t.col[first:end], t.val[first:end])
	return first < end
}

func (s *substitution) at(v uint32, place int) (row, sums []float64) {
	w := s.sums.Stride
	return s.y.Data[int(v)*s.y.Stride:][:w], s.sums.Data[place*w:][:w]
}

// forward computes y_p += Σ_q G_pq·y_q for positions lo ≤ p < hi.
func (s *substitution) forward(t *triangle, order []uint32, lo, hi int) {
	if !s.gather(t, lo, hi) {
		return
	}
	for place, v := range order[lo:hi] {
		row, sums := s.at(v, place)
		for j, x := range sums {
			row[j] += x
		}
	}
}

// backward computes y_p = y_p/pivot + Σ_q G_qp·y_q for positions lo ≤ p < hi.
func (s *substitution) backward(t *triangle, order []uint32, pivot []float64,
	lo, hi int) {
	s.gather(t, lo, hi)
	for place, v := range order[lo:hi] {
		f := pivot[lo+place]
		row, sums := s.at(v, place)
		for j, x := range sums {
			row[j] = x + float64(f*row[j])
		}
	}
}
