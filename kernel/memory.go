package kernel

import (
	"maps"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Memory lists what Block of the kernel with complete values, its construction and its
// graph hold beside the matrix and what the sink keeps, on a graph with the given degrees
// and number of entries. With a limit that is not 0 it is what is used within it, or what
// would be needed at the least.
func (f *Family) Memory(v spec.Values, degrees []float64, entries int64, rows, cols []int, limit int64) []spec.Bytes {
	return f.block(v, degrees, entries, rows, cols, limit, true)
}

// block is Memory, of inverses with half steps or without.
func (f *Family) block(v spec.Values, degrees []float64, entries int64, rows, cols []int, limit int64, roots bool) []spec.Bytes {
	n, long, short := len(degrees), max(len(rows), len(cols)), min(len(rows), len(cols))
	list := vectorsOf(n)
	if f.memory != nil {
		if limit > 0 {
			limit = max(1, limit-spec.Sum(list))
		}
		return append(list, f.memory(v, n, long, short, limit)...)
	}
	w := f.work(v, degrees)
	if f.Distance != "" { // it takes the columns of both
		short, long = long, short
	}
	width := min(slabColumns(n), short)
	same := slices.Equal(rows, cols)
	half := same && w.half && (roots || w.function) && int64(n)*int64(short) <= halfLimit
	if half {
		w = w.root()
	}
	list = append(list, w.engine(n, width)...)
	pieces := int64(8) * int64(long) * int64(width)
	if same {
		pieces *= 2
	}
	list = append(list, spec.Bytes{What: "pieces of the block", Bytes: pieces})
	if half {
		block := tall.BlockBytes[float64](n, width) // of which one is counted already
		held, image := heldSlabs((short+width-1)/width, limit, spec.Sum(list)-block, block)
		list = append(list, spec.Bytes{What: "columns of the kernel's root", Bytes: int64(held-1)*block + image})
	}
	list = append(list, w.factors(n, width, entries, limit, spec.Sum(list))...)
	if w.radius { // crowded largest eigenvalues take more, before all but the graph is there
		held := spec.Sum(list)
		larger := spec.Bytes{What: "a larger basis", Bytes: max(0, spec.Sum(vectorsOf(n))+spec.Sum(radiusMemory(n))-held), Optional: true}
		list = append(list, larger.Upto(limit, held))
	}
	return list
}

// vectorsOf lists what the graph, its maps, their null spaces and its neighbours'
// degrees hold.
func vectorsOf(n int) []spec.Bytes {
	return []spec.Bytes{{What: "degrees, components and null spaces", Bytes: graphVectors * 8 * int64(n)}}
}

// heldSlabs returns how many slabs of U, of which one takes block bytes, are held within a
// limit, 0 for none, beside so many bytes: all of them, or so many that the image of another
// fits beside them, and what that takes.
func heldSlabs(slabs int, limit, beside, block int64) (held int, image int64) {
	if most := (limit - beside) / block; limit > 0 && most < int64(slabs) {
		return int(max(1, most-1)), block
	}
	return slabs, 0
}

// GramsMemory is Memory for [Grams] of kernels with the given complete values, with their
// blocks.
func (f *Family) GramsMemory(vs []spec.Values, degrees []float64, entries int64, nodes []int, limit int64) []spec.Bytes {
	n, m := len(degrees), int64(len(nodes))
	kept := []spec.Bytes{{What: "blocks of kernels", Bytes: 8 * m * m * int64(len(vs))}}
	groups := map[sparse.Kind][]work{} // of functions of one matrix
	var alone []spec.Values            // of other kernels
	for i, v := range vs {
		var w work
		if f.work != nil {
			w = f.work(v, degrees)
		}
		if f.work != nil && i > 0 && !w.function {
			kept = append(kept, spec.Bytes{What: "systems of other kernels", Bytes: systemVectors * 8 * int64(n)})
		}
		if w.function && f.Asymmetric(v) == nil && !w.pole { // near the radius there is a matrix of its own
			groups[w.matrix] = append(groups[w.matrix], w)
		} else {
			alone = append(alone, v)
		}
	}
	if limit > 0 {
		limit = max(1, limit-spec.Sum(kept))
	}
	var most []spec.Bytes
	for _, v := range alone {
		most = spec.Larger(most, f.block(v, degrees, entries, nodes, nodes, limit, false))
	}
	for _, matrix := range slices.Sorted(maps.Keys(groups)) {
		most = spec.Larger(most, groupMemory(n, len(nodes), entries, groups[matrix], limit))
	}
	return append(kept, most...)
}

// groupMemory lists what the blocks of functions of one matrix hold while they are
// computed together, beside themselves.
func groupMemory(n, nodes int, entries int64, group []work, limit int64) []spec.Bytes {
	width := gramsWidth(n, nodes, len(group))
	short := groupBytes(n, width, len(group), true)
	list := append(vectorsOf(n), spec.Bytes{
		What: "columns of kernels", Bytes: max(short, group[0].searchBytes(n, width)), Row: rowBytes(width),
	})
	if slices.ContainsFunc(group, func(w work) bool { return !w.series }) {
		more := groupBytes(n, width, len(group), false) - short
		list = append(list, spec.Bytes{What: "solves in place of a series", Bytes: max(0, more), Optional: true})
		w := work{function: true, factor: true}
		list = append(list, w.factors(n, width, entries, limit, spec.Sum(list))...)
	}
	return list
}

// groupBytes returns what so many functions of one matrix take for blocks of so many
// columns, those included, all of them by series or not.
func groupBytes(n, width, kernels int, series bool) int64 {
	block := tall.BlockBytes[float64](n, width)
	work := spec.Sum(expm.Memory(n, width, kernels))
	if !series {
		work = (resolventBlocks - 2) * block
	}
	return int64(kernels+1)*block + work
}

// ApplyMemory lists what ApplyTo holds for blocks of so many columns, both of them,
// the construction and the graph included.
func (f *Family) ApplyMemory(v spec.Values, degrees []float64, cols int) []spec.Bytes {
	n := len(degrees)
	if f.memory != nil {
		blocks := spec.Bytes{What: "a block and its image", Bytes: 2 * tall.BlockBytes[float64](n, cols)}
		return append(vectorsOf(n), append(f.memory(v, n, 0, cols, 0), blocks)...)
	}
	return append(vectorsOf(n), f.work(v, degrees).engine(n, cols)...)
}

const (
	// graphVectors is the number of vectors of float64 that the graph, its maps,
	// their null spaces and its neighbours' degrees take.
	graphVectors = 10

	// systemVectors is that of an inverse: its ground, scale and null space.
	systemVectors = 3

	// balancedVectors is that of solves with I − αA beside an inverse's own: v, the
	// degrees with it, the diagonal, where solves begin, and what finds v.
	balancedVectors = 10

	// solveBlocks and resolventBlocks are the numbers of blocks of a solve and of
	// sums of solves, their columns and images included.
	solveBlocks     = 5
	resolventBlocks = 8
)

// work is what a kernel's engine holds.
type work struct {
	matrix   sparse.Kind // of which the engine is a function, if it is one
	blocks   int64       // of the width of a slab, unless it is a series
	series   bool        // the engine is a series, which needs no factor or solve
	function bool        // the engine is a function of a matrix by package expm, otherwise an inverse
	solves   bool        // the engine is a sum of solves and no series
	half     bool        // blocks of nodes among themselves are made by half steps
	factor   bool        // the solves want a factor
	radius   bool        // the largest eigenvalue of A is found first
	pole     bool        // the largest eigenvalue is found to many digits, which may want a factor
	balanced bool        // solves with I − αA, or of L by L̃
	least    bool        // the smallest eigenvalue beyond the null space is found first
}

// bytes returns what the engine takes for blocks of so many columns, its argument
// and its result included.
func (w work) bytes(n, cols int) int64 {
	if w.series {
		return 2*tall.BlockBytes[float64](n, cols) + spec.Sum(expm.Memory(n, cols, 1))
	}
	bytes := w.blocks * tall.BlockBytes[float64](n, cols)
	if w.balanced {
		bytes += balancedVectors * 8 * int64(n)
	}
	return bytes
}

// engine lists what the engine holds for blocks of so many columns, those and its
// results included, or what it holds before that while an eigenvalue is found.
func (w work) engine(n, cols int) []spec.Bytes {
	least := w
	if w.function && !w.solves { // it may turn out that a series does
		least = work{series: true}
	}
	sure := max(least.bytes(n, cols), w.searchBytes(n, cols))
	return []spec.Bytes{
		{What: "columns of the kernel", Bytes: sure, Row: rowBytes(cols)},
		{What: "solves in place of a series", Bytes: max(0, w.bytes(n, cols)-sure), Optional: true},
	}
}

// root returns the work of half steps: that of a series in place of solves.
func (w work) root() work {
	if w.function {
		return w
	}
	return work{series: true, function: true, half: true}
}

// searchBytes returns what finding an eigenvalue takes, before the engine has its
// own blocks of so many columns: its basis beside the block and its result.
func (w work) searchBytes(n, cols int) (bytes int64) {
	if w.least {
		basis := lanczos.Memory(n, 1, 0, lanczos.Smallest, nil)
		free := (solveBlocks - 2) * tall.BlockBytes[float64](n, cols) // those of the solve, see newLeastSearch
		bytes = w.bytes(n, cols) - free + spec.Least(basis)
	}
	if w.radius {
		bytes = max(bytes, radiusBytes(n))
	}
	return bytes
}

// factors lists a sampled Cholesky factor, made where solves are slow without, beside so
// many bytes; nothing where the limit has no room for it.
func (w work) factors(n, cols int, entries, limit, beside int64) []spec.Bytes {
	fits := func(bytes int64) bool { return limit == 0 || beside+bytes <= limit }
	alone := iterative.CholeskyMemory(n, entries, 0)
	whole, kept := spec.Sum(alone), spec.Least(alone)
	bytes := int64(0)
	switch part := spec.Sum(iterative.CholeskyMemory(n, entries, cols)); {
	case !w.factor && !w.pole:
	case (w.function || w.pole) && fits(whole): // the blocks of other systems stay while it is made
		bytes = whole
	case w.factor && fits(part):
		bytes = part
	}
	if bytes > 0 && w.least { // the search may want one as well
		search := 2*tall.BlockBytes[float64](n, cols) + max(whole, spec.Sum(lanczos.Memory(n, 1, 0, lanczos.Smallest, &lanczos.Settings{Patience: -1}))+kept)
		bytes = max(bytes, search-w.bytes(n, cols))
	}
	return []spec.Bytes{{What: "a factor of the graph", Bytes: bytes, Optional: true}}
}

// rowBytes is the distance between rows of blocks of so many columns, or of those
// of a search for an eigenvalue.
func rowBytes(cols int) int { return max(8*sparse.Stride[float64](cols), lanczos.RowBytes) }

// narrow is the ratio of eigenvalues up to which the root of an inverse is a
// series of about as many sweeps as the solve of the inverse takes. Beyond it
// the root is a sum of many resolvents.
const narrow = 200

// wide is the ratio beyond which Jacobi may take more than the 60 steps after which
// a column is set aside for a factor, ½·√ratio·ln(2/ε) with a tolerance of 1e-12. A
// graph without bottlenecks takes fewer.
const wide = 18

// seriesOf is the work of a series in a matrix.
func seriesOf(matrix sparse.Kind) work {
	return work{matrix: matrix, series: true, function: true, half: true}
}

// resolventsOf is that of a sum of resolvents of a matrix.
func resolventsOf(matrix sparse.Kind) work {
	return work{matrix: matrix, blocks: resolventBlocks, function: true, factor: true, half: true}
}
