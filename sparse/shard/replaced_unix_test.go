//go:build linux || darwin

package shard

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// replacing replaces the store before a file with the given ending is first opened.
type replacing struct {
	durable.FS
	ending  string
	replace func()
}

func (r *replacing) Stat(name string) (fs.FileInfo, error) { r.at(name); return r.FS.Stat(name) }

func (r *replacing) Open(name string) (durable.File, error) { r.at(name); return r.FS.Open(name) }

func (r *replacing) at(name string) {
	if replace := r.replace; replace != nil && strings.HasSuffix(name, r.ending) {
		r.replace = nil
		replace()
	}
}

func TestOpenReplaced(t *testing.T) {
	write := func(dir string, rows int) {
		w, err := Create(dir, &WriteOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			if err := w.Append(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, ending := range []string{".shard", ".index", ".degrees"} {
		dir := filepath.Join(t.TempDir(), "g")
		write(dir, 3)
		fsys := &replacing{FS: durable.OS, ending: ending, replace: func() { write(dir, 5) }}
		s, err := Open(t.Context(), dir, &Options{fs: fsys})
		if err != nil || s.Manifest.Rows != 5 || fsys.replace != nil {
			t.Fatalf("%s: %v", ending, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestManifestIsPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "manifest"), 0o666); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 2)
	go func() { _, err := Open(t.Context(), dir, nil); done <- err }()
	go func() { _, err := Verify(t.Context(), dir, nil, nil, nil); done <- err }()
	for range 2 {
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "a pipe or a device") {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it waits for the pipe")
		}
	}
}
