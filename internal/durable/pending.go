package durable

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
)

// Pending is a file under construction. It appears under its name when Commit
// succeeds; until then, and for ever after Abort, whatever had the name keeps
// it. It is not safe for concurrent use, except that WriteAt and ReadAt may
// be called from several goroutines while nothing calls Write.
type Pending struct {
	fsys      FS
	path, tmp string // tmp is "" where the bytes go straight to path
	fresh     bool   // nothing had the name
	f         File
	w         *bufio.Writer
	done      bool
}

// NewFile begins the file path, as a temporary file beside it with a name of its
// own. Of several that write one path at the same time the last to commit gives
// it its content. Temporary files for path that killed runs left are removed.
// What names no regular file (a device, a pipe) is written directly: it cannot
// be replaced.
func NewFile(fsys FS, path string) (*Pending, error) {
	p := &Pending{fsys: fsys, path: path}
	info, err := fsys.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("is a directory")}
	case err != nil || info.Mode().IsRegular():
		p.fresh = err != nil
		RemoveUnused(fsys, path)
		err = p.createTemp()
	default:
		p.f, err = fsys.Create(path)
	}
	if err != nil {
		return nil, err
	}
	p.w = bufio.NewWriterSize(p.f, 256<<10)
	return p, nil
}

// Temporary files for a path are called what it is called, with a dot before
// and this behind.
var tempSuffix = regexp.MustCompile(`\.heatwalk-tmp-[0-9a-f]{8}$`)

// Final returns the path that the file will have which is at path now: that
// without dot and ending for a temporary file of NewFile, else path itself.
func Final(path string) string {
	dir, name := filepath.Split(path)
	if at := tempSuffix.FindStringIndex(name); at != nil && name[0] == '.' {
		return dir + name[1:at[0]]
	}
	return path
}

// createTemp creates the temporary file, under another name if one is taken.
func (p *Pending) createTemp() (err error) {
	dir, name := filepath.Split(p.path)
	const attempts = 100
	for range attempts {
		var number [4]byte
		_, _ = rand.Read(number[:]) // never fails
		p.tmp = filepath.Join(dir, "."+name+".heatwalk-tmp-"+hex.EncodeToString(number[:]))
		p.f, err = p.fsys.CreateTemp(p.tmp)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, ErrLocked) {
			break
		}
	}
	return err
}

// RemoveUnused removes the temporary files for path that nobody writes any
// more. What cannot be removed stays: it is in nobody's way.
func RemoveUnused(fsys FS, path string) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	names, err := fsys.List(dir)
	if err != nil {
		return
	}
	for _, other := range names {
		if other != name && Final(other) == name {
			_ = fsys.RemoveTemp(filepath.Join(dir, other))
		}
	}
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

// ReadAt reads what WriteAt wrote, for files that are given up at last: a
// temporary file that its process uses itself.
func (p *Pending) ReadAt(b []byte, off int64) (int, error) { return p.f.ReadAt(b, off) }

// Commit publishes an output and the files that stand beside it. All are synced
// before one gets its name, and the output, files[0], gets its own last, so that
// where it is the others are. On error the temporary files are removed, and so is
// what got a name that nothing had; only an error after the output's renaming leaves
// all of them.
//
// For files that stand beside an output which is no file, publish puts that in place
// after all of them have their names; else it is nil.
func Commit(publish func() error, files ...*Pending) (err error) {
	for _, p := range files {
		if p.done {
			return errors.New("durable: Commit after the end")
		}
	}
	for i := 0; i < len(files) && err == nil; i++ {
		err = files[i].seal()
	}
	unnamed := len(files)
	for unnamed > 0 && err == nil {
		if unnamed == 1 && publish == nil {
			err = syncDirs(files[1:])
		}
		if err == nil {
			err = files[unnamed-1].publish()
		}
		if err == nil {
			unnamed--
		}
	}
	if err == nil && publish != nil {
		if err = syncDirs(files); err == nil {
			err = publish()
		}
	}
	if err == nil {
		for _, p := range files {
			p.done = true
			err = errors.Join(err, p.f.Close())
		}
		if publish != nil {
			return nil // all are synced and in place: a failure to close one undoes nothing
		}
		return errors.Join(err, syncDirs(files[:min(1, len(files))]))
	}
	for _, p := range files[:unnamed] {
		err = errors.Join(err, p.Abort())
	}
	for _, p := range files[unnamed:] {
		p.done = true
		if p.fresh {
			err = errors.Join(err, p.fsys.Remove(p.path))
		}
		err = errors.Join(err, p.f.Close())
	}
	return err
}

// seal writes what is buffered, and syncs it unless it goes straight to its place.
func (p *Pending) seal() error {
	if err := p.w.Flush(); err != nil || p.tmp == "" {
		return err
	}
	if err := p.f.Sync(); err != nil {
		return fmt.Errorf("%w; the disk may have lost data", err)
	}
	return nil
}

// publish gives the file its name. It stays open, lest another run take the
// temporary file for a leftover.
func (p *Pending) publish() error {
	if p.tmp == "" {
		return nil
	}
	return p.fsys.Rename(p.tmp, p.path)
}

// syncDirs syncs the directories of files once each.
func syncDirs(files []*Pending) error {
	var synced []string
	for _, p := range files {
		dir := filepath.Dir(p.path)
		if p.tmp == "" || slices.Contains(synced, dir) {
			continue
		}
		if err := p.fsys.SyncDir(dir); err != nil {
			return err
		}
		synced = append(synced, dir)
	}
	return nil
}

// Abort gives the file up. After Commit it does nothing, so that it may be
// deferred.
func (p *Pending) Abort() error {
	if p.done {
		return nil
	}
	p.done = true
	var err error
	if p.tmp != "" {
		err = p.fsys.Remove(p.tmp)
	}
	return errors.Join(err, p.f.Close())
}
