package checkpoint

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Log holds parts of what a run computes, each with a name. Its methods may be called by
// several goroutines at a time.
type Log struct {
	mu sync.Mutex
	journal
	file  durable.File
	end   int64            // of the file
	at    map[string]int64 // where parts begin
	given bool             // up
}

// Open returns the journal of a run beside its output, which has so many bytes: room for
// twice as many, and a MiB, is left on the disk, since ids and more stand beside it too.
// Parts are kept once the run has gone on for warmup, often [Warmup]. Of which run it is,
// is asked once there is something to keep, or at once if it is resumed, from the file
// that is there, if there is one. There is no journal, and nil is returned, beside an
// output that is none in a file.
func Open(output string, bytes int64, warmup time.Duration, resume bool, run func() (Run, error)) (*Log, error) {
	if !inFile(output) {
		return nil, nil
	}
	l := &Log{journal: newJournal(output, 2*bytes+1<<20, warmup, run), at: map[string]int64{}}
	if resume {
		return l, l.load()
	}
	return l, nil
}

// load finds where parts are in the file at the log's path, if there is one. Their sums are
// compared as they are read.
func (l *Log) load() error {
	of, err := l.run()
	if err != nil {
		return err
	}
	err = open(l.path, func(all *io.SectionReader) error {
		err := readBegin(all, l.path, of)
		for err == nil {
			if l.end, _ = all.Seek(0, io.SeekCurrent); l.end == all.Size() {
				return nil
			}
			var name string
			if name, err = nameOf(newReader(all)); err == nil {
				err = skip(all)
			}
			if err == nil {
				l.at[name] = l.end
			}
		}
		if l.end > 0 && errors.Is(err, errTorn) { // the last one, which is cut off
			return nil
		}
		return err
	})
	if err == nil && l.end > 0 {
		l.next = l.begun // the run before has gone on for long
		l.file, err = durable.OS.Reopen(l.path, l.end)
	}
	if err != nil {
		clear(l.at)
	}
	return err
}

// nameOf reads the name of a part.
func nameOf(record io.Reader) (string, error) {
	var length uint16
	err := binary.Read(record, binary.LittleEndian, &length)
	name := make([]byte, length)
	if err == nil {
		_, err = io.ReadFull(record, name)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errDamaged
	}
	return string(name), err
}

// Recall returns what was kept by a name, nil for nothing. The error of reading it is an
// [*Error] where it is damaged.
func (l *Log) Recall(name string) io.Reader {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.at[name]
	if !ok {
		return nil
	}
	record := newReader(io.NewSectionReader(l.file, at, l.end-at))
	_, _ = nameOf(record) // the error is that of the next read too
	return &part{l.path, record}
}

// part is one that is recalled.
type part struct {
	path string
	from io.Reader
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	return n, placed(err, p.path)
}

// Keep has write write a part of about so many bytes, if the run has gone on for a while,
// writing takes little of its time and the disk has room; it tells whether it has. Where
// writing fails nothing more is kept: the run goes on without. What the machine loses as
// it fails itself may damage the file, which a later run tells.
func (l *Log) Keep(name string, bytes int64, write func(w io.Writer) error) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	start := time.Now()
	if _, known := l.at[name]; known || l.given || start.Before(l.next) || !l.pays(bytes) {
		return false
	}
	if l.file == nil && l.create() != nil {
		l.given = true
		return false
	}
	w, began := io.NewOffsetWriter(l.file, l.end), time.Now()
	err := writeRecord(w, func(w io.Writer) error {
		if _, err := w.Write(append(binary.LittleEndian.AppendUint16(nil, uint16(len(name))), name...)); err != nil {
			return err
		}
		return write(w)
	})
	if err != nil {
		l.cut()
		return false
	}
	size, _ := w.Seek(0, io.SeekCurrent)
	l.at[name] = l.end
	l.end += size
	l.wrote(size, start, began)
	return true
}

// create begins the file, in place of one that is there.
func (l *Log) create() error {
	of, err := l.run()
	if err == nil {
		err = begin(l.path, of, func(io.Writer) error { return nil })
	}
	if err != nil {
		return err
	}
	info, err := durable.OS.Stat(l.path)
	if err != nil {
		return err
	}
	l.end = info.Size()
	l.file, err = durable.OS.Reopen(l.path, l.end)
	return err
}

// cut gives the log up, without the record that could not be written.
func (l *Log) cut() {
	l.given = true
	if file, err := durable.OS.Reopen(l.path, l.end); err == nil {
		_ = file.Close() // what was torn may stay as well
	}
}

// Close ends the log, and reports whether there is something to go on from.
func (l *Log) Close() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := len(l.at) > 0
	if l.file != nil {
		_ = l.file.Close() // what could not be written shows when it is read
	}
	l.given, l.file, l.at = true, nil, nil
	return kept
}

// Remove ends the log and removes its file, if there is one.
func (l *Log) Remove() error {
	if l == nil {
		return nil
	}
	l.Close()
	return Remove(l.path)
}
