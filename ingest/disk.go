package ingest

import (
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// The store and the temporary file are compared with the free space of their disks: when the
// temporary file is made, with the lines that wait for it, and before the store is written, with the
// entries that were counted. Where a file system does not report its free space, writing fails.

// tempDir returns the directory of the temporary file.
func (r *run) tempDir() string {
	if r.c.TempDir != "" {
		return r.c.TempDir
	}
	return filepath.Dir(filepath.Clean(r.dir))
}

// checkFree returns a [*LimitError] if a directory, or where it will be, has
// less than so many bytes left.
func (r *run) checkFree(dir, what string, bytes int64) error {
	if _, err := r.fs.Stat(dir); errors.Is(err, os.ErrNotExist) {
		dir = filepath.Clean(dir)
		if target, err := r.fs.Follow(dir); err == nil {
			dir = target
		}
		dir = filepath.Dir(dir)
	}
	free, err := r.fs.Free(dir)
	if err != nil || bytes <= free {
		return nil
	}
	fix := "make room, or write to another disk"
	if what == diskTemp {
		fix = "make room, or name another disk for temporary files"
	}
	return &LimitError{Dir: dir, What: what, Need: bytes, Limit: free, Fix: fix}
}

// What needs room on a disk.
const (
	diskStore = "the store"
	diskTemp  = "temporary files"
)

// checkEvicted is the first check, for lines that are to leave the memory.
func (r *run) checkEvicted(parts []*part) error {
	bits := int64(0)
	for _, p := range parts {
		bits += int64(2*p.edges) * int64(sort.CodeWidth(p.top))
	}
	return r.checkFree(r.tempDir(), diskTemp, bits/8)
}

// checkStore is the second check, for a graph of so many entries, before lines of
// one edge are merged.
func (r *run) checkStore(entries int, weighted, directed bool) error {
	ids := int64(0)
	if r.report.IDs != "numeric" {
		ids = r.nodes.Bytes()
	}
	ordered := r.c.Order != DefaultOrder
	bytes := storeBytes(float64(r.nodes.Len()), float64(entries), weighted, directed, ordered) + float64(ids)
	return r.checkFree(r.dir, diskStore, int64(bytes))
}

// storeBytes guesses the bytes of a store without the text of its ids: the gaps
// between the columns of a row have the size of n over its length, and the code
// adds a few bits. Entries are those of one direction.
func storeBytes(n, entries float64, weighted, directed, ordered bool) float64 {
	const more = 3.5 // bits
	gap := math.Log2(max(2, n*n/max(1, entries))) + more
	size := entries*gap/8 + 2*n
	if weighted {
		size += 8 * entries
	}
	if directed {
		size *= 2
	}
	if weighted {
		size += 8 * n
	}
	if ordered {
		size += 4 * n
	}
	return size
}
