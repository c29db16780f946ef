package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/sched"
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
	for i := range s.free {
		if f := &s.free[i]; f.length >= length {
			at := f.offset
			f.offset += length
			f.length -= length
			return region{at, length}
		}
	}
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
