package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// spectral is a function K of a symmetric matrix of a graph. If it has a root s, it is the similar kernel
// diag(1/s)·K·diag(s).
type spectral struct {
	graph *graph.Graph
	full  engine
	half  engine // K^½; nil if there is none or it costs as much as K
	root  []float64

	work work
}

func (k *spectral) Len() int { return len(k.graph.Degrees) }

func (k *spectral) team() *sparse.Team {
	return sparse.TeamOf(k.graph.A)
}

func base(k Kernel) *spectral {
	switch k := k.(type) {
	case *spectral:
		return k
	case *distance:
		return k.inverse
	}
	return nil
}

// joint returns the kernel as a [joint], or the zero value if the kernel has a root s.
func (k *spectral) joint() joint {
	if k.root != nil {
		return joint{}
	}
	switch e := k.full.(type) {
	case *series:
		return joint{e.m, e.f}
	case *solves:
		return e.joint
	}
	return joint{}
}

// inWhole returns k. If k is an inverse, it returns k without half steps, because the root of an inverse takes more
// sweeps than a solve.
func inWhole(k Kernel) Kernel {
	s, ok := k.(*spectral)
	if !ok || !s.work.inverse {
		return k
	}
	copied := *s
	copied.half = nil
	return &copied
}

// SlabColumns returns the number of columns of a slab, a group of columns of n rows that are computed together: as
// many as 32 MiB hold, but 8 to 64. Bits of results depend on it, so it depends on n alone.
func SlabColumns(n int) int {
	const elements = 32 << 20 / 8
	return min(64, max(8, elements/max(n, 1)/8*8))
}

// computation is the state of a call of Block or ApplyTo of a kernel.
type computation struct {
	k       *spectral
	s       Settings
	strict  bool
	bounded bool // errors must be bounded: an estimate missed the limit
	log     slabLog
	scale   columnScale

	x, y *sparse.Block[float64] // a slab of unit vectors and its image
	need budget.Size            // memory without factors

	core       float64 // largest value in the columns so far
	base       float64 // largest value in the columns of the first slab
	norm       float64 // largest column norm of K^½ so far
	worst      float64 // largest error bound of a column so far
	tightest   float64 // factor by which errors of K may grow in the values of the block
	effort     float64 // tolerance of the last slab, in the engine's measure
	eliminated float64 // error of an elimination that missed the tolerance, relative to the largest value
}

// slabLog counts sweeps for the report and for progress.
type slabLog struct {
	report     Report
	progress   func(done, total int)
	slabs      int
	done       int // slabs that are done
	sweeps     int // sweeps of attempts that are over
	slabSweeps int // sweeps of slabs that are done
	last       int // sweeps of the attempt with which the last slab was done
	attempt    int // sweeps of the last attempt
}

// columnScale converts columns of K to columns of diag(1/s)·K·diag(s).
type columnScale struct {
	team   *sparse.Team
	root   []float64 // s; nil: ones
	weight []float64 // factor of each node's column and its errors; nil: ones
}

func (k *spectral) begin(s *Settings) (*computation, error) {
	set, err := s.complete(k.team())
	c := &computation{k: k, s: set, strict: !set.Lenient, tightest: 1,
		effort: set.Tolerance}
	c.scale.team, c.scale.root = k.team(), k.root
	if set.Progress != nil {
		c.log.progress = set.progress
	}
	return c, err
}

func slabsOf(n, m int) [][2]int {
	var list [][2]int
	for lo, hi := range blocks.Slabs(m, SlabColumns(n)) {
		list = append(list, [2]int{lo, hi})
	}
	return list
}

// reserve allocates a slab c.x and its image c.y. It returns room for the given number of values for each column of
// the slab. The error wraps [sparse.ErrMemory].
func (c *computation) reserve(columns, values int) ([]float64, error) {
	width := min(SlabColumns(c.k.Len()), columns)
	if err := c.check(c.k.work, width, values*width); err != nil {
		return nil, err
	}
	c.x = sparse.NewBlock[float64](c.k.Len(), width)
	c.y = sparse.NewBlock[float64](c.k.Len(), width)
	return make([]float64, values*width), nil
}

func (c *computation) check(w work, width, values int) error {
	c.need = budget.AllOf(w.bytes(c.k.Len(), width, 1), budget.Vector[float64](values))
	return budget.Check(c.s.Memory, c.need, fmt.Sprintf("%d columns of the kernel", width))
}

func (c *slabLog) note(sweeps int, method string) {
	c.attempt = sweeps
	c.sweeps += sweeps
	c.report.Sweeps = c.sweeps
	if !strings.HasPrefix(c.report.Method, method) {
		c.report.Method = method
	}
}

// reportAttempt reports progress. The first slab is expected to take the number of sweeps that the engine expects,
// other slabs as many as the last attempt, whose tolerance they begin with.
func (c *slabLog) reportAttempt(done, expected int) {
	if c.progress == nil {
		return
	}
	now := c.sweeps - c.slabSweeps + done
	sweeps := c.last
	if sweeps == 0 {
		sweeps = max(done, expected)
	}
	slab := now + max(0, sweeps-done)
	c.progress(c.slabSweeps+now, c.slabSweeps+slab+sweeps*max(0, c.slabs-c.done-1))
}

func (k *spectral) rootRounding() float64 {
	if k.root == nil {
		return 0
	}
	return 4 * epsilon
}

func (c *columnScale) worstOf(bound []float64, nodes []int) (worst float64) {
	for j, v := range bound {
		worst = max(worst, v*blocks.Factor(c.weight, nodes[j]))
	}
	return worst
}

func (c *computation) columns(ctx context.Context, y *sparse.Block[float64],
	nodes []int, turned bool) error {
	a, err := c.image(ctx, c.k.full, y, nodes, func(y *sparse.Block[float64], bound []float64) float64 {
		largest := max(c.base, c.scale.largestValue(y, nodes, turned))
		worst := c.scale.worstOf(bound, nodes)
		if worst == 0 || largest == 0 {
			return 0
		}
		return (worst*c.tightest/largest + c.k.rootRounding()) / c.s.Tolerance
	})
	if err != nil {
		return err
	}
	c.core, c.worst = max(c.core, c.scale.largestValue(y, nodes, turned)),
		max(c.worst, c.scale.worstOf(a.bound, nodes))
	if c.base == 0 {
		c.base = c.core
	}
	return nil
}

// largestValue returns the largest value of the kernel in columns or rows, given values of the symmetric
// matrix.
func (c *columnScale) largestValue(y *sparse.Block[float64], nodes []int,
	turned bool) (m float64) {
	root := c.root
	if root == nil && c.weight == nil {
		return blocks.Largest(c.team, y)
	}
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			size := math.Abs(v) * blocks.Factor(c.weight, nodes[j])
			if root != nil {
				ratio := root[nodes[j]] / root[i]
				if turned {
					ratio = 1 / ratio
				}
				size *= ratio
			}
			m = max(m, size)
		}
	}
	return blocks.MaxOver(c.team, m)
}

// halfLimit bounds the elements of U for a block UᵀU. Bits depend on it, so it is not a setting.
const halfLimit = 1 << 28

func fitsHalf(n, nodes int) bool {
	return int64(n)*int64(nodes) <= halfLimit
}

// Block implements [Kernel]. A block of nodes among themselves is UᵀU if the columns U of K^½ are easier to compute.
func (k *spectral) Block(ctx context.Context, rows, cols []int, take Sink,
	s *Settings) (*Report, error) {
	symmetric := slices.Equal(rows, cols)
	handed := false
	var lostRoot error // error of K^½, where rounding kept it from its tolerance
	for half := symmetric && k.half != nil && fitsHalf(k.Len(), len(rows)); ; half = false {
		c, err := k.begin(s)
		if err != nil {
			return nil, err
		}
		out := c.scalePieces(rows, cols, func(lo, left int, piece *sparse.Block[float64]) error {
			handed = true
			return take(lo, left, piece)
		})
		switch {
		case half:
			err = c.gram(ctx, rows, out)
		case symmetric:
			err = c.mirrorColumns(ctx, rows, pickRows(rows), out)
		case len(cols) <= len(rows):
			err = c.across(ctx, len(rows), cols, false, pickRows(rows), out)
		default:
			err = c.across(ctx, len(cols), rows, true, pickRows(cols), out)
		}
		switch {
		case err == nil:
			return &c.log.report, nil
		case half && !handed && lost(err): // K itself may have digits that K^½ loses
			lostRoot = err
		case lostRoot != nil && ctx.Err() == nil:
			return nil, lostRoot
		default:
			return nil, err
		}
	}
}

func lost(err error) bool {
	return errors.Is(err, ErrTolerance) ||
		errors.Is(err, iterative.ErrIndefinite) ||
		errors.Is(err, iterative.ErrStagnation) ||
		errors.Is(err, iterative.ErrIterationLimit) ||
		errors.As(err, new(*param.ParameterError))
}

func checkNodes(n int, lists ...[]int) {
	for _, list := range lists {
		if len(list) == 0 {
			panic(badShape)
		}
		for _, i := range list {
			if i < 0 || i >= n {
				panic(badNode)
			}
		}
	}
}

// scalePieces returns a Sink that passes diag(1/s)·K·diag(s) to take, and remembers the largest value.
func (c *computation) scalePieces(rows, cols []int, take Sink) Sink {
	root := c.scale.root
	if root != nil {
		// An error of K_ij grows by s_j/s_i.
		low, high := math.Inf(1), 0.0
		for _, i := range rows {
			low = min(low, root[i])
		}
		for _, j := range cols {
			high = max(high, root[j])
		}
		c.tightest = max(1, high/low)
		c.effort = c.s.Tolerance / c.tightest
	}
	return func(lo, left int, piece *sparse.Block[float64]) error {
		if root != nil {
			for i := range piece.Rows {
				row := piece.Row(i)
				for j := range row {
					row[j] *= root[cols[left+j]] / root[rows[lo+i]]
				}
			}
		}
		c.log.report.Largest = max(c.log.report.Largest, blocks.Largest(nil, piece))
		return take(lo, left, piece)
	}
}

func (c *computation) finish(bound float64) {
	c.log.report.ErrorBound = bound*c.tightest +
		c.k.rootRounding()*c.log.report.Largest
}

const epsilon = 0x1p-52

// columnValues returns a function for the columns y of K at nodes. The function stores in dst the values of the block
// between item i of a list and each of nodes.
type columnValues = func(y *sparse.Block[float64], nodes []int) func(dst []float64, i int)

func pickRows(list []int) columnValues {
	return func(y *sparse.Block[float64], _ []int) func(dst []float64, i int) {
		return func(dst []float64, i int) { copy(dst, y.Row(list[i])) }
	}
}

// across computes the columns of K at nodes slab by slab, and passes the block between a list of the given length and
// nodes to out. If transposed is set, nodes are the rows of the block.
func (c *computation) across(ctx context.Context, length int, nodes []int,
	transposed bool, values columnValues, out Sink) error {
	slabs := slabsOf(c.k.Len(), len(nodes))
	c.log.slabs += len(slabs)
	room, err := c.reserve(len(nodes), length+1)
	if err != nil {
		return err
	}
	var effort float64
	for number, slab := range slabs {
		lo, hi := slab[0], slab[1]
		if number == 1 {
			effort = c.effort
		}
		if number > 0 {
			c.effort = effort
		}
		width := hi - lo
		y := c.y.Columns(0, width)
		if err := c.columns(ctx, y, nodes[lo:hi], transposed); err != nil {
			return err
		}
		row := room[:width]
		piece := sparse.BlockOf(length, width, room[width:][:length*width])
		top, left := 0, lo
		if transposed {
			piece = sparse.BlockOf(width, length, piece.Data)
			top, left = lo, 0
		}
		store := values(y, nodes[lo:hi])
		for i := range length {
			if !transposed {
				store(piece.Row(i), i)
				continue
			}
			store(row, i)
			for j, v := range row {
				piece.Row(j)[i] = v
			}
		}
		if err := out(top, left, piece); err != nil {
			return err
		}
	}
	c.finish(c.worst)
	return nil
}

// mirrorColumns passes the values on and above the diagonal and their mirror images to out.
func (c *computation) mirrorColumns(ctx context.Context, nodes []int,
	values columnValues, out Sink) error {
	slabs := slabsOf(c.k.Len(), len(nodes))
	c.log.slabs = len(slabs)
	room, err := c.reserve(len(nodes), 2*len(nodes))
	if err != nil {
		return err
	}
	upper := room[:len(room)/2]
	turned := room[len(room)/2:]
	for _, slab := range slabs {
		lo, hi := slab[0], slab[1]
		y := c.y.Columns(0, hi-lo)
		if err := c.columns(ctx, y, nodes[lo:hi], false); err != nil {
			return err
		}
		piece := sparse.BlockOf(hi, hi-lo, upper[:hi*(hi-lo)])
		store := values(y, nodes[lo:hi])
		for i := range hi {
			store(piece.Row(i), i)
		}
		for i := lo; i < hi; i++ {
			for j := lo; j < i; j++ {
				piece.Row(i)[j-lo] = piece.Row(j)[i-lo]
			}
		}
		if err := handOver(piece, 0, lo, lo, turned, out); err != nil {
			return err
		}
	}
	c.finish(c.worst)
	return nil
}

// handOver passes a piece of a symmetric block, at row lo and column left, to out. It also passes the mirror image of
// the first height rows of the piece. turned is room for the mirror image.
func handOver(piece *sparse.Block[float64], lo, left, height int, turned []float64,
	out Sink) error {
	if height > 0 {
		reflection := sparse.BlockOf(piece.Cols, height, turned[:piece.Cols*height])
		for i := range height {
			for j, v := range piece.Row(i) {
				reflection.Row(j)[i] = v
			}
		}
		if err := out(left, lo, reflection); err != nil {
			return err
		}
	}
	return out(lo, left, piece)
}

// ApplyTo implements [Kernel].
func (k *spectral) ApplyTo(ctx context.Context, dst, x *sparse.Block[float64],
	s *Settings) (*Report, error) {
	checkBlocks(k.Len(), dst, x)
	c, err := k.begin(s)
	if err != nil {
		return nil, err
	}
	c.log.slabs = 1
	if err := c.check(k.work, x.Cols, 0); err != nil {
		return nil, err
	}
	c.x = x
	spread := 1.0
	smallest := 1.0
	if k.root != nil {
		c.x = sparse.NewBlock[float64](x.Rows, x.Cols)
		blocks.ScaleRows(c.x, x, k.root)
		ends := []float64{-slices.Min(k.root), slices.Max(k.root)}
		c.scale.team.Max(ends)
		smallest = -ends[0]
		spread = ends[1] / smallest
		c.effort /= spread
	}
	measure := func(y *sparse.Block[float64], bound []float64) float64 {
		size := blocks.Norm(blocks.Norms(c.scale.team, y))
		off := blocks.Norm(bound) * spread
		if off == 0 {
			return 0
		}
		return (off/size + k.rootRounding()) / c.s.Tolerance
	}
	a, err := c.imageOf(ctx, k.full, dst, c.x, measure)
	if err != nil {
		return nil, err
	}
	c.log.report.ColumnBound, c.log.report.Condition = a.bound, a.assumed
	if k.root != nil {
		blocks.ScaleRows(dst, dst, blocks.Inverses(k.root))
		for j := range c.log.report.ColumnBound {
			c.log.report.ColumnBound[j] /= smallest
		}
		sums := blocks.Norms(c.scale.team, dst)
		for j := range sums {
			c.log.report.ColumnBound[j] += k.rootRounding() * sums[j]
		}
	}
	c.log.report.ErrorBound, c.log.report.Largest = slices.Max(c.log.report.ColumnBound), blocks.Largest(c.scale.team, dst)
	return &c.log.report, nil
}

func checkBlocks(n int, dst, x *sparse.Block[float64]) {
	if dst.Rows != n || x.Rows != n || dst.Cols != x.Cols || x.Cols == 0 {
		panic(badShape)
	}
	if &dst.Data[0] == &x.Data[0] {
		panic(badOverlap)
	}
}
