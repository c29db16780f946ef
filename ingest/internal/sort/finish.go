package sort

import (
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Rows is a finished bucket. Row Lo+i has the columns Col[Ptr[i]:Ptr[i+1]] and, if there are values, the values
// Val[Ptr[i]:Ptr[i+1]].
type Rows struct {
	Lo  int
	Ptr []int
	Col []uint32
	Val []float64
	Count
}

// finisher holds the buffers of a worker.
type finisher[K key] struct {
	filler         filler[K]
	record         []byte
	keys, moved    []K // keys is used if some of the keys come from disk
	values, movedV []float64
	out            *Rows
}

// spill writes the buckets in memory to disk. It does not sort them, which would save a third of the space,
// but take twice the time.
func (e *entries[K]) spill(b *filling) error {
	b.bucket = make([]Record, len(e.s.buckets))
	return sched.Run(e.s.Context, e.s.Workers, len(e.s.buckets), func(worker, k int) error {
		lo, hi := e.starts[k], e.starts[k+1]
		f := &e.work[worker]
		switch {
		case lo == hi:
			return nil
		case e.s.buckets[k].inRuns:
			return e.spillRuns(f, k)
		}
		var values []float64
		if e.s.Values {
			values = e.values[lo:hi]
		}
		rec, err := e.write(f, e.s.buckets[k], e.keys[lo:hi], values)
		b.bucket[k] = rec
		return err
	})
}

func (e *entries[K]) write(f *finisher[K], b bucket, keys []K,
	values []float64) (Record, error) {
	rec := Record{width: uint8((e.s.form.keyBits(b) + 7) / 8)}
	f.record = appendKeys(f.record[:0], keys, int(rec.width))
	if e.s.Values {
		rec.form = formOf(values)
		f.record = appendWeights(f.record, values, rec.form)
	}
	err := e.disk.write(&rec, f.record)
	return rec, err
}

func (e *entries[K]) read(f *finisher[K], rec *Record, n int, keys []K,
	values []float64) ([]K, []float64, error) {
	var err error
	if f.record, err = e.disk.read(rec, f.record); err != nil {
		return nil, nil, err
	}
	keys = keysFrom(keys, f.record, n, int(rec.width))
	if e.s.Values {
		first := len(values)
		values = slices.Grow(values, n)[:first+n]
		weightsTo(values[first:], f.record[n*int(rec.width):], rec.form)
	}
	return keys, values, nil
}

// gather returns the entries of bucket k from all fillings, in the order of the input. The caller may
// overwrite them.
func (e *entries[K]) gather(f *finisher[K],
	k int) (keys []K, values []float64, err error) {
	lo, hi := e.starts[k], e.starts[k+1]
	keys = e.keys[lo:hi]
	if e.s.Values {
		values = e.values[lo:hi]
	}
	last := len(e.s.fillings) - 1
	if last == 0 {
		return keys, values, nil
	}
	f.keys = f.keys[:0]
	f.values = f.values[:0]
	for i := range e.s.fillings[:last] {
		b := &e.s.fillings[i]
		n := e.s.buckets[k].starts[b.hi] - e.s.buckets[k].starts[b.lo]
		if n == 0 {
			continue
		}
		if f.keys, f.values, err = e.read(f, &b.bucket[k], n, f.keys, f.values); err != nil {
			return nil, nil, err
		}
	}
	f.keys = append(f.keys, keys...)
	f.values = append(f.values, values...)
	return f.keys, f.values, nil
}

// roomFor returns the number of entries to allocate for a bucket: the smallest number in largest, a
// decreasing list, that is at least entries. Hence allocations are rare, and a hub gets memory only where it
// is needed.
func roomFor(largest []int, entries int) int {
	for _, n := range slices.Backward(largest) {
		if n >= entries {
			return n
		}
	}
	return entries
}

// finish sorts and merges the entries of bucket k into f.out.
func (e *entries[K]) finish(f *finisher[K], k int) error {
	if e.s.buckets[k].inRuns {
		return e.finishRuns(f, k)
	}
	room := roomFor(e.s.largest, e.s.buckets[k].entries())
	if f.out == nil || cap(f.moved) < room ||
		len(e.s.fillings) > 1 && cap(f.keys) < room {
		f.make(room, e.s.Values, len(e.s.fillings) > 1)
	}
	keys, values, err := e.gather(f, k)
	if err != nil {
		return err
	}
	var moved []float64
	if e.s.Values {
		moved = f.movedV[:len(keys)]
	} else {
		values = nil
	}
	b := e.s.buckets[k]
	out := f.out
	rows := b.hi - b.lo
	shift := e.s.form.column + 1
	out.begin(b.lo, room, e.s.Values)
	var count [radixSize]uint32
	order := unordered
	if rows <= radixSize {
		order = countRows(&count, keys, shift)
	}
	if order == increasing && !e.s.KeepLoops && !e.s.Merge.Symmetric {
		placeRows(out, count[:rows], keys, values, shift)
		return nil
	}
	keys, values = sortRows(order, &count, keys, f.moved[:len(keys)], values, moved,
		shift, e.s.form.keyBits(b))
	return mergeRows(&e.s.Merge, out, rows, e.s.form.column, keys, values)
}

// begin empties b for rows from lo on, with space for the given number of entries.
func (b *Rows) begin(lo, entries int, values bool) {
	if b.Col == nil || cap(b.Col) < entries {
		b.Col = make([]uint32, 0, entries)
		if values {
			b.Val = make([]float64, 0, entries)
		}
	}
	*b = Rows{Lo: lo, Ptr: b.Ptr[:0], Col: b.Col[:0], Val: b.Val[:0]}
}

// make allocates buffers for buckets of the given number of entries.
func (f *finisher[K]) make(entries int, values, gathered bool) {
	f.movable(entries, values)
	if f.out == nil {
		f.out = new(Rows)
	}
	if gathered {
		f.keys = make([]K, 0, entries)
	}
	if gathered && values {
		f.values = make([]float64, 0, entries)
	}
}
