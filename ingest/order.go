package ingest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// Ordering a graph of fewer than orderedRows rows takes longer than sweeps gain.
	orderedRows    = 1 << 16
	orderedEntries = 1 << 20

	countWorkers = 4 // most count arrays
)

// orderer is the third stage of a run. It finds rows in which sweeps are faster and the store is smaller.
type orderer struct {
	stage
	sorting *edgeSorter
}

// reorder replaces the ranks in all parts by rows in the order of the settings.
func (o *orderer) reorder() error {
	if o.c.Order.possible(o.numbering.nodes.Len(), o.lines.count) == DefaultOrder {
		o.c.Order = DefaultOrder
		return nil
	}
	system.Collect() // frees buffers of reading
	row, err := o.order()
	if err != nil {
		return err
	}
	if row == nil {
		system.Collect() // frees counts and samples
		return nil
	}
	o.numbering.order = row
	if o.c.Order == DegreeOrder {
		system.Collect() // frees counts
	} else {
		system.Release() // frees the graph of the order
	}
	return o.lines.mapCodes(func(code []uint32) {
		for j, c := range code {
			if c != noRow {
				code[j] = row[c]
			}
		}
	})
}

// possible returns the order that a graph with the given numbers of rows and lines may get. AutoOrder becomes
// DegreeOrder if the graph is large enough, and DefaultOrder otherwise. Other orders stay.
func (o Order) possible(rows, lines int) Order {
	switch {
	case o != AutoOrder:
		return o
	case rows >= orderedRows && 2*lines >= orderedEntries:
		return DegreeOrder
	}
	return DefaultOrder
}

// localityBytes is the memory of [LocalityOrder] for each node. It includes garbage of merged communities,
// but not the graph and the rows.
const localityBytes = 136

// order returns the row of each rank. It returns nil if rows in the order of the ranks are better.
func (o *orderer) order() (row []uint32, err error) {
	if o.c.Order == DegreeOrder || o.c.Order == AutoOrder {
		return o.degreeOrder()
	}
	rows := o.numbering.nodes.Len()
	progress := o.newProgress(2 * rows) // sorting and ordering
	a, err := o.pattern(progress)
	if err != nil {
		return nil, err
	}
	order, err := partition.Locality(o.t.ctx, a,
		func(nodes int) { progress.reach(rows + nodes) })
	row = make([]uint32, len(order))
	for i, old := range order {
		row[old] = uint32(i)
	}
	return row, err
}

// orderProgress reports the progress of an order in rows. It is safe for concurrent use.
type orderProgress struct {
	t          *task
	rows       int
	mu         sync.Mutex
	done, work int // in any unit
}

func (o *orderer) newProgress(work int) *orderProgress {
	p := &orderProgress{t: o.t, rows: o.numbering.nodes.Len(), work: work}
	p.reach(0)
	return p
}

func (p *orderProgress) add(work int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reach(p.done + work)
}

// reach reports that all work up to done is finished. It must not be called concurrently.
func (p *orderProgress) reach(done int) {
	p.done = done
	share := float64(done) / float64(max(1, p.work))
	p.t.progress(orderingStage, int64(share*float64(p.rows)), int64(p.rows))
}

// degreeOrder returns the row of each rank if rows are sorted by decreasing number of lines. It returns nil
// if the settings have AutoOrder and sweeps do not gain from this order.
func (o *orderer) degreeOrder() (row []uint32, err error) {
	if o.c.Memory > 0 && o.lines.held+o.m.otherBytes() > o.c.Memory {
		if err := o.m.makeRoom(o.c.Memory); err != nil { // no line stays in memory
			return nil, err
		}
		if need := o.lines.held + o.m.otherBytes(); need > o.c.Memory {
			return nil, o.orderError(need)
		}
	}
	passes := 1
	if o.c.Order == AutoOrder {
		passes = 2
	}
	progress := o.newProgress(passes * o.lines.count)
	row, err = o.mentions(progress)
	if err != nil {
		return nil, err
	}
	var stretches [][]uint32
	if o.c.Order == AutoOrder {
		if stretches, err = o.stretches(row, progress); err != nil {
			return nil, err
		}
	}
	rankByCount(row)
	if o.c.Order == AutoOrder && !o.placesPay(stretches, row) {
		o.c.Order = DefaultOrder
		return nil, nil
	}
	o.c.Order = DegreeOrder
	return row, nil
}

func (o *orderer) orderError(need int64) error {
	o.c.Order = DefaultOrder
	return &LimitError{Need: need, Limit: o.c.Memory,
		Unordered: o.m.otherBytes()+sort.LeastBytes <= o.c.Memory}
}

// placesPay reports whether sweeps gain if the node with rank i moves to row[i]. stretches are samples of the
// matrix in the order of the ranks.
func (o *orderer) placesPay(stretches [][]uint32, row []uint32) bool {
	placed := make([][]uint32, len(stretches))
	for i, codes := range stretches {
		placed[i] = make([]uint32, len(codes))
		for entry, c := range codes {
			placed[i][entry] = row[c]
		}
	}
	n := o.numbering.nodes.Len()
	return isOrderFaster(countGroups(stretches, n), countGroups(placed, n))
}

// mentions returns for each rank how often it is an end of a kept edge. Lines of one edge count several
// times.
func (o *orderer) mentions(progress *orderProgress) ([]uint32, error) {
	n := min(sched.Workers(o.t.workers), countWorkers)
	if o.c.Memory > 0 {
		n = min(n, 1+int(o.m.left()/int64(4*o.numbering.nodes.Len())))
	}
	counts := make([]struct {
		sync.Mutex
		mentions []uint32
	}, n)
	err := o.lines.eachPart(func(worker int, _ *part, code []uint32, weight []float64) error {
		count := &counts[worker%len(counts)]
		count.Lock()
		defer count.Unlock()
		if count.mentions == nil {
			count.mentions = system.Make[uint32](o.numbering.nodes.Len())
		}
		for e := 0; e < len(code); e += 2 {
			if isEdge(code, weight, e) {
				count.mentions[code[e]]++
				count.mentions[code[e+1]]++
			}
		}
		progress.add(len(code) / 2)
		return nil
	})
	sum := counts[0].mentions
	if sum == nil {
		sum = make([]uint32, o.numbering.nodes.Len())
	}
	for i := range counts[1:] {
		for c, n := range counts[1+i].mentions {
			sum[c] += n
		}
	}
	return sum, err
}

// isEdge reports whether code[e] and code[e+1] are a kept edge between two different nodes.
func isEdge(code []uint32, weight []float64, e int) bool {
	u, v := code[e], code[e+1]
	return u != noRow && v != noRow && u != v && (weight == nil || weight[e/2] != 0)
}

// stretches returns samples of consecutive entries of the matrix. Each sample has the columns of the entries
// in the rows of a span, see [spansOf]. count has the number of entries of each row.
func (o *orderer) stretches(count []uint32,
	progress *orderProgress) ([][]uint32, error) {
	spans := spansOf(count)
	stretch := uint32(stretchLength(len(count)))
	member := make([]uint64, (len(count)+63)/64)
	for _, s := range spans {
		for c := s.lo; c < s.hi; c++ {
			if count[c] <= stretch {
				member[c/64] |= 1 << (c % 64)
			}
		}
	}
	var (
		lists [stretchCount][]uint32
		next  [stretchCount]atomic.Int64 // the next place in each list
	)
	for i, s := range spans {
		size := 0
		for c := s.lo; c < s.hi; c++ {
			if count[c] <= stretch {
				size += int(count[c])
			}
		}
		lists[i] = make([]uint32, size)
	}
	err := o.lines.eachPart(func(_ int, _ *part, code []uint32, weight []float64) error {
		take := func(row, col uint32) {
			if member[row/64]>>(row%64)&1 != 0 {
				i := slices.IndexFunc(spans,
					func(s span) bool { return row < s.hi })
				lists[i][next[i].Add(1)-1] = col
			}
		}
		for e := 0; e < len(code); e += 2 {
			if isEdge(code, weight, e) {
				take(code[e], code[e+1])
				take(code[e+1], code[e])
			}
		}
		progress.add(len(code) / 2)
		return nil
	})
	return lists[:], err
}

type span struct{ lo, hi uint32 }

// spansOf returns the spans of rows to sample. They begin at equal shares of the entries, and each has about
// [stretchLength] entries. Rows with more entries than this do not count. count has the number of entries of
// each row.
func spansOf(count []uint32) []span {
	total := 0
	stretch := stretchLength(len(count))
	for _, n := range count {
		total += int(n)
	}
	spans := make([]span, stretchCount)
	c := 0
	sum := 0
	for i := range spans {
		for ; c < len(count) && sum < i*total/len(spans); c++ {
			sum += int(count[c])
		}
		spans[i].lo = uint32(c)
		for size := 0; c < len(count) && size < stretch; c++ {
			sum += int(count[c])
			if int(count[c]) <= stretch {
				size += int(count[c])
			}
		}
		spans[i].hi = uint32(c)
	}
	return spans
}

const leastPattern = sort.LeastBytes / 4

// pattern returns the undirected graph of the edges without weights and self loops.
func (o *orderer) pattern(progress *orderProgress) (*sparse.CSR, error) {
	s := o.sorting.sorter(sort.Undirected)
	s.Values = false
	s.KeepLoops = false
	s.Merge = sort.Merger{Policy: sort.Max}
	e := o.m.extent()
	rows := int(e.nodes)
	graph := e.graph()
	if need := e.numberedBytes() + graph; o.c.Memory > 0 && need+leastPattern > o.c.Memory {
		return nil, o.orderError(need + sort.LeastBytes)
	}
	if _, err := o.sorting.planSort(s, graph); err != nil {
		return nil, err
	}
	ptr := make([]int64, 1, rows+1)
	col := make([]uint32, 0, s.Entries())
	err := s.Each(func(b *sort.Rows) error {
		for _, end := range b.Ptr[1:] {
			ptr = append(ptr, int64(len(col)+end))
		}
		col = append(col, b.Col...)
		progress.reach(len(ptr) - 1)
		return nil
	})
	if err != nil {
		return nil, o.sorting.explain(err)
	}
	system.Collect() // frees buffers of the sorter
	a, err := sparse.NewCSR(rows, rows, ptr, col, nil)
	if err != nil {
		return nil, fmt.Errorf("ingest: order: %w", err)
	}
	return a, nil
}
