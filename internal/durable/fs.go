package durable

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system. Names are paths of the operating system. No operation makes parent directories. Errors name the
// operation and the path.
type FS interface {
	// Create makes or empties a file for writing and reading. It opens a pipe or a device for writing.
	Create(name string) (File, error)

	// CreateTemp makes a new file for writing, which is in use until it is closed. The error wraps [fs.ErrExist] if the
	// name is taken, and [ErrLocked] if RemoveTemp removed the file before it was locked.
	CreateTemp(name string) (File, error)

	// RemoveTemp removes a file that CreateTemp made. If any process uses the file, the error wraps [ErrLocked].
	RemoveTemp(name string) error

	Open(name string) (File, error)

	// Stat describes a file or directory, following links.
	Stat(name string) (fs.FileInfo, error)

	// Follow returns the target of a link and of the links that it leads to, which need not exist. It returns the name
	// itself if it is no link, or if the links form a loop.
	Follow(name string) (string, error)

	// Rename replaces a file of the new name.
	Rename(oldName, newName string) error

	// Remove removes a file or an empty directory.
	Remove(name string) error

	Mkdir(name string) error

	// List returns names in increasing order.
	List(dir string) ([]string, error)

	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error

	// Free returns the number of bytes that an ordinary user may still write to the device.
	Free(name string) (int64, error)

	// Lock takes the advisory lock with the given name. The lock is a file, which Close removes. If the file system has
	// no locks, Lock succeeds all the same, see [IsUnlocked]. If any process holds the lock, the error wraps
	// [ErrLocked].
	Lock(name string) (io.Closer, error)
}

// File is an open file. Positioned reads and writes are safe for concurrent use.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	io.Closer
	Sync() error
	Stat() (fs.FileInfo, error)

	// Chmod sets the permission bits, if the file system has permission bits.
	Chmod(mode fs.FileMode) error
}

// Unlocked is implemented by files of [FS.CreateTemp] and by locks.
type Unlocked interface {
	// IsUnlocked reports that no other process is excluded, because the file system has no locks.
	IsUnlocked() bool
}

// IsUnlocked reports whether a result of [FS.Lock] excludes no other process.
func IsUnlocked(lock io.Closer) bool {
	l, ok := lock.(Unlocked)
	return ok && l.IsUnlocked()
}

type leavable interface{ leave() error }

var ErrLocked = errors.New("locked by another heatwalk")

// ErrNoLocks is the warning about an output on a file system without locks.
var ErrNoLocks = errors.New("this file system has no locks; let no other heatwalk write there at the same time")

// ErrFull is joined to the error of the system when a device has no space left.
var ErrFull = errors.New("no space left")
