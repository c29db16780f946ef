package sort

import (
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
)

// filling is a range of spans whose entries are in memory together. The entries of all fillings except the
// last go to the temporary file, bucket by bucket.
type filling struct {
	lo, hi  int // spans
	entries int
	bucket  []Record // place of each bucket on disk
}

// LeastBytes is the least memory for the entries of a filling in most graphs.
const LeastBytes = 2 << 20

func (s *Sorter) Entries() int {
	n := 0
	for _, b := range s.buckets {
		n += b.entries()
	}
	return n
}

// bucketBytes is the part of a worker's fixed memory for the buckets that it finishes. The caller of the
// sorter counts this memory.
const bucketBytes = 2 << 20

// scratchBytes returns the memory for the largest buckets and the counts of all buckets. gathered states that
// buckets are gathered from several fillings.
func (s *Sorter) scratchBytes(gathered bool) int64 {
	const slot, cell = 16, 2
	workers := int64(sched.Workers(s.Workers))
	perBucket := 8*int64(len(s.spans)+1) + 32*int64(len(s.spans)/spansInFilling+1) +
		slot*workers
	bytes := int64(len(s.buckets))*perBucket + cell*int64(len(s.bucketOf))
	demanding := slices.Clone(s.inRuns)
	for i, entries := range s.largest[:min(len(s.largest), int(workers))] {
		need := int64(entries) * s.form.workBytes(gathered)
		if waiting := i + int(workers); waiting < len(s.largest) {
			need += int64(s.largest[waiting]) * s.form.mergedBytes()
		}
		demanding = append(demanding, need)
	}
	for _, need := range keepLargest(demanding, int(workers)) {
		bytes += max(0, need-bucketBytes)
	}
	for _, merged := range s.joined {
		bytes += merged
	}
	return bytes
}

// Bytes returns the memory of sorting with all entries in memory, without the fixed memory of the workers.
func (s *Sorter) Bytes() int64 {
	return int64(s.Entries())*s.form.bytes() + s.scratchBytes(false)
}

// MemoryError is the error about a limit of a [Sorter] that is too low.
type MemoryError struct{ Need, Limit int64 }

func (e *MemoryError) Error() string {
	return "ingest: entries do not fit the memory"
}

// spilledBytes divides the spans into fillings, and returns an upper bound of the bytes that go to disk. If
// the limit is too low, the error is a [*MemoryError].
func (s *Sorter) spilledBytes() (bytes int64, err error) {
	if err := s.cutFillings(); err != nil {
		return 0, err
	}
	for _, b := range s.fillings[:max(0, len(s.fillings)-1)] {
		bytes += int64(b.entries) * s.form.bytes()
	}
	return bytes, nil
}

// cutFillings divides the spans into fillings. The last fillings are as large as possible, so that the least
// data goes to disk.
func (s *Sorter) cutFillings() error {
	s.fillings = nil
	scratch := s.scratchBytes(s.Limit > 0 && s.Bytes() > s.Limit)
	limit := (s.Limit - scratch) / s.form.bytes()
	for lo, hi := 0, len(s.spans); hi > 0; hi = lo {
		n := 0
		for lo = hi; lo > 0; lo-- {
			count := 0
			for _, b := range s.buckets {
				count += b.starts[lo] - b.starts[lo-1]
			}
			if s.Limit > 0 && lo < hi && int64(n+count) > limit {
				break
			}
			n += count
		}
		if bytes := int64(n)*s.form.bytes() + scratch; s.Limit > 0 && bytes > s.Limit {
			return &MemoryError{Need: bytes, Limit: s.Limit}
		}
		s.fillings = append(s.fillings, filling{lo: lo, hi: hi, entries: n})
	}
	slices.Reverse(s.fillings)
	return nil
}

// Each calls visit with every bucket in order, one at a time. The rows are valid during the call.
func (s *Sorter) Each(visit func(b *Rows) error) error {
	spilled, err := s.spilledBytes()
	if err != nil {
		return err
	}
	if s.form.narrow {
		return sortFillings[uint32](s, spilled, visit)
	}
	return sortFillings[uint64](s, spilled, visit)
}

// sortFillings fills, sorts and merges the buckets and calls visit with each, as [Sorter.Each] does, after
// the spans have been divided into fillings. spilled is the number of bytes that go to disk.
func sortFillings[K key](s *Sorter, spilled int64,
	visit func(b *Rows) error) error {
	if len(s.fillings) == 0 {
		return nil
	}
	largest := 0
	for _, b := range s.fillings {
		largest = max(largest, b.entries)
	}
	if s.Limit > 0 {
		system.Collect() // frees buffers of an earlier sorter
	}
	e := &entries[K]{s: s, keys: system.Make[K](largest),
		work: make([]finisher[K], sched.Workers(s.Workers))}
	if s.Values {
		e.values = system.Make[float64](largest)
	}
	e.runs = make([][]sortedRun[K], len(s.buckets))
	e.left = make([]int64, len(s.buckets))
	last := len(s.fillings) - 1
	if last > 0 {
		disk, err := s.Temporary(spilled)
		if err != nil {
			return err
		}
		e.disk = disk
		defer disk.release(disk.end)
	}
	read := s.stage(planShare, fillShare, s.lines)
	for i := range s.fillings {
		if err := e.fill(&s.fillings[i], read); err != nil {
			return err
		}
		if i < last {
			if s.Forget != nil {
				s.Forget(s.spans[s.fillings[i].lo].lo,
					s.spans[s.fillings[i].hi-1].hi)
			}
			if err := e.spill(&s.fillings[i]); err != nil {
				return err
			}
		}
	}
	done := s.stage(fillShare, 1, s.Rows)
	turns := newTurns(countFinished(len(e.work))-len(e.work), func(b *Rows) error {
		err := visit(b)
		done(len(b.Ptr) - 1)
		return err
	})
	return sched.Run(s.Context, s.Workers, len(s.buckets), func(worker, k int) error {
		return turns.piece(k, func() (err error) {
			f := &e.work[worker]
			if err = e.finish(f, k); err == nil {
				f.out, err = turns.pass(k, f.out)
			}
			return err
		})
	})
}
