package checkpoint

import (
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Log holds records, to which a run appends.
type Log struct {
	file durable.File
	at   int64 // where the next record begins
}

// NewLog begins the log of a run at path, in place of one that is there.
func NewLog(path string, of Run) (*Log, error) {
	file, err := durable.NewFile(durable.OS, path)
	if err != nil {
		return nil, err
	}
	if err := writeBegin(file, of); err != nil {
		return nil, errors.Join(err, file.Abort())
	}
	if err := durable.Commit(nil, file); err != nil {
		return nil, err
	}
	return OpenLog(path, of, nil)
}

// OpenLog opens the log of a run at path, or begins one if there is none, and gives each
// the records that it has in order. A last one that is torn is cut off: its reader returns
// [ErrTorn], which each has to return.
func OpenLog(path string, of Run, each func(r io.Reader) error) (*Log, error) {
	whole := int64(0) // bytes; 0: there is no log
	err := open(path, func(all *io.SectionReader) error {
		err := readBegin(all, path, of)
		for err == nil {
			if whole, _ = all.Seek(0, io.SeekCurrent); whole == all.Size() {
				return nil
			}
			record := newReader(all)
			if err = each(record); err == nil {
				_, err = io.Copy(io.Discard, record)
			}
		}
		if whole > 0 && errors.Is(err, ErrTorn) {
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case whole == 0:
		return NewLog(path, of)
	}
	file, err := durable.OS.Reopen(path, whole)
	return &Log{file, whole}, err
}

// Append appends what write writes as a record, which is on the disk then.
func (l *Log) Append(write func(w io.Writer) error) error {
	w := io.NewOffsetWriter(l.file, l.at)
	err := writeRecord(w, write)
	if err == nil {
		err = l.file.Sync()
	}
	if err == nil {
		bytes, _ := w.Seek(0, io.SeekCurrent)
		l.at += bytes
	}
	return err
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }
