package ingest

import (
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// The free space of a disk is checked when the temporary file is made, with the lines that wait for it, and
// before the store is written, with the entries that were counted.

func (t *task) tempDir() string {
	if t.c.TempDir != "" {
		return t.c.TempDir
	}
	return filepath.Dir(filepath.Clean(t.dir))
}

// checkFree returns a [*LimitError] if the disk of the directory dir has fewer than the given bytes free. dir
// need not exist. what names the files to write.
func (t *task) checkFree(dir, what string, bytes int64) error {
	if _, err := t.fs.Stat(dir); errors.Is(err, os.ErrNotExist) {
		dir = filepath.Clean(dir)
		if target, err := t.fs.Follow(dir); err == nil {
			dir = target
		}
		dir = filepath.Dir(dir)
	}
	free, err := t.fs.Free(dir)
	if err != nil || bytes <= free {
		return nil
	}
	fix := "make room, or write to another disk"
	if what == diskTemp {
		fix = "make room, or name another disk for temporary files"
	}
	return &LimitError{Dir: dir, What: what, Need: bytes, Limit: free, Fix: fix}
}

const (
	diskStore = "the store"
	diskTemp  = "temporary files"
)

func (t *task) checkEvicted(parts []*part) error {
	bits := int64(0)
	for _, p := range parts {
		bits += int64(2*p.edges) * int64(sort.CodeWidth(p.top))
	}
	return t.checkFree(t.tempDir(), diskTemp, bits/8)
}

// checkStore returns a [*LimitError] if the disk has no space for a store with the given number of entries,
// which are not merged yet.
func (t *task) checkStore(nodes *shard.Nodes, entries int,
	weighted, directed bool) error {
	ids := int64(0)
	if t.report.IDs != "numeric" {
		ids = nodes.Bytes()
	}
	ordered := t.c.Order != DefaultOrder
	bytes := storeBytes(float64(nodes.Len()), float64(entries), weighted, directed,
		ordered) + float64(ids)
	return t.checkFree(t.dir, diskStore, int64(bytes))
}

// storeBytes estimates the bytes of a store without the text of its ids. It assumes that the columns of a row
// are evenly spaced, because columns are stored as gaps.
func storeBytes(n, entries float64, weighted, directed, ordered bool) float64 {
	const extraBits = 3.5
	gap := math.Log2(max(2, n*n/max(1, entries))) + extraBits
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
