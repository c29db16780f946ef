package sort

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// Spill is the temporary file with lines and entries that memory has no room for.
//
// The lines of a part are one record: codes, packed, then their weights. Records are
// written once, in any order. So is each bucket of a filling of entries. A Spill is
// safe for concurrent use.
type Spill struct {
	file *durable.Pending

	mu   sync.Mutex
	end  int64
	most int64    // the largest end that there has been
	free []region // regions before end, by offset, that are not read any more
}

// Record is where lines or entries are on disk, and how they are written.
type Record struct {
	Offset int64      `json:"offset"`
	Length int        `json:"bytes"`
	Sum    uint32     `json:"crc32c"`
	Width  uint8      `json:"width"` // bits of a code, bytes of a key
	Form   weightForm `json:"form"`  // of the weights behind
}

// weightForm is how the weights of a record are written.
type weightForm uint8

const (
	noWeights    weightForm = iota
	weightsOf32             // all of them are float32 numbers
	weightsOf64             //
	weightsEqual            // one float64 for all
)

// SpillName is the name of temporary files, after a dot and before a random ending.
const SpillName = "heatwalk-edges"

// NewSpill makes the temporary file in a directory and removes those that killed runs
// left there.
func NewSpill(fs durable.FS, dir string) (*Spill, error) {
	file, err := durable.NewFile(fs, filepath.Join(dir, SpillName))
	if err != nil {
		return nil, err
	}
	return &Spill{file: file}, nil
}

// Remove removes the file.
func (s *Spill) Remove() error { return s.file.Abort() }

// Bytes returns how long the file has been.
func (s *Spill) Bytes() int64 { return max(s.most, s.end) }

// region is a piece of the file.
type region struct{ offset, length int64 }

// reserve returns a region of the file.
func (s *Spill) reserve(length int64) region {
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

// release frees the space from an offset on.
func (s *Spill) release(offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.end = max(s.most, s.end), offset
}

// Reuse frees the space of records that are not read again: later writes there find their pages in
// the memory of the system, and these need not go to the disk twice.
func (s *Spill) Reuse(records []*Record) {
	regions := make([]region, len(records))
	for i, rec := range records {
		regions[i] = region{rec.Offset, int64(rec.Length)}
	}
	s.reuse(regions)
}

func (s *Spill) reuse(regions []region) {
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

// write writes the bytes of a record.
func (s *Spill) write(rec *Record, b []byte) error {
	rec.Length, rec.Sum = len(b), simd.Checksum(0, b)
	rec.Offset = s.reserve(int64(len(b))).offset
	if _, err := s.file.WriteAt(b, rec.Offset); err != nil {
		return fmt.Errorf("temporary file: %w; choose another place for temporary files", err)
	}
	return nil
}

// read returns the bytes of a record, behind which packSlack more can be read,
// in buf if there is room.
func (s *Spill) read(rec *Record, buf []byte) ([]byte, error) {
	buf, err := rec.read(s.file, buf)
	switch {
	case errors.Is(err, ErrSum):
		return nil, fmt.Errorf("temporary file: %w; check the disk, or choose another for temporary files", err)
	case err != nil:
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return buf, nil
}

// ErrSum is returned for a record whose checksum is wrong.
var ErrSum = errors.New("the bytes read differ from the bytes written")

// read returns the bytes of a record of a file, as [Spill.read] does.
func (rec *Record) read(file io.ReaderAt, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], rec.Length+packSlack)[:rec.Length]
	if _, err := file.ReadAt(buf, rec.Offset); err != nil {
		return nil, err
	}
	if simd.Checksum(0, buf) != rec.Sum {
		return nil, ErrSum
	}
	return buf, nil
}
