package kernel

import (
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// work describes the engine of a kernel, by which its memory is bounded before the graph is loaded.
type work struct {
	matrix sparse.Kind // of a function by package expm; "": an inverse by package iterative
	series bool        // a function that is a Chebyshev series on every graph
	half   bool        // a block of nodes among themselves is UᵀU with U = K^½·E
	factor bool        // solves may need a Cholesky factor, because Jacobi may be slow
	search bool        // an eigenvalue is computed first: the largest one of A, of an inverse the smallest
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

// functionOf returns the work of a function of a matrix: a series, or perhaps a sum of resolvents.
func functionOf(matrix sparse.Kind, series bool) work {
	return work{matrix: matrix, series: series, half: true, factor: !series}
}

// root returns the work of half steps: for an inverse that of a series, since (c + aL)^−½ is one.
func (w work) root() work {
	if w.matrix != "" {
		return w
	}
	return functionOf(sparse.Laplacian, true)
}

// vectorBytes returns the memory of the vectors of a graph with n nodes.
func vectorBytes(n int) int64 {
	return graphVectors * 8 * int64(n)
}

// bytes returns the memory of the engine for a block of n rows and cols columns, its argument and
// its result included.
func (w work) bytes(n, cols int) int64 {
	block := blocks.BlockBytes[float64](n, cols)
	vectors := balancedVectors * 8 * int64(n)
	switch {
	case w.series:
		return 2*block + expm.Bytes(n, cols, 1)
	case w.matrix != "" && !w.search: // near the pole it is one solve
		return resolventBlocks*block + vectors
	}
	return solveBlocks*block + vectors
}

// searchBytes returns the memory of computing an eigenvalue, which may make a small map dense.
func (w work) searchBytes(n int) int64 {
	switch {
	case !w.search:
		return 0
	case w.matrix != "":
		return radiusBytes(n)
	case n <= iterative.ExactFirst:
		return max(lanczos.FactoredBytes(n, 1, 0),
			lanczos.Bytes(n, 1, 0, 0))
	}
	return lanczos.FactoredBytes(n, 1, 0)
}

// factorBytes returns the memory of factors: a Cholesky factor where solves may need one,
// and the elimination of a small graph. used is the
// memory without it; within a limit, 0 for none, factors that do not fit are not made.
func (w work) factorBytes(degrees []float64, cols int, entries, limit, used int64) int64 {
	n := len(degrees)
	elimination := int64(0)
	if w.matrix == "" { // a small graph is eliminated, whatever the limit
		elimination = iterative.EliminationBytes(n)
	}
	if !w.factor {
		return elimination
	}
	room := budget.Subtract(limit, used)
	widths := []int{cols}           // of blocks that are freed while a factor is made
	if w.matrix != "" || w.search { // those of other systems, or of the search, stay
		widths = []int{0, cols}
	}
	for _, width := range widths {
		bytes := iterative.CholeskyBytes(n, entries, width, room)
		if limit == 0 || used+bytes <= limit {
			return max(bytes, elimination)
		}
	}
	return elimination
}

// slabBytes returns the memory of a slab of width columns of a block with the given number of rows,
// of nodes among themselves or others: the vectors of the graph, the engine and the pieces.
func (w work) slabBytes(n, width, rows int, symmetric bool) int64 {
	pieces := 8 * int64(pieceNumbers(rows, symmetric)) * int64(width)
	return vectorBytes(n) + w.bytes(n, width) + w.searchBytes(n) + pieces
}

// pieceNumbers returns the number of values for each column of a piece of a block with the given
// number of rows; a symmetric block also stores the mirror image of the piece.
func pieceNumbers(rows int, symmetric bool) int {
	if symmetric {
		return 2 * rows
	}
	return rows
}

// Bytes returns an upper bound on the memory of [Block]: the construction of the kernel and the
// vectors of the graph, without the matrix and the result. With s.Memory > 0 the columns are cut
// into slabs; the bound is then that of the narrowest slab if no other fits. A tolerance in s may
// require an eigenvalue.
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
	if f.work == nil {
		vectors := vectorBytes(n)
		return vectors + f.memory(v, Shape{n, long, short, directed},
			budget.Subtract(limit, vectors))
	}
	w := f.work(v, describe(nil, degrees))
	w.search = w.search && (w.matrix != "" || s.certifies(n))
	if f.Distance != "" { // it requires the columns of both lists
		short, long = long, short
	}
	width := min(SlabColumns(n), short)
	symmetric := slices.Equal(rows, cols)
	half := symmetric && w.half && (roots || w.matrix != "") && fitsHalf(n, short)
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

// Shape is that of a block of a kernel on a graph of Nodes nodes: Long·Short values, or with Long = 0
// a product with a block of Short columns.
type Shape struct {
	Nodes, Long, Short int
	Directed           bool // whether the edges of the graph have a direction
}

// memory returns the memory of a block of a kernel without work.
func (f *Family) memory(v param.Values, s Shape, limit int64) int64 {
	if f.Memory != nil {
		return f.Memory(v, s, limit)
	}
	cols := min(SlabColumns(s.Nodes), s.Short)
	return 8 * (blocks.BlockBytes[float64](s.Nodes, cols) + int64(s.Long)*int64(cols))
}

// FactorLimit returns the limit of a computation that has none: bytes, its estimate, because factors would take more, and
// 0 for kernels without a factor, whose estimate leaves out the length of their walks.
func (f *Family) FactorLimit(bytes int64) int64 {
	if f.work == nil {
		return 0
	}
	return bytes
}

// MakesFactor reports whether ApplyTo may take the memory of its settings beyond [Family.ApplyBytes], for a factor.
func (f *Family) MakesFactor(v param.Values, degrees []float64) bool {
	return f.work != nil && f.work(v, describe(nil, degrees)).factor
}

// ApplyBytes returns an upper bound on the memory of ApplyTo of blocks with cols columns, both
// blocks, the construction and the vectors of the graph included, but without a factor.
func (f *Family) ApplyBytes(v param.Values, degrees []float64, cols int) int64 {
	n := len(degrees)
	if f.work == nil {
		return vectorBytes(n) +
			f.memory(v, Shape{n, 0, cols, f.Works&param.Directed != 0}, 0) +
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
	grams := (8*m*m + systemVectors*8*int64(n)) * int64(len(vs))
	limit = budget.Subtract(limit, grams)
	var peak int64
	functions := 0
	group := work{series: true}
	for _, v := range vs {
		var w work
		if f.work != nil {
			w = f.work(v, description)
		}
		isNearPole := w.search && w.factor // where a kernel has a matrix of its own
		if w.matrix == "" || isNearPole || f.Asymmetric(v) != nil {
			peak = max(peak, f.blockBytes(v, degrees, entries, false, nodes, nodes,
				&Settings{Memory: limit}, false))
			continue
		}
		functions++
		group.matrix = w.matrix
		group.series = group.series && w.series
		group.search = group.search || w.search
	}
	group.factor = !group.series
	for count := range functions { // of one matrix, computed together
		width := gramsWidth(n, len(nodes), count+1)
		bytes := vectorBytes(n) + group.searchBytes(n) +
			slabsBytes(n, width, count+1, group.series)
		peak = max(peak, bytes+group.factorBytes(degrees, width, entries, limit, bytes))
	}
	return grams + peak
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
