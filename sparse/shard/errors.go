package shard

import (
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/internal/durable"
)

var (
	// ErrNotStore is returned for a directory that holds something other than a store.
	ErrNotStore = errors.New("not a heatwalk store")

	// ErrIncomplete is returned for a store whose writing never finished.
	ErrIncomplete = errors.New("incomplete store")

	// ErrCorrupt is returned, inside a [*CorruptError], for damaged files.
	ErrCorrupt = errors.New("damaged store")

	// ErrVersion is returned for a store of a format this program cannot read.
	ErrVersion = errors.New("other store format")

	// ErrExists is returned by Create if the directory has a store and Force is not set.
	ErrExists = errors.New("store exists")

	// ErrLocked is returned by Create while another writer is at work.
	ErrLocked = durable.ErrLocked

	// ErrChanged is returned if another program changed a file of an open store.
	ErrChanged = errors.New("changed since it was opened")

	// ErrClosed is returned by sweeps of a store that was closed.
	ErrClosed = errors.New("the graph is closed")
)

// CorruptError describes damage. It wraps [ErrCorrupt].
type CorruptError struct {
	Path   string
	Offset int64  // the byte where the damaged unit begins, −1 for the whole file
	What   string // the damage, and the remedy
}

// Error implements error.
func (e *CorruptError) Error() string {
	if e.Offset < 0 {
		return e.Path + ": " + e.What
	}
	return fmt.Sprintf("%s@%d: %s", e.Path, e.Offset, e.What)
}

// Unwrap returns [ErrCorrupt].
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

func newDamage(path, format string, args ...any) error {
	return &CorruptError{Path: path, Offset: -1,
		What: fmt.Sprintf(format, args...) + restore}
}

const restore = "; restore the file or ingest again"

type storeError struct {
	text string
	kind error
}

func (e *storeError) Error() string { return e.text }
func (e *storeError) Unwrap() error { return e.kind }

func failf(kind error, format string, args ...any) error {
	return &storeError{text: fmt.Sprintf(format, args...), kind: kind}
}
