package ingest

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// view says which entries of the matrix the edges become.
type view int

const (
	undirected view = iota // (u, v) and (v, u) of every edge
	outgoing               // (u, v)
	incoming               // (v, u)
	mirrored               // (u, v) and (v, u), as two edges of a directed graph
)

// sorter turns the lines of all parts, whose codes are rows, into sorted rows.
//
// Rows are cut into buckets of about bucketEntries entries, which are counted
// first, so that every line knows its place: the entries of a bucket lie in
// the order of the input whatever the number of workers. A bucket is then
// sorted within a core's cache. If not all entries are to be in memory at
// once, the buckets are filled in several rounds over the lines. Lines in
// memory and lines in files serve equally: both are read span by span.
type sorter struct {
	ctx       context.Context
	workers   int
	rows      int
	view      view
	values    bool // entries have values
	keepLoops bool
	merge     merger
	limit     int64 // bytes for the entries of a round; 0: a quarter of them

	spans   [][]*part
	shift   uint // a cell is 1<<shift rows
	buckets []bucket
	column  uint // bits of a column
}

// bucket is a run of rows.
type bucket struct {
	lo, hi  int // rows
	entries int
	starts  []int // where each span's entries start within the bucket
}

const (
	bucketEntries = 1 << 16
	maxCells      = 1 << 16
	maxSpans      = 32
	maxBucketRows = 1 << 24
	roundEntries  = 1 << 22 // fewer are sorted in one round
)

// lineCount is what the lines came to, apart from entries.
type lineCount struct{ loops, zeros, unknown int64 }

// plan counts the entries of all buckets.
func (s *sorter) plan(parts []*part) (lineCount, error) {
	lines := 0
	for _, p := range parts {
		lines += len(p.code) / 2
	}
	for from := 0; from < len(parts); { // cut into spans of about as many lines
		n, to := 0, from
		for to < len(parts) && (n == 0 || n < lines/maxSpans) {
			n += len(parts[to].code) / 2
			to++
		}
		s.spans = append(s.spans, parts[from:to])
		from = to
	}
	s.column = uint(bits.Len(uint(max(s.rows-1, 1))))
	cells := min(maxCells, max(1, lines>>9))
	for (s.rows-1)>>s.shift >= cells || (s.rows-1)>>s.shift >= maxCells {
		s.shift++
	}
	for s.shift > 0 && 1<<s.shift > maxBucketRows {
		s.shift--
	}
	cells = (s.rows-1)>>s.shift + 1
	histogram := make([][]int, len(s.spans))
	counts := make([]lineCount, len(s.spans))
	err := sched.Run(s.ctx, s.workers, len(s.spans), func(_, i int) error {
		histogram[i] = make([]int, cells)
		counts[i] = s.histogram(histogram[i], s.spans[i])
		return nil
	})
	if err != nil {
		return lineCount{}, err
	}
	var total lineCount
	for _, c := range counts {
		total.loops += c.loops
		total.zeros += c.zeros
		total.unknown += c.unknown
	}
	s.cut(histogram, cells)
	return total, nil
}

// histogram counts the entries of a span by cell.
func (s *sorter) histogram(cell []int, span []*part) (count lineCount) {
	for _, p := range span {
		for i := 0; i < len(p.code); i += 2 {
			u, v := p.code[i], p.code[i+1]
			switch {
			case p.weight != nil && p.weight[i/2] == 0:
				count.zeros++
			case u == noRow || v == noRow:
				count.unknown++
			case u == v:
				count.loops++
				if s.keepLoops {
					cell[u>>s.shift]++
				}
			default:
				if s.view != incoming {
					cell[u>>s.shift]++
				}
				if s.view != outgoing {
					cell[v>>s.shift]++
				}
			}
		}
	}
	return count
}

// cut joins cells to buckets.
func (s *sorter) cut(histogram [][]int, cells int) {
	width := 1 << s.shift
	for c := range cells {
		entries := 0
		for _, h := range histogram {
			entries += h[c]
		}
		last := len(s.buckets) - 1
		if last < 0 || s.buckets[last].entries+entries > bucketEntries || s.buckets[last].hi-s.buckets[last].lo+width > maxBucketRows {
			s.buckets = append(s.buckets, bucket{lo: c * width, starts: make([]int, len(s.spans))})
			last++
		}
		b := &s.buckets[last]
		b.hi = min((c+1)*width, s.rows)
		b.entries += entries
		for i, h := range histogram {
			b.starts[i] += h[c] // lengths at first
		}
	}
	for k := range s.buckets {
		at := 0
		for i, n := range s.buckets[k].starts {
			s.buckets[k].starts[i] = at
			at += n
		}
	}
}

// entryBytes is the memory of an entry of a round.
func (s *sorter) entryBytes() int64 {
	if s.values {
		return 16
	}
	return 8
}

// rounds cuts the buckets into runs that are in memory together.
func (s *sorter) rounds() ([][]bucket, error) {
	total := 0
	for _, b := range s.buckets {
		total += b.entries
	}
	most := max(total/4+1, roundEntries)
	if s.limit > 0 {
		most = min(most, int(s.limit/s.entryBytes()))
	}
	var rounds [][]bucket
	for from := 0; from < len(s.buckets); {
		n, to := 0, from
		for to < len(s.buckets) && (to == from || n+s.buckets[to].entries <= most) {
			n += s.buckets[to].entries
			to++
		}
		if s.limit > 0 && n > most {
			return nil, &MemoryError{Need: int64(n) * s.entryBytes(), Limit: s.limit}
		}
		rounds = append(rounds, s.buckets[from:to])
		from = to
	}
	return rounds, nil
}

// sorted is a finished bucket: row lo+i has the columns col[ptr[i]:ptr[i+1]]
// and, if there are values, those of val.
type sorted struct {
	lo  int
	ptr []int
	col []uint32
	val []float64
	mergeCount
}

// each calls visit with every bucket in order, one at a time. What it is given
// is valid during the call.
func (s *sorter) each(visit func(b *sorted) error) error {
	rounds, err := s.rounds()
	if err != nil {
		return err
	}
	most := 0
	for _, round := range rounds {
		n := 0
		for _, b := range round {
			n += b.entries
		}
		most = max(most, n)
	}
	keys := make([]uint64, most)
	var values []float64
	if s.values {
		values = make([]float64, most)
	}
	scratch := make([]bucketScratch, sched.Workers(s.workers))
	for _, round := range rounds {
		starts := make([]int, len(round)+1)
		for k, b := range round {
			starts[k+1] = starts[k] + b.entries
		}
		err := sched.Run(s.ctx, s.workers, len(s.spans), func(_, i int) error {
			s.fill(keys, values, round, starts, i)
			return nil
		})
		if err != nil {
			return err
		}
		turns := newTurns()
		err = sched.Run(s.ctx, s.workers, len(round), func(worker, k int) error {
			lo, hi := starts[k], starts[k+1]
			var v []float64
			if s.values {
				v = values[lo:hi]
			}
			out, err := s.finish(&scratch[worker], round[k], keys[lo:hi], v)
			if err == nil {
				err = turns.do(k, func() error { return visit(out) })
			}
			if err != nil {
				turns.fail(k)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fill puts the entries of span i into the buckets of a round. A key is the
// row within the bucket, the column, and in the lowest bit whether the line
// named the column first.
func (s *sorter) fill(keys []uint64, values []float64, round []bucket, starts []int, i int) {
	first, last := uint32(round[0].lo), uint32(round[len(round)-1].hi-1)
	bucketOf := make([]uint32, int(last>>s.shift-first>>s.shift)+1)
	next := make([]int, len(round))
	for k, b := range round {
		next[k] = starts[k] + b.starts[i]
		for c := b.lo >> s.shift; c <= (b.hi-1)>>s.shift; c++ {
			bucketOf[c-int(first>>s.shift)] = uint32(k)
		}
	}
	f := filler{
		keys: keys, values: values, next: next, bucketOf: bucketOf, round: round,
		first: first, rows: last - first + 1, cell: first >> s.shift, shift: s.shift, column: s.column + 1,
	}
	reversed := uint32(0)
	if s.view == undirected {
		reversed = 1
	}
	for _, p := range s.spans[i] {
		for e := 0; e < len(p.code)/2; e++ {
			u, v := p.code[2*e], p.code[2*e+1]
			w := 1.0
			if p.weight != nil {
				w = p.weight[e]
			}
			switch {
			case w == 0, u == noRow, v == noRow:
			case u == v:
				if s.keepLoops {
					f.put(u, u, 0, w)
				}
			default:
				if s.view != incoming {
					f.put(u, v, 0, w)
				}
				if s.view != outgoing {
					f.put(v, u, reversed, w)
				}
			}
		}
	}
}

// filler puts entries into the buckets of a round.
type filler struct {
	keys     []uint64
	values   []float64 // nil without
	next     []int     // where the next entry of each bucket goes
	bucketOf []uint32  // by cell, from that of the first row
	round    []bucket
	first    uint32 // row of the round
	rows     uint32 // of the round
	cell     uint32 // of the first row
	shift    uint
	column   uint // bits of a column and the direction
}

// put adds an entry if its row is one of the round's.
func (f *filler) put(row, col, direction uint32, w float64) {
	if row-f.first >= f.rows {
		return
	}
	k := f.bucketOf[row>>f.shift-f.cell]
	at := f.next[k]
	f.next[k] = at + 1
	f.keys[at] = uint64(row-uint32(f.round[k].lo))<<f.column | uint64(col)<<1 | uint64(direction)
	if f.values != nil {
		f.values[at] = w
	}
}

// bucketScratch is what one worker needs to finish a bucket.
type bucketScratch struct {
	keys   []uint64
	values []float64
	out    sorted
}

// finish sorts a bucket and merges the lines of each entry.
func (s *sorter) finish(scratch *bucketScratch, b bucket, keys []uint64, values []float64) (*sorted, error) {
	scratch.keys = slices.Grow(scratch.keys[:0], len(keys))[:len(keys)]
	if s.values {
		scratch.values = slices.Grow(scratch.values[:0], len(keys))[:len(keys)]
	}
	high := s.column + 1 + uint(bits.Len(uint(b.hi-b.lo-1)))
	radixSort(keys, scratch.keys, values, scratch.values, 1, high)
	out := &scratch.out
	*out = sorted{lo: b.lo, ptr: out.ptr[:0], col: out.col[:0], val: out.val[:0]}
	err := s.merge.rows(out, b.hi-b.lo, s.column, keys, values)
	return out, err
}

// turns lets pieces of work that run beside each other act one after the
// other.
type turns struct {
	mu     sync.Mutex
	cond   *sync.Cond
	next   int
	failed int // the first piece that will never act
}

var errTurns = errors.New("ingest: an earlier piece failed")

func newTurns() *turns {
	t := &turns{failed: math.MaxInt}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// do calls act when all pieces before k have acted, or returns an error once
// one of them has failed.
func (t *turns) do(k int, act func() error) error {
	t.mu.Lock()
	for t.next != k && t.failed > k {
		t.cond.Wait()
	}
	failed := t.failed < k
	t.mu.Unlock()
	if failed {
		return errTurns
	}
	if err := act(); err != nil {
		return err
	}
	t.mu.Lock()
	t.next++
	t.cond.Broadcast()
	t.mu.Unlock()
	return nil
}

// fail says that piece k will not act.
func (t *turns) fail(k int) {
	t.mu.Lock()
	t.failed = min(t.failed, k)
	t.cond.Broadcast()
	t.mu.Unlock()
}
