package sort

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// Spill is the temporary file for lines and entries that do not fit into memory. It is safe for concurrent
// use. It consists of records, which are written once, in any order: the lines of a part (packed codes, then
// weights), or a bucket of a filling.
type Spill struct {
	file *durable.Pending

	mu   sync.Mutex
	end  int64
	peak int64    // largest end so far
	free []region // regions before end that are not read again, by offset
}

// Record is a place in the file, and the encoding of its lines or entries.
type Record struct {
	offset int64
	length int
	sum    uint32     // CRC-32C of the bytes
	width  uint8      // bits of a code, or bytes of a key
	form   weightForm // form of the weights that follow
}

type weightForm uint8

const (
	noWeights weightForm = iota
	weightsOf32
	weightsOf64
	weightsEqual // one float64 for all
)

// SpillName is the part of the names of temporary files between a dot and a random ending.
const SpillName = "heatwalk-edges"

// NewSpill creates the temporary file in a directory. It removes temporary files that killed runs left there.
func NewSpill(fs durable.FS, dir string) (*Spill, error) {
	file, err := durable.NewFile(fs, filepath.Join(dir, SpillName))
	if err != nil {
		return nil, err
	}
	return &Spill{file: file}, nil
}

func (s *Spill) Remove() error { return s.file.Abort() }

// Bytes returns the largest size of the file so far.
func (s *Spill) Bytes() int64 { return max(s.peak, s.end) }

type region struct{ offset, length int64 }

func (s *Spill) reserve(length int64) region {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.free {
		if f := &s.free[i]; f.length >= length {
			offset := f.offset
			f.offset += length
			f.length -= length
			return region{offset, length}
		}
	}
	s.end += length
	return region{s.end - length, length}
}

func (s *Spill) release(offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peak = max(s.peak, s.end)
	s.end = offset
}

// Reuse frees the space of records that are not read again. Later writes to this space find its pages in the
// memory of the system, so that the pages need not go to disk twice.
func (s *Spill) Reuse(records []*Record) {
	regions := make([]region, len(records))
	for i, rec := range records {
		regions[i] = region{rec.offset, int64(rec.length)}
	}
	s.reuse(regions)
}

// reuse joins adjacent free regions, so that the file does not grow while its parts are read and written
// again.
func (s *Spill) reuse(regions []region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(s.free, regions...)
	slices.SortFunc(list,
		func(a, b region) int { return cmp.Compare(a.offset, b.offset) })
	s.free = list[:0]
	for _, r := range list {
		if last := len(s.free) - 1; last >= 0 && s.free[last].offset+s.free[last].length == r.offset {
			s.free[last].length += r.length
		} else {
			s.free = append(s.free, r)
		}
	}
}

func (s *Spill) write(rec *Record, b []byte) error {
	rec.offset = s.reserve(int64(len(b))).offset
	rec.length = len(b)
	rec.sum = simd.Checksum(0, b)
	if _, err := s.file.WriteAt(b, rec.offset); err != nil {
		return fmt.Errorf("temporary file: %w; choose another place for temporary files", err)
	}
	return nil
}

// read returns the bytes of a record, in buf if buf is large enough. packSlack bytes after the result are
// readable.
func (s *Spill) read(rec *Record, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], rec.length+packSlack)[:rec.length]
	if _, err := s.file.ReadAt(buf, rec.offset); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	if simd.Checksum(0, buf) != rec.sum {
		return nil, errSpill
	}
	return buf, nil
}

var errSpill = errors.New("temporary file: the bytes read differ from the bytes written; check the disk, or choose another for temporary files")

// Lines holds a worker's buffers.
type Lines struct {
	buf    []byte
	code   []uint32
	weight []float64
}

// WriteLines writes lines with two codes each and, if there are any, their weights.
func (s *Spill) WriteLines(l *Lines, code []uint32,
	weight []float64) (*Record, error) {
	width := CodeWidth(Largest(code))
	rec := &Record{width: uint8(width)}
	l.buf = packCodes(l.buf[:0], code, width)
	if len(weight) > 0 {
		rec.form = formOf(weight)
		l.buf = appendWeights(l.buf, weight, rec.form)
	}
	return rec, s.write(rec, l.buf)
}

// ReadLines reads the lines of record rec into l. It returns their codes, two for each line, and their weights. The
// slices are valid until the next call.
func (s *Spill) ReadLines(l *Lines, rec *Record,
	lines int) (code []uint32, weight []float64, err error) {
	if l.buf, err = s.read(rec, l.buf); err != nil {
		return nil, nil, err
	}
	l.code = slices.Grow(l.code[:0], 2*lines)[:2*lines]
	unpackCodes(l.code, l.buf[:rec.length+packSlack], uint(rec.width))
	if rec.form != noWeights {
		l.weight = slices.Grow(l.weight[:0], lines)[:lines]
		weightsTo(l.weight, l.buf[(2*lines*int(rec.width)+7)/8:], rec.form)
		weight = l.weight
	}
	return l.code, weight, nil
}

// Largest returns the largest code. It returns 0 if there are no codes.
func Largest(code []uint32) uint32 {
	var top [4]uint32 // four maxima, so that none waits for the previous one
	for ; len(code) >= 4; code = code[4:] {
		top[0], top[1] = max(top[0], code[0]), max(top[1], code[1])
		top[2], top[3] = max(top[2], code[2]), max(top[3], code[3])
	}
	for _, c := range code {
		top[0] = max(top[0], c)
	}
	return max(top[0], top[1], top[2], top[3])
}
