package iterative

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// ErrFill is the error of a factor with too many entries. More memory would not help; another preconditioner may.
var ErrFill = errors.New("iterative: the factor fills in")

// elimination is a sampled Cholesky factorization in progress (Gao, Kyng and Spielman 2023; Chen, Liang and Biros 2021). The
// matrix is the Laplacian of a graph of multi-edges with one more vertex, the ground, which is never eliminated. Edges to the
// ground are the diagonal added to the Laplacian.
//
// Eliminating a vertex joins its neighbours by a random tree, whose expectation is the clique. A vertex with one or two
// neighbours is eliminated exactly.
type elimination struct {
	ground []float64 // weight of the edge to the ground

	// The edges of a vertex are a list of records. Each record is a half of an edge and refers to
	// the other half, its twin. Edges between the neighbours of an eliminated vertex reuse its
	// records. Removing an edge sets the weight of the remaining half to 0.
	head    []uint32
	records []record

	count   []int32
	buckets buckets

	// State of the current vertex:
	sum        []float64 // sum of the multi-edges to each neighbour
	neighbours []neighbour
	tailSums   []float64
	draws      *rand.PCG

	columns columns
}

type record struct {
	weight float64
	vertex uint32
	next   uint32
	twin   uint32
}

type neighbour struct {
	weight float64
	vertex uint32 // n for the ground
	record uint32 // an edge to vertex
}

// columns holds the columns of the unit lower triangular factor, negated, without the diagonal.
type columns struct {
	order []uint32 // vertex of each column
	start []int64
	pivot []float64 // inverse pivots; 0 for a pivot of 0
	entries

	mass []float64 // mass of each row, nil: none; a column distributes the mass of its vertex among the vertices of its entries, in proportion to their values
}

func newColumns(n int, stored int64) columns {
	c := columns{order: make([]uint32, 0, n),
		start: append(make([]int64, 0, n+1), 0), pivot: make([]float64, 0, n)}
	c.piece = int(min(pieceEntries, stored+1))
	return c
}

// begin adds an empty column for vertex v with the pivot sum, the sum of its weights. The caller must then add the entries
// of the column and append c.count to c.start.
func (c *columns) begin(v uint32, sum float64) {
	c.order = append(c.order, v)
	inverse := 0.0
	if sum > 0 {
		inverse = 1 / sum
	}
	c.pivot = append(c.pivot, inverse)
}

func (c *columns) add(row uint32, share float64) {
	c.entries.add(row, share)
	if c.mass != nil {
		c.mass[row] += float64(share * c.mass[c.order[len(c.order)-1]])
	}
}

// entries is a long list of vertices, or positions, with values, in pieces, because a slice would be copied whenever it grows.
type entries struct {
	row   [][]uint32
	value [][]float64
	piece int
	count int64
}

const pieceEntries = 1 << 16

// add appends an entry, in a new piece if the last piece is full.
func (e *entries) add(row uint32, value float64) {
	last := len(e.row) - 1
	if e.count == int64(len(e.row))*int64(e.piece) {
		e.row = append(e.row, make([]uint32, 0, e.piece))
		e.value = append(e.value, make([]float64, 0, e.piece))
		last++
	}
	e.row[last] = append(e.row[last], row)
	e.value[last] = append(e.value[last], value)
	e.count++
}

// from returns the vertices and values of the entries from lo to hi. If the piece of lo ends before hi, from returns the
// entries up to the end of the piece.
func (e *entries) from(lo, hi int64) ([]uint32, []float64) {
	piece := lo / int64(e.piece)
	seed := piece * int64(e.piece)
	hi = min(hi-seed, int64(len(e.row[piece])))
	return e.row[piece][lo-seed : hi], e.value[piece][lo-seed : hi]
}

const noRecord = math.MaxUint32

// eliminate returns the columns of a sampled factor of scale·L(A) + diag(ground). If the columns have more than limit
// entries, the error wraps [ErrFill].
func eliminate(ctx context.Context, a sparse.Matrix, scale float64,
	ground []float64, rngSeed uint64, limit int64) (*columns, error) {
	records := a.NNZ()
	if records >= noRecord {
		return nil, fmt.Errorf("%w: more than %d edges", ErrFill,
			uint32(noRecord))
	}
	n, _ := a.Dims()
	e := &elimination{
		ground:  make([]float64, n),
		head:    make([]uint32, n),
		records: make([]record, 0, records),
		count:   make([]int32, n),
		sum:     make([]float64, n),
		draws:   rand.NewPCG(rngSeed, 0),
	}
	copy(e.ground, ground)
	if err := e.read(ctx, a, scale); err != nil {
		return nil, err
	}
	e.buckets.stacks = n + 1
	e.buckets.fill(e.count)
	e.columns = newColumns(n, a.NNZ())
	for step := range n {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, sched.Cause(ctx)
		}
		e.eliminate(e.buckets.takeLeast(), rngSeed)
		if e.columns.count > limit {
			return nil, fmt.Errorf("%w to more than %d entries", ErrFill, limit)
		}
	}
	columns := e.columns // frees the rest of e
	return &columns, nil
}

// read makes a record of each entry of a, except self loops. The records of a row are consecutive in memory.
func (e *elimination) read(ctx context.Context, a sparse.Matrix,
	scale float64) error {
	upper := make([]uint32, len(e.head)) // next record of each row above the diagonal whose twin has not been read
	for i := range e.head {
		e.head[i] = noRecord
		upper[i] = noRecord
	}
	return eachEdge(ctx, a, scale, func(i, c uint32, w float64) {
		r := uint32(len(e.records))
		e.records = append(e.records, record{vertex: c})
		e.link(r, i, w)
		if c > i {
			upper[i] = min(upper[i], r)
			return
		}
		e.records[r].twin = upper[c] // rows and columns increase
		e.records[upper[c]].twin = r
		upper[c]++
	})
}

// eachEdge calls visit for every entry of a off the diagonal that is not zero. w is scale times the weight of the entry. If
// a weight is negative or not finite, eachEdge returns [graph.ErrWeight].
func eachEdge(ctx context.Context, a sparse.Matrix, scale float64,
	visit func(i, c uint32, w float64)) error {
	return sparse.EachRow(ctx, a, 1, func(_, i int, col []uint32, val []float64) error {
		for entry, c := range col {
			w := scale
			if val != nil {
				w *= val[entry]
			}
			switch {
			case !(w >= 0) || math.IsInf(w, 1):
				return fmt.Errorf("%w: row %d, column %d", graph.ErrWeight, i, c)
			case int(c) != i && w != 0:
				visit(uint32(i), c, w)
			}
		}
		return nil
	})
}

func (e *elimination) link(record, vertex uint32, w float64) {
	r := &e.records[record]
	r.weight = w
	r.next = e.head[vertex]
	e.head[vertex] = record
	e.count[vertex]++
}

func (e *elimination) cut(record uint32) {
	r := &e.records[record]
	e.records[r.twin].weight = 0
	e.count[r.vertex]--
}

// eliminate removes vertex v from the graph and stores its column.
func (e *elimination) eliminate(v uint32, rngSeed uint64) {
	e.collect(v)
	var total float64
	for _, u := range e.neighbours {
		total += u.weight
	}
	c := &e.columns
	c.begin(v, total)
	n := uint32(len(e.head))
	for _, u := range e.neighbours {
		if u.vertex != n {
			c.add(u.vertex, u.weight/total)
		}
	}
	c.start = append(c.start, c.count)

	e.draws.Seed(rngSeed, uint64(v))
	e.sampleTree(total)
	for _, u := range e.neighbours {
		if u.vertex != n {
			e.buckets.move(u.vertex, e.count[u.vertex])
		}
	}
}

// collect stores in e.neighbours the neighbours of v, without repeats, by increasing weight and then by vertex.
func (e *elimination) collect(v uint32) {
	e.neighbours = e.neighbours[:0]
	for i := e.head[v]; i != noRecord; i = e.records[i].next {
		r := &e.records[i]
		if r.weight == 0 {
			continue
		}
		if e.sum[r.vertex] == 0 {
			e.neighbours = append(e.neighbours, neighbour{vertex: r.vertex, record: i})
		} else {
			e.cut(i)
		}
		e.sum[r.vertex] += r.weight
	}
	for i := range e.neighbours {
		u := &e.neighbours[i]
		u.weight = e.sum[u.vertex]
		e.sum[u.vertex] = 0
	}
	if g := e.ground[v]; g > 0 {
		e.neighbours = append(e.neighbours, neighbour{weight: g, vertex: uint32(len(e.head))})
	}
	slices.SortFunc(e.neighbours, func(a, b neighbour) int {
		switch {
		case a.weight < b.weight:
			return -1
		case a.weight > b.weight:
			return 1
		}
		return cmp.Compare(a.vertex, b.vertex)
	})
}

// sampleTree joins each of e.neighbours except the last to a random later neighbour. A later neighbour, which is heavier,
// has a probability proportional to its weight. total is the sum of the weights.
func (e *elimination) sampleTree(total float64) {
	m := len(e.neighbours)
	e.tailSums = blocks.Grow(e.tailSums, m+1)
	e.tailSums[m] = 0
	for i := m - 1; i >= 0; i-- {
		e.tailSums[i] = e.tailSums[i+1] + e.neighbours[i].weight
	}
	n := uint32(len(e.head))
	for i := range max(0, m-1) {
		remainder := e.tailSums[i+1]
		point := remainder * (float64(e.draws.Uint64()>>11) / (1 << 53))
		// The tail sums decrease; find the last sum above the point.
		lo, hi := i+1, m
		for lo+1 < hi {
			if mid := (lo + hi) / 2; e.tailSums[mid] > point {
				lo = mid
			} else {
				hi = mid
			}
		}
		a := e.neighbours[i]
		b := e.neighbours[lo].vertex
		w := a.weight * remainder / total
		switch {
		case a.vertex == n:
			e.ground[b] += w
		case b == n:
			e.ground[a.vertex] += w
			e.cut(a.record)
		case w == 0: // underflow
			e.cut(a.record)
		default: // the record of v becomes a record of b
			twin := &e.records[e.records[a.record].twin]
			twin.vertex = b
			twin.weight = w
			e.link(a.record, b, w)
		}
	}
	if m > 0 && e.neighbours[m-1].vertex != n {
		e.cut(e.neighbours[m-1].record)
	}
}

type buckets struct {
	first, last []uint32 // first and last vertex of each bucket; the last bucket has all vertices with more edges
	next, prev  []uint32
	in          []int32
	lowest      int // buckets below are empty
	stacks      int // number of buckets in which the latest vertex comes first; in others it comes last
}

const noVertex = math.MaxUint32

// fill puts every vertex into the bucket of its number of edges.
func (b *buckets) fill(count []int32) {
	n := len(count)
	// With one bucket for four and more edges, the factor of a graph whose vertices all have four edges was twice as large.
	b.first = make([]uint32, n+1)
	b.last = make([]uint32, n+1)
	for i := range b.first {
		b.first[i] = noVertex
		b.last[i] = noVertex
	}
	b.next = make([]uint32, n)
	b.prev = make([]uint32, n)
	b.in = make([]int32, n)
	for v := n - 1; v >= 0; v-- {
		b.putFirst(uint32(v), int(count[v]))
	}
}

// put puts v into the bucket for count edges: first in a stack, else last.
func (b *buckets) put(v uint32, count int32) {
	i := min(int(count), len(b.first)-1)
	if i < b.stacks || b.first[i] == noVertex {
		b.putFirst(v, i)
		return
	}
	last := b.last[i]
	b.in[v], b.prev[v], b.next[v] = int32(i), last, noVertex
	b.next[last] = v
	b.last[i] = v
}

func (b *buckets) putFirst(v uint32, i int) {
	first := b.first[i]
	b.in[v], b.prev[v], b.next[v] = int32(i), noVertex, first
	if first == noVertex {
		b.last[i] = v
	} else {
		b.prev[first] = v
	}
	b.first[i] = v
	b.lowest = min(b.lowest, i)
}

func (b *buckets) remove(v uint32) {
	next := b.next[v]
	prev := b.prev[v]
	if prev == noVertex {
		b.first[b.in[v]] = next
	} else {
		b.next[prev] = next
	}
	if next == noVertex {
		b.last[b.in[v]] = prev
	} else {
		b.prev[next] = prev
	}
}

func (b *buckets) move(v uint32, count int32) {
	if int(b.in[v]) != min(int(count), len(b.first)-1) {
		b.remove(v)
		b.put(v, count)
	}
}

func (b *buckets) takeLeast() uint32 {
	for b.first[b.lowest] == noVertex {
		b.lowest++
	}
	v := b.first[b.lowest]
	b.remove(v)
	return v
}
