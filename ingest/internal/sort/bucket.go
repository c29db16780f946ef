package sort

import (
	"context"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// View states which entries of the matrix the edges become.
type View int

const (
	Undirected   View = iota // (u, v) and (v, u) of every edge
	Outgoing                 // (u, v)
	Incoming                 // (v, u)
	Mirrored                 // (u, v) and (v, u), as two edges of a directed graph
	Skew                     // (u, v), and (v, u) with the negative weight
	SkewIncoming             // the transpose of Skew
)

// Sorter turns lines into sorted rows of the matrix. A line is the pair of the rows of the ends of an edge,
// perhaps with a value. It makes at most two entries, see [View]. Lines come in parts, numbered from 0.
//
// The sorter divides rows into buckets of about bucketEntries entries, and the sequence of parts into spans.
// It first counts the entries of each span in each bucket, so that every line knows the places of its
// entries. Hence the entries of a bucket are in the order of the input for any number of workers. The sorter
// then reads the lines again, puts their entries into the buckets, and sorts each bucket within the cache of
// a core.
//
// If the entries do not fit into memory, the sorter divides the spans into fillings. It writes the buckets of
// all fillings except the last to the temporary file, and then gathers the entries of each bucket from all
// fillings.
type Sorter struct {
	Context   context.Context
	Workers   int
	Load      func(worker, index int) (code []uint32, weight []float64, err error) // returns the lines of a part, valid until the worker's next call
	Temporary func(bytes int64) (*Spill, error)                                    // returns a file with room for the given bytes
	Rows      int
	View      View
	Values    bool
	KeepLoops bool
	Merge     Merger
	Limit     int64            // bytes of the entries in memory; 0: no limit
	Forget    func(lo, hi int) // called with parts whose lines are not read again; may be nil

	// Progress is called with the finished share of the work, from 0 to 1, by one goroutine at a time; may be
	// nil.
	Progress func(done float64)
	mu       sync.Mutex // guards Progress

	wide      bool  // forbids narrow keys; tests compare both
	edges     []int // lines of each part
	spans     []span
	fillings  []filling
	lines     int
	cells     cells
	buckets   []bucket
	bucketOf  []uint16
	largest   []int   // decreasing numbers of entries of the largest buckets in memory that are not sorted in runs
	inRuns    []int64 // decreasing bytes that the largest buckets sorted in runs take, one for each worker
	joined    []int64 // decreasing bytes of the merged entries of the largest buckets in memory that are sorted in runs
	runLength int     // entries of a run
	form      entryForm
}

// key is an entry: the row within its bucket, the column, and a lowest bit that is set if the line names the
// column first.
type key interface{ uint32 | uint64 }

// span holds the parts lo ≤ p < hi.
type span struct{ lo, hi int }

// bucket holds the entries of the rows lo ≤ r < hi. If inRuns is set, it is too large for the memory of a
// worker and is sorted in runs, see [sortedRun].
type bucket struct {
	lo, hi int
	inRuns bool
	starts []int // the start of each span within the bucket; then the number of entries
}

func (b bucket) entries() int { return b.starts[len(b.starts)-1] }

const (
	bucketEntries  = 1 << 16
	maxBuckets     = 1 << 13 // a cache cannot keep track of more buckets; larger buckets are better
	maxCells       = 1 << 16
	cellLines      = 1 << 11 // with fewer cells the map from rows to buckets stays in the first cache
	leastSpans     = 32
	maxSpans       = 256
	spansInFilling = 8       // approximate; the workers share the spans
	MaxBucketRows  = 1 << 17 // the ends of rows take a part of bucketBytes
	countShare     = 8       // counts take at most limit/countShare
)

// NoRow is the row of an id that is not a node. It is larger than every row.
const NoRow = 1<<32 - 1

// LineCount counts lines without an entry.
type LineCount struct{ Loops, Zeros, Unknown int64 }

// Plan counts the entries of every bucket. edges has the number of lines of each part.
func (s *Sorter) Plan(edges []int) (LineCount, error) {
	s.edges = edges
	for _, n := range edges {
		s.lines += n
	}
	s.form = newEntryForm(s.Rows, s.Values, s.wide)
	// Spans have about equal numbers of lines.
	length := s.lines / leastSpans
	if s.Limit > 0 {
		length = min(length, int(s.Limit/(2*spansInFilling*s.form.bytes())))
	}
	length = max(length, s.lines/maxSpans)
	for lo := 0; lo < len(s.edges); {
		n := 0
		hi := lo
		for hi < len(s.edges) && (n == 0 || n < length) {
			n += s.edges[hi]
			hi++
		}
		s.spans = append(s.spans, span{lo, hi})
		lo = hi
	}
	cells := s.cutCells()
	counter := &cellCounter{s.cells, s.View, s.KeepLoops}
	told := s.stage(0, planShare, s.lines)
	histogram := make([][]uint32, len(s.spans))
	counts := make([]LineCount, len(s.spans))
	err := sched.Run(s.Context, s.Workers, len(s.spans), func(worker, i int) error {
		histogram[i] = make([]uint32, cells)
		for p := s.spans[i].lo; p < s.spans[i].hi; p++ {
			code, weight, err := s.Load(worker, p)
			if err != nil {
				return err
			}
			counter.add(histogram[i], &counts[i], code, weight)
			told(s.edges[p])
		}
		return nil
	})
	if err != nil {
		return LineCount{}, err
	}
	var total LineCount
	for _, c := range counts {
		total.Loops += c.Loops
		total.Zeros += c.Zeros
		total.Unknown += c.Unknown
	}
	s.cutBuckets(histogram, cells)
	return total, nil
}

// cutCells determines the cells, and returns a number above all of them. The first rows have a cell each,
// because orders and many programs put hubs there.
func (s *Sorter) cutCells() int {
	cells := min(maxCells, max(1, s.lines/cellLines))
	if s.Limit > 0 {
		cells = min(cells, max(1, int(s.Limit/(8*countShare))/max(1, len(s.spans))))
	}
	c := &s.cells
	last := max(s.Rows-1, 0) // the last row; without rows, a cell that stays empty
	for last>>c.shift >= cells {
		c.shift++
	}
	for c.shift > 0 && 1<<c.shift > s.form.bucketRows {
		c.shift--
	}
	c.head = uint32(min(cells, s.Rows))
	return c.cell(uint32(last)) + 1
}

// Shares of the work after the entries have been counted, and after all entries are in their buckets.
const (
	planShare = 0.1
	fillShare = 0.5
)

// stage returns a function that reports progress from begin to end. The caller must call it with the size of
// every finished piece of work. length is the sum of the sizes.
func (s *Sorter) stage(begin, end float64, length int) func(piece int) {
	if s.Progress == nil || length == 0 {
		return func(int) {}
	}
	done := 0
	return func(piece int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		done += piece
		s.Progress(begin + (end-begin)*float64(done)/float64(length))
	}
}

func (s *Sorter) cutBuckets(histogram [][]uint32, cells int) {
	total := 0
	sums := make([]int, cells)
	for _, h := range histogram {
		for c, n := range h {
			sums[c] += int(n)
			total += int(n)
		}
	}
	usual := max(bucketEntries, total/maxBuckets) // largest number of entries, unless one row has more
	if s.Limit > 0 {
		usual = max(min(usual,
			int(shareOf(s.Limit, s.Workers)/s.form.finishBytes())),
			total/(2*maxBuckets))
	}
	s.bucketOf = make([]uint16, cells)
	entries := 0 // entries in the last bucket
	for row, next := 0, 0; row < s.Rows; row = next {
		next = row + 1
		if row >= int(s.cells.head) {
			next = min((row>>s.cells.shift+1)<<s.cells.shift, s.Rows)
		}
		c := s.cells.cell(uint32(row))
		last := len(s.buckets) - 1
		if last < 0 || entries+sums[c] > usual ||
			next-s.buckets[last].lo > s.form.bucketRows {
			s.buckets = append(s.buckets,
				bucket{lo: row, starts: make([]int, len(s.spans)+1)})
			last++
			entries = 0
		}
		b := &s.buckets[last]
		b.hi = next
		entries += sums[c]
		for i, h := range histogram {
			b.starts[i+1] += int(h[c]) // summed up below
		}
		s.bucketOf[c] = uint16(last)
	}
	for _, b := range s.buckets {
		for i := range s.spans {
			b.starts[i+1] += b.starts[i]
		}
	}
	s.cutScratch()
}
