package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

func TestLock(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		for range 2 {
			l, err := fsys.Lock("lock")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fsys.Lock("lock"); !errors.Is(err, durable.ErrLocked) {
				t.Errorf("locked twice: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if names, _ := fsys.List("."); len(names) > 0 {
				t.Errorf("left: %v", names)
			}
		}
	})
}

func TestTwoWriters(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		leftovers := []string{".out.heatwalk-tmp-0123abcd", ".outer.heatwalk-tmp-0123abcd"}
		for _, name := range leftovers {
			left, err := fsys.CreateTemp(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := fsys.RemoveTemp(name); !errors.Is(err, durable.ErrLocked) {
				t.Errorf("removed while in use: %v", err)
			}
			left.Close()
		}
		others := []string{".out.heatwalk-tmp", ".out.heatwalk-tmp-0123abcde"}
		for _, name := range others {
			if err := put(fsys, name, "another's"); err != nil {
				t.Fatal(err)
			}
		}
		first, err := durable.NewFile(fsys, "out")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(first, "first")
		second, err := durable.NewFile(fsys, "out")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(second, "second")
		for _, name := range leftovers {
			if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the leftover %s: %v", name, err)
			}
		}
		third, err := durable.NewFile(fsys, "out")
		if err != nil {
			t.Fatal(err)
		}
		if err := third.Abort(); err != nil {
			t.Error(err)
		}
		for _, p := range []*durable.Pending{second, first} {
			if err := durable.Commit(nil, p); err != nil {
				t.Fatal(err)
			}
		}
		if got := content(t, fsys, "out"); got != "first" {
			t.Errorf("%q", got)
		}
		if names, _ := fsys.List("."); !slices.Equal(names, append(others, "out")) {
			t.Errorf("left: %v", names)
		}
	})
}

// pausing runs a function, once, after the first renaming.
type pausing struct {
	durable.FS
	after func()
}

func (f *pausing) Rename(from, to string) error {
	err := f.FS.Rename(from, to)
	if after := f.after; after != nil {
		f.after = nil
		after()
	}
	return err
}

// One run waits for the other. Afterwards all files are of the same run, and the marks and the lock are gone.
func TestTwoGroups(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		if err := set(fsys, "old"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		first := &pausing{FS: fsys, after: func() {
			go func() { done <- set(fsys, "second") }()
			select { // it ends unless it is blocked
			case err := <-done:
				done <- err
			case <-time.After(30 * time.Millisecond):
			}
		}}
		if err := errors.Join(set(first, "first"), <-done); err != nil {
			t.Fatal(err)
		}
		names, err := fsys.List(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got := content(t, fsys, name); got != "second" {
				t.Errorf("%s is of the %s", name, got)
			}
		}
		if len(names) != 3 {
			t.Errorf("left: %v", names)
		}
	})
}

type taken struct {
	durable.FS
	err   error
	times int
	tried int
}

func (f *taken) CreateTemp(name string) (durable.File, error) {
	if f.tried++; f.tried <= f.times {
		return nil, &fs.PathError{Op: "create", Path: name, Err: f.err}
	}
	return f.FS.CreateTemp(name)
}

func TestTakenNames(t *testing.T) {
	for _, c := range []struct {
		err          error
		times, tried int
		fails        bool
	}{
		{fs.ErrExist, 3, 4, false},
		{durable.ErrLocked, 3, 4, false},
		{fs.ErrExist, 1000, 100, true},
		{fs.ErrPermission, 1, 1, true},
	} {
		mem := &taken{FS: durabletest.NewMem(), err: c.err, times: c.times}
		err := put(mem, "out", "text")
		if mem.tried != c.tried || (err != nil) != c.fails || c.fails && !errors.Is(err, c.err) {
			t.Errorf("%v %d times: %d names, error %v", c.err, c.times, mem.tried, err)
		}
	}
}

// Others must not be able to read a new file while it is written, even if it is behind a link.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o640, 0o444, 0o666, 0o200} {
		path := filepath.Join(dir, fmt.Sprintf("%o", mode))
		if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		link := path + ".link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{path, link} {
			p, err := durable.NewFile(durable.OS, name)
			if err != nil {
				t.Fatal(err)
			}
			unfinished, err := filepath.Glob(filepath.Join(dir, ".*"))
			if err != nil || len(unfinished) != 1 {
				t.Fatal(unfinished, err)
			}
			if info, err := os.Stat(unfinished[0]); err != nil || info.Mode().Perm()&0o77 != mode&0o77 {
				t.Errorf("%s while it is written: %v, %v", name, info.Mode(), err)
			}
			if _, err := fmt.Fprint(p, i); err != nil {
				t.Fatal(err)
			}
			if err := durable.Commit(nil, p); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, mode)
			}
		}
	}
}

func TestDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no devices among the files")
	}
	if err := put(durable.OS, os.DevNull, "text"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v", os.DevNull, err)
	}
	p, err := durable.NewFile(durable.OS, os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Abort(); err != nil {
		t.Error(err)
	}
}

func TestFull(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no device that is full")
	}
	if err := put(durable.OS, full, "text"); !errors.Is(err, durable.ErrFull) {
		t.Error(err)
	}
	f, err := durable.OS.Create(full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, write := range map[string]func() error{
		"Copy":        func() error { _, err := io.Copy(f, bytes.NewReader([]byte("text"))); return err },
		"Copy a pipe": func() error { _, err := io.Copy(f, struct{ io.Reader }{strings.NewReader("text")}); return err },
		"WriteString": func() error { _, err := io.WriteString(f, "text"); return err },
		"Write":       func() error { _, err := f.Write([]byte("text")); return err },
		"WriteAt":     func() error { _, err := f.WriteAt([]byte("text"), 0); return err },
	} {
		if err := write(); !errors.Is(err, durable.ErrFull) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestFree(t *testing.T) {
	dir := t.TempDir()
	if n, err := durable.OS.Free(dir); err != nil || n <= 0 {
		t.Error(n, err)
	}
	if _, err := durable.OS.Free(filepath.Join(dir, "none")); err == nil {
		t.Error("free space nowhere")
	}
	if err := durable.OS.SyncDir(filepath.Join(dir, "none")); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is synced: %v", err)
	}
}

func TestFinal(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join("d", ".K.npy.heatwalk-tmp-0123abcd"): filepath.Join("d", "K.npy"),
		".a.heatwalk-tmp-00000000":                         "a",
		"a.heatwalk-tmp-00000000":                          "a.heatwalk-tmp-00000000",
		".a.heatwalk-tmp-0000000":                          ".a.heatwalk-tmp-0000000",
		".a.heatwalk-tmp-000000001":                        ".a.heatwalk-tmp-000000001",
		"g/1-0000.shard":                                   "g/1-0000.shard",
		"":                                                 "",
	} {
		if got := durable.Final(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestLinkToNothing(t *testing.T) {
	dir := t.TempDir()
	for _, to := range []string{filepath.Join(dir, "absolute"), "relative"} {
		link := filepath.Join(dir, "link to "+filepath.Base(to))
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		p, err := durable.NewFile(durable.OS, link)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Write([]byte("new"))
		if err = errors.Join(err, durable.Commit(nil, p)); err != nil {
			t.Fatal(err)
		}
		if was, err := os.Readlink(link); was != to {
			t.Errorf("the link leads to %q, error %v", was, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, filepath.Base(to))); string(text) != "new" {
			t.Errorf("%s: %q, error %v", to, text, err)
		}
	}
}

// The error must not say that an input is missing, and the folder behind the link must keep its files.
func TestFolderReplaced(t *testing.T) {
	for _, isLate := range []bool{false, true} {
		parent := t.TempDir()
		folder := filepath.Join(parent, "folder")
		other := filepath.Join(parent, "other")
		replace := func() {
			err := errors.Join(os.Rename(folder, folder+"-moved"), os.Symlink(other, folder))
			if err != nil {
				t.Skip(err)
			}
		}
		mine := filepath.Join(other, "out.run.json")
		err := errors.Join(os.Mkdir(folder, 0o777), os.Mkdir(other, 0o777), os.WriteFile(mine, []byte("mine"), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		fsys := durable.OS
		if isLate {
			fsys = &pausing{fsys, replace}
		}
		var files []*durable.Pending
		for _, name := range []string{"out", "out.run.json"} {
			p, err := durable.NewFile(fsys, filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(p, name)
			files = append(files, p)
		}
		if !isLate {
			replace()
		}
		if err = durable.Commit(nil, files...); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "replaced during the run") {
			t.Errorf("late %t: error %v", isLate, err)
		}
		names, _ := durable.OS.List(other)
		if got := content(t, durable.OS, mine); got != "mine" || !slices.Equal(names, []string{"out.run.json"}) {
			t.Errorf("late %t: %q, %v", isLate, got, names)
		}
	}
}

type stuck struct{ durable.FS }

func (stuck) Remove(string) error { return errStuck }

var errStuck = errors.New("stuck")

func TestAbortTellsWhatStays(t *testing.T) {
	p, err := durable.NewFile(stuck{durable.OS}, filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Abort(); !errors.Is(err, errStuck) {
		t.Errorf("error %v", err)
	}
}

// The target keeps its content.
func TestBesideFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	links := []string{"K.rows.ids", "K.cols.ids", "K.npy.run.json", "K.npy.unfinished"}
	for name, text := range map[string]string{"precious": "mine", "K.npy": "old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range links {
		if err := os.Symlink(precious, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	var files []*durable.Pending
	for i, name := range append([]string{"K.npy"}, links[:3]...) {
		create := durable.NewBeside
		if i == 0 {
			create = durable.NewFile
		}
		p, err := create(durable.OS, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		files = append(files, p)
	}
	if err := durable.Commit(nil, files...); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"precious": "mine", "K.npy": "new", "K.rows.ids": "new", "K.cols.ids": "new", "K.npy.run.json": "new"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"K.npy.unfinished", "K.rows.ids.unfinished"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if _, err := durable.NewBeside(durable.OS, dir); err == nil {
		t.Error("a directory is accepted")
	}
}
