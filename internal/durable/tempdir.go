package durable

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// TempDir is a locked directory for temporary files. A directory without a lock was left by a killed process.
type TempDir struct {
	Path string
	lock io.Closer
}

var tempPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.heatwalk-[0-9a-f]{16}$`) })

const (
	tempLock    = "lock"
	tempContent = "graph"
)

// NewTempDir makes a temporary directory in parent, and removes the temporary directories that killed processes left in
// parent.
func NewTempDir(parent string) (*TempDir, error) {
	removeLeft(parent)
	for {
		t, err := newTempDir(parent)
		if errors.Is(err, ErrLocked) ||
			errors.Is(err, os.ErrNotExist) && isDir(parent) {
			continue // another process took it for a leftover before it was locked
		}
		return t, err
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func newTempDir(parent string) (*TempDir, error) {
	t := &TempDir{Path: filepath.Join(parent, fmt.Sprintf(".heatwalk-%016x", rand.Uint64()))}
	err := OS.Mkdir(t.Path)
	if err == nil {
		t.lock, err = OS.Lock(filepath.Join(t.Path, tempLock))
	}
	return t, err
}

// Content returns the path of the directory, inside Path, for the files of the run.
func (t *TempDir) Content() string {
	return filepath.Join(t.Path, tempContent)
}

// InTempDir returns the parent of the temporary directory that is path or contains path. If there is none, ours is
// false.
func InTempDir(path string) (parent string, ours bool) {
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		if tempPattern().MatchString(filepath.Base(path)) {
			return dir, true
		}
	}
	return "", false
}

func (t *TempDir) Remove() error {
	err := errors.Join(os.RemoveAll(t.Content()), t.lock.Close())
	removed := OS.Remove(t.Path)
	if errors.Is(removed, os.ErrNotExist) || errors.Is(removed, os.ErrExist) {
		return err // another process took the unlocked directory for a leftover, and removes it
	}
	return errors.Join(err, removed)
}

// removeLeft removes the temporary directories in parent that no process has locked. Directories with other content
// stay.
func removeLeft(parent string) {
	names, err := OS.List(parent)
	if err != nil {
		return
	}
	for _, name := range names {
		path := filepath.Join(parent, name)
		if !tempPattern().MatchString(name) || !isOurs(path) {
			continue
		}
		switch lock, err := OS.Lock(filepath.Join(path, tempLock)); {
		case err != nil:
		case IsUnlocked(lock): // another process may use it
			_ = lock.(leavable).leave()
		default:
			_ = (&TempDir{path, lock}).Remove()
		}
	}
}

// isOurs reports whether path is a directory, not a link, that holds a lock, its content or nothing.
func isOurs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		lock := e.Name() == tempLock && e.Type().IsRegular()
		if content := e.Name() == tempContent && e.IsDir(); !lock && !content {
			return false
		}
	}
	return err == nil
}
