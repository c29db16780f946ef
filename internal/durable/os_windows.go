package durable

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

const errFull = windows.ERROR_DISK_FULL

func (system) Free(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "free space", Path: path, Err: err}
	}
	return int64(free), nil
}

// SyncDir does nothing, because the system writes names through and has no call for it.
func (system) SyncDir(string) error { return nil }

// lockedByte is the position of the byte that a lock covers. It is far behind every content, because other processes
// cannot read or write locked bytes.
const lockedByte = 1 << 62

// createTemp opens and locks a new file that can be renamed and removed while it is open.
func createTemp(name string) (f *os.File, unlocked bool, err error) {
	if f, err = openShared(name, windows.CREATE_NEW); err != nil {
		return nil, false, err
	}
	if err := lockTemp(f); err != nil {
		f.Close()
		return nil, false, err
	}
	return f, false, nil
}

func removeTemp(name string) error {
	f, err := openShared(name, windows.OPEN_EXISTING)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lockTemp(f); err != nil {
		return err
	}
	return os.Remove(name)
}

func openShared(name string, mode uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, share, nil, mode,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

func lockTemp(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	overlapped := &windows.Overlapped{OffsetHigh: lockedByte >> 32}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, overlapped)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return fmt.Errorf("%s: %w", f.Name(), ErrLocked)
	}
	return err
}

type fileLock struct{ f *os.File }

func lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0,
		new(windows.Overlapped))
	if err == nil {
		return fileLock{f}, nil
	}
	f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	return nil, &os.PathError{Op: "lock", Path: name, Err: err}
}

// Close closes the file before removing it, because a file that is open in any process cannot be removed.
func (l fileLock) Close() error {
	err := l.f.Close()
	_ = os.Remove(l.f.Name())
	return err
}
