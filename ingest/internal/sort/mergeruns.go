package sort

import (
	"container/heap"
	"math"
)

// next skips n entries of a run, and reports whether entries are left. If none are left in memory, it reads
// the next block from disk.
func (e *entries[K]) next(f *finisher[K], r *sortedRun[K],
	n int) (ok bool, err error) {
	r.keys = r.keys[n:]
	if e.s.Values {
		r.values = r.values[n:]
	}
	if len(r.keys) > 0 || len(r.blocks) == 0 {
		return len(r.keys) > 0, nil
	}
	b := &r.blocks[0]
	r.blocks = r.blocks[1:]
	r.keyRoom, r.valueRoom, err = e.read(f, &b.Record, b.entries, r.keyRoom[:0],
		r.valueRoom[:0])
	r.keys = r.keyRoom
	r.values = r.valueRoom
	return true, err
}

// finishRuns merges the runs of bucket k into f.out.
func (e *entries[K]) finishRuns(f *finisher[K], k int) error {
	if f.out == nil {
		f.out = new(Rows)
	}
	b := e.s.buckets[k]
	runs := append(e.runs[k], e.sortRuns(f, k)...)
	f.out.begin(b.lo, e.s.mergedEntries(b), e.s.Values)
	f.out.Duplicates = e.left[k]
	f.out.Ptr = append(f.out.Ptr, 0)
	err := e.mergeRuns(f, runs)
	f.out.end(b.hi - b.lo)
	return err
}

func (e *entries[K]) mergeRuns(f *finisher[K], runs []sortedRun[K]) error {
	j := joiner[K]{m: &e.s.Merge, out: f.out, column: e.s.form.column & 63}
	var heads headHeap
	order := runOrder{byValue: e.s.Values && e.s.Merge.adds()}
	if !order.byValue || !e.s.Merge.byDirection() {
		order.shift = 1
	}
	for i := range runs {
		ok, err := e.next(f, &runs[i], 0)
		if err != nil {
			return err
		}
		if ok {
			heap.Push(&heads, headOf(order, &runs[i], 0, i))
		}
	}
	for len(heads) > 0 {
		i := heads[0].run
		r := &runs[i]
		n := len(r.keys)
		if len(heads) > 1 {
			bound := heads.second()
			for n = 1; n < len(r.keys) && headOf(order, r, n, i).less(bound); n++ {
			}
		}
		if err := j.add(r.keys[:n], r.values[:min(n, len(r.values))]); err != nil {
			return err
		}
		ok, err := e.next(f, r, n)
		if err != nil {
			return err
		}
		if ok {
			heads[0] = headOf(order, r, 0, i)
			heap.Fix(&heads, 0)
		} else {
			heap.Pop(&heads)
		}
	}
	return j.end()
}

// runOrder is the order of the entries of runs: by row and column, then by the fields.
type runOrder struct {
	shift   uint // 1 if the lines of both directions count alike
	byValue bool // orders equal entries by weight, else by input
}

type runHead struct {
	key, then uint64
	run       int
}

// headOf returns the position of entry i of a run in the merged order.
func headOf[K key](o runOrder, r *sortedRun[K], i, run int) runHead {
	h := runHead{key: uint64(r.keys[i] >> o.shift), then: uint64(run), run: run}
	if o.byValue {
		h.then = math.Float64bits(r.values[i])
		if h.then>>63 == 0 { // gives bits the order of weights
			h.then |= 1 << 63
		} else {
			h.then = ^h.then
		}
	}
	return h
}

func (h runHead) less(g runHead) bool {
	return h.key < g.key || h.key == g.key && h.then < g.then
}

// headHeap is a heap of the first entries of runs.
type headHeap []runHead

func (h headHeap) Len() int           { return len(h) }
func (h headHeap) Less(i, j int) bool { return h[i].less(h[j]) }
func (h headHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

func (h *headHeap) Push(x any) {
	*h = append(*h, x.(runHead))
}

func (h *headHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// second returns the smallest head except the first.
func (h headHeap) second() runHead {
	if len(h) > 2 && h[2].less(h[1]) {
		return h[2]
	}
	return h[1]
}

// joiner merges sorted lines into the entries of rows.
type joiner[K key] struct {
	m      *Merger
	out    *Rows
	column uint

	place K         // row and column of the current entry
	sums  []lineSum // sums of its lines, by code
}

// add adds the lines of further entries.
func (j *joiner[K]) add(keys []K, values []float64) error {
	byDirection := j.m.byDirection()
	for i, k := range keys {
		if place := k >> 1; place != j.place || len(j.sums) == 0 {
			if err := j.end(); err != nil {
				return err
			}
			j.place = place
		}
		weight := 0.0
		code := uint32(0)
		if len(values) > 0 {
			weight = values[i]
			if j.m.Coded {
				weight, code = Unpack(weight)
			}
		}
		d := k & 1
		sum := j.sumOf(code)
		if len(values) > 0 {
			direction := d
			count := sum.lines[d]
			if !byDirection {
				direction = 0
				count = sum.lines[0] + sum.lines[1]
			}
			if sum.lines == [2]int{} {
				sum.first = weight
			}
			sum.value[direction] = j.m.with(sum.value[direction], count, weight)
		}
		sum.lines[d]++
	}
	return nil
}

// with returns the value of an entry after a line with the given weight. value is the value of the lines
// before, whose number is lines.
func (m *Merger) with(value float64, lines int, weight float64) float64 {
	switch {
	case lines == 0:
		return weight
	case m.Policy == Max:
		return max(value, weight)
	case m.Policy == Min:
		return min(value, weight)
	case m.Policy == First:
		return value
	}
	return value + weight
}

// end makes an entry for each code of the lines of the current row and column.
func (j *joiner[K]) end() error {
	for i := range j.sums {
		if err := j.endSum(&j.sums[i]); err != nil {
			return err
		}
	}
	j.sums = j.sums[:0]
	return nil
}

func (j *joiner[K]) endSum(s *lineSum) error {
	lines := s.lines
	row, col := int(j.place>>j.column), uint32(j.place&(1<<j.column-1))
	value := 1.0
	kind := j.m.count(&j.out.Count, lines[0], lines[1], j.out.Lo+row, int(col))
	if kind == 0 && j.m.Values {
		switch {
		case lines[0] == 0 && j.m.byDirection():
			value, kind = finite(s.value[1])
		case lines[1] == 0 || !j.m.byDirection():
			value, kind = finite(s.value[0])
		default:
			value, kind = j.m.join(s.value[0], s.value[1], s.first)
			if kind == 0 && isRounded(s.value[0], s.value[1]) && j.m.averages() &&
				j.m.countsPair(j.out.Lo+row, int(col)) {
				j.out.Averaged++
			}
		}
	}
	if j.m.Coded {
		if math.Abs(value) > math.MaxFloat32 {
			kind = Infinite
		}
		value = Pack(value, s.code)
	}
	switch {
	case kind != 0 && j.m.Symmetric && kind != Infinite:
		return ErrAsymmetric
	case kind != 0:
		return &MergeError{uint32(j.out.Lo + row), col, s.code, kind}
	}
	if value == 0 { // weights of opposite signs cancel
		return nil
	}
	j.out.add(row, col)
	if j.m.Values {
		j.out.Val = append(j.out.Val, value)
	}
	return nil
}
