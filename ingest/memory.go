package ingest

import (
	"slices"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
)

// extent is how large a graph is, and what is in memory of it: [Run] counts it as it
// goes on, [Estimate] bounds it by samples. Its methods list what each step of a run
// holds. By these lists a run decides what goes to disk and when its limit is met, and
// an estimate prints the longest.
type extent struct {
	c       *Config
	workers int
	values  bool // entries have values

	lines   int64 // of edges
	held    int64 // bytes of the parts in memory
	readers int64 // bytes of open inputs, what workers have for them apart

	nodes  int64
	bits   int64 // a number above every id of a bitmap; 0: there is none
	dict   int64 // bytes of the dictionary while ids are read
	text   int64 // bytes of the ids in the dictionary
	known  int64 // bytes of the ids once they have rows
	codes  int64 // a number above every code of a line that is no row yet; 0: all are rows
	order  Order // the order of rows that the graph gets
	placed bool  // the graph has its order already
}

const (
	workerBytes = 3 << 20 // a chunk of text, what is inflated ahead of it and what it becomes, a record and its codes; or a bucket twice and its rows
	rowBytes    = 2       // of each row: the degree, a byte in most, and whether it is isolated
	heavyBytes  = 10      // with weights: while degrees become numbers they are there in both forms
	pageBytes   = 2 << 20 // what the store has under way
	packerBytes = 5 << 20 // of each worker, with which zstd packs a frame
)

// extent returns what is known of the graph so far.
func (r *run) extent() *extent {
	e := &extent{c: &r.c, workers: r.workers, values: r.hasValues(), lines: int64(r.lines), held: r.held}
	for _, in := range r.inputs {
		e.readers += unusualWindow(in)
	}
	if r.matrix == nil && !r.useDict.Load() {
		e.bits = r.ids.Limit()
	}
	switch {
	case r.nodes != nil:
		e.nodes, e.known, e.placed = int64(r.nodes.Len()), spec.Sum(r.nodes.Memory()), r.placed != nil
	case r.useDict.Load():
		e.nodes = int64(r.dict.Len())
		e.dict, e.text = r.dict.Bytes(), r.dict.TextBytes()
		e.known = ids.KnownBytes(e.nodes, e.text)
	default:
		e.nodes = int64(r.top) + 1
	}
	if r.late != nil {
		e.codes = int64(r.late.Limit())
	} else if e.placed {
		e.codes = int64(len(r.placed.row))
	}
	e.order = r.c.Order.possible(int(e.nodes), r.lines)
	return e
}

// room lists what workers and readers have throughout.
func (e *extent) room() []spec.Bytes {
	each := int64(workerBytes)
	if e.c.Codec == shard.Zstd {
		each += packerBytes
	}
	readers := e.readers
	for _, s := range e.c.Sources {
		readers += s.Bytes
	}
	return []spec.Bytes{{What: "workers", Bytes: int64(e.workers)*each + pageBytes}, {What: "readers", Bytes: readers}}
}

// naming lists what names the nodes while lines are read, and at the end numbers them.
func (e *extent) naming() []spec.Bytes {
	if e.dict == 0 {
		return []spec.Bytes{{What: "ids", Bytes: e.bits / 8}}
	}
	return []spec.Bytes{{What: "ids", Bytes: e.dict + ids.NumberingBytes(e.nodes, e.text)}}
}

// reading lists what is held while lines are read and ids numbered.
func (e *extent) reading() []spec.Bytes {
	return slices.Concat([]spec.Bytes{{What: "lines", Bytes: e.held}}, e.room(), e.naming())
}

// beside lists what is held beside lines and entries once ids have rows.
func (e *extent) beside() []spec.Bytes {
	const (
		count = 4 // of each code: its lines, then the row
		rank  = 3 // sixteenths of a byte of each id of a bitmap: its bit, and how many come before
	)
	row := int64(rowBytes)
	if e.values {
		row = heavyBytes
	}
	list := append(e.room(), spec.Bytes{What: "ids", Bytes: e.known}, spec.Bytes{What: "rows", Bytes: e.nodes*row + e.bits*rank/16})
	order := int64(0)
	if e.order != DefaultOrder {
		order = count * max(e.nodes, e.codes)
	}
	if !e.placed {
		order += e.nodes * e.order.lookingBytes()
	}
	return append(list, spec.Bytes{What: "order", Bytes: order})
}

// graph returns the bytes of the graph that an order looks at, while it is made or
// looked at.
func (e *extent) graph() int64 {
	each := int64(4)
	switch e.order {
	case DefaultOrder, DegreeOrder:
		return 0
	case LocalityOrder:
		each += 8 // see there
	}
	return 2*e.lines*each + 8*(e.nodes+1)
}

// looking returns what an order that looks at the graph needs without a line in memory,
// and whether the limit is too low for it.
func (e *extent) looking() (need int64, over bool) {
	need = spec.Sum(e.beside()) + e.graph()
	const least = sort.LeastBytes / 4 // with less, sorting is refused
	return need + sort.LeastBytes, e.graph() > 0 && e.c.Memory > 0 && need+least > e.c.Memory
}

// ordering lists what is held while an order is found: of degrees the counts of each
// line, or the graph, with what it is sorted in.
func (e *extent) ordering(s *sort.Sorter) []spec.Bytes {
	list := append([]spec.Bytes{{What: "lines", Bytes: e.held}}, e.beside()...)
	switch {
	case e.order == DefaultOrder:
		return list
	case e.order == DegreeOrder:
		each := max(e.nodes, e.codes)
		list = append(list, spec.Bytes{What: "counts of each worker", Bytes: 4 * each * int64(min(e.workers, countWorkers)-1), Optional: true})
		if e.c.Order == AutoOrder {
			list = append(list, spec.Bytes{What: "samples of an order", Bytes: sampleBytes(int(e.nodes)), Optional: true})
		}
		return list
	}
	return slices.Concat(list, []spec.Bytes{{What: "graph to be ordered", Bytes: e.graph()}}, s.Memory())
}

// sorting lists what is held while all entries are sorted together.
func (e *extent) sorting(s *sort.Sorter) []spec.Bytes {
	return slices.Concat([]spec.Bytes{{What: "lines", Bytes: e.held}}, e.beside(), s.Memory())
}

// Shares of the memory that lines may take: above the first, unless everything
// fits, they go to disk until they are below the second, which leaves the rest to
// the sorting.
const (
	spillAbove = 0.6
	spillBelow = 0.25
)

// fits reports whether the lines that are held may stay in memory: they leave a share
// of it, or all that follows would fit if nothing more were read.
func (e *extent) fits() bool {
	reading := spec.Sum(e.reading())
	if e.c.Memory == 0 || reading <= int64(spillAbove*float64(e.c.Memory)) {
		return true
	}
	if e.order != DefaultOrder {
		return false // the order takes more
	}
	entries := 2 * e.lines
	if e.c.Directed {
		entries = e.lines // of each direction
	}
	// Some lines may make room for what rows take.
	sorting := e.held + spec.Sum(e.room()) + e.known + entries*sort.EntryBytes(int(e.nodes), e.values)
	return max(reading, sorting) <= e.c.Memory
}
