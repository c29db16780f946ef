package kernel

import (
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/expm"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Needs is what a run takes, known before it starts.
type Needs struct {
	Bytes   int64 // allocated at the most at a time
	Perhaps int64 // of these, for solves in place of a series, made where they take fewer sweeps, and for a sampled Cholesky factor, made where the diagonal makes solves slow
}

// plus returns the needs with so many bytes more.
func (n Needs) plus(bytes int64) Needs { return Needs{n.Bytes + bytes, n.Perhaps} }

// or returns the needs of a run that may also have others.
func (n Needs) or(o Needs) Needs {
	sure := max(n.Bytes-n.Perhaps, o.Bytes-o.Perhaps)
	bytes := max(n.Bytes, o.Bytes)
	return Needs{bytes, bytes - sure}
}

// BlockNeeds returns what Block of the named kernel, its construction and its
// graph take beside the matrix and what the sink keeps, on a graph with the
// given degrees and number of entries. With a limit on memory, of the settings,
// it is what is used within it, or what would be needed at the least.
func (f *Family) BlockNeeds(v spec.Values, degrees []float64, entries int64, rows, cols []int, s *Settings) Needs {
	return f.blockNeeds(v, degrees, entries, rows, cols, s, true)
}

// blockNeeds is BlockNeeds, of inverses with half steps or without.
func (f *Family) blockNeeds(v spec.Values, degrees []float64, entries int64, rows, cols []int, s *Settings, roots bool) Needs {
	var limit int64
	if s != nil {
		limit = s.Memory
	}
	n := len(degrees)
	vectors := graphVectors * 8 * int64(n)
	if f.needs != nil {
		if limit > 0 {
			limit = max(1, limit-vectors)
		}
		return f.needs(v, n, max(len(rows), len(cols)), min(len(rows), len(cols)), limit).plus(vectors)
	}
	e := f.work(v, degrees)
	short, long := cols, rows
	if len(rows) < len(cols) {
		short, long = rows, cols
	}
	if f.Distance { // it takes the columns of both
		short, long = long, short
	}
	width := min(slabColumns(n), len(short))
	block := sparse.BlockBytes[float64](n, width)
	same := slices.Equal(rows, cols)
	m := int64(len(short))
	half := same && e.half && (roots || e.function) && int64(n)*m <= halfLimit
	if half {
		e = e.root()
	}
	least := vectors + e.bytes(n, width)
	switch {
	case half:
		least += 16*m*int64(width) - block
		spare := int64(math.MaxInt64)
		if limit > 0 {
			spare = limit - least
		}
		held, image := heldSlabs(int((m+int64(width)-1)/int64(width)), spare, block)
		least += int64(held)*block + image
	case same:
		least += 16 * m * int64(width)
	default:
		least += 8 * int64(len(long)) * int64(width)
	}
	factor := int64(0)
	if e.factor {
		factor = factorBytes(n, entries, width, e.function, least, limit)
	}
	spared := e.bytes(n, width) - e.leastBytes(n, width)
	search := vectors + e.searchBytes(n, width)
	if e.least { // found beside what becomes of the columns
		search += least - vectors - e.bytes(n, width)
	}
	sure, most := max(least-spared, search-e.basisBytes(n)/5), max(least+factor, search)
	if e.least && factor > 0 { // which the search may want as well
		most = max(most, search-e.searchBytes(n, width)+e.factoredSearchBytes(n, width, entries))
	}
	if more := search + iterative.CholeskyBytes(n, entries); e.pole && (limit == 0 || more <= limit) {
		most = max(most, more)
	}
	return Needs{most, most - sure}
}

// factorBytes returns what a factor takes beside so many bytes, within a limit if that
// is not 0; 0 where it has no room. Not all systems of a function are solved on their
// own: the blocks of the others stay while it is made.
func factorBytes(n int, entries int64, cols int, function bool, beside, limit int64) int64 {
	fits := func(factor int64) bool { return limit == 0 || beside+factor <= limit }
	if factor := iterative.CholeskyBytes(n, entries); function && fits(factor) {
		return factor
	}
	if factor := iterative.SolveFactorBytes(n, entries, cols); fits(factor) {
		return factor
	}
	return 0
}

// heldSlabs returns how many slabs of U are held in so many bytes: all of them, or
// so many that the image of another fits beside them, and what that takes.
func heldSlabs(slabs int, spare, block int64) (held int, image int64) {
	if most := spare / block; most < int64(slabs) {
		return int(max(1, most-1)), block
	}
	return slabs, 0
}

// RowBytes returns the distance between rows of the widest block that is swept for
// a kernel's block of so many rows and columns on a graph with n nodes.
func (f *Family) RowBytes(n, rows, cols int) int {
	columns := min(rows, cols)
	if f.Distance { // it takes the columns of both
		columns = max(rows, cols)
	}
	return rowBytes(min(slabColumns(n), columns))
}

// rowBytes is the distance between rows of blocks of so many columns, or of those
// of a search for an eigenvalue.
func rowBytes(cols int) int { return max(8*sparse.Stride[float64](cols), lanczos.RowBytes) }

// modularityBytes returns what F and finding it take, for sure and where progress
// stalls; rank 0 stands for all positive eigenvalues.
func modularityBytes(n, rank int) (sure, most int64) {
	pairs := pairsOf(n, rank)
	search, _ := lanczos.Bytes(n, pairs, 0, nil)
	stalled := lanczos.StalledBytes(n, pairs, 0, false, nil)
	if rank == 0 {
		rank = n
	}
	features := sparse.BlockBytes[float64](n, featureColumns(rank))
	return search + features, max(search, stalled) + features
}

// GramsNeeds is BlockNeeds for [Grams] of kernels with the given values, with
// their blocks.
func (f *Family) GramsNeeds(vs []spec.Values, degrees []float64, entries int64, nodes []int, s *Settings) Needs {
	groups := make(map[string][]work)
	all, m := Needs{}, int64(len(nodes))
	blocks := 8 * m * m * int64(len(vs))
	systems := int64(0) // what those of the other inverses keep
	var left Settings
	if s != nil {
		left.Memory = s.Memory
	}
	if left.Memory > 0 {
		left.Memory = max(1, left.Memory-blocks)
	}
	for i, v := range vs {
		w := f.work(v, degrees)
		if w.function && f.Symmetric(v) {
			groups[matrixName(v)] = append(groups[matrixName(v)], w)
		}
		if i > 0 && !w.function {
			systems += systemVectors * 8 * int64(len(degrees))
		}
	}
	for _, v := range vs {
		// Near the radius von-neumann is one of a matrix of its own.
		if groups[matrixName(v)] != nil && !f.work(v, degrees).pole {
			continue
		}
		all = all.or(f.blockNeeds(v, degrees, entries, nodes, nodes, &left, false))
	}
	for _, group := range groups {
		all = all.or(groupNeeds(len(degrees), len(nodes), entries, group, left.Memory))
	}
	return all.plus(blocks + systems)
}

// matrixName tells the matrices apart that kernels of a family are functions of.
func matrixName(v spec.Values) string { return v["laplacian"].String() + v["matrix"].String() }

// groupNeeds returns what the blocks of functions of one matrix take while they are
// computed together, beside themselves, with so much memory; 0 means no limit.
func groupNeeds(n, nodes int, entries int64, group []work, memory int64) Needs {
	width := gramsWidth(n, nodes, len(group))
	vectors := graphVectors * 8 * int64(n)
	sure := vectors + max(groupBytes(n, width, len(group), true), group[0].searchBytes(n, width))
	bytes := sure
	if slices.ContainsFunc(group, func(d work) bool { return !d.series }) {
		bytes = max(sure, vectors+groupBytes(n, width, len(group), false))
		bytes += factorBytes(n, entries, width, true, bytes, memory)
	}
	return Needs{bytes, bytes - sure}
}

// groupBytes returns what so many functions of one matrix take for blocks of so many
// columns, those included, all of them by series or not.
func groupBytes(n, width, kernels int, series bool) int64 {
	block := sparse.BlockBytes[float64](n, width)
	work := expm.SeriesBytes(n, width, kernels)
	if !series {
		work = (resolventBlocks - 2) * block
	}
	return int64(kernels+1)*block + work
}

// ApplyBytes returns what ApplyTo takes for blocks of so
// many columns, both of them, the construction and the graph included.
func (f *Family) ApplyBytes(v spec.Values, degrees []float64, cols int) int64 {
	n := len(degrees)
	vectors := graphVectors * 8 * int64(n)
	if f.needs != nil {
		need := f.needs(v, n, 0, cols, 0)
		return vectors + need.Bytes - need.Perhaps + 2*sparse.BlockBytes[float64](n, cols)
	}
	e := f.work(v, degrees)
	return vectors + max(e.bytes(n, cols), e.searchBytes(n, cols))
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

	panelBytes = 8 << 20 // of a panel of the block of modularity

	// solveBlocks and resolventBlocks are the numbers of blocks of a solve and of
	// sums of solves, their columns and images included.
	solveBlocks     = 5
	resolventBlocks = 8
)

// work is what a kernel's engine takes.
type work struct {
	blocks   int64 // of the width of a slab, unless it is a series
	series   bool  // and nothing else
	function bool  // one of a matrix by package expm, otherwise an inverse
	solves   bool  // a sum of solves and no series
	half     bool  // blocks of nodes among themselves are made by half steps
	factor   bool  // solves that want a factor
	radius   bool  // the largest eigenvalue of A is found first
	pole     bool  // to many digits, which may want a factor
	balanced bool  // solves with I − αA, or of L by L̃
	least    bool  // the smallest eigenvalue beyond the null space is found first
}

// bytes returns what the engine takes for blocks of so many columns, its argument
// and its result included.
func (d work) bytes(n, cols int) int64 {
	if d.series {
		return 2*sparse.BlockBytes[float64](n, cols) + expm.SeriesBytes(n, cols, 1)
	}
	bytes := d.blocks * sparse.BlockBytes[float64](n, cols)
	if d.balanced {
		bytes += balancedVectors * 8 * int64(n)
	}
	return bytes
}

// root returns the work of half steps: that of a series in place of solves.
func (d work) root() work {
	if d.function {
		return d
	}
	return work{series: true, function: true, half: true}
}

// leastBytes returns what it takes if it turns out that a series does.
func (d work) leastBytes(n, cols int) int64 {
	if !d.function || d.solves {
		return d.bytes(n, cols)
	}
	return work{series: true}.bytes(n, cols)
}

// searchBytes returns what finding an eigenvalue takes, before the engine has its
// own blocks of so many columns: its basis beside the block and its result.
func (d work) searchBytes(n, cols int) (bytes int64) {
	if d.least {
		bytes = 2*sparse.BlockBytes[float64](n, cols) + d.basisBytes(n)
	}
	if d.radius {
		bytes = max(bytes, radiusBytes(n))
	}
	return bytes
}

// basisBytes is what the basis takes in which the smallest eigenvalue is found; a
// search that is over soon fills about four fifths of it.
func (d work) basisBytes(n int) int64 {
	if !d.least {
		return 0
	}
	basis, _ := lanczos.Bytes(n, 1, 0, nil)
	return basis
}

// factoredSearchBytes is searchBytes where the smallest eigenvalue is found with a
// factor, which is made before the iteration has a basis.
func (d work) factoredSearchBytes(n, cols int, entries int64) int64 {
	iteration := lanczos.LOBPCGBytes(n, 1, 0) + iterative.CholeskyKeptBytes(n, entries)
	return 2*sparse.BlockBytes[float64](n, cols) + max(iteration, iterative.CholeskyBytes(n, entries))
}

// narrow is the ratio of eigenvalues up to which the root of an inverse is a
// series of about as many sweeps as the solve of the inverse takes. Beyond it
// the root is a sum of many resolvents.
const narrow = 200

// wide is the ratio beyond which Jacobi may take more than the 60 steps after which
// a column is set aside for a factor, ½·√ratio·ln(2/ε) with a tolerance of 1e-12. A
// graph without bottlenecks takes fewer.
const wide = 18

var (
	seriesWork = work{series: true, function: true, half: true}
	resolvents = work{blocks: resolventBlocks, function: true, factor: true, half: true}
)
