package sort

import (
	"cmp"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// A bucket is too large for a worker if a row has very many entries, or if an entry has very many lines. Such
// a bucket is sorted in runs, pieces of the bucket in the order of the input, which are then merged. Lines
// that cannot change the value of their entry are dropped from a run, so that copies of a line take no
// memory.

// sortedRun is a run, a sorted part of the entries of a bucket: first entries in memory, and then blocks on
// disk.
type sortedRun[K key] struct {
	keys   []K
	values []float64
	blocks []block

	keyRoom   []K // memory for the entries of a block
	valueRoom []float64
}

type block struct {
	Record
	entries int
}

const (
	workerShare = 16 // each worker has limit/workerShare for its bucket
	runShare    = 2  // a bucket that takes more than runShare such parts is sorted in runs
	mostBlock   = 1 << 12
	leastBlock  = 1 << 8
)

func shareOf(limit int64, workers int) int64 {
	return max(bucketBytes, limit/int64(workerShare*sched.Workers(workers)))
}

// runs returns an upper bound of the number of runs of a bucket.
func (s *Sorter) runs(b bucket) int {
	return b.entries()/s.runLength + len(s.spans)/spansInFilling + 2
}

// mergedEntries returns an upper bound of the number of entries of a bucket after merging.
func (s *Sorter) mergedEntries(b bucket) int {
	return min(b.entries(), (b.hi-b.lo)*s.Rows)
}

// cutScratch determines which buckets are sorted in runs, and which need the most memory.
func (s *Sorter) cutScratch() {
	share := shareOf(s.Limit, s.Workers)
	s.runLength = int(share / s.form.bytes())
	for i := range s.buckets {
		b := &s.buckets[i]
		bytes := int64(b.entries()) * s.form.finishBytes()
		if s.Limit > 0 && bytes > runShare*share {
			// inRuns is the memory of a run, of its moved entries, and of a block of each run.
			inRuns := share + max(share, int64(s.runs(*b))*leastBlock*s.form.bytes())
			merged := int64(s.mergedEntries(*b)) * s.form.mergedBytes()
			b.inRuns = inRuns+merged < bytes
			if b.inRuns {
				s.inRuns = append(s.inRuns, inRuns)
				s.joined = append(s.joined, merged)
			}
		}
		if !b.inRuns {
			s.largest = append(s.largest, b.entries())
		}
	}
	workers := sched.Workers(s.Workers)
	s.largest = keepLargest(s.largest, countFinished(workers))
	s.inRuns = keepLargest(s.inRuns, workers)
	s.joined = keepLargest(s.joined, countFinished(workers))
}

// countFinished returns the largest number of buckets that are being sorted, or wait to be written.
func countFinished(workers int) int { return 2*workers - 1 }

// keepLargest returns at most count values, the largest first.
func keepLargest[N int | int64](values []N, count int) []N {
	slices.Sort(values)
	slices.Reverse(values)
	return values[:min(len(values), count)]
}

// sortRuns divides the entries of bucket k in memory into runs, and sorts each run in place.
func (e *entries[K]) sortRuns(f *finisher[K], k int) []sortedRun[K] {
	var runs []sortedRun[K]
	bits := e.s.form.keyBits(e.s.buckets[k])
	f.movable(min(e.s.runLength, e.starts[k+1]-e.starts[k]), e.s.Values)
	for lo := e.starts[k]; lo < e.starts[k+1]; lo += e.s.runLength {
		run := sortedRun[K]{keys: e.keys[lo:min(lo+e.s.runLength, e.starts[k+1])]}
		var moved []float64
		if e.s.Values {
			run.values = e.values[lo : lo+len(run.keys)]
			moved = f.movedV[:len(run.keys)]
		}
		if !slices.IsSorted(run.keys) {
			keys, values := Radix(run.keys, f.moved[:len(run.keys)], run.values,
				moved, 1, bits)
			if &keys[0] != &run.keys[0] {
				copy(run.keys, keys)
				copy(run.values, values)
			}
		}
		run.shorten(&e.s.Merge, e.s.buckets[k].lo, e.s.form.column, &e.left[k])
		runs = append(runs, run)
	}
	return runs
}

func (f *finisher[K]) movable(entries int, values bool) {
	if len(f.moved) < entries {
		f.moved = make([]K, entries)
	}
	if values && len(f.movedV) < entries {
		f.movedV = make([]float64, entries)
	}
}

// shorten drops the lines that merging does not need, and adds their number to left. If weights are added, it
// sorts the lines of each entry by weight. lo is the first row of the bucket, and column the number of bits
// of a column.
func (r *sortedRun[K]) shorten(m *Merger, lo int, column uint, left *int64) {
	mask := K(1)<<(column&63) - 1
	n := 0
	for i, j := 0, 0; i < len(r.keys); i = j {
		place := r.keys[i] >> 1
		for j = i + 1; j < len(r.keys) && r.keys[j]>>1 == place; j++ {
		}
		if j == i+1 && n == i {
			n++
			continue
		}
		lines := sortedRun[K]{keys: r.keys[i:j]}
		if r.values != nil {
			lines.values = r.values[i:j]
		}
		keep := 1
		if j > i+1 {
			keep = lines.reduce(m)
		}
		copy(r.keys[n:], lines.keys[:keep])
		if r.values != nil {
			copy(r.values[n:], lines.values[:keep])
		}
		n += keep
		if m.countsPair(lo+int(place>>(column&63)), int(place&mask)) {
			*left += int64(j - i - keep)
		}
	}
	r.keys = r.keys[:n]
	r.values = r.values[:min(n, len(r.values))]
}

// reduce moves the lines that decide the value of an entry to the front of r, which must hold the lines of
// this entry. They are in the order of merging. It returns their number.
func (r *sortedRun[K]) reduce(m *Merger) (n int) {
	if r.values != nil && m.adds() {
		if m.Coded && !m.byDirection() {
			r.sortByWeight()
		} else {
			r.sortWeights(m.byDirection())
		}
		return len(r.keys)
	}
	if m.Coded {
		return len(r.keys)
	}
	limit := 1 // lines of a direction
	if m.Policy == Error {
		limit = 2
	}
	var lines, last [2]int // number of lines of each direction, and position of the last
	for i, k := range r.keys {
		d := k & 1
		switch {
		case lines[d] < limit:
			r.keys[n] = k
			if r.values != nil {
				r.values[n] = r.values[i]
			}
			last[d] = n
			lines[d]++
			n++
		case r.values != nil && m.Policy == Max:
			r.values[last[d]] = max(r.values[last[d]], r.values[i])
		case r.values != nil && m.Policy == Min:
			r.values[last[d]] = min(r.values[last[d]], r.values[i])
		}
	}
	return n
}

func (r *sortedRun[K]) sortWeights(byDirection bool) {
	place := r.keys[0] &^ 1
	ahead := 0
	for i, k := range r.keys {
		if k&1 == 0 {
			r.values[ahead], r.values[i] = r.values[i], r.values[ahead]
			ahead++
		}
	}
	for i := range r.keys {
		r.keys[i] = place
		if i >= ahead {
			r.keys[i] |= 1
		}
	}
	if !byDirection {
		slices.Sort(r.values) // only the number of lines in each direction matters
		return
	}
	slices.Sort(r.values[:ahead])
	slices.Sort(r.values[ahead:])
}

// sortByWeight sorts the lines of an entry by weight, and keeps the direction of each line.
func (r *sortedRun[K]) sortByWeight() {
	type line struct {
		key   K
		value float64
	}
	lines := make([]line, len(r.keys))
	for i, key := range r.keys {
		lines[i] = line{key, r.values[i]}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.value, b.value) })
	for i, l := range lines {
		r.keys[i] = l.key
		r.values[i] = l.value
	}
}

// spillRuns writes the runs of bucket k in memory to disk.
func (e *entries[K]) spillRuns(f *finisher[K], k int) error {
	b := e.s.buckets[k]
	length := max(leastBlock, min(mostBlock, e.s.runLength/e.s.runs(b)))
	for _, run := range e.sortRuns(f, k) {
		var blocks []block
		for lo := 0; lo < len(run.keys); lo += length {
			hi := min(lo+length, len(run.keys))
			var values []float64
			if e.s.Values {
				values = run.values[lo:hi]
			}
			rec, err := e.write(f, b, run.keys[lo:hi], values)
			if err != nil {
				return err
			}
			blocks = append(blocks, block{rec, hi - lo})
		}
		e.runs[k] = append(e.runs[k], sortedRun[K]{blocks: blocks})
	}
	return nil
}
