package kernel

import (
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// work describes the engine of a kernel, by which its memory is bounded before the graph is loaded.
type work struct {
	matrix sparse.Kind // of a function by package expm; "": an inverse by package iterative
	series bool        // a function that is a Chebyshev series on every graph
	joint  sparse.Kind // of an inverse that many kernels compute together, as a series; "": by itself
	half   bool        // a block of nodes among themselves is UᵀU with U = K^½·E
	factor bool        // solves may need a Cholesky factor, because Jacobi may be slow
	search bool        // an eigenvalue is computed first: the largest one of A, of an inverse the smallest
}

const (
	// solveBlocks is the number of blocks of a solve, its columns and images included.
	solveBlocks = 5

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
func vectorBytes(n int) budget.Size { return budget.Times(graphVectors, budget.Vector[float64](n)) }

// columnBytes returns the memory of width columns of several functions of one matrix: the argument and the images, the
// engine, and the given number of values for each column.
func (w work) columnBytes(n, width, functions, values int) budget.Size {
	block := budget.Block[float64](n, width)
	size := budget.Vector[float64](values * width)
	images := budget.Times(functions+1, block)
	vectors := budget.Times(balancedVectors, budget.Vector[float64](n))
	switch {
	case w.series:
		return budget.AllOf(size, images, expm.Bytes(n, width, functions, false))
	case w.matrix != "" && !w.search: // near the pole it is one solve
		return budget.AllOf(size, images, expm.Bytes(n, width, functions, true), vectors)
	}
	return budget.AllOf(size, budget.Times(solveBlocks, block), vectors)
}

// slabBytes adds the vectors of the graph and the search for an eigenvalue to columnBytes.
func (w work) slabBytes(n, width, functions, values int) budget.Size {
	size := budget.AllOf(vectorBytes(n), w.columnBytes(n, width, functions, values))
	if !w.search {
		return size
	}
	if w.matrix != "" {
		return budget.AllOf(size, radiusBytes(n))
	}
	search := lanczos.Bytes(n, 1, 0, &lanczos.Settings{Preconditioned: true})
	if n <= iterative.ExactFirst { // a small map may be made dense
		search = budget.AnyOf(search, lanczos.Bytes(n, 1, 0, new(lanczos.Settings)))
	}
	return budget.AllOf(size, search)
}

// gramsBytes is slabBytes for some rows of the images: a series makes no others.
func (w work) gramsBytes(n, width, functions, rows int) budget.Size {
	if w.series {
		return w.slabBytes(n, width, 0, 2*functions*rows)
	}
	return w.slabBytes(n, width, functions, functions*rows)
}

// factorBytes returns the memory of factors: a Cholesky factor where solves may need one, and the elimination of a small
// graph. used is the memory without it; within a limit, 0 for none, factors that do not fit are not made.
func (w work) factorBytes(n int, entries int64, cols int, limit, used budget.Size) budget.Size {
	room := budget.Subtract(limit, used)
	if !w.factor {
		if w.matrix != "" {
			return 0
		}
		room = 1
	}
	size := iterative.FactorBytes(n, entries, cols, room)
	if w.matrix != "" || w.search { // the blocks of other systems, or of the search, are not freed for the factor
		size = budget.AnyOf(size, iterative.FactorBytes(n, entries, 0, room))
	}
	return size
}

// blockBytes returns the memory of a block of long·short values within a limit, of nodes among themselves if it is
// symmetric.
func (w work) blockBytes(n int, entries int64, long, short int, symmetric bool, limit budget.Size) budget.Size {
	width := min(SlabColumns(n), short)
	values := long + 1 // and a row
	if symmetric {     // each piece has a mirror image
		values = 2 * long
	}
	half := symmetric && w.half && fitsHalf(n, short)
	if half {
		w = w.root()
	}
	size := w.slabBytes(n, width, 1, values)
	if half {
		block := budget.Block[float64](n, width)
		slabs := (short + width - 1) / width
		stored := storedSlabs(slabs, limit, size-block, block)
		if stored < slabs {
			stored++ // the image of another one
		}
		size = budget.AllOf(size, budget.Times(stored-1, block)) // of which one is counted already
	}
	return budget.AllOf(size, w.factorBytes(n, entries, width, limit, size))
}

// Bytes returns an upper bound on the memory of [Block]: the construction of the kernel and the
// vectors of the graph, without the matrix and the result. With s.Memory > 0 the columns are cut
// into slabs; the bound is then that of the narrowest slab if no other fits. A tolerance in s may
// require an eigenvalue.
func (f *Family) Bytes(v param.Values, degrees []float64, entries int64,
	directed bool, rows, cols []int, s *Settings) budget.Size {
	if s == nil {
		s = new(Settings)
	}
	n := len(degrees)
	long := max(len(rows), len(cols))
	short := min(len(rows), len(cols))
	if f.work == nil {
		vectors := vectorBytes(n)
		return budget.AllOf(vectors, f.memory(v, Shape{n, long, short, directed}, budget.Subtract(s.Memory, vectors)))
	}
	w := f.work(v, describe(nil, degrees))
	w.search = w.search && (w.matrix != "" || s.certifies(n))
	if f.Distance != "" { // it requires the columns of both lists
		short, long = long, short
	}
	return w.blockBytes(n, entries, long, short, slices.Equal(rows, cols), s.Memory)
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
	return budget.Times(8, budget.AllOf(budget.Block[float64](s.Nodes, cols), budget.Times(s.Long, int64(cols))))
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
		return budget.AllOf(vectorBytes(n), f.memory(v, Shape{n, 0, cols, f.Works&param.Directed != 0}, 0),
			budget.Times(2, budget.Block[float64](n, cols)))
	}
	return f.work(v, describe(nil, degrees)).slabBytes(n, cols, 1, 0)
}

// GramsBytes is [Family.Bytes] for [Grams] of kernels with the given complete values, with
// their blocks.
func (f *Family) GramsBytes(vs []param.Values, degrees []float64, entries int64,
	nodes []int, limit int64) budget.Size {
	n := len(degrees)
	m := len(nodes)
	description := describe(nil, degrees)
	inverses := map[sparse.Kind]int{}
	for _, v := range vs {
		if f.work != nil && f.Asymmetric(v) == nil {
			inverses[f.work(v, description).joint]++
		}
	}
	grams := budget.Times(len(vs), budget.AllOf(budget.Vector[float64](m*m), budget.Times(systemVectors, budget.Vector[float64](n))))
	limit = budget.Subtract(limit, grams)
	var peak budget.Size
	for _, v := range vs {
		if f.work == nil {
			return budget.AllOf(grams, f.Bytes(v, degrees, entries, false, nodes, nodes, &Settings{Memory: limit}))
		}
		w := f.work(v, description)
		if w.joint != "" && inverses[w.joint] >= manyInverses && f.Asymmetric(v) == nil {
			w = functionOf(w.joint, true)
		}
		isNearPole := w.search && w.factor // where a kernel has a matrix of its own
		if w.matrix == "" || isNearPole || f.Asymmetric(v) != nil {
			w.half = w.half && w.matrix != "" // see inWhole
			w.search = w.search && (w.matrix != "" || new(Settings).certifies(n))
			peak = budget.AnyOf(peak, w.blockBytes(n, entries, m, m, true, limit))
			continue
		}
		for count := range vs { // of one matrix, computed together
			width := gramsWidth(n, m, count+1, w.series)
			size := w.gramsBytes(n, width, count+1, m)
			peak = budget.AnyOf(peak, budget.AllOf(size, w.factorBytes(n, entries, width, limit, size)))
		}
	}
	return budget.AllOf(grams, peak)
}
