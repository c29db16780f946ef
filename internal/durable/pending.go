package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// Pending is a file under construction. It appears under its name when Commit
// succeeds; until then, and for ever after Abort, whatever had the name keeps
// it. It is not safe for concurrent use, except that WriteAt may be called
// from several goroutines while nothing calls Write.
type Pending struct {
	fsys      FS
	path, tmp string // tmp is "" where the bytes go straight to path
	f         File
	w         *bufio.Writer
	done      bool
}

// NewFile begins the file path, as a temporary file beside it whose name is
// always the same: what a killed run left, the next one overwrites. Two runs
// must not write one file at the same time. What names no regular file (a
// device, a pipe) is written directly: it cannot be replaced.
func NewFile(fsys FS, path string) (*Pending, error) {
	p := &Pending{fsys: fsys, path: path}
	target := path
	info, err := fsys.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("is a directory")}
	case err != nil || info.Mode().IsRegular():
		dir, name := filepath.Split(path)
		p.tmp = filepath.Join(dir, "."+name+".heatwalk-tmp")
		target = p.tmp
	}
	if p.f, err = fsys.Create(target); err != nil {
		return nil, err
	}
	p.w = bufio.NewWriterSize(p.f, 256<<10)
	return p, nil
}

// Write appends to the file.
func (p *Pending) Write(b []byte) (int, error) { return p.w.Write(b) }

// WriteAt writes at a position. Bytes between that nobody writes are zero.
func (p *Pending) WriteAt(b []byte, off int64) (int, error) {
	if p.w.Buffered() > 0 {
		if err := p.w.Flush(); err != nil {
			return 0, err
		}
	}
	return p.f.WriteAt(b, off)
}

// Commit syncs the file, gives it its name and syncs the directory. On error
// the temporary file is removed; only an error of the last step, the sync of
// the directory, leaves the new file under the name.
func (p *Pending) Commit() error {
	if p.done {
		return errors.New("durable: Commit after the end")
	}
	p.done = true
	err := p.w.Flush()
	if err == nil && p.tmp != "" {
		if err = p.f.Sync(); err != nil {
			err = fmt.Errorf("%w; the disk may have lost data", err)
		}
	}
	err = errors.Join(err, p.f.Close())
	if p.tmp == "" {
		return err
	}
	if err == nil {
		err = p.fsys.Rename(p.tmp, p.path)
	}
	if err != nil {
		return errors.Join(err, p.fsys.Remove(p.tmp))
	}
	return p.fsys.SyncDir(filepath.Dir(p.path))
}

// Abort gives the file up. After Commit it does nothing, so that it may be
// deferred.
func (p *Pending) Abort() error {
	if p.done {
		return nil
	}
	p.done = true
	err := p.f.Close()
	if p.tmp != "" {
		err = errors.Join(err, p.fsys.Remove(p.tmp))
	}
	return err
}

// WriteFile writes the file path with what write produces; it appears whole or
// not at all.
func WriteFile(fsys FS, path string, write func(io.Writer) error) error {
	p, err := NewFile(fsys, path)
	if err != nil {
		return err
	}
	if err := write(p); err != nil {
		return errors.Join(err, p.Abort())
	}
	return p.Commit()
}
