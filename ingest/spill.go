package ingest

import (
	"sync"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
)

// lineStore holds the lines of all parts: in memory while they fit into its limit, and else in a temporary
// file.
//
// The numberer maps the two codes of a line to ranks, see the package documentation. The orderer maps ranks
// to rows. Lines in memory are mapped at once, lines on disk whenever they are read.
type lineStore struct {
	t        *task
	parts    []*part
	held     int64 // bytes of parts in memory
	count    int
	top      uint32
	weighted bool
	values   bool // some part has weights, or codes that are packed with a weight

	spilling  bool
	spill     *sort.Spill
	spillOnce sync.Once
	spillErr  error
	loaders   []sort.Lines          // buffers of each worker
	slabs     []lines.Slabs         // buffers of each worker
	maps      []func(code []uint32) // maps from the codes of parts on disk to rows
}

func (s *lineStore) needSpill() error {
	s.spillOnce.Do(func() { s.spill, s.spillErr = sort.NewSpill(s.t.fs, s.t.tempDir()) })
	return s.spillErr
}

func (s *lineStore) endSpill() error {
	if s.spill == nil {
		return nil
	}
	s.t.report.SpilledBytes = s.spill.Bytes()
	return s.spill.Remove()
}

func (s *lineStore) moveAll(worker int, parts []*part) error {
	for _, p := range parts {
		if err := s.moveToDisk(worker, p); err != nil {
			return err
		}
	}
	return nil
}

// slabBytes is the size of a piece of a slab if the memory limit is not small.
const slabBytes = 32 << 20

// evict returns the parts to move to disk so that the other parts take at most limit bytes.
func (s *lineStore) evict(limit int64) (evict []*part) {
	for _, p := range s.parts {
		if s.held <= limit {
			break
		}
		if !p.leaving {
			p.leaving = true
			evict = append(evict, p)
			s.held -= p.lineBytes()
		}
	}
	return evict
}

func (s *lineStore) moveToDisk(worker int, p *part) error {
	if err := s.needSpill(); err != nil {
		return err
	}
	rec, err := s.spill.WriteLines(&s.loaders[worker], p.code, p.weight)
	if err != nil {
		return err
	}
	p.spilled = rec
	p.code = nil
	p.weight = nil
	p.mapped = len(s.maps)
	return nil
}

func edgesOf(parts []*part) []int {
	edges := make([]int, len(parts))
	for i, p := range parts {
		edges[i] = p.edges
	}
	return edges
}

// forget frees the disk space of the lines of parts lo ≤ p < hi.
func (s *lineStore) forget(lo, hi int) {
	var records []*sort.Record
	for _, p := range s.parts[lo:hi] {
		if p.spilled != nil {
			records = append(records, p.spilled)
		}
	}
	s.spill.Reuse(records)
}

// forFillings returns the temporary file. If the disk has fewer than the given bytes free, it returns a
// [*LimitError].
func (s *lineStore) forFillings(bytes int64) (*sort.Spill, error) {
	if err := s.t.checkFree(s.t.tempDir(), diskTemp, bytes); err != nil {
		return nil, err
	}
	err := s.needSpill()
	return s.spill, err
}

// load returns the codes and weights of a part, mapped by all maps. The slices must not be changed, and are
// valid until the worker loads another part.
func (s *lineStore) load(worker int,
	p *part) (code []uint32, weight []float64, err error) {
	if p.spilled == nil {
		return p.code, p.weight, nil
	}
	if code, weight, err = s.spill.ReadLines(&s.loaders[worker], p.spilled, p.edges); err != nil {
		return nil, nil, err
	}
	for _, m := range s.maps[p.mapped:] {
		m(code)
	}
	return code, weight, nil
}

func (s *lineStore) eachPart(do func(worker int, p *part, code []uint32, weight []float64) error) error {
	return sched.Run(s.t.ctx, s.t.workers, len(s.parts), func(worker, i int) error {
		code, weight, err := s.load(worker, s.parts[i])
		if err != nil {
			return err
		}
		return do(worker, s.parts[i], code, weight)
	})
}

// mapCodes maps codes in memory at once, and codes on disk whenever they are read.
func (s *lineStore) mapCodes(m func(code []uint32)) error {
	err := sched.Run(s.t.ctx, s.t.workers, len(s.parts), func(_, i int) error {
		m(s.parts[i].code)
		return nil
	})
	s.maps = append(s.maps, m)
	return err
}

func newSlabs(memory int64, workers int) []lines.Slabs {
	size := slabBytes
	if memory > 0 {
		size = min(size, int(memory)/(16*workers))
	}
	slabs := make([]lines.Slabs, workers)
	for i := range slabs {
		slabs[i].Code.Size = size / 4
		slabs[i].Weight.Size = size / 8
	}
	return slabs
}
