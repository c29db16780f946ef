package kernel

import (
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
)

// work tells how a kernel is computed, which determines its memory.
type work struct {
	inverse bool // solved by package iterative; otherwise by package expm
	series  bool // a Chebyshev series on every graph
	joint   bool // an inverse computed together with others, as a series
	half    bool // blocks of nodes among themselves are UᵀU with U = K^½·E
	search  bool // an eigenvalue is computed first: the largest of A, or for an inverse the smallest
}

func functionOf(series bool) work { return work{series: series, half: true} }

// root returns the work of K^½, for a block UᵀU.
func (w work) root() work { return functionOf(w.inverse || w.series) }

const (
	// graphVectors counts the vectors of the graph, its maps, their null spaces and solves. seriesVectors is the count
	// without solves; a ranking with the diffusion kernel was measured to take 7.
	graphVectors  = 20
	seriesVectors = 9

	inverseBlocks = 5
)

func (w work) bytes(n, columns, functions int) budget.Size {
	count, vectors := 3+functions, graphVectors // argument, images, and recurrence of a series
	switch {
	case w.series:
		vectors = seriesVectors
	case w.inverse:
		count = inverseBlocks
	default:
		count = 7 + functions // a sum of resolvents
	}
	return budget.AllOf(budget.Times(count, budget.Block[float64](n, columns)),
		budget.Times(vectors, budget.Vector[float64](n)))
}

func (w work) workspace(bytes budget.Size, n int, entries int64, width int, searches bool) budget.Workspace {
	space := budget.Workspace{Fixed: bytes}
	if !w.series {
		space = space.And(iterative.FactorWorkspace(n, entries, false))
	}
	if searches {
		space = space.Or(lanczos.Workspace(n, 1, 0).AndHeld(work{series: true}.bytes(n, width, 1)).And(
			iterative.FactorWorkspace(n, entries, false)))
	}
	return space
}

// Shape is the shape of a computation with a kernel: a block of Long × Short values or, if Long is 0, a product with
// a block of Short columns.
type Shape struct {
	Nodes, Long, Short int
	Directed           bool // whether edges have a direction
}

func (f *Family) declared(v param.Values, s Shape) budget.Workspace {
	vectors := budget.Held(budget.Times(graphVectors, budget.Vector[float64](s.Nodes)))
	if f.Workspace != nil {
		return f.Workspace(v, s).And(vectors)
	}
	columns := min(SlabColumns(s.Nodes), s.Short)
	return vectors.AndHeld(budget.Times(8, budget.AllOf(budget.Block[float64](s.Nodes, columns), budget.Times(s.Long, int64(columns)))))
}

// BlockWorkspace returns the workspace of [Block], without the matrix and the result. If s has a tolerance, it
// includes the search for an eigenvalue.
func (f *Family) BlockWorkspace(v param.Values, degrees []float64, entries int64,
	directed bool, rows, cols []int, s *Settings) budget.Workspace {
	n := len(degrees)
	long := max(len(rows), len(cols))
	short := min(len(rows), len(cols))
	if f.work == nil {
		return f.declared(v, Shape{n, long, short, directed})
	}
	w := f.work(v, describe(nil, degrees))
	if f.Distance != "" { // a distance requires the columns of both lists
		short, long = long, short
	}
	symmetric := slices.Equal(rows, cols)
	width := min(SlabColumns(n), short)
	values := long + 1 // values of a column and of a row
	if symmetric {     // pieces have mirror images
		values = 2 * long
	}
	searches := w.search && (!w.inverse || s != nil && s.certifies(n))
	isHalf := symmetric && w.half && fitsHalf(n, short)
	if isHalf {
		w = w.root()
	}
	space := w.workspace(w.bytes(n, width, 1), n, entries, width, searches)
	if isHalf { // all slabs of U if there is room, at least one and the image of another one
		slabs := (short + width - 1) / width
		block := budget.Block[float64](n, width)
		space.Fixed = budget.AllOf(space.Fixed, budget.Times(min(slabs, 2)-1, block))
		space.Optional = budget.AllOf(space.Optional, budget.Times(max(0, slabs-2), block))
	}
	return space.AndHeld(budget.Vector[float64](values * width))
}

// ApplyWorkspace returns the workspace of ApplyTo on blocks with cols columns, including both blocks and the vectors of
// the graph.
func (f *Family) ApplyWorkspace(v param.Values, degrees []float64, entries int64, cols int) budget.Workspace {
	n := len(degrees)
	block := budget.Block[float64](n, cols)
	if f.work == nil {
		return f.declared(v, Shape{n, 0, cols, f.Works&param.Directed != 0}).AndHeld(block, block)
	}
	w := f.work(v, describe(nil, degrees))
	return w.workspace(budget.AllOf(w.bytes(n, cols, 1), block), n, entries, cols, w.search && !w.inverse) // block: a scaled argument
}

// GramsWorkspace returns the workspace of [Grams] on the given number of nodes, including the blocks. vs are complete
// values.
func (f *Family) GramsWorkspace(vs []param.Values, degrees []float64, entries int64, nodes int) budget.Workspace {
	n := len(degrees)
	var space budget.Workspace
	for _, v := range vs {
		if f.work == nil {
			space = f.declared(v, Shape{n, nodes, nodes, false})
			break
		}
		w := f.work(v, describe(nil, degrees))
		width := gramsWidth(n, nodes, 1, true)
		space = space.Or(w.workspace(w.gramsBytes(n, width, 1, nodes), n, entries, width, w.search && !w.inverse))
		if joint := w.root(); len(vs) > 1 {
			width = gramsWidth(n, nodes, len(vs), joint.series)
			space = space.Or(joint.workspace(joint.gramsBytes(n, width, len(vs), nodes), n, entries, width, false))
		}
	}
	const vectors = 3 // ground, scale and null space of an inverse
	return space.AndHeld(budget.Times(len(vs), budget.Vector[float64](nodes*nodes+vectors*n)))
}

func (w work) gramsBytes(n, width, functions, rows int) budget.Size {
	values := budget.Vector[float64](2 * functions * rows * width)
	if w.series {
		functions = 0
	}
	return budget.AllOf(values, w.bytes(n, width, functions))
}
