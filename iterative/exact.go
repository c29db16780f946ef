package iterative

import (
	"context"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// exact is the factor G·D·Gᵀ of N = scale·L + diag(ground), by elimination without
// subtraction (Grassmann, Taksar and Heyman 1985; O'Cinneide 1993).
//
// Eliminating a vertex v joins its neighbours u and x by an edge of weight
// w_vu·w_vx/Σ_u w_vu, where the sum includes the edge to the ground. Diagonals are sums of
// weights, never differences, so that every number has full relative precision whatever
// the weights span.
//
// Vertices are eliminated in the order of their degrees. The last ones, which form a core
// that is nearly complete, are eliminated as a dense matrix in panels of columns.
type exact struct {
	order []uint32 // vertices in the order of elimination, the core last
	start []int64  // of each sparse column
	row   []uint32 // vertices of a column
	share []float64
	total []float64 // the pivot of each position; 0 for the last vertex of a singular component

	core  int       // number of vertices of the core
	dense []float64 // core×core: shares, column c below row c

	// error bounds the relative error of the elements of N⁻¹·b with b ≥ 0.
	//
	// By the matrix-tree theorem an element of N⁻¹ is a quotient of two sums of products
	// of weights, one product for each forest, all positive. A relative change δ of the
	// weights among the k neighbours of a vertex changes both sums by at most k·δ, and one of
	// all weights, which are rounded once or twice, by n·δ.
	error float64

	workers int
}

const (
	coreVertices = 4096 // largest core: 128 MiB
	corePanel    = 64   // columns that are eliminated at a time; a multiple of 4

	// exactEntries and exactWork limit the entries of the factor and the number of entries
	// that are merged while it is made.
	exactEntries = 1 << 24
	exactWork    = 1 << 28

	// exactVectors is the memory for each vertex, and exactEntryBytes that for each entry of the factor
	// and of the graph that is left.
	exactVectors    = 96
	exactEntryBytes = 12

	unitRoundoff = 0x1p-53
)

// exactBytes bounds the memory of an elimination on a graph with n nodes and the given number of
// stored entries: the largest core and number of entries that n nodes can have, but no more than a
// multiple of the graph and a fixed amount, which is larger where weights differ. Factors of graphs on which
// elimination pays are far below that: without weights these are long chains, with weights also
// dense clusters with weak links between them.
func exactBytes(n int, entries int64, weighted bool) int64 {
	const fixed, each, least = 64 << 20, 32, 32 << 20
	core, fill := int64(min(n, coreVertices)), min(exactEntries, int64(n)*int64(n))
	most := max(least, choleskyBytes(n, entries))
	if weighted {
		most = fixed + each*entries
	}
	return min(8*core*core+2*exactEntryBytes*fill, most) + exactVectors*int64(n)
}

// EliminationBytes bounds the memory of [System.EliminateTo], and of a certified solve that
// eliminates, in addition to the blocks of a solve of cols columns: the elimination begins when two
// of these have been freed. The graph has weights other than 1 or not.
func EliminationBytes(n int, entries int64, cols int, weighted bool) int64 {
	return max(0, exactBytes(n, entries, weighted)-2*blocks.BlockBytes[float64](n, cols))
}

// Weighted reports whether the weights of a graph with the given degrees and number of entries differ
// from 1 in the mean: each entry of a graph without weights adds 1 to the degrees.
func Weighted(degrees []float64, entries int64) bool {
	return blocks.Total(nil, degrees) != float64(entries)
}

// FactorBytes bounds the memory of the factors of a solve of cols columns within room bytes, 0 for no
// limit: a sampled Cholesky factor or an elimination. One that does not fit is not made.
// A certified solve eliminates where the graph has weights, see [Weighted], or few nodes.
func FactorBytes(n int, entries int64, cols int, weighted bool, room int64) int64 {
	factors := []int64{CholeskyBytes(n, entries, cols)}
	if weighted || n <= ExactFirst {
		factors = append(factors, EliminationBytes(n, entries, cols, true))
	}
	var bytes int64
	for _, factor := range factors {
		if room == 0 || factor <= room {
			bytes = max(bytes, factor)
		}
	}
	return bytes
}

// newExact factors scale·L(A) + diag(ground). Entries of A are weights ≥ 0; its diagonal is
// ignored. held are nodes, one in each singular component, that are eliminated last, where
// solutions are 0. The error wraps [ErrFill] where the factor would exceed its limits, or where
// exactBytes exceeds memory, 0 for no limit; or it is that of the sweep.
//
// Cost: one sweep, and a number of products that depends on the fill.
func newExact(ctx context.Context, a sparse.Matrix, scale float64, ground []float64, held []int, weighted bool, memory int64, workers int) (*exact, error) {
	n, _ := a.Dims()
	m := &merging{factor: &exact{error: float64(8*n) * unitRoundoff, workers: workers, total: make([]float64, 0, n), start: append(make([]int64, 0, n+1), 0)}}
	need := exactBytes(n, a.NNZ(), weighted)
	if memory > 0 && need > memory {
		return nil, fmt.Errorf("%w: %w", ErrFill, budget.Check(memory, need, "the elimination"))
	}
	m.memory = need - exactVectors*int64(n)
	m.limit = min(exactEntries, m.memory/(2*exactEntryBytes))
	m.ground = make([]float64, n)
	copy(m.ground, ground)
	if err := m.read(ctx, a, scale); err != nil {
		return nil, err
	}
	if err := m.run(ctx, held); err != nil {
		return nil, err
	}
	f := m.factor
	if f.core > 0 {
		if err := m.eliminateCore(ctx); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// merging is the graph that is left during the elimination of sparse columns.
type merging struct {
	factor  *exact
	ground  []float64
	near    [][]uint32 // neighbours of each vertex in increasing order
	weight  [][]float64
	buckets buckets
	held    []bool
	entries int64 // of near
	memory  int64 // bytes for entries and the core
	limit   int64 // half of the number of entries in the factor and the rest of the graph together
	work    int64

	// Buffers of one merge.
	ids     []uint32
	weights []float64
}

// read stores the off-diagonal entries of the matrix.
func (m *merging) read(ctx context.Context, a sparse.Matrix, scale float64) error {
	n := len(m.ground)
	m.near, m.weight = make([][]uint32, n), make([][]float64, n)
	if a.NNZ() > 2*m.limit && n > coreVertices {
		return fmt.Errorf("%w to more than %d entries", ErrFill, m.limit)
	}
	return eachEdge(ctx, a, scale, func(i, c uint32, w float64) {
		m.near[i], m.weight[i] = append(m.near[i], c), append(m.weight[i], w)
		m.entries++
	})
}

// run eliminates vertices until a core is left, or none, those that are held last.
func (m *merging) run(ctx context.Context, held []int) error {
	n, f := len(m.near), m.factor
	count := make([]int32, n)
	for v, list := range m.near {
		count[v] = int32(len(list))
	}
	m.buckets.fill(count)
	m.held = make([]bool, n)
	for _, v := range held {
		m.held[v] = true
		m.buckets.remove(uint32(v))
	}
	for left := n; left > len(held); left-- {
		if left%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		v := m.buckets.takeLeast()
		full := int64(len(f.row))+m.entries > 2*m.limit || m.work > exactWork
		switch {
		case left <= coreVertices && m.fitsCore(left) && (len(m.near[v]) > left/4 && left > corePanel || full):
			m.collectCore(left, held)
			return nil
		case full:
			return fmt.Errorf("%w to more than %d entries", ErrFill, m.limit)
		}
		m.eliminate(v)
	}
	for _, v := range held {
		m.eliminate(uint32(v))
	}
	return nil
}

// fitsCore reports whether a dense matrix of the vertices that are left fits the memory.
func (m *merging) fitsCore(left int) bool {
	dense := 8 * int64(left) * int64(left)
	return dense+exactEntryBytes*(int64(len(m.factor.row))+m.entries) <= m.memory
}

// eliminate takes vertex v out of the graph and stores its column.
func (m *merging) eliminate(v uint32) {
	f, near, weight := m.factor, m.near[v], m.weight[v]
	total := blocks.ExactSum{Sum: m.ground[v]}
	for _, w := range weight {
		total.Add(w)
	}
	t := total.Value()
	for i, u := range near {
		share := weight[i] / t
		m.ground[u] += float64(share * m.ground[v])
		f.row, f.share = append(f.row, u), append(f.share, share)
		m.join(u, v, near, weight, i, t)
		if !m.held[u] {
			m.buckets.move(u, int32(len(m.near[u])))
		}
	}
	f.order, f.total = append(f.order, v), append(f.total, t)
	f.start = append(f.start, int64(len(f.row)))
	f.error += columnError(len(near))
	m.entries -= int64(len(near))
	m.near[v], m.weight[v] = nil, nil
}

// columnError bounds the relative error of a solution that comes from eliminating a vertex
// with k neighbours, and from using its column in two substitutions.
func columnError(k int) float64 { return float64(14*k+12) * unitRoundoff }

// join replaces v in the neighbours of u, which is near[i], by edges to all others of near.
func (m *merging) join(u, v uint32, near []uint32, weight []float64, i int, total float64) {
	own, ownWeight := m.near[u], m.weight[u]
	m.work += int64(len(own) + len(near))
	m.ids, m.weights = m.ids[:0], m.weights[:0]
	at := 0
	keep := func() {
		if own[at] != v {
			m.ids, m.weights = append(m.ids, own[at]), append(m.weights, ownWeight[at])
		}
		at++
	}
	for e, x := range near {
		if e == i {
			continue
		}
		for at < len(own) && own[at] < x {
			keep()
		}
		// The same bits for both directions, and no overflow.
		w := float64(min(weight[i], weight[e]) * (max(weight[i], weight[e]) / total))
		if at < len(own) && own[at] == x {
			w += ownWeight[at]
			at++
		}
		m.ids, m.weights = append(m.ids, x), append(m.weights, w)
	}
	for at < len(own) {
		keep()
	}
	m.entries += int64(len(m.ids) - len(own))
	m.near[u], m.weight[u] = append(own[:0], m.ids...), append(ownWeight[:0], m.weights...)
}

// collectCore stores the graph that is left as a dense matrix, its vertices in the order of
// their numbers and those that are held last.
func (m *merging) collectCore(left int, held []int) {
	f := m.factor
	f.core = left
	gone := make([]bool, len(m.near))
	for _, u := range f.order {
		gone[u] = true
	}
	position := make([]uint32, len(m.near))
	first := len(f.order)
	for u := range m.near {
		if !gone[u] && !m.held[u] {
			position[u] = uint32(len(f.order) - first)
			f.order = append(f.order, uint32(u))
		}
	}
	for _, u := range held {
		position[u] = uint32(len(f.order) - first)
		f.order = append(f.order, uint32(u))
	}
	f.dense = make([]float64, left*left)
	for j, u := range f.order[first:] {
		row := f.dense[j*left:][:left]
		for e, x := range m.near[u] {
			row[position[x]] = m.weight[u][e]
		}
		m.near[u], m.weight[u] = nil, nil
	}
}

// eliminateCore factors the dense matrix by panels: the columns of a panel one by one, and
// then their products for all others, each of which is a sum over the columns of the panel
// in one order.
func (m *merging) eliminateCore(ctx context.Context) error {
	f, n := m.factor, m.factor.core
	ground := make([]float64, n)
	for j, u := range f.order[len(f.order)-n:] {
		ground[j] = m.ground[u]
	}
	before := make([]float64, n*corePanel) // weights of a panel's columns, where dense has shares
	for lo := 0; lo < n; lo += corePanel {
		hi := min(lo+corePanel, n)
		for c := lo; c < hi; c++ {
			total := blocks.ExactSum{Sum: ground[c]}
			for j := c + 1; j < n; j++ {
				total.Add(f.dense[j*n+c])
			}
			t := total.Value()
			f.total = append(f.total, t)
			f.error += columnError(n - 1 - c)
			if t == 0 {
				continue
			}
			pivot := f.dense[c*n:] // row c, of which the columns to hi are wanted
			for j := c + 1; j < min(n, hi); j++ {
				pivot[j] = f.dense[j*n+c]
			}
			for j := c + 1; j < n; j++ {
				row := f.dense[j*n:]
				w := row[c]
				share := w / t
				before[j*corePanel+c-lo], row[c] = w, share
				ground[j] += float64(share * ground[c])
				if share == 0 {
					continue
				}
				for i := c + 1; i < min(j, hi); i++ {
					row[i] += float64(share * pivot[i])
				}
			}
		}
		if err := f.updateCore(ctx, before, lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// updateCore adds the products of a whole panel to the rows behind it, below the diagonal.
func (f *exact) updateCore(ctx context.Context, before []float64, lo, hi int) error {
	n := f.core
	if hi-lo < corePanel {
		return nil
	}
	const rows = 32
	return sched.Run(ctx, f.workers, (n-hi+rows-1)/rows, func(_, piece int) error {
		from := hi + piece*rows
		to := min(from+rows, n)
		share := func(j int) []float64 { return f.dense[min(j, n-1)*n+lo:][:corePanel] }
		weight := func(i int) []float64 { return before[min(i, n-1)*corePanel:][:corePanel] }
		for i := hi; i < to; i += 4 {
			w0, w1, w2, w3 := weight(i), weight(i+1), weight(i+2), weight(i+3)
			for j := max(from, i&^1); j < to; j += 2 {
				var sums [8]float64
				simd.DotPanels(&sums, share(j), share(j+1), w0, w1, w2, w3)
				for at, v := range sums {
					if r, c := j+at/4, i+at%4; r < to && c < r {
						f.dense[r*n+c] += v
					}
				}
			}
		}
		return nil
	})
}

// solveTo stores N⁻¹·B in x, which may be b. In the last row of a singular component it
// stores 0. Columns are shared out among the workers.
func (f *exact) solveTo(ctx context.Context, x, b *sparse.Block[float64]) error {
	blocks.Copy(x, b)
	registers := (b.Cols + slabColumns - 1) / slabColumns
	slabs := min(sched.Workers(f.workers), registers)
	return sched.Run(ctx, slabs, slabs, func(_, slab int) error {
		lo := registers * slab / slabs * slabColumns
		hi := min(b.Cols, registers*(slab+1)/slabs*slabColumns)
		return f.substitute(ctx, x.Columns(lo, hi))
	})
}

// substitute solves for some columns in place.
func (f *exact) substitute(ctx context.Context, x *sparse.Block[float64]) error {
	sparseColumns, k := len(f.order)-f.core, x.Cols
	core := f.order[sparseColumns:]
	for p, v := range f.order[:sparseColumns] {
		from := x.Row(int(v))
		for e := f.start[p]; e < f.start[p+1]; e++ {
			blocks.AddScaled(x.Row(int(f.row[e])), f.share[e], from)
		}
	}
	for j := range core {
		to := x.Row(int(core[j]))
		for c, share := range f.dense[j*f.core:][:j] {
			blocks.AddScaled(to, share, x.Row(int(core[c])))
		}
		if j%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	divide := func(p int) {
		row, t := x.Row(int(f.order[p])), f.total[p]
		for j := range k {
			if t == 0 {
				row[j] = 0
			} else {
				row[j] /= t
			}
		}
	}
	for p := range f.order {
		divide(p)
	}
	for j := len(core) - 1; j >= 0; j-- {
		from := x.Row(int(core[j]))
		for c, share := range f.dense[j*f.core:][:j] {
			blocks.AddScaled(x.Row(int(core[c])), share, from)
		}
		if j%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for p := sparseColumns - 1; p >= 0; p-- {
		to := x.Row(int(f.order[p]))
		for e := f.start[p]; e < f.start[p+1]; e++ {
			blocks.AddScaled(to, f.share[e], x.Row(int(f.row[e])))
		}
	}
	return nil
}

// pivots returns the number of pivots that are zero: one for each singular component,
// unless weights have vanished.
func (f *exact) pivots() (zero int) {
	for _, t := range f.total {
		if t == 0 {
			zero++
		}
	}
	return zero
}
