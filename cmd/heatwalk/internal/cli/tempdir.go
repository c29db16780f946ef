package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// tempDir is a directory of this run's own. Its lock is held as long as it is
// needed, so that another run knows what a killed one left.
type tempDir struct {
	path string
	lock io.Closer
}

// What a temporary directory is called and holds: a lock, and a store or a
// directory of stores.
var tempPattern = regexp.MustCompile(`^\.heatwalk-[0-9a-f]{16}$`)

const (
	tempLock  = "lock"
	tempStore = "graph"
)

// makeTemp makes a temporary directory in --temp-dir or beside an output, and
// removes those in the same place that killed runs left.
func (in *invocation) makeTemp(beside string) (*tempDir, error) {
	parent := in.tempDir
	switch {
	case parent != "":
	case beside == "" || beside == "-":
		parent = os.TempDir()
	default:
		parent = filepath.Dir(beside)
	}
	removeLeft(parent)
	for {
		t, err := newTempDir(parent)
		switch {
		case err == nil:
			return t, nil
		case errors.Is(err, durable.ErrLocked) || errors.Is(err, os.ErrNotExist) && isDir(parent):
			// Another run took it for a leftover before it was locked.
		default:
			return nil, &machineError{"create a temporary directory in " + parent, cause(err) + "; choose another with --temp-dir", err}
		}
	}
}

func newTempDir(parent string) (*tempDir, error) {
	var name [8]byte
	_, _ = rand.Read(name[:]) // never fails
	t := &tempDir{path: filepath.Join(parent, ".heatwalk-"+hex.EncodeToString(name[:]))}
	err := durable.OS.Mkdir(t.path)
	if err == nil {
		t.lock, err = durable.OS.Lock(filepath.Join(t.path, tempLock))
	}
	return t, err
}

// store returns where the store of the directory belongs.
func (t *tempDir) store() string { return filepath.Join(t.path, tempStore) }

// besideTemp returns where the temporary directory is that path is or lies in, if
// there is one.
func besideTemp(path string) (parent string, ours bool) {
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		if tempPattern.MatchString(filepath.Base(path)) {
			return dir, true
		}
	}
	return "", false
}

// remove removes the directory with all that is in it.
func (t *tempDir) remove() error {
	err := removeAll(t.store())
	return errors.Join(err, t.lock.Close(), durable.OS.Remove(t.path))
}

// removeAll removes a directory, if it exists, and what it holds. Links are
// removed, not followed.
func removeAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = errors.Join(err, removeAll(path))
		} else {
			err = errors.Join(err, durable.OS.Remove(path))
		}
	}
	return errors.Join(err, durable.OS.Remove(dir))
}

// removeLeft removes the temporary directories in parent whose lock nobody
// holds. One that holds anything else than ours do is not ours. What cannot be
// removed stays: it is in nobody's way.
func removeLeft(parent string) {
	names, err := durable.OS.List(parent)
	if err != nil {
		return
	}
	for _, name := range names {
		path := filepath.Join(parent, name)
		if !tempPattern.MatchString(name) || !isOurs(path) {
			continue
		}
		if lock, err := durable.OS.Lock(filepath.Join(path, tempLock)); err == nil {
			_ = (&tempDir{path, lock}).remove()
		}
	}
}

// isOurs reports whether path is a directory, and no link to one, that holds a
// lock, a store or nothing.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		lock := e.Name() == tempLock && e.Type().IsRegular()
		if store := e.Name() == tempStore && e.IsDir(); !lock && !store {
			return false
		}
	}
	return err == nil
}
