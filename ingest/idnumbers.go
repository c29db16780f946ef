package ingest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

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
		a.integers = a.integers && table.IsInteger(id)
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

// idTable gives the numbers of a generation's places.
type idTable struct {
	generation int
	of         [dictShards][]uint32
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
