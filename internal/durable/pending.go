package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"sync"
)

// Pending is a file under construction. It appears under its name when Commit
// succeeds; until then, and for ever after Abort, whatever had the name keeps
// it. It is not safe for concurrent use, except that WriteAt and ReadAt may
// be called from several goroutines while nothing calls Write.
type Pending struct {
	fsys      FS
	path, tmp string      // tmp is "" where the bytes go straight to path
	fresh     bool        // nothing had the name
	mode      fs.FileMode // permission bits of the file that is replaced
	f         File
	w         *bufio.Writer
	done      bool
}

// NewFile begins the file path, as a temporary file with a unique name in the same directory. If
// several processes write one path at the same time, the last to commit determines its content.
// NewFile removes temporary files in that directory that killed runs left. If path is a link, the link stays
// and its target is replaced. The new file has the permission bits of the old file, and grants
// others no more than these from the start. A path that is no regular file (a device, a pipe) is
// written directly, because it cannot be replaced.
func NewFile(fsys FS, path string) (*Pending, error) {
	return newFile(fsys, path, true)
}

// NewBeside is [NewFile] for a file that a run writes in addition to its output, under a
// name that the user did not give. Therefore a link of that name is replaced and not
// followed, and the error wraps [fs.ErrExist] if the name is the name of a device, a pipe or
// a directory.
func NewBeside(fsys FS, path string) (*Pending, error) {
	return newFile(fsys, path, false)
}

// newFile begins a file that replaces path when it is committed. With follow, path may be a link,
// whose target is replaced, or a pipe or device, which is written at once.
func newFile(fsys FS, path string, follow bool) (*Pending, error) {
	p := &Pending{fsys: fsys, path: path}
	if !follow {
		if target, err := fsys.Follow(path); err == nil && target != path {
			return p.begin(true, 0)
		}
	}
	info, err := fsys.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path,
			Err: errors.New("is a directory")}
	case err != nil || info.Mode().IsRegular():
		fresh := err != nil
		mode := fs.FileMode(0)
		if !fresh {
			mode = info.Mode().Perm()
		}
		if p.path, err = fsys.Follow(path); err != nil {
			return nil, err
		}
		return p.begin(fresh, mode)
	case !follow:
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if p.f, err = fsys.Create(path); err != nil {
		return nil, err
	}
	p.w = bufio.NewWriterSize(p.f, 256<<10)
	return p, nil
}

// begin creates the temporary file, with the permission bits of the file that it will
// replace unless the name is fresh.
func (p *Pending) begin(fresh bool, mode fs.FileMode) (*Pending, error) {
	p.fresh = fresh
	p.mode = mode
	RemoveUnused(p.fsys, filepath.Dir(p.path))
	if err := p.createTemp(); err != nil {
		return nil, err
	}
	p.w = bufio.NewWriterSize(p.f, 256<<10)
	if !fresh {
		if err := p.f.Chmod(mode | writing); err != nil {
			return nil, errors.Join(err, p.Abort())
		}
	}
	return p, nil
}

// writing are the permission bits that a file needs while it is written, and for its
// removal if its run is killed.
const writing = 0o600

// tempSuffix is the end of the name of a temporary file: the name of the final file, with a dot
// before it and this behind.
var tempSuffix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.heatwalk-tmp-[0-9a-f]{8}$`) })

// Final returns the path that a temporary file of NewFile gets when it is committed; it returns other paths as they
// are.
func Final(path string) string {
	dir, name := filepath.Split(path)
	if suffix := tempSuffix().FindStringIndex(name); suffix != nil && name[0] == '.' {
		return dir + name[1:suffix[0]]
	}
	return path
}

// createTemp creates the temporary file, under another name if one is taken.
func (p *Pending) createTemp() (err error) {
	dir, name := filepath.Split(p.path)
	const attempts = 100
	for range attempts {
		p.tmp = filepath.Join(dir, fmt.Sprintf(".%s.heatwalk-tmp-%08x", name, rand.Uint32()))
		p.f, err = p.fsys.CreateTemp(p.tmp)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, ErrLocked) {
			break
		}
	}
	return err
}

// IsUnlocked reports whether another process may write or remove the temporary file, because the
// file system has no locks.
func (p *Pending) IsUnlocked() bool {
	f, ok := p.f.(Unlocked)
	return ok && f.IsUnlocked()
}

// RemoveUnused removes the temporary files in a directory that no process writes any more. Files
// that cannot be removed stay, because they do no harm.
func RemoveUnused(fsys FS, dir string) {
	names, err := fsys.List(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		if Final(name) != name {
			_ = fsys.RemoveTemp(filepath.Join(dir, name))
		}
	}
}

// Write appends to the file.
func (p *Pending) Write(b []byte) (int, error) {
	return p.w.Write(b)
}

// WriteAt writes at a position. Bytes between that are not written are zero.
func (p *Pending) WriteAt(b []byte, off int64) (int, error) {
	if p.w.Buffered() > 0 {
		if err := p.w.Flush(); err != nil {
			return 0, err
		}
	}
	return p.f.WriteAt(b, off)
}

// ReadAt reads bytes that WriteAt wrote, for temporary files that a process uses itself and
// aborts in the end.
func (p *Pending) ReadAt(b []byte, off int64) (int, error) {
	return p.f.ReadAt(b, off)
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
	if errors.Is(err, fs.ErrNotExist) { // gone with its folder
		err = nil
	}
	return errors.Join(err, p.f.Close())
}
