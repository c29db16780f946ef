package graphfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// WriteOptions are the settings of [Write]; nil is the zero value.
type WriteOptions struct {
	Memory   int64                                 // bytes for rows that are put in order; 0: no limit
	Progress func(stage string, done, total int64) // called with the entries read and ordered in all sweeps; may be nil

	Attributes []Attribute // attributes of nodes, for formats with [Format].NodeAttributes
}

// Attribute is an attribute of nodes.
type Attribute struct {
	Title string
	Kind  Kind

	// Value returns the value of the node at a row of the store as text: a number as package strconv formats it, or true
	// or false. If the node has no value, it returns "".
	Value func(row int) string
	Bytes int64 // upper bound for all values
}

// Kind is the type of the values of an attribute.
type Kind int

// Types that GraphML distinguishes.
const (
	Text Kind = iota
	Real
	Integer
	Boolean
)

type graph struct {
	store      *shard.Store
	a          sparse.Matrix // outgoing entries
	nodes      int
	order      []uint32 // position in the file of each row of the store; nil: rows are in order
	idTo       func(dst []byte, row int) []byte
	numeric    bool // all ids are numbers below 2⁶³
	directed   bool
	weighted   bool
	selfLoops  int64
	memory     int64
	attributes []Attribute
	progress   func(stage string, done, total int64)

	rows  []uint32 // inverse of order
	held  byColumn // entries in order
	done  int64    // entries done, of total
	total int64
	shown int64
}

func graphOf(s *shard.Store, o *WriteOptions) *graph {
	m := s.Manifest
	g := &graph{
		store: s, a: s, nodes: s.Nodes.Len(), order: s.Nodes.Order,
		idTo:     s.Nodes.AppendID,
		directed: m.Directed, weighted: m.Weighted, selfLoops: m.SelfLoops,
	}
	if n := s.Nodes.Len(); n > 0 && (m.Nodes == "numeric" || m.Nodes == "implicit") {
		_, err := strconv.ParseInt(s.Nodes.ID(s.Nodes.RowAt(n-1)), 10, 64)
		g.numeric = err == nil
	}
	if o != nil {
		g.memory = o.Memory
		g.progress = o.Progress
		g.attributes = o.Attributes
	}
	return g
}

// ErrFormat is wrapped by an error about a graph that the format cannot represent. The text of the error has the
// reason and the remedy.
var ErrFormat = errors.New("graphfile: the format cannot hold the graph")

func unfitf(format string, args ...any) error {
	return &textio.Error{Msg: fmt.Sprintf(format, args...), Err: ErrFormat}
}

func (g *graph) edges() int64 {
	if g.directed {
		return g.a.NNZ()
	}
	return (g.a.NNZ() + g.selfLoops) / 2
}

// Bytes returns upper bounds of the memory of [Write], without the store, and of the size of the file without
// compression.
func Bytes(f *Format, s *shard.Store, o *WriteOptions) (memory, file int64) {
	g := graphOf(s, o)
	bytes := 4*bufferBytes + int64(g.nodes)
	if g.order != nil {
		held := min(g.a.NNZ(), g.heldEntries())
		bytes += 16*int64(g.nodes) + g.heldBytes()*held // bytes of the inverse of order, lengths, and ends
	}
	if f.held != nil {
		bytes += f.held(g)
	}
	if f.size != nil {
		return bytes, f.size(g)
	}
	return bytes, g.textBytes(f.markup)
}

// textBytes bounds the size of the graph as text. markup is the number of bytes of each edge and node besides ids and
// weights.
func (g *graph) textBytes(markup int) int64 {
	longest := len(strconv.Itoa(g.nodes)) // bytes of an id or a number
	var id []byte
	for row := range g.nodes {
		id = g.idTo(id[:0], row)
		longest = max(longest, len(id))
	}
	const head, weight = 1 << 10, 2 * 25 // bytes of the head, and of a weight at both ends of an edge
	lines := g.edges()
	text := 2 * (longest + 1)
	if markup > 0 {
		lines += int64(g.nodes)
		text = 6*text + markup // a character may become a reference of 6 bytes
	}
	if g.weighted {
		text += weight
	}
	bytes := head + lines*int64(text)
	for _, a := range g.attributes {
		bytes += int64(g.nodes+1)*int64(50+len(a.Title)) + 6*a.Bytes
	}
	return bytes
}

const bufferBytes = 256 << 10

func (g *graph) heldEntries() int64 {
	if g.memory > 0 {
		return max(1<<16, g.memory/2/g.heldBytes())
	}
	return 1 << 62
}

func (g *graph) heldBytes() int64 {
	if g.weighted {
		return 4 + 8
	}
	return 4
}

// begin prepares the progress and the order of rows for the given number of sweeps.
func (g *graph) begin(sweeps int) {
	g.done, g.shown, g.total = 0, 0, int64(sweeps)*g.a.NNZ()
	if g.order != nil {
		g.total *= 2
	}
	if g.order == nil || g.rows != nil {
		return
	}
	g.rows = make([]uint32, len(g.order))
	for row, position := range g.order {
		g.rows[position] = uint32(row)
	}
}

func (g *graph) id(dst []byte, position uint32) []byte {
	return g.idTo(dst, g.rowAt(position))
}

func (g *graph) rowAt(position uint32) int {
	if g.rows != nil {
		position = g.rows[position]
	}
	return int(position)
}

// entries holds the entries of one row by increasing column. row and columns are positions in the order of the file.
// The slices are valid during the call.
type entries struct {
	row int
	col []uint32
	val []float64 // nil: all are 1
}

func (e *entries) weight(i int) float64 {
	if e.val == nil {
		return 1
	}
	return e.val[i]
}

// sweep calls visit with the entries of all rows, in order.
func (g *graph) sweep(ctx context.Context, visit func(e *entries) error) error {
	if g.order != nil {
		return g.sweepOrdered(ctx, visit)
	}
	return sparse.EachRow(ctx, g.a, 1, func(_, row int, col []uint32, val []float64) error {
		err := visit(&entries{row, col, val})
		g.advance(len(col))
		return err
	})
}

// eachNode calls visit with the id of every node and a function that returns the value of attribute i. id is valid
// during the call.
func (g *graph) eachNode(ctx context.Context,
	visit func(id []byte, value func(i int) string) error) error {
	g.begin(1)
	var id []byte
	row := 0
	value := func(i int) string { return g.attributes[i].Value(row) }
	for position := range g.nodes {
		row = g.rowAt(uint32(position))
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		id = g.idTo(id[:0], row)
		if err := visit(id, value); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) eachEdge(ctx context.Context,
	visit func(source, target []byte, weight float64) error) (isolated int, err error) {
	g.begin(1)
	touched := make([]bool, g.nodes)
	var source, target []byte
	err = g.sweep(ctx, func(e *entries) error {
		source = g.id(source[:0], uint32(e.row))
		for i, c := range e.col {
			if !g.directed && int(c) < e.row {
				continue
			}
			touched[e.row] = true
			touched[c] = true
			target = g.id(target[:0], c)
			if err := visit(source, target, e.weight(i)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, isTouched := range touched {
		if !isTouched {
			isolated++
		}
	}
	return isolated, err
}

func (g *graph) advance(entries int) {
	step := min(1<<16, g.total/64)
	g.done += int64(entries)
	if g.progress != nil && (g.done >= g.shown+step || g.done == g.total) {
		g.shown = g.done
		g.progress("writing", g.done, g.total)
	}
}

type byColumn struct {
	col []uint32
	val []float64 // nil: all are 1
}

func (b byColumn) Len() int { return len(b.col) }

func (b byColumn) Less(i, j int) bool {
	return b.col[i] < b.col[j]
}

func (b byColumn) Swap(i, j int) {
	b.col[i], b.col[j] = b.col[j], b.col[i]
	b.val[i], b.val[j] = b.val[j], b.val[i]
}

func (b byColumn) part(lo, hi int64) byColumn {
	if b.val == nil {
		return byColumn{col: b.col[lo:hi]}
	}
	return byColumn{b.col[lo:hi], b.val[lo:hi]}
}

// sweepOrdered visits the rows in the order of the file. It sweeps once for the lengths of rows, and once for each
// group of rows that fits into memory.
func (g *graph) sweepOrdered(ctx context.Context,
	visit func(e *entries) error) error {
	length := make([]uint32, g.nodes)
	err := sparse.EachRow(ctx, g.a, 1, func(_, row int, col []uint32, _ []float64) error {
		length[g.order[row]] = uint32(len(col))
		return nil
	})
	if err != nil {
		return err
	}
	limit := g.heldEntries()
	for lo := 0; lo < g.nodes; {
		hi := lo
		room := int64(0)
		for hi < g.nodes && (hi == lo || room+int64(length[hi]) <= limit) {
			room += int64(length[hi])
			hi++
		}
		if int64(len(g.held.col)) < room {
			held := max(room, min(limit, g.a.NNZ()))
			g.held = byColumn{col: make([]uint32, held)}
			if g.weighted {
				g.held.val = make([]float64, held)
			}
		}
		if err := g.group(ctx, lo, hi, length[lo:hi], visit); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (g *graph) group(ctx context.Context, lo, hi int, length []uint32,
	visit func(e *entries) error) error {
	end := make([]int64, hi-lo+1) // where the next entry of each row goes
	for i, n := range length {
		end[i+1] = end[i] + int64(n)
	}
	held := g.held.part(0, end[hi-lo])
	err := sparse.EachRow(ctx, g.a, 1, func(_, i int, col []uint32, val []float64) error {
		position := int(g.order[i]) - lo
		if position < 0 || position >= hi-lo {
			return nil
		}
		row := held.part(end[position], end[position]+int64(len(col)))
		for k, c := range col {
			row.col[k] = g.order[c]
		}
		for k := range row.val {
			row.val[k] = 1
		}
		copy(row.val, val)
		end[position] += int64(len(col))
		g.advance(len(col))
		return nil
	})
	if err != nil {
		return err
	}
	e := &entries{}
	for i, n := range length {
		row := held.part(end[i]-int64(n), end[i])
		if g.weighted {
			sort.Sort(row)
		} else {
			slices.Sort(row.col)
		}
		e.row = lo + i
		e.col = row.col
		e.val = row.val
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := visit(e); err != nil {
			return err
		}
		g.advance(int(n))
	}
	return nil
}
