package ingest

import (
	"errors"
	"math"
	"os"
	"path/filepath"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/spec"
)

// The store and the temporary file are compared with what their disks have left
// at three moments: before anything is read, with what [Estimate] finds in
// samples; when the temporary file is made, with the lines that wait for it; and
// before the store is written, with the entries that were counted. Standard input
// knows only the last two. Where a disk does not tell, writing will.

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

// mostDisk is how many bytes on disk no byte of input needs, compressed or not.
const mostDisk = 64

// checkDisks is the first of the checks, of what is free without the lines that runs
// left behind when they were killed. Samples are taken only if the disks could be
// too small for inputs of that size.
func (r *run) checkDisks(inputs []string) error {
	durable.RemoveUnused(r.fs, filepath.Join(r.tempDir(), sort.SpillName))
	var most int64
	for _, path := range inputs {
		if path == "-" {
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil // reading tells what is wrong
		}
		most += mostDisk * info.Size()
	}
	if r.checkFree(r.dir, "", most) == nil && r.checkFree(r.tempDir(), "", most) == nil {
		return nil
	}
	plan, err := Estimate(r.ctx, inputs, &r.c)
	if err != nil {
		return nil // as above
	}
	store, temp := plan.Disk, plan.Temp
	if temp > 0 && r.c.TempDir == "" { // on the same disk at the same time
		store += temp
	}
	if err := r.checkFree(r.dir, diskStore, store); err != nil {
		return err
	}
	return r.checkFree(r.tempDir(), diskTemp, temp)
}

// What needs room on a disk.
const (
	diskStore = "the store"
	diskTemp  = "temporary files"
)

// checkEvicted is the second check, for lines that are to leave the memory.
func (r *run) checkEvicted(parts []*part) error {
	bits := int64(0)
	for _, p := range parts {
		bits += int64(2*p.edges) * int64(sort.CodeWidth(p.top))
	}
	return r.checkFree(r.tempDir(), diskTemp, bits/8)
}

// checkStore is the third check, for a graph of so many entries, before lines of
// one edge are merged.
func (r *run) checkStore(entries int, weighted, directed bool) error {
	ids := int64(0)
	if r.report.IDs != "numeric" {
		ids = spec.Sum(r.nodes.Memory())
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
