package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Share is an open file of [WriteShare].
type Share struct {
	Path      string
	Index, Of int
	Inputs    []string // of all shares
	Settings  Config   // without those of one machine

	head shareHead
	file *os.File
}

// IsShare reports whether path is a file of [WriteShare].
func IsShare(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [len(shareMagic)]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == shareMagic
}

// OpenShare opens the file of a share and reads its description. The error is a [*nodefile.ParseError] if
// the file is damaged or was not written by [WriteShare].
func OpenShare(ctx context.Context, path string) (*Share, error) {
	f, err := textio.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Share{Path: path, file: f}
	if err := s.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Close closes the file.
func (s *Share) Close() error { return s.file.Close() }

// damaged is the error for a file that cannot be used.
func (s *Share) damaged(format string, args ...any) error {
	return &nodefile.ParseError{File: s.Path, Msg: fmt.Sprintf(format, args...), Fix: "make the share again"}
}

// readHead reads the description at the end of the file, and checks it.
func (s *Share) readHead() error {
	const tail = 8 + 4 + len(shareMagic)
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	end := info.Size() - int64(tail)
	if !info.Mode().IsRegular() || end < int64(len(shareMagic)) || !IsShare(s.Path) {
		return s.damaged("is no share of the files of a graph")
	}
	var b [tail]byte
	if _, err := s.file.ReadAt(b[:], end); err != nil {
		return err
	}
	length := binary.LittleEndian.Uint64(b[:])
	if string(b[12:]) != shareMagic || length > uint64(end)-uint64(len(shareMagic)) {
		return s.damaged("is cut off or damaged")
	}
	place := block{end - int64(length), int(length), binary.LittleEndian.Uint32(b[8:])}
	text, err := s.readBlock(place, nil)
	if err != nil {
		return err
	}
	h := &s.head
	if json.Unmarshal(text, h) != nil || h.Report == nil || h.Share < 0 || h.Share >= h.Of || !h.Index.endsBefore(place.Offset) {
		return s.damaged("has a damaged description")
	}
	s.Index, s.Of, s.Inputs, s.Settings = h.Share, h.Of, h.Inputs, h.Settings
	return nil
}

// endsBefore reports whether a block ends at an offset of the file or before.
func (b block) endsBefore(end int64) bool {
	return b.Offset >= 0 && b.Length >= 0 && b.Offset <= end && int64(b.Length) <= end-b.Offset
}

// readBlock returns bytes of the file, in buf if there is room.
func (s *Share) readBlock(b block, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], b.Length)[:b.Length]
	if _, err := s.file.ReadAt(buf, b.Offset); err != nil {
		return nil, s.readError(err)
	}
	if simd.Checksum(0, buf) != b.Sum {
		return nil, s.readError(sort.ErrSum)
	}
	return buf, nil
}

// readIndex returns the index, whose records lie before it and name files of the report.
func (s *Share) readIndex() (*shareIndex, error) {
	text, err := s.readBlock(s.head.Index, nil)
	if err != nil {
		return nil, err
	}
	x, end := new(shareIndex), s.head.Index.Offset
	isWrong := json.Unmarshal(text, x) != nil
	for _, r := range x.IDs {
		isWrong = isWrong || !r.endsBefore(end) || r.Count < 0 || r.Count > r.Length
	}
	for _, r := range x.Lines {
		place := block{Offset: r.Offset, Length: r.Length}
		isWrong = isWrong || !place.endsBefore(end) || !r.HoldsLines(r.Edges, r.Weighted) || r.File < 0 || r.File >= len(s.head.Report.Files)
	}
	if isWrong {
		return nil, s.damaged("has a damaged index")
	}
	return x, nil
}

// Merge writes the store of all shares, which are given in order, to the directory dir. The store has the
// bytes of that of [Run] for all inputs with the settings of the shares, except for its identity. Of c, the
// settings that describe the graph are ignored. Memory and errors are those of [Run], with in addition
// the index of a share and 4 bytes for each of its ids. A share that is missing or has other settings is
// an error that wraps [nodefile.ErrInput]. The report counts the lines of all shares.
func Merge(ctx context.Context, dir string, shares []*Share, c *Config) (*Report, error) {
	for i, s := range shares {
		if s.Index != i || s.Of != len(shares) || !s.isLike(shares[0]) {
			return nil, &nodefile.ParseError{File: s.Path, Msg: fmt.Sprintf("share %d of %d is not share %d of %d of the same graph", s.Index, s.Of, i, len(shares)), Err: nodefile.ErrInput}
		}
	}
	if len(shares) == 0 {
		return nil, &nodefile.ParseError{Msg: "no share", Err: nodefile.ErrInput}
	}
	c = cmp.Or(c, new(Config))
	t := &task{ctx: ctx, dir: dir, fs: durable.OS, report: &Report{IDs: "numeric"}, workers: sched.Workers(c.Workers), start: time.Now()}
	t.c = shares[0].Settings
	t.c.Force, t.c.TempDir, t.c.Memory, t.c.Workers, t.c.Progress, t.c.Warn, t.c.Store = c.Force, c.TempDir, c.Memory, c.Workers, c.Progress, c.Warn, c.Store
	return t.run(func(r *reader) error {
		r.several = true
		r.beginNames()
		for _, s := range shares {
			if err := r.readShare(s); err != nil {
				return err
			}
		}
		return r.checkEdges(len(shares[0].Inputs))
	})
}

// isLike reports whether two shares have the same inputs and settings.
func (s *Share) isLike(t *Share) bool {
	a, err := json.Marshal(s.Settings)
	b, wrong := json.Marshal(t.Settings)
	return err == nil && wrong == nil && string(a) == string(b) && slices.Equal(s.Inputs, t.Inputs)
}

// readShare adds the lines of a share.
func (r *reader) readShare(s *Share) error {
	h := &s.head
	if err := r.state(h.StatedBy, h.Stated); err != nil {
		return err
	}
	file := len(r.files)
	r.files = append(r.files, h.Report.Files...)
	r.report.addRead(h.Report)
	held := 2 * int64(h.Index.Length) // text of the index, and the index
	if err := r.fit(0, held); err != nil {
		return err
	}
	index, err := s.readIndex()
	if err != nil {
		return err
	}
	var codes []uint32 // of the dictionary, for the positions of ids
	if h.Text {
		r.useDict.Store(true)
		if codes, err = r.shareIDs(s, index.IDs, held); err != nil {
			return err
		}
		held += 4 * int64(len(codes))
	}
	first, seq := len(r.parts), r.seq
	loaders := make([]sort.Lines, r.workers)
	var done, edges int64
	for i := range index.Lines {
		edges += int64(index.Lines[i].Edges)
	}
	err = sched.Run(r.ctx, r.workers, len(index.Lines), func(worker, i int) error {
		rec := &index.Lines[i]
		code, weight, err := loaders[worker].ReadFrom(s.file, &rec.Record, rec.Edges)
		if err != nil {
			return s.readError(err)
		}
		p := &part{seq: seq + i, file: file + rec.File, first: rec.First, code: code, weight: weight, gaps: rec.Gaps, weighted: rec.Weighted, inDict: h.Text}
		if h.Text {
			if int(sort.Largest(code)) >= len(codes) {
				return s.damaged("has lines with ids that it lacks")
			}
			for j, at := range code {
				code[j] = codes[at]
			}
		}
		if err := r.addPart(worker, p); err != nil {
			return err
		}
		r.mu.Lock()
		done += int64(rec.Edges)
		r.progress(readingStage+" "+s.Path, done, edges)
		r.mu.Unlock()
		return r.fit(worker, held)
	})
	mine := r.parts[first:]
	slices.SortFunc(mine, func(a, b *part) int { return a.seq - b.seq })
	r.seq += len(index.Lines)
	return err
}

// readError returns the error for a record that could not be read.
func (s *Share) readError(err error) error {
	if errors.Is(err, sort.ErrSum) {
		return s.damaged("is damaged: %v", err)
	}
	return fmt.Errorf("%s: %w", s.Path, err)
}

// shareIDs adds the ids of a share to the dictionary, and returns their codes. The share holds other bytes
// of memory already.
func (r *reader) shareIDs(s *Share, records []idRecord, held int64) (codes []uint32, err error) {
	count := 0
	for _, rec := range records {
		count += rec.Count
	}
	held += 4 * int64(count)
	if err := r.fit(0, held); err != nil {
		return nil, err
	}
	codes = make([]uint32, count)
	var batch ids.Batch
	var buf []byte
	next := 0
	for _, rec := range records {
		if buf, err = s.readBlock(rec.block, buf); err != nil {
			return nil, err
		}
		batch.Reset()
		for at := 0; at < len(buf); {
			length, n := binary.Uvarint(buf[at:])
			if n <= 0 || length > uint64(len(buf)-at-n) {
				return nil, s.damaged("has damaged ids")
			}
			batch.Add(r.dict, buf, at+n, at+n+int(length))
			at += n + int(length)
		}
		if batch.Len() != rec.Count {
			return nil, s.damaged("has damaged ids")
		}
		p := &part{seq: r.seq, file: len(r.files) - 1}
		if err := r.codes(p, codes[next:next+rec.Count], buf, &batch); err != nil {
			return nil, err
		}
		next += rec.Count
		r.seq++
		if err := r.fit(0, held); err != nil {
			return nil, err
		}
	}
	return codes, nil
}
