package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// spill is the temporary file with the parts that memory has no room for. What
// killed runs left in its directory is removed when it is made.
//
// Each part is one record: its codes, packed, then its weights. Records are
// written once, in any order. So is each bucket of a filling of entries.
type spill struct {
	file *durable.Pending

	mu   sync.Mutex
	end  int64
	most int64    // what end has been before it was released
	free []region // before it, by offset: what was there is not read any more
}

// record is where codes or keys are on disk, and how they are written.
type record struct {
	offset int64
	length int
	sum    uint32     // CRC-32C of its bytes
	width  uint8      // bits of a code, bytes of a key
	form   weightForm // of the weights behind
}

// weightForm is how the weights of a record are written.
type weightForm uint8

const (
	noWeights    weightForm = iota
	weightsOf32             // all of them are float32 numbers
	weightsOf64             //
	weightsEqual            // one float64 for all
)

// spillName is what temporary files are called, with a dot before and a random
// ending.
const spillName = "heatwalk-edges"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// region is a piece of the temporary file.
type region struct{ offset, length int64 }

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

// writePart writes the lines of a part and returns where; buf is what it may use.
func (s *spill) writePart(p *part, buf *[]byte) (*record, error) {
	width := codeWidth(largest(p.code))
	rec := &record{width: uint8(width)}
	*buf = packCodes((*buf)[:0], p.code, width)
	if p.weighted {
		rec.form = formOf(p.weight)
		*buf = appendWeights(*buf, p.weight, rec.form)
	}
	return rec, s.write(rec, *buf)
}

// write writes the bytes of a record.
func (s *spill) write(rec *record, b []byte) error {
	rec.offset, rec.length, rec.sum = s.reserve(int64(len(b))).offset, len(b), crc32.Checksum(b, castagnoli)
	return s.writeAt(b, rec.offset)
}

// release gives what was reserved from an offset on to others.
func (s *spill) release(offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.end = max(s.most, s.end), offset
}

// reuse gives regions to others whose content is not read any more: what is
// written there then is in the system's memory already, and need not go to the
// disk twice.
func (s *spill) reuse(regions []region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.free, regions...)
	slices.SortFunc(all, func(a, b region) int { return cmp.Compare(a.offset, b.offset) })
	s.free = all[:0]
	for _, r := range all {
		if last := len(s.free) - 1; last >= 0 && s.free[last].offset+s.free[last].length == r.offset {
			s.free[last].length += r.length
		} else {
			s.free = append(s.free, r)
		}
	}
}

func (s *spill) writeAt(b []byte, offset int64) error {
	if _, err := s.file.WriteAt(b, offset); err != nil {
		return fmt.Errorf("temporary file: %w; choose another place with --temp-dir", err)
	}
	return nil
}

// largest returns the largest of some codes, 0 of none.
func largest(code []uint32) uint32 {
	var top [4]uint32 // so that none waits for the one before
	for ; len(code) >= 4; code = code[4:] {
		top[0], top[1] = max(top[0], code[0]), max(top[1], code[1])
		top[2], top[3] = max(top[2], code[2]), max(top[3], code[3])
	}
	for _, c := range code {
		top[0] = max(top[0], c)
	}
	return max(top[0], top[1], top[2], top[3])
}

// loader is the room in which one worker reads spilled parts.
type loader struct {
	buf    []byte
	code   []uint32
	weight []float64
}

// read returns the bytes of a record, behind which packSlack more can be read,
// in buf if there is room.
func (s *spill) read(rec *record, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], rec.length+packSlack)[:rec.length]
	if _, err := s.file.ReadAt(buf, rec.offset); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	if crc32.Checksum(buf, castagnoli) != rec.sum {
		return nil, errSpill
	}
	return buf, nil
}

// readPart reads the lines of a spilled part, which are valid until the next one.
func (s *spill) readPart(p *part, l *loader) (code []uint32, weight []float64, err error) {
	rec := p.spilled
	if l.buf, err = s.read(rec, l.buf); err != nil {
		return nil, nil, err
	}
	l.code = slices.Grow(l.code[:0], 2*p.edges)[:2*p.edges]
	unpackCodes(l.code, l.buf[:rec.length+packSlack], uint(rec.width))
	if p.weighted {
		l.weight = slices.Grow(l.weight[:0], p.edges)[:p.edges]
		weightsTo(l.weight, l.buf[(2*p.edges*int(rec.width)+7)/8:], rec.form)
		weight = l.weight
	}
	return l.code, weight, nil
}

var errSpill = errors.New("temporary file: what is read is not what was written; check the disk, or choose another with --temp-dir")

// needSpill makes the temporary file if there is none.
func (r *run) needSpill() error {
	r.spillOnce.Do(func() { r.spillErr = r.beginSpill() })
	return r.spillErr
}

// beginSpill makes the temporary file.
func (r *run) beginSpill() error {
	file, err := durable.NewFile(r.fs, filepath.Join(r.tempDir(), spillName))
	if err != nil {
		return err
	}
	r.spill = &spill{file: file}
	return nil
}

// endSpill removes the temporary file, if there is one.
func (r *run) endSpill() error {
	if r.spill == nil {
		return nil
	}
	r.report.SpilledBytes = max(r.spill.most, r.spill.end)
	return r.spill.file.Abort()
}

// addPart takes over what was read of a chunk: a copy in memory or, once there
// is too little of it, a record on disk. The slices of p belong to the caller
// again when it returns.
func (r *run) addPart(worker int, p *part) error {
	p.edges = len(p.code) / 2
	if r.matrix != nil {
		p.top = uint32(max(r.matrix.rows, 1) - 1)
	} else {
		p.top = largest(p.code)
		if !r.useDict.Load() {
			r.ids.add(p.code, p.top)
		}
	}
	keep, evict := r.admit(p)
	p.gaps = slices.Clone(p.gaps)
	if keep {
		p.code, p.weight = r.slabs[worker].code.keep(p.code), r.slabs[worker].weight.keep(p.weight)
	} else {
		if err := r.checkEvicted(append(evict, p)); err != nil {
			return err
		}
		for _, old := range evict {
			if err := r.moveToDisk(worker, old); err != nil {
				return err
			}
		}
		if err := r.moveToDisk(worker, p); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !keep {
		p.leaving = true
		r.held += p.bytes()
	}
	r.parts = append(r.parts, p)
	r.report.PeakBytes = max(r.report.PeakBytes, r.held+r.dictBytes())
	return r.fits(0)
}

// slabs are where the lines of one worker's parts lie.
type slabs struct {
	code   slab[uint32]
	weight slab[float64]
}

// slabBytes is the memory of a piece of a slab, if the limit is not small.
const slabBytes = 32 << 20

// newSlabs returns slabs for all workers.
func (r *run) newSlabs() []slabs {
	size := slabBytes
	if r.c.Memory > 0 {
		size = min(size, int(r.c.Memory)/(16*r.workers))
	}
	all := make([]slabs, r.workers)
	for i := range all {
		all[i].code.size, all[i].weight.size = size/4, size/8
	}
	return all
}

// Shares of the memory that parts may take: above the first, unless everything
// fits, they go to disk until they are below the second, which leaves the rest to
// the sorting.
const (
	spillAbove = 0.6
	spillBelow = 0.25
)

// admit decides whether a part stays in memory; if not, evict are the parts
// that the caller is to move to disk as well.
func (r *run) admit(p *part) (keep bool, evict []*part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.top, r.weighted = r.lines+p.edges, max(r.top, p.top), r.weighted || p.weighted
	held := r.held + p.bytes()
	if r.c.Memory == 0 || !r.spilling && r.hasRoom(held) {
		r.held = held
		return true, nil
	}
	most := r.c.Memory - r.beside() - r.dictNeeds()
	if !r.spilling {
		r.spilling = true
		most = min(most, int64(spillBelow*float64(r.c.Memory)))
	}
	return false, r.evict(most)
}

// evict chooses parts to be moved to disk until others hold so many bytes at most.
func (r *run) evict(most int64) (evict []*part) {
	for _, p := range r.parts {
		if r.held <= most {
			break
		}
		if !p.leaving {
			p.leaving = true
			evict = append(evict, p)
			r.held -= p.lineBytes()
		}
	}
	return evict
}

// hasRoom tells whether so many bytes of parts stay in memory: they leave a share
// of it, or all that follows would fit if nothing more were read.
func (r *run) hasRoom(held int64) bool {
	taken, ids := held+r.beside(), r.dictNeeds()
	if taken+ids <= int64(spillAbove*float64(r.c.Memory)) {
		return true
	}
	rows, known := int(r.top)+1, int64(0)
	if r.useDict.Load() {
		rows = r.dict.len()
		known = knownBytes(int64(rows), r.dict.textBytes())
	}
	if r.c.Order.possible(rows, r.lines) != DefaultOrder {
		return false // the order takes more
	}
	s := sorter{narrow: isNarrow(rows), values: r.hasValues()}
	entries := int64(2 * r.lines)
	if r.c.Directed {
		entries /= 2 // of each direction
	}
	return taken+max(ids, known+entries*s.entryBytes()) <= r.c.Memory // some lines may make room for what rows take
}

// moveToDisk writes a part to the temporary file and frees its memory.
func (r *run) moveToDisk(worker int, p *part) error {
	if err := r.needSpill(); err != nil {
		return err
	}
	rec, err := r.spill.writePart(p, &r.loaders[worker].buf)
	if err != nil {
		return err
	}
	p.spilled, p.code, p.weight = rec, nil, nil
	p.mapped = len(r.maps)
	return nil
}

// planSort plans the sorting of all edges with the memory that there is beside so
// many other bytes: if that is too little for all entries together, no line stays
// there.
func (r *run) planSort(s *sorter, other int64) (lineCount, error) {
	if s.limit > 0 {
		s.limit = max(1, r.c.Memory-r.beside()-other) // once no line is left
	}
	count, err := s.plan(r.parts)
	if err == nil {
		err = r.makeRoom(other + s.total() + s.scratchBytes())
	}
	if s.limit > 0 {
		s.limit = max(1, r.left()-other)
	}
	return count, err
}

// forget lets the temporary file use again where the lines of parts are.
func (r *run) forget(parts []*part) {
	var regions []region
	for _, p := range parts {
		if p.spilled != nil {
			regions = append(regions, region{p.spilled.offset, int64(p.spilled.length)})
		}
	}
	r.spill.reuse(regions)
}

// forFillings returns the temporary file for so many more bytes.
func (r *run) forFillings(bytes int64) (*spill, error) {
	if err := r.checkFree(r.tempDir(), diskTemp, bytes); err != nil {
		return nil, err
	}
	err := r.needSpill()
	return r.spill, err
}

// makeRoom moves as many parts to disk as it takes for so many bytes to be left.
func (r *run) makeRoom(bytes int64) error {
	if r.c.Memory == 0 || r.left() >= bytes {
		return nil
	}
	var move []*part
	for rest := bytes - r.left(); rest > 0 && len(move) < len(r.parts); {
		p := r.parts[len(move)]
		if p.spilled == nil {
			rest -= p.lineBytes()
		}
		move = append(move, p)
	}
	err := sched.Run(r.ctx, r.workers, len(move), func(worker, i int) error {
		if move[i].spilled != nil {
			return nil
		}
		return r.moveToDisk(worker, move[i])
	})
	r.held = 0
	for _, p := range r.parts {
		r.held += p.bytes()
	}
	return err
}

// load returns the codes and weights of a part, through the maps that have been
// set; they are valid until the worker loads another one and must not be
// changed.
func (r *run) load(worker int, p *part) (code []uint32, weight []float64, err error) {
	if p.spilled == nil {
		return p.code, p.weight, nil
	}
	if code, weight, err = r.spill.readPart(p, &r.loaders[worker]); err != nil {
		return nil, nil, err
	}
	for _, m := range r.maps[p.mapped:] {
		m(code)
	}
	return code, weight, nil
}

// eachPart calls do with the codes and weights of all parts, as load returns
// them, from several goroutines.
func (r *run) eachPart(do func(worker int, p *part, code []uint32, weight []float64) error) error {
	return sched.Run(r.ctx, r.workers, len(r.parts), func(worker, i int) error {
		code, weight, err := r.load(worker, r.parts[i])
		if err != nil {
			return err
		}
		return do(worker, r.parts[i], code, weight)
	})
}

// mapCodes puts all codes through a map: those in memory now, those on disk
// whenever they are read.
func (r *run) mapCodes(m func(code []uint32)) error {
	err := sched.Run(r.ctx, r.workers, len(r.parts), func(_, i int) error {
		m(r.parts[i].code)
		return nil
	})
	r.maps = append(r.maps, m)
	return err
}
