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

// Pending is a file under construction, which replaces the file at its path when Commit succeeds. Until then, and after
// Abort, the old file stays. A Pending is not safe for concurrent use, except that several goroutines may call WriteAt
// and ReadAt while no goroutine calls Write.
type Pending struct {
	fsys      FS
	path, tmp string      // tmp is "" if path is written directly
	fresh     bool        // the path had no file
	mode      fs.FileMode // permission bits of the file that is replaced
	f         File
	w         *bufio.Writer
	done      bool
}

// NewFile begins the file path as a temporary file with a unique name in the same directory. If several processes write
// one path at the same time, the last process to commit determines its content. NewFile removes temporary files that
// killed runs left in this directory. If path is a link, the link stays and its target is replaced. The new file gets
// the permission bits of the old file, and never more. If path is a device or a pipe, it is written directly.
func NewFile(fsys FS, path string) (*Pending, error) {
	return newFile(fsys, path, true)
}

// NewBeside is [NewFile] for a file in addition to the output of a run, whose name the user did not give. A link with
// this name is therefore replaced and not followed. If the name is the name of a device, a pipe or a directory, the
// error wraps [fs.ErrExist].
func NewBeside(fsys FS, path string) (*Pending, error) {
	return newFile(fsys, path, false)
}

// newFile begins a file that replaces path. If follow is set, it is [NewFile], otherwise [NewBeside].
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

// begin creates the temporary file. If fresh is false, the file gets mode, the permission bits of the replaced file.
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

// writing has the permission bits that a file needs while it is written. A later run also needs them to remove the file
// if its run is killed.
const writing = 0o600

var tempSuffix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.heatwalk-tmp-[0-9a-f]{8}$`) })

// Final returns the path that Commit gives to a temporary file of [NewFile]. If path is no such file, Final returns
// path.
func Final(path string) string {
	dir, name := filepath.Split(path)
	if suffix := tempSuffix().FindStringIndex(name); suffix != nil && name[0] == '.' {
		return dir + name[1:suffix[0]]
	}
	return path
}

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

// IsUnlocked reports whether another process may write or remove the temporary file, because the file system has no
// locks.
func (p *Pending) IsUnlocked() bool {
	f, ok := p.f.(Unlocked)
	return ok && f.IsUnlocked()
}

// RemoveUnused removes the temporary files in a directory that no process is writing. It ignores errors, because such
// files do no harm.
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

func (p *Pending) Write(b []byte) (int, error) {
	return p.w.Write(b)
}

// WriteAt writes b at the position off. Bytes that are not written are zero.
func (p *Pending) WriteAt(b []byte, off int64) (int, error) {
	if p.w.Buffered() > 0 {
		if err := p.w.Flush(); err != nil {
			return 0, err
		}
	}
	return p.f.WriteAt(b, off)
}

// ReadAt reads bytes that WriteAt wrote. It is for temporary files that a process never commits.
func (p *Pending) ReadAt(b []byte, off int64) (int, error) {
	return p.f.ReadAt(b, off)
}

// Abort removes the temporary file. Abort may be deferred, because it does nothing after Commit.
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
