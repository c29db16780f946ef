package durable

import (
	"errors"
	"io"
	"io/fs"
)

// FS is a file system. Names are paths of the operating system; no operation
// makes parents. Errors name the operation and the path.
type FS interface {
	// Create makes an empty file for writing and reading, or empties the one
	// that exists. A pipe or device it opens for writing.
	Create(name string) (File, error)

	// CreateTemp makes a new file for writing that is in use until it is
	// closed. The error wraps [fs.ErrExist] if the name is taken, and
	// [ErrLocked] if RemoveTemp came in between.
	CreateTemp(name string) (File, error)

	// RemoveTemp removes a file that CreateTemp made. The error wraps
	// [ErrLocked] if it is in use, by this process or another.
	RemoveTemp(name string) error

	// Open opens a file for reading.
	Open(name string) (File, error)

	// Stat describes a file or directory, following links.
	Stat(name string) (fs.FileInfo, error)

	// Follow returns the target of a link, which need not exist, over further links. It
	// returns the name itself if it is no link, or if the links form a loop.
	Follow(name string) (string, error)

	// Rename gives a file a new name; a file of that name is replaced.
	Rename(oldName, newName string) error

	// Remove removes a file or an empty directory.
	Remove(name string) error

	// Mkdir makes a directory.
	Mkdir(name string) error

	// List returns the names in a directory in increasing order.
	List(dir string) ([]string, error)

	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error

	// Free returns the bytes that an ordinary user may still write to the
	// device that holds a file or directory.
	Free(name string) (int64, error)

	// Lock takes the advisory lock of that name, a file that Close removes. Where the
	// file system has no locks it succeeds all the same, see [IsUnlocked].
	// The error wraps [ErrLocked] if another process, or this one, holds it.
	Lock(name string) (io.Closer, error)
}

// File is an open file. Positioned reads and writes are safe for concurrent
// use; a file from Open cannot be written.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	io.Closer
	Sync() error
	Stat() (fs.FileInfo, error)

	// Chmod sets the permission bits, where the file system has such.
	Chmod(mode fs.FileMode) error
}

// Unlocked is implemented by files of [FS.CreateTemp] and by locks.
type Unlocked interface {
	// IsUnlocked reports that the file system has no locks, so that no other process is
	// excluded.
	IsUnlocked() bool
}

// IsUnlocked reports whether a result of [FS.Lock] excludes no other process, because the file
// system has no locks.
func IsUnlocked(lock io.Closer) bool {
	l, ok := lock.(Unlocked)
	return ok && l.IsUnlocked()
}

// leavable is a lock whose name can stay when it is released.
type leavable interface{ leave() error }

// ErrLocked is returned for a lock that is held.
var ErrLocked = errors.New("locked by another heatwalk")

// ErrNoLocks is the warning about an output on a file system without locks.
var ErrNoLocks = errors.New("this file system has no locks; let no other heatwalk write there at the same time")

// ErrFull is joined to the error of the system when a device has no space left.
var ErrFull = errors.New("no space left")
