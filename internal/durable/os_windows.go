package durable

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

const errFull = windows.ERROR_DISK_FULL

// Free returns the bytes that an ordinary user may still write to the device
// that holds path.
func Free(path string) (int64, error) {
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

// syncDir does nothing: the system writes names through and has no call.
func syncDir(string) error { return nil }

type fileLock struct{ f *os.File }

func lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return fileLock{f}, nil
	}
	f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, fmt.Errorf("%s: %w", name, ErrLocked)
	}
	return nil, &os.PathError{Op: "lock", Path: name, Err: err}
}

// Close lets go and removes the file, which cannot be removed while it is
// open here or anywhere else.
func (l fileLock) Close() error {
	err := l.f.Close()
	_ = os.Remove(l.f.Name())
	return err
}
