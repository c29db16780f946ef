package ingest

import (
	"context"
	"math/bits"
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
	load      func(worker int, p *part) (code []uint32, weight []float64, err error)
	rows      int
	view      view
	values    bool // entries have values
	keepLoops bool
	late      *ranks // rows are numbered at last; until then they are ids
	merge     merger
	limit     int64 // bytes for the entries of a round; 0: as many as the lines take

	// progress is told which part of the work is done, between 0 and 1, by one
	// goroutine at a time; nil: nobody.
	progress func(part float64)
	mu       sync.Mutex // guards progress

	spans   [][]*part
	lines   int
	shift   uint // a cell is 1<<shift rows
	buckets []bucket
	most    int  // rows of a bucket
	column  uint // bits of a column
	narrow  bool // the key of an entry takes 4 bytes, else 8
}

// key is the row of an entry within its bucket, the column, and in the lowest
// bit whether the line named the column first.
type key interface{ uint32 | uint64 }

// bucket is a run of rows.
type bucket struct {
	lo, hi  int // rows
	entries int
	starts  []int // where each span's entries start within the bucket
}

const (
	bucketEntries = 1 << 16
	maxCells      = 1 << 16
	cellLines     = 1 << 11 // fewer cells keep the way from a row to its bucket in the first cache
	maxSpans      = 32
	maxBucketRows = 1 << 24
	roundEntries  = 1 << 22 // fewer are sorted in one round
)

// narrowBuckets is how many buckets are accepted to have narrow keys. Tests
// lower it.
var narrowBuckets = 4096

// lineCount is what the lines came to, apart from entries.
type lineCount struct{ loops, zeros, unknown int64 }

// plan counts the entries of all buckets.
func (s *sorter) plan(parts []*part) (lineCount, error) {
	for _, p := range parts {
		s.lines += p.edges
	}
	for from := 0; from < len(parts); { // cut into spans of about as many lines
		n, to := 0, from
		for to < len(parts) && (n == 0 || n < s.lines/maxSpans) {
			n += parts[to].edges
			to++
		}
		s.spans = append(s.spans, parts[from:to])
		from = to
	}
	s.column = uint(bits.Len(uint(max(s.rows-1, 1))))
	s.most = maxBucketRows
	if s.column < 31 {
		rows := 1 << (31 - s.column)
		if s.narrow = s.rows <= narrowBuckets*rows; s.narrow {
			s.most = min(s.most, rows)
		}
	}
	cells := min(maxCells, max(1, s.lines/cellLines))
	for (s.rows-1)>>s.shift >= cells || (s.rows-1)>>s.shift >= maxCells {
		s.shift++
	}
	for s.shift > 0 && 1<<s.shift > s.most {
		s.shift--
	}
	cells = (s.rows-1)>>s.shift + 1
	told := s.stage(0, planShare, s.lines)
	histogram := make([][]int, len(s.spans))
	counts := make([]lineCount, len(s.spans))
	err := sched.Run(s.ctx, s.workers, len(s.spans), func(worker, i int) error {
		histogram[i] = make([]int, cells)
		for _, p := range s.spans[i] {
			code, weight, err := s.load(worker, p)
			if err != nil {
				return err
			}
			s.histogram(histogram[i], &counts[i], code, weight)
			told(p.edges)
		}
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

// Shares of the work: to count the entries first, and of each round to read the
// lines, which leaves as much to the sorting and writing.
const (
	planShare = 0.1
	fillShare = 0.5
)

// stage returns what to call with every piece of a stage of the work, the one
// from a part of it to another, which is so many pieces long.
func (s *sorter) stage(from, to float64, length int) func(piece int) {
	if s.progress == nil || length == 0 {
		return func(int) {}
	}
	done := 0
	return func(piece int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		done += piece
		s.progress(from + (to-from)*float64(done)/float64(length))
	}
}

// histogram counts the entries of lines by cell.
func (s *sorter) histogram(cell []int, count *lineCount, code []uint32, weight []float64) {
	for i := 0; i < len(code); i += 2 {
		u, v := code[i], code[i+1]
		switch {
		case weight != nil && weight[i/2] == 0:
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

// cut joins cells to buckets.
func (s *sorter) cut(histogram [][]int, cells int) {
	width := 1 << s.shift
	for c := range cells {
		entries := 0
		for _, h := range histogram {
			entries += h[c]
		}
		last := len(s.buckets) - 1
		if last < 0 || s.buckets[last].entries+entries > bucketEntries || s.buckets[last].hi-s.buckets[last].lo+width > s.most {
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
