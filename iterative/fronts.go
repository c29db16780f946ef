package iterative

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// multifrontal eliminates the [fronts] of a complete factor (Duff and Reid 1983), without subtraction as in [exact]. The
// weights within a front are the columns of a dense matrix below its diagonal. The weights between vertices of the front's
// border stay on a stack until the parent front takes them.
type multifrontal struct {
	a        *adjacency
	vertices []uint32 // vertices of the graph, by their numbers in a
	ground   []float64
	fronts   *fronts

	done  []bool
	place []int32 // position in the current front

	stack  []float64 // weights left by fronts: the columns below the diagonal
	stride int       // a multiple of 4
	matrix []float64

	shares [panelColumns][]float64 // weights of each pivot over their sum
	unused []float64

	columns *columns
	kept    int   // number of last vertices whose weights stay on the stack
	limit   int64 // limit of the number of values on the stack
}

// panelColumns is the number of pivots whose products are added to the other columns together.
const panelColumns = 4

// completeColumns returns the columns of the complete factor of scale·L(A) + diag(ground), with the held vertices last. It
// counts the entries before it makes them. If the factor exceeds a limit, the error wraps [ErrFill]. If it needs more than
// memory, the error is a [*budget.Error]; memory 0 means no limit.
func completeColumns(ctx context.Context, matrix sparse.Matrix, scale float64,
	ground []float64, held []int,
	limit func(n int, entries int64) fillLimits, memory int64) (*columns, error) {
	const part = "the Cholesky factor"
	if err := tryFill(ctx, matrix); err != nil {
		return nil, err
	}
	n, _ := matrix.Dims()
	entries := matrix.NNZ()
	if memory > 0 && completeBytes(n, entries, 0) > memory {
		return nil, budget.Check(memory, completeBytes(n, entries, completeLimit(n, entries)), part)
	}
	m, err := beginFactor(ctx, matrix, scale, ground, held, nil, limit)
	if err == nil {
		err = budget.Check(memory, completeBytes(n, entries, m.columns.count+m.fronts.entries), part)
	}
	if err == nil {
		err = m.eliminateFronts(ctx)
	}
	if err != nil {
		return nil, err
	}
	return m.columns, nil
}

// beginFactor eliminates the leaves, and finds the fronts of the other vertices. mass is the mass of each row, see [columns].
func beginFactor(ctx context.Context, matrix sparse.Matrix, scale float64,
	ground []float64, held []int, mass []float64,
	limit func(n int, entries int64) fillLimits) (*multifrontal, error) {
	a, err := readAdjacency(ctx, matrix, scale)
	if err != nil {
		return nil, err
	}
	n := len(a.start) - 1
	limits := limit(n, int64(len(a.end)))
	columns := newColumns(n, int64(len(a.end)))
	columns.mass = slices.Clone(mass)
	weights := make([]float64, n)
	copy(weights, ground)
	m := &multifrontal{a: a, columns: &columns, fronts: new(fronts)}
	m.vertices = a.eliminateLeaves(weights, held, &columns)
	limits.entries -= columns.count
	m.limit = limits.entries
	if len(m.vertices) == 0 {
		return m, nil
	}
	isHeld := make([]bool, n)
	for _, v := range held {
		isHeld[v] = true
	}
	for i, v := range m.vertices {
		weights[i] = weights[v]
		isHeld[i] = isHeld[v]
	}
	m.ground = weights[:len(m.vertices)]
	m.fronts, err = a.orderFronts(ctx, isHeld[:len(m.vertices)], limits)
	return m, err
}

// eliminateFronts adds the columns of the fronts. The error wraps [ErrFill] if the stack would exceed the limit.
func (m *multifrontal) eliminateFronts(ctx context.Context) error {
	parent := m.fronts.parent
	children := &children{start: make([]int32, len(parent)+1)}
	for _, p := range parent {
		if p >= 0 {
			children.start[p]++ // counts, before the starts
		}
	}
	var count int32
	for p := range children.start {
		count += children.start[p]
		children.start[p] = count
	}
	children.front = make([]int32, count)
	for f, p := range slices.Backward(parent) {
		if p >= 0 {
			children.start[p]--
			children.front[children.start[p]] = int32(f)
		}
	}
	order := m.fronts.postorder(children)
	var stacked, peak int64
	for _, f := range order {
		for _, child := range children.of(f) {
			stacked -= int64(pairs(m.fronts.border[child].size()))
		}
		stacked += int64(pairs(m.fronts.border[f].size()))
		peak = max(peak, stacked)
	}
	waiting := max(peak, int64(pairs(m.kept)))
	if waiting > m.limit {
		return errCompleteFill
	}
	m.done = make([]bool, len(m.vertices))
	m.place = make([]int32, len(m.vertices))
	m.stack = make([]float64, 0, waiting)
	for step, f := range order {
		if step%1024 == 0 && ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		m.assemble(f, children.of(f))
		pivots := m.fronts.pivots[f].size()
		if step == len(order)-1 {
			pivots -= m.kept
		}
		m.eliminate(f, pivots)
	}
	return nil
}

// pairs returns the number of values that a front with the given number of border vertices leaves on the stack.
func pairs(border int) int { return border * (border - 1) / 2 }

type children struct {
	start []int32
	front []int32
}

func (c *children) of(f int32) []int32 {
	return c.front[c.start[f]:c.start[f+1]]
}

// postorder returns the fronts in an order in which the descendants of a front come immediately before the front.
func (fronts *fronts) postorder(children *children) []int32 {
	order := make([]int32, 0, len(fronts.parent))
	var open []int32
	for f, p := range fronts.parent {
		if p < 0 {
			open = append(open, int32(f))
		}
	}
	// Parents before children, last children first; reversed below.
	for len(open) > 0 {
		f := open[len(open)-1]
		open = open[:len(open)-1]
		order = append(order, f)
		open = append(open, children.of(f)...)
	}
	slices.Reverse(order)
	return order
}

// assemble fills m.matrix with the weights within front f: the weights of the edges of its pivots, and the weights that its
// children left on the stack.
func (m *multifrontal) assemble(f int32, children []int32) {
	pivots := m.fronts.pivots[f]
	size := pivots.size() + m.fronts.border[f].size()
	m.stride = (size + 3) &^ 3
	m.matrix = blocks.Grow(m.matrix, m.stride*size)
	clear(m.matrix)
	for i, v := range m.fronts.all(f) {
		m.place[v] = int32(i)
	}
	for j, v := range pivots.of(m.fronts.vertices) {
		column := m.matrix[j*m.stride:]
		ends, weights := m.a.of(v)
		for e, u := range ends {
			if !m.done[u] && int(m.place[u]) > j {
				column[m.place[u]] += weights[e]
			}
		}
	}
	// The last child is on top of the stack.
	for _, child := range slices.Backward(children) {
		border := m.fronts.border[child].of(m.fronts.vertices)
		left := len(m.stack) - pairs(len(border))
		value := m.stack[left:]
		for j, v := range border {
			column := m.place[v]
			for i, u := range border[j+1:] {
				row := m.place[u]
				m.matrix[int(min(row, column))*m.stride+int(max(row,
					column))] += value[i]
			}
			value = value[len(border)-j-1:]
		}
		m.stack = m.stack[:left]
	}
}

// eliminate eliminates the first k vertices of front f, and leaves the weights between the other vertices on the stack.
func (m *multifrontal) eliminate(f int32, k int) {
	vertices := m.fronts.all(f)
	for lo, hi := range blocks.Slabs(k, panelColumns) {
		for p := lo; p < hi; p++ {
			m.eliminatePivot(vertices, p, p-lo)
			for j := p + 1; j < hi; j++ {
				addBelow(m.column(j), m.column(p), j+1, m.shares[p-lo][j])
			}
		}
		m.addPanel(lo, hi, len(vertices))
	}
	for j := k; j < len(vertices); j++ {
		m.stack = append(m.stack, m.column(j)[j+1:len(vertices)]...)
	}
}

// column returns column j of the current front; above the diagonal it is meaningless.
func (m *multifrontal) column(j int) []float64 {
	return m.matrix[j*m.stride:][:m.stride]
}

func addBelow(y, x []float64, row int, c float64) {
	y = y[row:]
	for i, v := range x[row:] {
		y[i] += float64(c * v)
	}
}

// eliminatePivot adds the column of pivot p, a position in vertices, to m.columns. It stores the weights of p over their
// sum in m.shares[panel].
func (m *multifrontal) eliminatePivot(vertices []uint32, p, panel int) {
	v := vertices[p]
	m.done[v] = true
	weights := m.column(p)[:len(vertices)]
	ground := m.ground[v]
	sum := blocks.ExactSum{Sum: ground}
	for _, w := range weights[p+1:] {
		sum.Add(w)
	}
	total := sum.Value()
	c := m.columns
	c.begin(m.vertices[v], total)
	shares := blocks.Grow(m.shares[panel], m.stride)
	clear(shares)
	m.shares[panel] = shares
	if total > 0 {
		for i := p + 1; i < len(vertices); i++ {
			if weights[i] == 0 {
				continue
			}
			shares[i] = weights[i] / total
			c.add(m.vertices[vertices[i]], shares[i])
			m.ground[vertices[i]] += float64(shares[i] * ground)
		}
	}
	c.start = append(c.start, c.count)
}

// addPanel adds the products of the pivots lo ≤ p < hi to the columns from hi on.
func (m *multifrontal) addPanel(lo, hi, size int) {
	if hi-lo < panelColumns || size-hi < panelColumns {
		for p := lo; p < hi; p++ {
			for j := hi; j < size; j++ {
				addBelow(m.column(j)[:size], m.column(p)[:size], j+1,
					m.shares[p-lo][j])
			}
		}
		return
	}
	var c [2 * panelColumns]float64
	for j := hi; j < size; j += 2 {
		partner := min(j+1, size-1)
		for i := range panelColumns {
			c[i] = m.shares[i][j]
			c[panelColumns+i] = m.shares[i][partner]
		}
		row := j &^ 3
		target := m.column(partner)[row:]
		if partner == j {
			target = blocks.Grow(m.unused, len(target))
			m.unused = target
		}
		simd.AddPanels(m.column(j)[row:], target, m.column(lo)[row:],
			m.column(lo + 1)[row:], m.column(lo + 2)[row:],
			m.column(lo + 3)[row:], &c)
	}
}
