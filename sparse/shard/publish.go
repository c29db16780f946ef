package shard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

// makeDir makes the directory if it does not exist. If its name is a link, it makes the target,
// where the store is then written, and the link stays.
func (w *Writer) makeDir() error {
	err := w.o.fs.Mkdir(w.dir)
	if errors.Is(err, fs.ErrExist) {
		name := filepath.Clean(w.dir) // a link with a separator behind it is not read
		target, followErr := w.o.fs.Follow(name)
		if followErr != nil {
			return followErr
		}
		if target == name {
			return nil
		}
		if err = w.o.fs.Mkdir(target); errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil {
			w.dir = target
		}
	}
	if err != nil {
		return err
	}
	w.made = true
	if err = w.syncDir(filepath.Dir(filepath.Clean(w.dir))); err != nil {
		return errors.Join(err, w.o.fs.Remove(w.dir))
	}
	return nil
}

// claim makes the directory, takes the lock and removes the files of an unfinished run.
func (w *Writer) claim() error {
	fsys := w.o.fs
	if err := w.makeDir(); err != nil {
		return err
	}
	if err := w.mayWrite(); err != nil {
		return err
	}
	var err error
	w.lock, err = fsys.Lock(w.path(lockName))
	if err == nil {
		w.Unlocked = durable.IsUnlocked(w.lock)
		err = w.mayWrite() // again: another writer may just have finished
		if err == nil {
			w.Removed, err = w.removeLeftovers()
		}
		if err == nil {
			return nil
		}
		err = errors.Join(err, w.lock.Close())
	}
	if errors.Is(err, ErrLocked) {
		return fmt.Errorf("%s is %w; wait until it is done, or end it, and repeat the run", w.dir, ErrLocked)
	}
	if w.made {
		err = errors.Join(err, fsys.Remove(w.dir))
	}
	return err
}

// mayWrite returns an error unless the directory may be written or replaced by a store.
func (w *Writer) mayWrite() error {
	names, err := w.o.fs.List(w.dir)
	if err != nil {
		return err
	}
	foreign, holds := "", false
	for _, name := range names {
		switch {
		case name == manifestName:
			holds = true
		case !ownName(name) && foreign == "":
			foreign = name
		}
	}
	if !holds {
		if foreign != "" {
			return failf(ErrNotStore, "%s: not a heatwalk store, and not empty (%s); choose another directory", w.dir, foreign)
		}
		return nil
	}
	m, err := readManifest(w.o.fs, w.dir)
	switch {
	case errors.Is(err, ErrNotStore):
		return err
	case w.o.Force:
		return nil
	case err != nil:
		return failf(ErrExists, "%s already holds a store, which does not open (%v)", w.dir, err)
	}
	return failf(ErrExists, "%s already holds a store (%d nodes, %d entries)", w.dir, m.Rows, m.Entries)
}

// removeLeftovers removes files with names of store files that the manifest does not list, and returns their
// number. If the manifest is damaged, it removes nothing, because the files of the store are not known.
func (w *Writer) removeLeftovers() (removed int, err error) {
	keep := map[string]bool{lockName: true}
	m, err := readManifest(w.o.fs, w.dir)
	switch {
	case err == nil:
		for _, f := range m.Files {
			keep[f.Name] = true
		}
	case !errors.Is(err, ErrIncomplete):
		return 0, nil
	}
	return w.remove(func(name string) bool { return ownName(name) && !keep[name] })
}

// remove removes the files of the directory that match and returns their
// number.
func (w *Writer) remove(match func(name string) bool) (removed int, err error) {
	names, err := w.o.fs.List(w.dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if !match(name) {
			continue
		}
		if failed := w.o.fs.Remove(w.path(name)); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}

// Commit writes the buffered rest and publishes the store: all files durable, then
// the manifest renamed into place, then the files of the store before it
// removed. If it fails, or ctx is done before the manifest has its name,
// everything written is removed and the earlier store stays in force; only
// when the very last sync fails, the new store is in place but may not
// survive a crash.
func (w *Writer) Commit(ctx context.Context) error {
	if w.lock == nil {
		panic(badEnd)
	}
	if w.o.Directed && w.direction == 0 && w.err == nil {
		panic(badCommit)
	}
	if w.err == nil {
		w.err = w.finish(ctx)
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	if err := w.publish(); err != nil {
		return err
	}
	// The store is in force: files that cannot be removed now are left to the next run.
	_, _ = w.removeLeftovers()
	err := w.lock.Close()
	w.lock = nil
	return err
}

// finish completes all files but the manifest.
func (w *Writer) finish(ctx context.Context) error {
	if err := w.endDirection(); err != nil {
		return err
	}
	if err := w.endShard(); err != nil {
		return err
	}
	switch {
	case w.direction == 0:
		w.Manifest.Rows, w.Manifest.Entries = w.rows, w.entries
		if w.pairs != 0 {
			return fmt.Errorf("%w: not symmetric, and the store is not directed", sparse.ErrStructure)
		}
	case w.rows != w.Manifest.Rows || w.pairs != w.outPairs:
		return fmt.Errorf("%w: the columns are not those of the rows", sparse.ErrStructure)
	}
	if w.Nodes == nil {
		w.Nodes = NewNumericNodes(int(w.Manifest.Rows))
	}
	if int64(w.Nodes.n) != w.Manifest.Rows {
		return fmt.Errorf("%w: %d ids for %d rows", sparse.ErrStructure, w.Nodes.n, w.Manifest.Rows)
	}
	w.Manifest.Nodes, w.Manifest.Order = w.Nodes.kind, w.Nodes.name
	if err := w.writeFile(indexName(w.id), indexMagic, func(b *bufio.Writer) { b.Write(w.index) }); err != nil {
		return err
	}
	if w.Manifest.Weighted {
		w.degrees.weigh()
	}
	if err := w.writeFile(degreesName(w.id), degreesMagic, func(b *bufio.Writer) { b.Write(w.degrees.content) }); err != nil {
		return err
	}
	if w.Nodes.kind != nodesImplicit {
		if err := w.writeFile(nodesName(w.id), nodesMagic, w.Nodes.write); err != nil {
			return err
		}
	}
	if w.Manifest.Order != "" {
		if err := w.writeFile(orderName(w.id), orderMagic, func(b *bufio.Writer) { writeRows(b, w.Nodes.Order) }); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeFile writes and syncs one of the files that are no shards.
func (w *Writer) writeFile(name, magic string, content func(*bufio.Writer)) error {
	entry := File{Name: name}
	sum := uint32(0)
	err := w.writeSynced(name, func(f io.Writer) error {
		b := bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) {
			entry.Bytes += int64(len(p))
			sum = simd.Checksum(sum, p)
			return f.Write(p)
		}), 1<<18)
		b.Write(appendFileHead(b.AvailableBuffer(), magic, w.id))
		content(b)
		return b.Flush()
	})
	if err != nil {
		return err
	}
	entry.CRC = sumText(sum)
	w.Manifest.Files = append(w.Manifest.Files, entry)
	return nil
}

// writerFunc is a function that writes.
type writerFunc func(p []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (w *Writer) writeSynced(name string, content func(io.Writer) error) error {
	f, err := w.o.fs.Create(w.path(name))
	if err != nil {
		return err
	}
	err = content(f)
	if err == nil {
		err = w.sync(f)
	}
	return errors.Join(err, f.Close())
}

// publish puts the manifest in place.
func (w *Writer) publish() error {
	err := w.syncDir(w.dir)
	var b []byte
	if err == nil {
		b, err = w.Manifest.encode()
	}
	if err == nil {
		err = w.writeSynced(tempName, func(f io.Writer) error {
			_, err := f.Write(b)
			return err
		})
	}
	inForce := false
	if err == nil {
		publish := func() (err error) {
			inForce, err = w.enforce()
			return err
		}
		if w.o.Around != nil {
			err = w.o.Around(&w.Manifest, publish)
		} else {
			err = publish()
		}
	}
	switch {
	case err == nil:
		return nil
	case !inForce:
		return errors.Join(err, w.Abort())
	}
	closed := w.lock.Close()
	w.lock = nil
	return errors.Join(err, closed)
}

// enforce gives the manifest its name, and says whether it has it.
func (w *Writer) enforce() (inForce bool, err error) {
	if err := w.o.fs.Rename(w.path(tempName), w.path(manifestName)); err != nil {
		return false, err
	}
	if err := w.syncDir(w.dir); err != nil {
		return true, fmt.Errorf("%w; the new store is %w", err, durable.ErrUnsynced)
	}
	return true, nil
}

// Abort removes everything that was written, and the directory if Create made
// it. After the end of the writer it does nothing.
func (w *Writer) Abort() error {
	if w.lock == nil {
		return nil
	}
	w.forget()
	var errs []error
	if w.file != nil {
		errs = append(errs, w.file.Close())
		w.file = nil
	}
	written := func(name string) bool {
		return name == tempName || ownName(name) && strings.HasPrefix(name, w.Manifest.Identity)
	}
	_, err := w.remove(written)
	errs = append(errs, err, w.lock.Close())
	w.lock = nil
	if w.made {
		errs = append(errs, w.o.fs.Remove(w.dir))
	}
	return errors.Join(errs...)
}

const (
	badEnd    = "shard: writer has ended"
	badCommit = "shard: directed store without BeginIn"
)
