package ingest

import (
	"slices"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// needSpill makes the temporary file if there is none.
func (r *run) needSpill() error {
	r.spillOnce.Do(func() { r.spill, r.spillErr = sort.NewSpill(r.fs, r.tempDir()) })
	return r.spillErr
}

// endSpill removes the temporary file, if there is one.
func (r *run) endSpill() error {
	if r.spill == nil {
		return nil
	}
	r.report.SpilledBytes = r.spill.Bytes()
	return r.spill.Remove()
}

// addPart takes over what was read of a chunk: a copy in memory or, once there
// is too little of it, a record on disk. The slices of p belong to the caller
// again when it returns.
func (r *run) addPart(worker int, p *part) error {
	p.edges = len(p.code) / 2
	if r.matrix != nil {
		p.top = uint32(max(r.matrix.rows, 1) - 1)
	} else {
		p.top = sort.Largest(p.code)
		if !r.useDict.Load() {
			r.ids.Add(p.code, p.top)
		}
	}
	keep, evict := r.admit(p)
	p.gaps = slices.Clone(p.gaps)
	if keep {
		p.code, p.weight = r.slabs[worker].Code.Keep(p.code), r.slabs[worker].Weight.Keep(p.weight)
	} else {
		if err := r.checkEvicted(append(evict, p)); err != nil {
			return err
		}
		if err := r.moveAll(worker, append(evict, p)); err != nil {
			return err
		}
	}
	r.mu.Lock()
	if !keep {
		p.leaving = true
		r.held += p.bytes()
	}
	r.parts = append(r.parts, p)
	r.report.PeakBytes = max(r.report.PeakBytes, r.held+r.extent().dict)
	r.mu.Unlock()
	return r.fit(worker, 0)
}

// fit moves lines to disk where so many bytes beside them exceed the limit: other
// workers may have read new ids since lines were admitted.
func (r *run) fit(worker int, other int64) error {
	if r.c.Memory == 0 {
		return nil
	}
	r.mu.Lock()
	var evict []*part
	if over := other + r.extent().reading() - r.c.Memory; over > 0 {
		r.spilling = true
		evict = r.evict(max(0, r.held-over))
	}
	r.mu.Unlock()
	if err := r.moveAll(worker, evict); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fits(other)
}

// moveAll moves parts to disk.
func (r *run) moveAll(worker int, parts []*part) error {
	for _, p := range parts {
		if err := r.moveToDisk(worker, p); err != nil {
			return err
		}
	}
	return nil
}

// slabBytes is the memory of a piece of a slab, if the limit is not small.
const slabBytes = 32 << 20

// newSlabs returns slabs for all workers.
func (r *run) newSlabs() []lines.Slabs {
	size := slabBytes
	if r.c.Memory > 0 {
		size = min(size, int(r.c.Memory)/(16*r.workers))
	}
	all := make([]lines.Slabs, r.workers)
	for i := range all {
		all[i].Code.Size, all[i].Weight.Size = size/4, size/8
	}
	return all
}

// admit decides whether a part stays in memory; if not, evict are the parts
// that the caller is to move to disk as well.
func (r *run) admit(p *part) (keep bool, evict []*part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.top, r.weighted = r.lines+p.edges, max(r.top, p.top), r.weighted || p.weighted
	if r.c.Memory == 0 {
		r.held += p.bytes()
		return true, nil
	}
	e := r.extent()
	if e.held += p.bytes(); !r.spilling && e.fits() {
		r.held = e.held
		return true, nil
	}
	most := r.c.Memory - r.otherBytes() - r.dictNeeds()
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

// moveToDisk writes a part to the temporary file and frees its memory.
func (r *run) moveToDisk(worker int, p *part) error {
	if err := r.needSpill(); err != nil {
		return err
	}
	rec, err := r.spill.WriteLines(&r.loaders[worker], p.code, p.weight)
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
func (r *run) planSort(s *sort.Sorter, other int64) (sort.LineCount, error) {
	if s.Limit > 0 {
		s.Limit = max(1, r.c.Memory-r.otherBytes()-other) // once no line is left
	}
	count, err := s.Plan(edgesOf(r.parts))
	if err == nil {
		err = r.makeRoom(other + s.Bytes())
	}
	if s.Limit > 0 {
		s.Limit = max(1, r.left()-other)
	}
	return count, err
}

// edgesOf returns how many lines each part has.
func edgesOf(parts []*part) []int {
	edges := make([]int, len(parts))
	for i, p := range parts {
		edges[i] = p.edges
	}
	return edges
}

// forget lets the temporary file use again where the lines of parts are.
func (r *run) forget(from, to int) {
	var records []*sort.Record
	for _, p := range r.parts[from:to] {
		if p.spilled != nil {
			records = append(records, p.spilled)
		}
	}
	r.spill.Reuse(records)
}

// forFillings returns the temporary file for so many more bytes.
func (r *run) forFillings(bytes int64) (*sort.Spill, error) {
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
	if code, weight, err = r.spill.ReadLines(&r.loaders[worker], p.spilled, p.edges); err != nil {
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
