package ingest

import (
	"math/bits"
	"runtime"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// sorted is a finished bucket: row lo+i has the columns col[ptr[i]:ptr[i+1]]
// and, if there are values, those of val.
type sorted struct {
	lo  int
	ptr []int
	col []uint32
	val []float64
	mergeCount
}

// roundsBytes is what the entries of a round need at least, in most graphs.
const roundsBytes = 2 << 20

// entryBytes is the memory of an entry of a round.
func (s *sorter) entryBytes() int64 {
	bytes := int64(8)
	if s.narrow {
		bytes = 4
	}
	if s.values {
		bytes += 8
	}
	return bytes
}

// entries returns the number of all entries.
func (s *sorter) entries() int {
	n := 0
	for _, b := range s.buckets {
		n += b.entries
	}
	return n
}

// total returns the memory of all entries.
func (s *sorter) total() int64 { return int64(s.entries()) * s.entryBytes() }

// largest returns the number of entries of the largest bucket.
func (s *sorter) largest() int {
	most := 0
	for _, b := range s.buckets {
		most = max(most, b.entries)
	}
	return most
}

// scratchBytes is what the workers take to finish buckets, beside workerBytes
// each, which is enough for usual ones.
func (s *sorter) scratchBytes() int64 {
	each := s.entryBytes() + 4
	if s.values {
		each += 8
	}
	return int64(sched.Workers(s.workers)) * int64(max(0, s.largest()-bucketEntries)) * each
}

// rounds cuts the buckets into runs that are in memory together.
func (s *sorter) rounds() ([][]bucket, error) {
	line := int64(8)
	if s.values {
		line += 8
	}
	most := max(int(int64(s.lines)*line/s.entryBytes()), roundEntries)
	scratch := s.scratchBytes()
	if s.limit > 0 {
		most = min(most, int(max(0, s.limit-scratch)/s.entryBytes()))
	}
	var rounds [][]bucket
	for from := 0; from < len(s.buckets); {
		n, to := 0, from
		for to < len(s.buckets) && (to == from || n+s.buckets[to].entries <= most) {
			n += s.buckets[to].entries
			to++
		}
		if bytes := int64(n)*s.entryBytes() + scratch; s.limit > 0 && bytes > s.limit {
			return nil, &MemoryError{Need: bytes, Limit: s.limit}
		}
		rounds = append(rounds, s.buckets[from:to])
		from = to
	}
	return rounds, nil
}

// each calls visit with every bucket in order, one at a time. What it is given
// is valid during the call.
func (s *sorter) each(visit func(b *sorted) error) error {
	rounds, err := s.rounds()
	if err != nil {
		return err
	}
	if s.narrow {
		return sortRounds[uint32](s, rounds, visit)
	}
	return sortRounds[uint64](s, rounds, visit)
}

func sortRounds[K key](s *sorter, rounds [][]bucket, visit func(b *sorted) error) error {
	most := 0
	for _, round := range rounds {
		n := 0
		for _, b := range round {
			n += b.entries
		}
		most = max(most, n)
	}
	if s.limit > 0 {
		runtime.GC() // or what an earlier sorter has left could be there beside as much again
	}
	keys := make([]K, most)
	pages.Advise(keys)
	var values []float64
	if s.values {
		values = make([]float64, most)
		pages.Advise(values)
	}
	scratch := make([]bucketScratch[K], sched.Workers(s.workers))
	largest := s.largest()
	for _, round := range rounds {
		starts := make([]int, len(round)+1)
		for k, b := range round {
			starts[k+1] = starts[k] + b.entries
		}
		first, behind := round[0].lo, round[len(round)-1].hi
		rows := float64(s.rows) / (1 - planShare)
		from, to := planShare+float64(first)/rows, planShare+float64(behind)/rows
		half := from + (to-from)*fillShare
		read, sorted := s.stage(from, half, s.lines), s.stage(half, to, behind-first)
		err := sched.Run(s.ctx, s.workers, len(s.spans), func(worker, i int) error {
			return fill(s, keys, values, round, starts, worker, i, read)
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
			return turns.piece(k, func() error {
				if scratch[worker].keys == nil {
					scratch[worker].make(largest, s.values)
				}
				out, err := finish(s, &scratch[worker], round[k], keys[lo:hi], v)
				if err != nil {
					return err
				}
				return turns.do(k, func() error {
					err := visit(out)
					sorted(round[k].hi - round[k].lo)
					return err
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fill puts the entries of span i into the buckets of a round, and tells of the
// lines of each part.
func fill[K key](s *sorter, keys []K, values []float64, round []bucket, starts []int, worker, i int, read func(lines int)) error {
	first, last := uint32(round[0].lo), uint32(round[len(round)-1].hi-1)
	bucketOf := make([]uint16, int(last>>s.shift-first>>s.shift)+1)
	next := make([]slot, len(round))
	for k, b := range round {
		next[k] = slot{starts[k] + b.starts[i], uint32(b.lo)}
		for c := b.lo >> s.shift; c <= (b.hi-1)>>s.shift; c++ {
			bucketOf[c-int(first>>s.shift)] = uint16(k)
		}
	}
	f := filler[K]{
		keys: keys, values: values, next: next, bucketOf: bucketOf,
		first: first, rows: last - first + 1, cell: first >> s.shift, shift: s.shift, column: s.column + 1,
	}
	for _, p := range s.spans[i] {
		code, weight, err := s.load(worker, p)
		if err != nil {
			return err
		}
		if s.values {
			f.weighted(s, code, weight)
		} else {
			f.plain(s, code, weight)
		}
		read(p.edges)
	}
	return nil
}

// filler puts entries into the buckets of a round.
type filler[K key] struct {
	keys     []K
	values   []float64 // nil without
	next     []slot    // of each bucket
	bucketOf []uint16  // by cell, from that of the first row
	first    uint32    // row of the round
	rows     uint32    // of the round
	cell     uint32    // of the first row
	shift    uint
	column   uint // bits of a column and the direction
}

// slot is where the next entry of a bucket goes, and the bucket's first row.
type slot struct {
	at int
	lo uint32
}

// backward is the bit of an entry whose line named the column first, where
// that is another direction of the same edge.
func (s *sorter) backward() uint32 {
	if s.view == undirected {
		return 1
	}
	return 0
}

// plain adds the entries of lines, without values; weights only say which
// lines are no edges.
func (f *filler[K]) plain(s *sorter, code []uint32, weight []float64) {
	keys, next, bucketOf := f.keys, f.next, f.bucketOf
	first, rows, cell, shift, column := f.first, f.rows, f.cell, f.shift&31, f.column&63
	ahead, back := s.view != incoming, s.view != outgoing
	backward := K(s.backward())
	for e := 0; e+1 < len(code); e += 2 {
		u, v := code[e], code[e+1]
		if u == v {
			if s.keepLoops && u-first < rows && (weight == nil || weight[e/2] != 0) {
				b := &next[bucketOf[u>>shift-cell]]
				keys[b.at] = K(u-b.lo)<<column | K(u)<<1
				b.at++
			}
			continue
		}
		if max(u, v) == noRow || weight != nil && weight[e/2] == 0 {
			continue
		}
		if u-first < rows && ahead {
			b := &next[bucketOf[u>>shift-cell]]
			at := b.at
			b.at = at + 1
			keys[at] = K(u-b.lo)<<column | K(v)<<1
		}
		if v-first < rows && back {
			b := &next[bucketOf[v>>shift-cell]]
			at := b.at
			b.at = at + 1
			keys[at] = K(v-b.lo)<<column | K(u)<<1 | backward
		}
	}
}

// weighted adds the entries of lines with their values, 1 without weights.
func (f *filler[K]) weighted(s *sorter, code []uint32, weight []float64) {
	backward := s.backward()
	for e := range len(code) / 2 {
		u, v := code[2*e], code[2*e+1]
		w := 1.0
		if weight != nil {
			w = weight[e]
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
				f.put(v, u, backward, w)
			}
		}
	}
}

// put adds an entry with its value if its row is one of the round's.
func (f *filler[K]) put(row, col, direction uint32, w float64) {
	if row-f.first >= f.rows {
		return
	}
	b := &f.next[f.bucketOf[row>>(f.shift&31)-f.cell]]
	at := b.at
	b.at++
	f.keys[at] = K(row-b.lo)<<(f.column&63) | K(col)<<1 | K(direction)
	f.values[at] = w
}

// bucketScratch is what one worker needs to finish a bucket.
type bucketScratch[K key] struct {
	keys   []K
	values []float64
	out    sorted
}

// make makes room for so many entries.
func (b *bucketScratch[K]) make(entries int, values bool) {
	b.keys, b.out.col = make([]K, entries), make([]uint32, 0, entries)
	if values {
		b.values, b.out.val = make([]float64, entries), make([]float64, 0, entries)
	}
}

// finish sorts a bucket and merges the lines of each entry.
func finish[K key](s *sorter, scratch *bucketScratch[K], b bucket, keys []K, values []float64) (*sorted, error) {
	var scratchValues []float64
	if s.values {
		scratchValues = scratch.values[:len(keys)]
	}
	high := s.column + 1 + uint(bits.Len(uint(b.hi-b.lo-1)))
	keys, values = radixSort(keys, scratch.keys[:len(keys)], values, scratchValues, 1, high)
	out := &scratch.out
	*out = sorted{lo: b.lo, ptr: out.ptr[:0], col: out.col[:0], val: out.val[:0]}
	if err := mergeRows(&s.merge, out, b.hi-b.lo, s.column, keys, values); err != nil {
		return nil, err
	}
	if s.late != nil {
		out.number(s.late)
	}
	return out, nil
}

// number replaces ids by their rows.
func (b *sorted) number(ids *ranks) {
	ids.replace(b.col)
	n := 0
	for i, end := range b.ptr[1:] {
		if ids.has(uint32(b.lo + i)) {
			n++
			b.ptr[n] = end
		}
	}
	b.ptr = b.ptr[:n+1]
	b.lo = int(ids.of(uint32(b.lo)))
}
