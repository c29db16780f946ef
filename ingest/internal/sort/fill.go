package sort

import (
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// entries holds the entries of the current filling, bucket by bucket in the order of the input.
type entries[K key] struct {
	s      *Sorter
	keys   []K
	values []float64
	starts []int            // start of each bucket, and the end
	runs   [][]sortedRun[K] // runs on disk of each bucket that is sorted in runs
	left   []int64          // number of lines dropped from each bucket
	disk   *Spill
	work   []finisher[K] // buffers of each worker
}

// fill puts the entries of a filling into their buckets. After each part it calls read with the number of
// lines of the part.
func (e *entries[K]) fill(b *filling, read func(lines int)) error {
	e.starts = append(e.starts[:0], 0)
	for _, bucket := range e.s.buckets {
		e.starts = append(e.starts,
			e.starts[len(e.starts)-1]+bucket.starts[b.hi]-bucket.starts[b.lo])
	}
	return sched.Run(e.s.Context, e.s.Workers, b.hi-b.lo, func(worker, i int) error {
		f := &e.work[worker].filler
		f.begin(e, b.lo, b.lo+i)
		for p := e.s.spans[b.lo+i].lo; p < e.s.spans[b.lo+i].hi; p++ {
			code, weight, err := e.s.Load(worker, p)
			if err != nil {
				return err
			}
			if e.s.Values {
				f.addWeighted(e.s, code, weight)
			} else {
				f.addPlain(e.s, code, weight)
			}
			read(e.s.edges[p])
		}
		return nil
	})
}

// filler puts the entries of lines into their buckets.
type filler[K key] struct {
	keys     []K
	values   []float64 // nil: no values
	next     []slot    // next slot of each bucket
	bucketOf []uint16
	head     uint32
	shift    uint
	column   uint // bits of a column and of the direction
}

// slot is the place of the next entry of a bucket, and the first row of the bucket.
type slot struct {
	next int
	lo   uint32
}

// begin prepares f for the lines of a span. first is the first span of the filling.
func (f *filler[K]) begin(e *entries[K], first, span int) {
	f.keys, f.values, f.bucketOf, f.head, f.shift, f.column = e.keys, e.values,
		e.s.bucketOf, e.s.cells.head, e.s.cells.shift, e.s.form.column+1
	f.next = f.next[:0]
	for k, b := range e.s.buckets {
		f.next = append(f.next,
			slot{e.starts[k] + b.starts[span] - b.starts[first], uint32(b.lo)})
	}
}

// backward returns the lowest bit of an entry whose line names the column first. Only undirected edges make
// entries in both orders.
func (v View) backward() uint32 {
	if v == Undirected {
		return 1
	}
	return 0
}

// addPlain adds the entries of lines without values. Lines of weight 0 make no entries.
func (f *filler[K]) addPlain(s *Sorter, code []uint32, weight []float64) {
	if s.View == Undirected && weight == nil && !s.KeepLoops {
		f.both(code)
		return
	}
	keys := f.keys
	next := f.next
	bucketOf := f.bucketOf
	head := f.head
	shift := f.shift
	column := f.column & 63
	ahead := s.View != Incoming
	back := s.View != Outgoing
	backward := K(s.View.backward())
	for e := 0; e+1 < len(code); e += 2 {
		u, v := code[e], code[e+1]
		if u == v {
			if s.KeepLoops && u != NoRow && (weight == nil || weight[e/2] != 0) {
				b := &next[bucketOf[cellOf(u, head, shift)]]
				keys[b.next] = K(u-b.lo)<<column | K(u)<<1
				b.next++
			}
			continue
		}
		if max(u, v) == NoRow || weight != nil && weight[e/2] == 0 {
			continue
		}
		if ahead {
			b := &next[bucketOf[cellOf(u, head, shift)]]
			place := b.next
			b.next = place + 1
			keys[place] = K(u-b.lo)<<column | K(v)<<1
		}
		if back {
			b := &next[bucketOf[cellOf(v, head, shift)]]
			place := b.next
			b.next = place + 1
			keys[place] = K(v-b.lo)<<column | K(u)<<1 | backward
		}
	}
}

// lineBatch is the number of rows of lines that are processed together. They stay in the first-level cache.
const lineBatch = 512

// both adds the entries of lines without values that make two entries each, as most lines do.
func (f *filler[K]) both(code []uint32) {
	var (
		edges, cell [lineBatch]uint32
		entry       [lineBatch]K
	)
	for ; len(code) >= 2; code = code[min(len(code), lineBatch):] {
		lines := code[:min(len(code), lineBatch)]
		if simd.Cells(cell[:], lines, f.head, f.shift) {
			lines = edgesOf(edges[:0], lines)
			simd.Cells(cell[:], lines, f.head, f.shift)
		}
		simd.Entries(entry[:], lines, f.column)
		f.scatter(entry[:len(lines)], cell[:len(lines)])
	}
}

func edgesOf(edges, lines []uint32) []uint32 {
	for ; len(lines) >= 2; lines = lines[2:] {
		if u, v := lines[0], lines[1]; u != v && max(u, v) != NoRow {
			edges = append(edges, u, v)
		}
	}
	return edges
}

// scatter puts each entry into the next place of its bucket, with its row within the bucket.
//
//go:noinline
func (f *filler[K]) scatter(entry []K, cell []uint32) {
	keys := f.keys
	next := f.next
	bucketOf := f.bucketOf
	column := f.column & 63
	entry = entry[:len(cell)]
	for i, c := range cell {
		b := &next[bucketOf[c]]
		place := b.next
		b.next = place + 1
		keys[place] = entry[i] - K(b.lo)<<column
	}
}

// addWeighted adds the entries of lines with their values. A line without a weight has the value 1.
func (f *filler[K]) addWeighted(s *Sorter, code []uint32, weight []float64) {
	backward := s.View.backward()
	for e := range len(code) / 2 {
		u, v := code[2*e], code[2*e+1]
		w := 1.0
		if weight != nil {
			w = weight[e]
		}
		switch {
		case w == 0, u == NoRow, v == NoRow:
		case u == v:
			if s.KeepLoops {
				f.put(u, u, 0, w)
			}
		default:
			ahead := w
			back := w
			switch s.View {
			case Skew:
				back = -w
			case SkewIncoming:
				ahead = -w
			}
			if s.View != Incoming {
				f.put(u, v, 0, ahead)
			}
			if s.View != Outgoing {
				f.put(v, u, backward, back)
			}
		}
	}
}

func (f *filler[K]) put(row, col, direction uint32, w float64) {
	b := &f.next[f.bucketOf[cellOf(row, f.head, f.shift)]]
	place := b.next
	b.next++
	f.keys[place] = K(row-b.lo)<<(f.column&63) | K(col)<<1 | K(direction)
	f.values[place] = w
}
