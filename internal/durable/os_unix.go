//go:build linux || darwin

package durable

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const errFull = unix.ENOSPC

func (system) Free(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

func (system) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// createTemp creates a file and takes an flock on it. If unlocked is true, the file has no flock, because the file
// system has no locks; removeTemp then fails as well.
func createTemp(name string) (f *os.File, unlocked bool, err error) {
	if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, false, err
	}
	err = flockCall(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || err == nil && !sameFile(f, name) {
		f.Close()
		return nil, false, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	return f, err != nil, nil
}

// removeTemp removes a file if no process has an flock on it.
func removeTemp(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	switch err := flockCall(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf("%s: %w", name, ErrLocked)
	case err != nil:
		return &os.PathError{Op: "lock", Path: name, Err: err}
	case !sameFile(f, name):
		return &os.PathError{Op: "remove", Path: name, Err: os.ErrNotExist}
	}
	return os.Remove(name)
}

func sameFile(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}

// flockCall is replaced by tests.
var flockCall = unix.Flock

// hasNoLocks reports whether err says that the file system has no locks, for example Lustre without -o flock, some NFS
// servers and many FUSE file systems.
func hasNoLocks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.ENOLCK) ||
		errors.Is(err, unix.EINVAL)
}

type flock struct {
	f           *os.File
	unsupported bool
}

// lock opens or creates a file and takes an flock on it. It then checks that the file still has its name, because the
// last owner of the lock may have removed it in between. On a file system without locks it returns a lock that excludes
// no process.
func lock(name string) (io.Closer, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
		if err != nil {
			return nil, err
		}
		switch err := flockCall(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
		case hasNoLocks(err):
			return flock{f, true}, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, fmt.Errorf("%s: %w", name, ErrLocked)
		default:
			f.Close()
			return nil, &os.PathError{Op: "lock", Path: name, Err: err}
		}
		if sameFile(f, name) {
			return flock{f, false}, nil
		}
		f.Close()
	}
}

// Close removes the file and then releases the lock.
func (l flock) Close() error {
	return errors.Join(os.Remove(l.f.Name()), l.f.Close())
}

func (l flock) IsUnlocked() bool { return l.unsupported }

// leave releases a lock but does not remove its file, because another process may use it.
func (l flock) leave() error { return l.f.Close() }
