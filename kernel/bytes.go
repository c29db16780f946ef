package kernel

import (
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// work describes the engine of a kernel, by which its memory is estimated before the graph is
// loaded. It chooses nothing: packages expm and iterative decide by the graph how they compute, and
// the estimate asks the same functions.
type work struct {
	matrix        sparse.Kind // the matrix, if the engine is a function of one
	function      bool        // a function of a matrix by package expm; otherwise an inverse by package iterative
	series        bool        // a function that is a Chebyshev series on every graph
	half          bool        // a block of nodes among themselves is UᵀU with U = K^½·E
	factor        bool        // solves may need a sampled Cholesky factor, because Jacobi may be slow
	blocks        int64       // of a solve, in the width of a slab, its argument and result included
	balanced      bool        // solves with I − αA, or with L by way of L̃, which keep further vectors
	radius        bool        // the largest eigenvalue of A is computed first, with factor to many digits
	needsSmallest bool        // the smallest eigenvalue outside the null space is computed first
}

const (
	// solveBlocks and resolventBlocks are the numbers of blocks of a solve and of a sum of solves,
	// their columns and images included.
	solveBlocks     = 5
	resolventBlocks = 8

	// balancedVectors is the number of further vectors of solves with I − αA: v, the degrees with
	// it, the diagonal, the start of solves, and those of the search for v.
	balancedVectors = 10

	// graphVectors is the number of vectors of the graph, its maps, their null spaces and the
	// degrees of neighbours.
	graphVectors = 10

	// systemVectors is the number of vectors of an inverse: its ground, scale and null space.
	systemVectors = 3
)

// seriesOf returns the work of a series in a matrix.
func seriesOf(matrix sparse.Kind) work {
	return work{matrix: matrix, series: true, function: true, half: true}
}

// resolventsOf returns the work of a function of a matrix that may be a sum of resolvents.
func resolventsOf(matrix sparse.Kind) work {
	return work{matrix: matrix, blocks: resolventBlocks, function: true,
		factor: true, half: true}
}

// root returns the work of half steps: for an inverse that of a series, since (c + aL)^−½ is one.
func (w work) root() work {
	if w.function {
		return w
	}
	return work{series: true, function: true, half: true}
}

// vectorBytes returns the memory of the vectors of a graph with n nodes.
func vectorBytes(n int) int64 {
	return graphVectors * 8 * int64(n)
}

// bytes returns the memory of the engine for a block of n rows and cols columns, its argument and
// its result included.
func (w work) bytes(n, cols int) int64 {
	block := blocks.BlockBytes[float64](n, cols)
	if w.series {
		return 2*block + expm.Bytes(n, cols, 1)
	}
	bytes := w.blocks * block // those of a series are no more
	if w.balanced {
		bytes += balancedVectors * 8 * int64(n)
	}
	return bytes
}

// searchBytes returns the memory of computing an eigenvalue, before the engine has its blocks of
// cols columns: that of Lanczos, in addition to the block and its result where these exist.
func (w work) searchBytes(n, cols int) (bytes int64) {
	if w.needsSmallest {
		bytes = w.bytes(n, cols) - searchRoom(n, cols) + leastBytes(n)
	}
	if w.radius {
		bytes = max(bytes, radiusBytes(n))
	}
	return bytes
}

// leastBytes returns the memory of the search for the smallest eigenvalue, which may make a small map dense.
func leastBytes(n int) int64 {
	bytes := lanczos.FactoredBytes(n, 1, 0)
	if n <= iterative.ExactFirst {
		bytes = max(bytes, lanczos.Bytes(n, 1, 0, lanczos.Smallest, 0))
	}
	return bytes
}

// factorBytes returns the memory of factors: a sampled Cholesky factor where solves may need one,
// and the elimination of a small graph. used is the
// memory without it; within a limit, 0 for none, factors that do not fit are not made.
func (w work) factorBytes(degrees []float64, cols int,
	entries, limit, used int64) int64 {
	n := len(degrees)
	fits := func(bytes int64) bool { return limit == 0 || used+bytes <= limit }
	room := budget.Subtract(limit, used)
	full := iterative.CholeskyBytes(n, entries, 0, room)
	bytes := int64(0)
	switch shared := iterative.CholeskyBytes(n, entries, cols, room); {
	case !w.factor:
	case w.function && fits(full): // the blocks of other systems stay while it is made
		bytes = full
	case fits(shared):
		bytes = shared
	}
	if bytes > 0 && w.needsSmallest { // the search may need one as well
		search := 2*blocks.BlockBytes[float64](n, cols) + full + leastBytes(n)
		bytes = max(bytes, search-w.bytes(n, cols))
	}
	if !w.function { // a small graph is eliminated, whatever the limit
		bytes = max(bytes, iterative.EliminationBytes(n))
	}
	return bytes
}

// slabBytes returns the memory of a slab of width columns of a block with the given number of rows,
// of nodes among themselves or others: the vectors of the graph, the engine and the pieces.
func (w work) slabBytes(n, width, rows int, symmetric bool) int64 {
	pieces := 8 * int64(pieceNumbers(rows, symmetric)) * int64(width)
	return vectorBytes(n) + max(w.bytes(n, width), w.searchBytes(n, width)) + pieces
}

// pieceNumbers returns the number of numbers for each column of a piece of a block with the given
// number of rows: of nodes among themselves also those of its mirror image.
func pieceNumbers(rows int, symmetric bool) int {
	if symmetric {
		return 2 * rows
	}
	return rows
}

// Bytes returns an upper bound on the memory of [Block] of the kernel with complete values
// between the given rows and columns, with its construction and the vectors of its graph, but
// without the matrix and the block itself. The graph has the given degrees and number of
// entries, and edges with a direction or not. With a limit in s it is the memory within that
// limit, or the least that the block requires if that exceeds it. A tolerance in s may require an
// eigenvalue.
func (f *Family) Bytes(v param.Values, degrees []float64, entries int64,
	directed bool, rows, cols []int, s *Settings) int64 {
	if s == nil {
		s = new(Settings)
	}
	return f.blockBytes(v, degrees, entries, directed, rows, cols, s, true)
}

// blockBytes is Bytes for inverses with half steps or without.
func (f *Family) blockBytes(v param.Values, degrees []float64, entries int64,
	directed bool, rows, cols []int, s *Settings, roots bool) int64 {
	limit := s.Memory
	n := len(degrees)
	long := max(len(rows), len(cols))
	short := min(len(rows), len(cols))
	if f.Memory != nil {
		vectors := vectorBytes(n)
		return vectors + f.Memory(v, Shape{n, long, short, directed},
			budget.Subtract(limit, vectors))
	}
	w := f.work(v, describe(nil, degrees))
	w.needsSmallest = w.needsSmallest && s.certifies(n)
	if f.Distance != "" { // it requires the columns of both lists
		short, long = long, short
	}
	width := min(SlabColumns(n), short)
	symmetric := slices.Equal(rows, cols)
	half := symmetric && w.half && (roots || w.function) && fitsHalf(n, short)
	if half {
		w = w.root()
	}
	bytes := w.slabBytes(n, width, long, symmetric)
	if half {
		block := blocks.BlockBytes[float64](n, width) // of which one is counted already
		stored, image := storedSlabs((short+width-1)/width, limit,
			bytes-block, block)
		bytes += int64(stored-1)*block + image
	}
	return bytes + w.factorBytes(degrees, width, entries, limit, bytes)
}

// Shape is that of a block of a kernel on a graph with so many nodes: Long·Short values, or with Long = 0
// a product with a block of Short columns.
type Shape struct {
	Nodes, Long, Short int
	Directed           bool // whether the edges of the graph have a direction
}

// FactorLimit returns the limit of a computation that has none: bytes, its estimate, because factors would take more, and
// 0 for kernels without a factor, whose estimate leaves out the length of their walks.
func (f *Family) FactorLimit(bytes int64) int64 {
	if f.Memory != nil {
		return 0
	}
	return bytes
}

// ApplyBytes returns an upper bound on the memory of ApplyTo of blocks with cols columns, both
// blocks, the construction and the vectors of the graph included, but without a factor.
func (f *Family) ApplyBytes(v param.Values, degrees []float64, cols int) int64 {
	n := len(degrees)
	if f.Memory != nil {
		return vectorBytes(n) +
			f.Memory(v, Shape{n, 0, cols, f.Works&param.Directed != 0}, 0) +
			2*blocks.BlockBytes[float64](n, cols)
	}
	w := f.work(v, describe(nil, degrees))
	return w.slabBytes(n, cols, 0, false)
}

// GramsBytes is [Family.Bytes] for [Grams] of kernels with the given complete values, with
// their blocks.
func (f *Family) GramsBytes(vs []param.Values, degrees []float64, entries int64,
	nodes []int, limit int64) int64 {
	n := len(degrees)
	m := int64(len(nodes))
	description := describe(nil, degrees)
	grams := 8 * m * m * int64(len(vs))
	groups := map[sparse.Kind][]work{} // of functions of one matrix
	var separate []param.Values        // of other kernels
	for i, v := range vs {
		var w work
		if f.work != nil {
			w = f.work(v, description)
			if i > 0 && !w.function {
				grams += systemVectors * 8 * int64(n)
			}
		}
		if w.function && f.Asymmetric(v) == nil && !(w.radius && w.factor) { // near the pole a kernel has a matrix of its own
			groups[w.matrix] = append(groups[w.matrix], w)
		} else {
			separate = append(separate, v)
		}
	}
	limit = budget.Subtract(limit, grams)
	var peak int64
	for _, v := range separate {
		peak = max(peak, f.blockBytes(v, degrees, entries, false, nodes, nodes,
			&Settings{Memory: limit}, false))
	}
	for _, matrix := range slices.Sorted(maps.Keys(groups)) {
		peak = max(peak, groupBytes(degrees, len(nodes), entries,
			groups[matrix], limit))
	}
	return grams + peak
}

// groupBytes returns the memory of computing the blocks of functions of one matrix together, without
// the blocks.
func groupBytes(degrees []float64, nodes int, entries int64, group []work,
	limit int64) int64 {
	n := len(degrees)
	width := gramsWidth(n, nodes, len(group))
	series := !slices.ContainsFunc(group, func(w work) bool { return !w.series })
	bytes := vectorBytes(n) +
		max(slabsBytes(n, width, len(group), series),
			group[0].searchBytes(n, width))
	if !series {
		w := work{function: true, factor: true}
		bytes += w.factorBytes(degrees, width, entries, limit, bytes)
	}
	return bytes
}

// slabsBytes returns the memory of slabs of width columns of several functions of one matrix, their
// argument and images included, by series or also by solves.
func slabsBytes(n, width, functions int, series bool) int64 {
	block := blocks.BlockBytes[float64](n, width)
	work := expm.Bytes(n, width, functions)
	if !series {
		work = max(work, (resolventBlocks-2)*block)
	}
	return int64(functions+1)*block + work
}
