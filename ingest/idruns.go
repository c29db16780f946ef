package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A dictionary that outgrows its share of the memory is written to the
// temporary file, each of its shards as a run of ids in their order, and begun
// anew: the next generation. A part knows the generation of its codes. Once all
// lines are read, one merge of all runs finds the distinct ids, numbers them in
// their order, and leaves beside each run what its places became; a second one
// makes the dictionary of the store.

// idRuns are the generations that were written.
type idRuns struct {
	gate   sync.RWMutex // held for writing while a generation ends
	runs   []*idRun
	count  int  // generations
	merged bool // numbers are there

	tables []idTable // of each worker
}

// idRun is a sorted run of ids on disk: for each its length, its bytes and
// where it appeared first; and, in regions of their own, its place in the
// dictionary and its number among all ids.
type idRun struct {
	generation, shard   int
	n                   int
	ids, places, number region
}

// region is a piece of the temporary file.
type region struct{ offset, length int64 }

// idTable gives the numbers of a generation's places.
type idTable struct {
	generation int
	of         [dictShards][]uint32
}

// dictShare is the share of the memory above which a dictionary is written.
// Tests lower it.
var dictShare = 0.3

// codes stores the codes of a batch, whose first token stands at the start of
// chunk p.seq.
func (r *run) codes(p *part, code []uint32, text []byte, b *batch) error {
	p.inDict = true
	r.runs.gate.RLock()
	p.generation = r.runs.count
	err := r.dict.codes(code, text, b, position(p.seq, 0))
	r.runs.gate.RUnlock()
	if err != nil {
		return &ParseError{File: r.files[p.file].Name, Msg: err.Error(), Err: err}
	}
	if r.c.Memory == 0 || r.dict.bytes() <= int64(dictShare*float64(r.c.Memory)) {
		return nil
	}
	r.runs.gate.Lock()
	defer r.runs.gate.Unlock()
	if r.dict.bytes() <= int64(dictShare*float64(r.c.Memory)) {
		return nil // another worker was faster
	}
	return r.endGeneration()
}

// endGeneration writes the dictionary and begins it anew.
func (r *run) endGeneration() error {
	if err := r.checkFree(r.tempDir(), diskTemp, r.dict.text()+8*int64(r.dict.len())); err != nil {
		return err
	}
	if err := r.needSpill(); err != nil {
		return err
	}
	runs := make([]*idRun, dictShards)
	err := sched.Run(r.ctx, r.workers, dictShards, func(_, i int) (err error) {
		runs[i], err = r.spill.writeIDs(&r.dict.shards[i], r.runs.count, i)
		return err
	})
	if err != nil {
		return err
	}
	r.runs.runs = append(r.runs.runs, runs...)
	r.runs.count++
	r.report.DictionaryRuns = r.runs.count
	r.dict.clear()
	return nil
}

// reserve returns a region of the temporary file.
func (s *spill) reserve(length int64) region {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end += length
	return region{s.end - length, length}
}

// writeIDs writes the ids of a shard as a run.
func (s *spill) writeIDs(d *dictShard, generation, shard int) (*idRun, error) {
	n := d.len()
	order := make([]uint32, n)
	length := int64(8 * n)
	for i := range order {
		order[i] = uint32(i)
		size := len(d.key(uint32(i)))
		length += int64(size + (bits.Len(uint(size)|1)+6)/7)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(d.key(a), d.key(b)) })
	run := &idRun{
		generation: generation, shard: shard, n: n,
		ids: s.reserve(length), places: s.reserve(4 * int64(n)), number: s.reserve(4 * int64(n)),
	}
	ids, places := s.writer(run.ids), s.writer(run.places)
	for _, place := range order {
		id := d.key(place)
		ids.buf = binary.AppendUvarint(ids.buf, uint64(len(id)))
		ids.buf = append(ids.buf, id...)
		ids.buf = binary.LittleEndian.AppendUint64(ids.buf, d.entries[place].first)
		places.buf = binary.LittleEndian.AppendUint32(places.buf, place)
		ids.flushAbove(runBuffer)
		places.flushAbove(runBuffer)
	}
	ids.flushAbove(0)
	places.flushAbove(0)
	return run, cmp.Or(ids.err, places.err)
}

// runBuffer is the memory with which a run is read or written.
const runBuffer = 16 << 10

// regionWriter fills a region.
type regionWriter struct {
	s   *spill
	at  int64
	buf []byte
	err error
}

func (s *spill) writer(r region) *regionWriter { return &regionWriter{s: s, at: r.offset} }

// flushAbove writes what is buffered if it is more than so many bytes.
func (w *regionWriter) flushAbove(most int) {
	if len(w.buf) <= most || w.err != nil {
		return
	}
	w.err = w.s.writeAt(w.buf, w.at)
	w.at += int64(len(w.buf))
	w.buf = w.buf[:0]
}

func (s *spill) reader(r region) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s.file, r.offset, r.length), runBuffer)
}

// cursor stands at an id of a run.
type cursor struct {
	run    *idRun
	in     *bufio.Reader
	number *regionWriter
	left   int
	id     []byte
	first  uint64
}

// next goes on to the next id; ok is false behind the last one.
func (c *cursor) next() (ok bool, err error) {
	if c.left == 0 {
		return false, nil
	}
	c.left--
	n, err := binary.ReadUvarint(c.in)
	if err == nil && int64(n) > c.run.ids.length {
		err = errSpill
	}
	if err != nil {
		return false, err
	}
	c.id = slices.Grow(c.id[:0], int(n)+8)[:n+8]
	if _, err := io.ReadFull(c.in, c.id); err != nil {
		return false, err
	}
	c.first = binary.LittleEndian.Uint64(c.id[n:])
	c.id = c.id[:n]
	return true, nil
}

// mergeIDs calls visit with every distinct id in increasing order, where it
// appeared first, and the cursors of the runs that hold it.
func (r *run) mergeIDs(visit func(id []byte, first uint64, in []*cursor) error) error {
	var heap []*cursor
	down := func(i int) {
		for {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
				if bytes.Compare(heap[child].id, heap[least].id) < 0 {
					least = child
				}
			}
			if least == i {
				return
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for _, run := range r.runs.runs {
		c := &cursor{run: run, in: r.spill.reader(run.ids), number: r.spill.writer(run.number), left: run.n}
		ok, err := c.next()
		if err != nil {
			return err
		}
		if ok {
			heap = append(heap, c)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	var same []*cursor
	var id []byte
	for n := 0; len(heap) > 0; n++ {
		if n%(1<<16) == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		same, id = same[:0], append(id[:0], heap[0].id...)
		first := uint64(math.MaxUint64)
		for len(heap) > 0 && bytes.Equal(heap[0].id, id) {
			c := heap[0]
			same = append(same, c)
			first = min(first, c.first)
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
			down(0)
		}
		if err := visit(id, first, same); err != nil {
			return err
		}
		for _, c := range same {
			ok, err := c.next()
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			heap = append(heap, c)
			for i := len(heap) - 1; i > 0 && bytes.Compare(heap[i].id, heap[(i-1)/2].id) < 0; i = (i - 1) / 2 {
				heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
			}
		}
	}
	return nil
}

// allIDs is what the first merge finds out, by number.
type allIDs struct {
	first    []uint64
	length   []uint32
	values   []uint64 // nil unless all ids are integers of 64 bits
	integers bool
	pairs    pairs
}

// numberIDs numbers the ids of all runs in their order.
func (r *run) numberIDs() (*allIDs, error) {
	a := &allIDs{integers: true}
	wide := true
	writers := map[*idRun]*regionWriter{}
	err := r.mergeIDs(func(id []byte, first uint64, in []*cursor) error {
		n := len(a.first)
		if n == maxNodes {
			return r.tooMany()
		}
		a.first, a.length = append(a.first, first), append(a.length, uint32(len(id)))
		a.integers = a.integers && canonical(id)
		a.pairs.add(id, first)
		if wide = wide && a.integers; wide {
			v, err := strconv.ParseUint(string(id), 10, 64)
			wide = err == nil
			a.values = append(a.values, v)
		}
		if !wide {
			a.values = nil
		}
		if n%(1<<12) == 0 {
			const each = 40 // with what sorts them
			if need := r.held + r.beside() + each*int64(n) + 24*int64(len(a.pairs.padded)); r.c.Memory > 0 && need > r.c.Memory {
				return &MemoryError{Need: need, Limit: r.c.Memory}
			}
		}
		for _, c := range in {
			c.number.buf = binary.LittleEndian.AppendUint32(c.number.buf, uint32(n))
			c.number.flushAbove(runBuffer)
			writers[c.run] = c.number
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, run := range r.runs.runs {
		if w := writers[run]; w != nil {
			if w.flushAbove(0); w.err != nil {
				return nil, w.err
			}
		}
	}
	r.runs.merged = true
	r.runs.tables = make([]idTable, r.workers)
	return a, nil
}

// table returns the numbers of the places of a generation, as read by a worker.
func (r *run) table(worker, generation int) (*idTable, error) {
	t := &r.runs.tables[worker]
	if t.of[0] != nil && t.generation == generation {
		return t, nil
	}
	t.generation = generation
	var b [8]byte
	for _, run := range r.runs.runs {
		if run.generation != generation {
			continue
		}
		of := slices.Grow(t.of[run.shard][:0], run.n+1)[:run.n]
		places, numbers := r.spill.reader(run.places), r.spill.reader(run.number)
		for range run.n {
			if _, err := io.ReadFull(places, b[:4]); err != nil {
				return nil, err
			}
			if _, err := io.ReadFull(numbers, b[4:]); err != nil {
				return nil, err
			}
			place := binary.LittleEndian.Uint32(b[:])
			if int(place) >= len(of) {
				return nil, errSpill
			}
			of[place] = binary.LittleEndian.Uint32(b[4:])
		}
		t.of[run.shard] = of
	}
	return t, nil
}

// replace replaces codes of the dictionary by numbers.
func (t *idTable) replace(code []uint32) {
	for i, c := range code {
		code[i] = t.of[c>>placeBits][c&(1<<placeBits-1)]
	}
}

// numberRuns is numberDict for a dictionary in several generations.
func (r *run) numberRuns() (*shard.Nodes, error) {
	if err := r.endGeneration(); err != nil {
		return nil, err
	}
	if err := r.makeRoom(math.MaxInt64); err != nil {
		return nil, err
	}
	all, err := r.numberIDs()
	if err != nil {
		return nil, err
	}
	n := len(all.first)
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	first, order := radixSort(slices.Clone(all.first), make([]uint64, n), order, make([]uint32, n), 0, uint(bits.Len64(position(r.seq, 0))))
	r.report.IDs = "text"
	listed, _ := slices.BinarySearch(first, position(r.listedParts, 0))
	if all.integers {
		r.report.IDs = "numeric"
		if err := r.sortNumbers(order[listed:], all.values); err != nil {
			return nil, err
		}
	} else if all.pairs.id != nil {
		r.warnOfPair(all.pairs.short, all.pairs.id)
	}
	if r.c.Nodes != "" && listed < n {
		switch r.c.UnknownIDs {
		case ErrorUnknown:
			return nil, r.unlistedRun(all.first, first[listed], n-listed)
		case SkipUnknown:
			order = order[:listed]
		}
	}
	rows := slices.Repeat([]uint32{noRow}, n)
	for row, number := range order {
		rows[number] = uint32(row)
	}
	err = r.mapCodes(func(code []uint32) {
		for i, c := range code {
			code[i] = rows[c]
		}
	})
	if err != nil {
		return nil, err
	}
	if all.values != nil {
		values := make([]uint64, len(order))
		increasing := true
		for row, number := range order {
			values[row] = all.values[number]
			increasing = increasing && (row == 0 || values[row] > values[row-1])
		}
		if increasing {
			return shard.NumericNodes(values), nil
		}
	}
	return r.runNodes(order, rows, all.length)
}

// sortNumbers sorts the numbers of ids that are all integers by their values.
func (r *run) sortNumbers(order []uint32, values []uint64) error {
	if values != nil {
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(values[a], values[b]) })
		return nil
	}
	var text []byte
	var ends []int
	err := r.mergeIDs(func(id []byte, _ uint64, _ []*cursor) error {
		text = append(text, id...)
		ends = append(ends, len(text))
		return nil
	})
	key := func(i uint32) []byte {
		if i == 0 {
			return text[:ends[0]]
		}
		return text[ends[i-1]:ends[i]]
	}
	slices.SortFunc(order, func(a, b uint32) int { return compareIntegers(key(a), key(b)) })
	return err
}

// unlistedRun returns the error for the id that appeared first at a place, one
// of several that are not in the list of nodes.
func (r *run) unlistedRun(firsts []uint64, place uint64, several int) error {
	number := slices.Index(firsts, place)
	var wanted []byte
	at := 0
	err := r.mergeIDs(func(id []byte, _ uint64, _ []*cursor) error {
		if at == number {
			wanted = slices.Clone(id)
		}
		at++
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range r.parts {
		if p.seq == int(place>>tokenBits) {
			return r.unlistedError(p, int(place&(1<<tokenBits-1)), wanted, several)
		}
	}
	return fmt.Errorf("ingest: no line holds %s", quote(wanted))
}

// runNodes returns the dictionary of the store: row i has the id of number
// order[i], the id of number k the row rows[k].
func (r *run) runNodes(order, rows, length []uint32) (*shard.Nodes, error) {
	ends := make([]uint64, len(order))
	end := uint64(0)
	for row, number := range order {
		end += uint64(length[number])
		ends[row] = end
	}
	if need := r.held + r.beside() + int64(end) + 24*int64(len(order)); r.c.Memory > 0 && need > r.c.Memory {
		return nil, &MemoryError{Need: need, Limit: r.c.Memory}
	}
	text := make([]byte, end)
	byID := make([]uint32, 0, len(order))
	number := 0
	err := r.mergeIDs(func(id []byte, _ uint64, _ []*cursor) error {
		if row := rows[number]; row != noRow {
			copy(text[ends[row]-uint64(len(id)):], id)
			byID = append(byID, row)
		}
		number++
		return nil
	})
	if err != nil {
		return nil, err
	}
	return shard.SortedNodes(text, ends, byID), nil
}
