package iterative

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

type adjacency struct {
	start  []int64
	end    []uint32
	weight []float64
}

func (a *adjacency) of(v uint32) ([]uint32, []float64) {
	lo := a.start[v]
	hi := a.start[v+1]
	return a.end[lo:hi], a.weight[lo:hi]
}

// readAdjacency returns the entries of a matrix off the diagonal, times scale, except zeros. The rows must have increasing
// columns. readAdjacency adds up the weights of repeated entries, because the search for an order requires lists without repeats.
func readAdjacency(ctx context.Context, matrix sparse.Matrix,
	scale float64) (*adjacency, error) {
	n, _ := matrix.Dims()
	a := &adjacency{
		start:  make([]int64, n+1),
		end:    make([]uint32, 0, matrix.NNZ()),
		weight: make([]float64, 0, matrix.NNZ()),
	}
	row := uint32(noVertex)
	err := eachEdge(ctx, matrix, scale, func(i, c uint32, w float64) {
		if last := len(a.end) - 1; i == row && a.end[last] == c {
			a.weight[last] += w
			return
		}
		row = i
		a.end = append(a.end, c)
		a.weight = append(a.weight, w)
		a.start[i+1] = int64(len(a.end))
	})
	for i := range n {
		a.start[i+1] = max(a.start[i+1], a.start[i])
	}
	return a, err
}

type span struct{ from, to int64 }

func (s span) of(list []uint32) []uint32 {
	return list[s.from:s.to]
}

func (s span) size() int { return int(s.to - s.from) }

// fronts divides vertices into fronts, in the order of their elimination. The vertices of a front, its pivots, have the
// same other neighbours when they are eliminated: the border of the front.
type fronts struct {
	vertices       []uint32
	pivots, border []span
	parent         []int32 // front that eliminates the first pivots of the border; -1: none
	entries        int64
}

func newFronts(count, vertices int) fronts {
	return fronts{
		vertices: make([]uint32, 0, vertices),
		pivots:   make([]span, 0, count),
		border:   make([]span, 0, count),
		parent:   make([]int32, 0, count),
	}
}

func (fronts *fronts) add(pivots, border []uint32) {
	first := int64(len(fronts.vertices))
	middle := first + int64(len(pivots))
	fronts.vertices = append(append(fronts.vertices, pivots...), border...)
	fronts.pivots = append(fronts.pivots, span{first, middle})
	fronts.border = append(fronts.border, span{middle, int64(len(fronts.vertices))})
	fronts.parent = append(fronts.parent, -1)
}

func (fronts *fronts) all(front int32) []uint32 {
	return fronts.vertices[fronts.pivots[front].from:fronts.border[front].to]
}

// minimumDegree orders the vertices of a graph by approximate minimum degree (Amestoy, Davis and Duff 1996). The remaining
// vertices are variables of a quotient graph, and the eliminated vertices its elements: the variables in the border of an
// element are a clique. Variables with the same elements and neighbours are merged. Vertices of very large degree come last,
// because every elimination of a neighbour reads their lists.
type minimumDegree struct {
	start []int64

	// The list of a variable has its elements, and then the neighbours that share no element with
	// it.
	list     []uint32
	elements []int32
	length   []int32

	size   []int32  // vertices of each variable; 0: merged, eliminated or last
	next   []uint32 // rings of merged vertices
	degree []int32  // upper bound of the number of neighbours
	queue  buckets
	left   int64
	last   []uint32
	isLast []bool

	// Lists of elements, by a pivot:
	front   []int32 // number of the front; -1: a variable, or absorbed
	border  []span  // variables of the border, as a range of names
	extent  []int32 // vertices in the border
	beyond  []int32 // vertices of the border outside of the current border
	reached []int32 // round in which beyond was set
	names   []uint32

	// State of the current element:
	round  int32
	mark   []int32 // round in which a vertex was last found
	found  []uint32
	kept   []uint32 // new list of a variable
	pivots []uint32
	whole  []uint32 // border with merged vertices
	twins  twins

	fronts fronts
	cost   factorCost
	steps  int64 // list entries read
	limits fillLimits
}

// factorCost is the cost of a complete factor: entries of the triangle, and multiplications.
type factorCost struct {
	entries  int64
	products float64
}

func (c *factorCost) add(pivots, border int) {
	for p := range pivots {
		below := int64(border + p)
		c.entries += below
		c.products += float64(below) * float64(below) / 2
	}
}

type fillLimits struct {
	factorCost
	steps int64 // steps of the search for an order
}

const (
	// productsPerEntry is the number of multiplications, for each entry and row of the matrix, that take as long as sampling a
	// factor and iterating with it.
	productsPerEntry = 1500

	// largeFill bounds the entries of the triangle of a large graph, for each entry of the matrix.
	largeFill = 3

	// stepsPerEntry bounds the steps of a search for an order, for each entry and row of the matrix. A search takes 3 in a
	// road map, 6 in a grid, and 25 in a dictionary. With large hubs 25 steps order a fifth of the vertices.
	stepsPerEntry = 30
)

// shortLists is a number of edges. Of vertices with fewer edges, the search eliminates the latest vertex first, and so
// follows chains. Of vertices with the same larger number of edges, it eliminates the first vertex first; the factor of a
// grid then has a quarter less entries.
const shortLists = 3

func noLimits(int, int64) fillLimits {
	return fillLimits{factorCost{math.MaxInt64, math.Inf(1)}, math.MaxInt64}
}

func limitsOf(n int, entries int64) fillLimits {
	size := entries + int64(n)
	limits := fillLimits{factorCost{completeLimit(n, entries),
		productsPerEntry * float64(size)}, stepsPerEntry * size}
	if n <= smallRows {
		limits.products = max(limits.products, 5e8)
		limits.steps = max(limits.steps, 5e7)
	}
	return limits
}

// forestLimits are the limits of the factor of a forest, which has an entry for each edge, with some more edges.
func forestLimits(n int, entries int64) fillLimits {
	fill := forestFill(n)
	return fillLimits{factorCost{fill, 8 * float64(fill)}, 4 * (entries + int64(n))}
}

func forestFill(n int) int64 { return int64(n) + int64(n)/8 }

// isSparseAsForest reports whether a matrix has at most two entries for each row, so that its graph may be a forest.
func isSparseAsForest(n int, entries int64) bool {
	return n > ExactFirst && entries <= 2*int64(n)
}

// completeLimit bounds the entries of the triangle of a complete factor. For each entry of the matrix there is one in a road
// map or between nearest neighbours in the plane, and eight in a grid of a million nodes.
func completeLimit(n int, entries int64) int64 {
	limit := min(10*entries, 40*int64(n))
	if n > leanRows {
		limit = min(limit, largeFill*entries)
	}
	if n <= smallRows {
		limit = max(limit, 1<<19)
	}
	return min(limit, int64(n)*int64(n-1)/2)
}

var errCompleteFill = fmt.Errorf("%w as a complete one", ErrFill)

// orderFronts returns the fronts of a complete factor, with the held vertices last. The error wraps [ErrFill] if a limit is
// exceeded.
func (a *adjacency) orderFronts(ctx context.Context, isHeld []bool,
	limits fillLimits) (*fronts, error) {
	m := newMinimumDegree(a, isHeld, limits)
	size := int64(len(a.end) + len(m.size))
	review := size // number of steps at which isHopeless is called next
	for step := 0; m.left > 0; step++ {
		if m.steps >= review {
			review += size
			if m.isHopeless() {
				return nil, errCompleteFill
			}
		}
		if m.cost.exceeds(limits.factorCost) {
			return nil, errCompleteFill
		}
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, sched.Cause(ctx)
		}
		m.eliminate(m.queue.takeLeast())
	}
	if err := m.placeLast(a); err != nil {
		return nil, err
	}
	if m.cost.exceeds(limits.factorCost) {
		return nil, errCompleteFill
	}
	m.fronts.entries = m.cost.entries
	return &m.fronts, nil
}

func (c factorCost) exceeds(limit factorCost) bool {
	return c.entries > limit.entries || c.products > limit.products
}

// isHopeless predicts whether the search will exceed its limits. It counts for the remaining vertices the entries that
// their present degrees give, and extrapolates the steps.
func (m *minimumDegree) isHopeless() bool {
	var entries int64
	for v, size := range m.size {
		entries += int64(size) * int64(m.degree[v]) / 2
	}
	gone := float64(len(m.size)) - float64(m.left)
	return 2*entries > m.limits.entries-m.cost.entries ||
		float64(m.steps)*float64(len(m.size)) > gone*float64(m.limits.steps)
}

// newMinimumDegree returns a search in which no vertex is eliminated. Held vertices, and vertices with far more edges than
// most, will come last.
func newMinimumDegree(a *adjacency, isHeld []bool, limits fillLimits) *minimumDegree {
	n := len(a.start) - 1
	m := &minimumDegree{
		start: a.start, list: slices.Clone(a.end),
		elements: make([]int32, n), length: make([]int32, n),
		size: make([]int32, n), next: make([]uint32, n), degree: make([]int32, n),
		isLast: isHeld,
		front:  make([]int32, n), border: make([]span, n), extent: make([]int32, n),
		beyond: make([]int32, n), reached: make([]int32, n), mark: make([]int32, n),
		limits: limits,
	}
	m.fronts = newFronts(n, 2*n+len(a.end)/2)
	m.names = make([]uint32, 0, n+len(a.end)/2)
	m.twins.begin(n)
	var held []uint32
	large := int32(max(16, 10*math.Sqrt(float64(n))))
	for v := range n {
		m.length[v] = int32(a.start[v+1] - a.start[v])
		m.degree[v] = m.length[v]
		m.next[v] = uint32(v)
		m.front[v] = -1
		switch {
		case m.isLast[v]:
			held = append(held, uint32(v))
		case m.degree[v] > large:
			m.isLast[v] = true
			m.last = append(m.last, uint32(v))
		default:
			m.size[v] = 1
			m.left++
		}
	}
	m.last = append(m.last, held...)
	for _, v := range m.last {
		ends, _ := a.of(v)
		for _, u := range ends {
			m.degree[u]--
		}
	}
	m.queue.stacks = shortLists
	m.queue.fill(m.degree)
	for _, v := range m.last {
		m.queue.remove(v)
	}
	return m
}

// eliminate makes a front. Its pivots are variable v and the variables whose neighbours are all in the front.
func (m *minimumDegree) eliminate(v uint32) {
	m.round++
	// The new border has the variables that share an edge or an element with v. These elements are absorbed.
	m.found = m.found[:0]
	m.mark[v] = m.round
	list := m.list[m.start[v]:][:m.length[v]]
	elements := int(m.elements[v])
	for _, e := range list[:elements] {
		if m.front[e] < 0 {
			continue
		}
		for _, i := range m.border[e].of(m.names) {
			m.find(i)
		}
		m.absorb(e)
	}
	for _, i := range list[elements:] {
		m.find(i)
	}
	m.measure()
	m.pivots = m.appendMerged(m.pivots[:0], v)
	m.size[v] = 0
	border := m.found[:0]
	for _, i := range m.found {
		if m.update(i, v) {
			border = append(border, i)
			continue
		}
		m.pivots = m.appendMerged(m.pivots, i)
		m.size[i] = 0
	}
	m.left -= int64(len(m.pivots))
	m.twins.clear()
	for _, i := range border {
		m.join(i)
	}
	m.whole = m.whole[:0]
	first := int64(len(m.names))
	for _, i := range border {
		if m.size[i] > 0 {
			m.names = append(m.names, i)
			m.whole = m.appendMerged(m.whole, i)
		}
	}
	m.front[v] = m.number()
	m.border[v] = span{first, int64(len(m.names))}
	m.extent[v] = int32(len(m.whole))
	for _, i := range m.names[first:] {
		m.degree[i] = min(m.degree[i]+m.extent[v]-m.size[i],
			int32(m.left)-m.size[i])
		m.queue.put(i, m.degree[i])
	}
	m.steps += int64(len(m.pivots) + len(m.whole))
	m.fronts.add(m.pivots, m.whole)
	m.cost.add(len(m.pivots), len(m.whole))
}

func (m *minimumDegree) number() int32 {
	return int32(len(m.fronts.parent))
}

func (m *minimumDegree) appendMerged(vertices []uint32, v uint32) []uint32 {
	vertices = append(vertices, v)
	for u := m.next[v]; u != v; u = m.next[u] {
		vertices = append(vertices, u)
	}
	return vertices
}

// find adds variable i to found, and removes it from the queue, because its degree will change.
func (m *minimumDegree) find(i uint32) {
	m.steps++
	if m.size[i] == 0 || m.mark[i] == m.round {
		return
	}
	m.mark[i] = m.round
	m.found = append(m.found, i)
	m.queue.remove(i)
}

// absorb makes the current front the parent of the front of element e. The current front contains the border of e.
func (m *minimumDegree) absorb(e uint32) {
	m.fronts.parent[m.front[e]] = m.number()
	m.front[e] = -1
}

// measure computes m.beyond of every element whose border shares a variable with the current element.
func (m *minimumDegree) measure() {
	for _, i := range m.found {
		elements := m.list[m.start[i]:][:m.elements[i]]
		m.steps += int64(len(elements))
		for _, e := range elements {
			if m.reached[e] != m.round {
				m.reached[e] = m.round
				m.beyond[e] = m.extent[e]
			}
			m.beyond[e] -= m.size[i]
		}
	}
}

// update adds element v to the list of variable i, and bounds the number of the neighbours of i outside the current front.
// It reports whether i has such neighbours.
func (m *minimumDegree) update(i, v uint32) bool {
	list := m.list[m.start[i]:][:m.length[i]]
	m.steps += int64(len(list))
	renewed := append(m.kept[:0], v)
	var degree int32
	for _, e := range list[:m.elements[i]] {
		switch {
		case m.front[e] < 0:
		case m.beyond[e] == 0:
			m.absorb(e)
		default:
			renewed = append(renewed, e)
			degree += m.beyond[e]
		}
	}
	elements := len(renewed)
	for _, u := range list[m.elements[i]:] {
		if m.size[u] > 0 && m.mark[u] != m.round {
			renewed = append(renewed, u)
			degree += m.size[u]
		}
	}
	m.kept = renewed
	m.elements[i] = int32(elements)
	m.length[i] = int32(copy(list, renewed))
	m.degree[i] = min(m.degree[i], degree)
	return degree > 0
}

// join merges variable i into a variable with the same list, if there is one.
func (m *minimumDegree) join(i uint32) {
	list := m.list[m.start[i]:][:m.length[i]]
	var hash uint32
	for _, u := range list {
		hash += u
	}
	for u := m.twins.first(hash); u != noVertex; u = m.twins.chain[u] {
		candidate := m.list[m.start[u]:][:m.length[u]]
		if m.elements[u] == m.elements[i] && m.twins.equal(list, candidate) {
			m.size[u] += m.size[i]
			m.size[i] = 0
			m.next[u], m.next[i] = m.next[i], m.next[u]
			return
		}
	}
	m.twins.add(hash, i)
}

// placeLast makes a front of the vertices that come last. It adds each of them to the border of every front with an edge to
// the vertex, and to the borders of the ancestors of such a front.
func (m *minimumDegree) placeLast(a *adjacency) error {
	if len(m.last) == 0 {
		return nil
	}
	first := m.fronts
	f := m.number()
	m.cost = factorCost{}
	m.fronts = newFronts(len(first.pivots)+1, len(first.vertices)+2*len(m.size))
	beside := make([][]uint32, f+1)
	for number, pivots := range first.pivots {
		m.round++
		m.found = append(m.found[:0], first.border[number].of(first.vertices)...)
		border := len(m.found)
		for _, u := range beside[number] {
			m.findLast(u)
		}
		beside[number] = nil
		for _, v := range pivots.of(first.vertices) {
			ends, _ := a.of(v)
			for _, u := range ends {
				m.findLast(u)
			}
		}
		m.fronts.add(pivots.of(first.vertices), m.found)
		parent := first.parent[number]
		if parent < 0 && len(m.found) > border {
			parent = f
		}
		m.fronts.parent[number] = parent
		if parent >= 0 {
			beside[parent] = append(beside[parent], m.found[border:]...)
		}
		m.cost.add(pivots.size(), len(m.found))
		if m.cost.exceeds(m.limits.factorCost) {
			return errCompleteFill
		}
	}
	m.fronts.add(m.last, nil)
	m.cost.add(len(m.last), 0)
	return nil
}

func (m *minimumDegree) findLast(u uint32) {
	if m.isLast[u] && m.mark[u] != m.round {
		m.mark[u] = m.round
		m.found = append(m.found, u)
	}
}

// twins finds variables of a border with equal lists.
type twins struct {
	head, chain []uint32 // chains of equal hashes
	used        []uint32
	seen        []int32
	stamp       int32
}

// begin makes an empty table for variables i < n.
func (t *twins) begin(n int) {
	size := 1
	for size < n {
		size *= 2
	}
	t.head = make([]uint32, size)
	t.chain = make([]uint32, n)
	t.seen = make([]int32, n)
	for i := range t.head {
		t.head[i] = noVertex
	}
}

// clear removes all variables. It resets only the heads in use: most borders are short.
func (t *twins) clear() {
	for _, h := range t.used {
		t.head[h] = noVertex
	}
	t.used = t.used[:0]
}

// slot returns the index in head of the chain of a hash.
func (t *twins) slot(hash uint32) uint32 { return hash & uint32(len(t.head)-1) }

// first returns the first variable in the chain of a hash, or noVertex.
func (t *twins) first(hash uint32) uint32 { return t.head[t.slot(hash)] }

// add puts variable v at the head of the chain of its hash.
func (t *twins) add(hash, v uint32) {
	h := t.slot(hash)
	if t.head[h] == noVertex {
		t.used = append(t.used, h)
	}
	t.chain[v] = t.head[h]
	t.head[h] = v
}

// equal compares lists without repeats as sets.
func (t *twins) equal(x, y []uint32) bool {
	if len(x) != len(y) {
		return false
	}
	t.stamp++
	for _, u := range x {
		t.seen[u] = t.stamp
	}
	for _, u := range y {
		if t.seen[u] != t.stamp {
			return false
		}
	}
	return true
}
