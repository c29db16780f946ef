package ingest

import (
	"math"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/spec"
)

// outlay is what the parts of a run on a guessed graph take, in bytes; see
// run.beside and sorter.
type outlay struct {
	n, lines, entries float64 // entries of one direction
	workers           float64
	each, values      float64 // of an entry: its key, and its value

	parts float64 // the lines as they are read
	keys  float64 // the entries as they are sorted
	rows  float64 // what is known of each row
	room  float64 // what is there throughout

	dict, ids, known float64 // ids while they are read, numbered, and then

	scratch float64 // of the largest buckets, with what is known of all
	buckets float64 // of those at hand where all fits

	order          Order
	ordering, rank float64 // while it is found, and once it is there
	pattern, graph float64 // while it is sorted beside its entries, and ordered
}

// outlay adds up the parts.
func (g *guess) outlay() *outlay {
	n, lines := g.nodes(), g.lines
	o := &outlay{n: n, lines: lines, entries: 2 * lines, each: 8, rows: float64(rowBytesOf(false)) * n}
	if g.c.Directed {
		o.entries = lines // of each direction
	}
	o.workers = min(float64(sched.Workers(g.c.Workers)), math.Ceil(max(g.chunks, n/sort.MaxBucketRows, 1)))
	line := 8.0
	o.each = float64(sort.EntryBytes(int(n), false))
	if g.weighted || g.c.Duplicates == SumDuplicates {
		o.values, o.rows = 8, float64(rowBytesOf(true))*n
	}
	if g.weighted {
		line += 8
	}
	o.parts = lines * line
	o.keys = o.entries * (o.each + o.values)
	o.room = float64(g.c.roomBytes(int(o.workers)) + g.reader)
	o.addIDs(g)
	o.scratch, o.buckets = o.entriesOf(g).Scratch()
	o.addOrder(g)
	return o
}

// addIDs adds what names the nodes.
func (o *outlay) addIDs(g *guess) {
	n := o.n
	switch {
	case g.hasDict():
		text := g.idBytes()
		o.dict = float64(ids.DictBytes(int64(n), int64(n*text)))
		o.ids = o.dict + float64(ids.NumberingBytes(int64(n), int64(n*text)))
		o.known = float64(ids.KnownBytes(int64(n), int64(n*text)))
	case g.dense:
		o.rows += float64(g.top) * 3 / 16
	default:
		o.rows += float64(g.top) * 3 / 16
		o.dict, o.ids, o.known = n*4, n*4, n*4
	}
}

// entriesOf returns what the sorter's bounds are about.
func (o *outlay) entriesOf(g *guess) sort.Guess {
	return sort.Guess{
		Rows: o.n, Entries: o.entries, Values: o.values > 0, Memory: g.c.Memory, Workers: int(o.workers), Hubs: g.hubs(2 * int(o.workers)),
	}
}

// addOrder adds what the order takes.
func (o *outlay) addOrder(g *guess) {
	n, looking := o.n, float64(g.c.Order.lookingBytes())
	switch g.c.Order {
	case BreadthFirstOrder, CuthillMcKeeOrder:
		o.pattern, o.graph = 8*o.lines+8*n, 8*o.lines+8*n
	case LocalityOrder:
		o.pattern, o.graph = 8*o.lines+8*n, 24*o.lines+8*n
	}
	switch o.order = g.c.Order.possible(int(n), int(o.lines)); o.order {
	case DefaultOrder:
	case DegreeOrder:
		o.rank = 8 * n
		if late := float64(g.top) + 1; g.numeric && late <= float64(lateIDs(int(n), g.c.Memory)) {
			o.rank += 4 * late
		}
		o.ordering = o.rank + 4*n*(min(o.workers, countWorkers)-1)
		if g.c.Order == AutoOrder {
			o.ordering += float64(sampleBytes(int(n)))
		}
		o.scratch += o.rank
	default:
		o.rank = 8*n + sort.LeastBytes // with pieces of the graph's memory that nothing fits into
		o.ordering = looking*n + o.graph
		o.scratch += looking * n
	}
}

// fixed is what does not shrink with the lines that are in memory.
func (o *outlay) fixed() float64 { return o.room + o.rows + o.known + o.scratch }

// together lists the most that is there at a time if all fits: while lines are read,
// numbered, ordered, and sorted.
func (o *outlay) together(window float64) []spec.Bytes {
	item := func(what string, bytes float64) spec.Bytes { return spec.Bytes{What: what, Bytes: int64(bytes)} }
	lines, buckets := item("lines", o.parts), o.workers*sort.BucketBytes
	most := []spec.Bytes{lines, item("ids", o.dict), item("readers", o.room+window)}
	for _, list := range [][]spec.Bytes{
		{lines, item("ids", o.ids), item("buckets", buckets)},
		{lines, item("ids", o.known), item("an order", o.ordering), item("buckets", buckets)},
		// A dictionary that is done with may still be there.
		{lines, item("ids", o.ids), item("entries", o.keys), item("rows", o.rows+o.rank), item("buckets", o.buckets+o.room)},
	} {
		most = spec.Larger(most, list)
	}
	if o.pattern > 0 {
		entries := item("entries without values", 2*o.lines*o.each+o.pattern)
		most = spec.Larger(most, []spec.Bytes{lines, item("ids", o.known), entries, item("buckets", o.buckets+o.room)})
	}
	return most
}

// plan bounds what the guessed graph takes within the limit.
func (g *guess) plan() (*Plan, error) {
	o := g.outlay()
	fixed, parts, keys := o.fixed(), o.parts, o.keys
	p := &Plan{Lines: int64(o.lines), Nodes: int64(o.n), Entries: int64(o.entries), Passes: 1, Memory: o.together(g.window)}
	graph := o.graph
	if o.pattern > 0 {
		graph += min(keys, sort.LeastBytes)
	}
	limit := float64(g.c.Memory)
	if limit == 0 {
		limit = math.Inf(1)
	}
	if err := g.least(o, graph, limit); err != nil {
		return nil, err
	}
	if float64(spec.Sum(p.Memory)) > limit {
		p.Memory = []spec.Bytes{{What: "lines, ids and entries, others on disk", Bytes: g.c.Memory}}
	}
	// With a limit room is made for buckets that are gathered, and looked at.
	over := parts+max(max(keys+o.pattern, graph)+fixed, o.room+o.ids+g.window) > limit
	span := sort.MostSpan(keys, limit)
	if left := keys - max(sort.LeastBytes, limit-fixed-span); over && left > 0 {
		p.Temp = int64(left / (o.each + o.values) * (o.values + o.entriesOf(g).KeyBytes()))
		p.Passes = 2
	}
	ordered := o.order != DefaultOrder
	if parts+max(fixed, o.room+o.ids) > spillAbove*limit && (over || ordered) || over && parts+max(fixed+keys, o.room+o.ids) > limit {
		p.Temp += int64(g.temporary(o.n))
	}
	disk := storeBytes(o.n, o.entries, g.weighted, g.c.Directed, ordered)
	if !g.numeric {
		disk += o.n * (g.idBytes() + 6)
	}
	p.Disk = int64(disk)
	return p, nil
}

// least returns a [*MemoryError] if the parts that do not shrink exceed the limit.
func (g *guess) least(o *outlay, graph, limit float64) error {
	span := sort.LeastSpan(o.keys)
	need := max(o.fixed()+graph+span, o.room+o.ids+g.window)
	if need <= limit {
		return nil
	}
	e := &MemoryError{Need: int64(need), Limit: g.c.Memory}
	if g.c.Order != DefaultOrder {
		g.c.Order = DefaultOrder
		_, err := g.plan()
		e.Unordered = err == nil
	}
	return e
}

// temporary guesses the bytes of the temporary file with all lines in it.
func (g *guess) temporary(n float64) float64 {
	bits := float64(2 * sort.CodeWidth(uint32(min(n, math.MaxUint32))))
	switch {
	case !g.numeric:
		bits = 64
	case g.hasDict(): // which the numbers go to once all are known
		bits = 64 + float64(2*sort.CodeWidth(g.top))
	case g.matrix == 0:
		bits = float64(2 * sort.CodeWidth(g.top))
	}
	if g.weighted {
		bits += 64
	}
	return g.lines * (bits + 1) / 8
}

// storeBytes guesses the bytes of a store without the text of its ids: the gaps
// between the columns of a row have the size of n over its length, and the code
// adds a few bits. Entries are those of one direction.
func storeBytes(n, entries float64, weighted, directed, ordered bool) float64 {
	const more = 3.5 // bits
	gap := math.Log2(max(2, n*n/max(1, entries))) + more
	size := entries*gap/8 + 2*n
	if weighted {
		size += 8 * entries
	}
	if directed {
		size *= 2
	}
	if weighted {
		size += 8 * n
	}
	if ordered {
		size += 4 * n
	}
	return size
}
