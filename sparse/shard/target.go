package shard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// target is the directory to which a store is written.
type target struct {
	fs     durable.FS
	dir    string
	force  bool
	isNew  bool          // makeDir made the directory
	lock   io.Closer     // nil after the end
	waited time.Duration // for the disk
}

func (t *target) path(name string) string {
	return filepath.Join(t.dir, name)
}

// sync writes a file to the disk. An error is final, because the system may have dropped the data.
func (t *target) sync(f durable.File) error {
	start := time.Now()
	err := f.Sync()
	t.waited += time.Since(start)
	if err != nil {
		return fmt.Errorf("%w; the disk may have lost data", err)
	}
	return nil
}

func (t *target) syncDir(dir string) error {
	start := time.Now()
	err := t.fs.SyncDir(dir)
	t.waited += time.Since(start)
	return err
}

func (t *target) unlock() error {
	err := t.lock.Close()
	t.lock = nil
	return err
}

// makeDir makes the directory if it does not exist. If its name is a link to a missing directory, makeDir makes that
// directory.
func (t *target) makeDir() error {
	err := t.fs.Mkdir(t.dir)
	if errors.Is(err, fs.ErrExist) {
		name := filepath.Clean(t.dir) // a link with a separator behind it is not read
		target, followErr := t.fs.Follow(name)
		if followErr != nil {
			return followErr
		}
		if target == name {
			return nil
		}
		if err = t.fs.Mkdir(target); errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil {
			t.dir = target
		}
	}
	if err != nil {
		return err
	}
	t.isNew = true
	if err = t.syncDir(filepath.Dir(filepath.Clean(t.dir))); err != nil {
		return errors.Join(err, t.fs.Remove(t.dir))
	}
	return nil
}

// claim makes the directory, locks it, and removes the files of unfinished runs. It returns their number.
func (t *target) claim() (removed int, err error) {
	if err := t.makeDir(); err != nil {
		return 0, err
	}
	if err := t.mayWrite(); err != nil {
		return 0, err
	}
	t.lock, err = t.fs.Lock(t.path(lockName))
	if err == nil {
		err = t.mayWrite() // again: another writer may just have finished
		if err == nil {
			removed, err = t.removeLeftovers()
		}
		if err == nil {
			return removed, nil
		}
		err = errors.Join(err, t.lock.Close())
	}
	if errors.Is(err, ErrLocked) {
		return 0, fmt.Errorf("%s is %w; wait until it is done, or end it, and repeat the run", t.dir, ErrLocked)
	}
	if t.isNew {
		err = errors.Join(err, t.fs.Remove(t.dir))
	}
	return 0, err
}

// mayWrite returns an error if the directory has files but no store, or a store that must not be replaced.
func (t *target) mayWrite() error {
	names, err := t.fs.List(t.dir)
	if err != nil {
		return err
	}
	foreign := ""
	holds := false
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
			return failf(ErrNotStore,
				"%s: not a heatwalk store, and not empty (%s); choose another directory", t.dir, foreign)
		}
		return nil
	}
	m, err := readManifest(t.fs, t.dir)
	switch {
	case errors.Is(err, ErrNotStore):
		return err
	case t.force:
		return nil
	case err != nil:
		return failf(ErrExists,
			"%s already holds a store, which does not open (%v)", t.dir, err)
	}
	return failf(ErrExists, "%s already holds a store (%d nodes, %d entries)",
		t.dir, m.Rows, m.Entries)
}

// removeLeftovers removes the files of unfinished runs. If the manifest is damaged, it removes nothing, because the
// files of the store are not known.
func (t *target) removeLeftovers() (removed int, err error) {
	keep := map[string]bool{lockName: true}
	m, err := readManifest(t.fs, t.dir)
	switch {
	case err == nil:
		for _, f := range m.Files {
			keep[f.Name] = true
		}
	case !errors.Is(err, ErrIncomplete):
		return 0, nil
	}
	return t.remove(func(name string) bool { return ownName(name) && !keep[name] })
}

func (t *target) remove(match func(name string) bool) (removed int, err error) {
	names, err := t.fs.List(t.dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if !match(name) {
			continue
		}
		if failed := t.fs.Remove(t.path(name)); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}

func (t *target) writeSynced(name string, content func(io.Writer) error) error {
	f, err := t.fs.Create(t.path(name))
	if err != nil {
		return err
	}
	err = content(f)
	if err == nil {
		err = t.sync(f)
	}
	return errors.Join(err, f.Close())
}

// publishManifest gives the new manifest its final name. published is true once it has the name, even if an error
// follows.
func (t *target) publishManifest() (published bool, err error) {
	if err = t.fs.Rename(t.path(tempName), t.path(manifestName)); err != nil {
		return false, err
	}
	if err = t.syncDir(t.dir); err != nil {
		err = fmt.Errorf("%w; the new store is %w", err, durable.ErrUnsynced)
	}
	return true, err
}

func (t *target) writeFile(name string,
	content func(*bufio.Writer) error) (entry File, err error) {
	entry.Name = name
	sum := uint32(0)
	err = t.writeSynced(name, func(f io.Writer) error {
		b := bufio.NewWriterSize(writerFunc(func(p []byte) (int, error) {
			entry.Bytes += int64(len(p))
			sum = simd.Checksum(sum, p)
			return f.Write(p)
		}), 1<<18)
		if err := content(b); err != nil {
			return err
		}
		return b.Flush()
	})
	entry.CRC = sumText(sum)
	return entry, err
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
