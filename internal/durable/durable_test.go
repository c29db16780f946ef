package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
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

// content returns what a file holds, "" if there is none.
func content(t *testing.T, fsys durable.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, info.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) {
		t.Fatal(err)
	}
	return string(b)
}

func put(fsys durable.FS, name, text string) error {
	p, err := durable.NewFile(fsys, name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(p, text); err != nil {
		return errors.Join(err, p.Abort())
	}
	return durable.Commit(nil, p)
}

// systems runs a test on the real file system and on the one in memory.
func systems(t *testing.T, test func(t *testing.T, fsys durable.FS)) {
	t.Run("real", func(t *testing.T) {
		t.Chdir(t.TempDir())
		test(t, durable.OS)
	})
	t.Run("memory", func(t *testing.T) { test(t, durabletest.NewMem()) })
}

func TestCommitOne(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		for _, text := range []string{"one", "another", strings.Repeat("long", 1<<18)} {
			if err := put(fsys, "out", text); err != nil {
				t.Fatal(err)
			}
			if got := content(t, fsys, "out"); got != text {
				t.Fatalf("%d bytes, want %d", len(got), len(text))
			}
		}
		p, err := durable.NewFile(fsys, "out")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(p, "half")
		if err := p.Abort(); err != nil || content(t, fsys, "out") == "half" {
			t.Errorf("error %v", err)
		}
		if err := fsys.Mkdir("dir"); err != nil {
			t.Fatal(err)
		}
		if err := put(fsys, "dir", "x"); err == nil {
			t.Error("a directory was written")
		}
		if err := put(fsys, "none/out", "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if names, _ := fsys.List("."); !slices.Equal(names, []string{"dir", "out"}) {
			t.Errorf("left: %v", names)
		}
	})
}

func TestPending(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		p, err := durable.NewFile(fsys, "out")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(p, "headtail")
		if _, err := p.WriteAt([]byte("HEAD"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := p.WriteAt([]byte("!"), 10); err != nil {
			t.Fatal(err)
		}
		if content(t, fsys, "out") != "" {
			t.Error("visible before Commit")
		}
		if err := durable.Commit(nil, p); err != nil {
			t.Fatal(err)
		}
		if err := p.Abort(); err != nil {
			t.Error("Abort after Commit:", err)
		}
		if got := content(t, fsys, "out"); got != "HEADtail\x00\x00!" {
			t.Errorf("%q", got)
		}
		if err := durable.Commit(nil, p); err == nil {
			t.Error("committed twice")
		}
	})
}

// late are the operations that may fail after an output has its name.
var late = map[string]bool{"sync": true, "remove": true, "close": true}

// TestCommitOneFaults lets every operation fail once: the name holds the old
// text or the new one, and nothing else is left.
func TestCommitOneFaults(t *testing.T) {
	for _, before := range []string{"", "old"} {
		for i := 0; ; i++ {
			mem := durabletest.NewMem()
			if before != "" {
				put(mem, "out", before)
			}
			failing := durabletest.FailAt(mem, i)
			err := put(failing, "out", "new")
			if failing.Operations() <= i {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			got := content(t, mem, "out")
			op := failing.Failed()
			if op == "list" && err == nil && got == "new" {
				continue // leftovers may stay
			}
			renamed := got == "new" && late[op]
			if !errors.Is(err, durabletest.ErrInjected) || got != before && !renamed {
				t.Errorf("operation %d (%s): error %v, content %q", i, failing.Failed(), err, got)
			}
			names, _ := mem.List(".")
			if slices.ContainsFunc(names, func(n string) bool { return n != "out" }) {
				t.Errorf("operation %d (%s) left %v", i, failing.Failed(), names)
			}
		}
	}
}

// set writes an output and two files beside it, whose content is text.
func set(fsys durable.FS, text string) error {
	return setAll(fsys, text, []string{"out", "out.ids", "out.run.json"})
}

// setAll writes the files of paths, and gives up what a failure has given up
// already.
func setAll(fsys durable.FS, text string, paths []string) error {
	var files []*durable.Pending
	for _, path := range paths {
		p, err := durable.NewFile(fsys, path)
		if err != nil {
			for _, before := range files {
				before.Abort()
			}
			return err
		}
		io.WriteString(p, text)
		files = append(files, p)
	}
	err := durable.Commit(nil, files...)
	for _, p := range files {
		if again := p.Abort(); again != nil {
			return fmt.Errorf("Abort after Commit: %v", again)
		}
	}
	return err
}

// TestCommitFaults lets every operation fail once: where there was nothing,
// all three files appear or none does, and the output never stands alone.
func TestCommitFaults(t *testing.T) {
	for i := 0; ; i++ {
		mem := durabletest.NewMem()
		failing := durabletest.FailAt(mem, i)
		err := set(failing, "new")
		durable.RemoveUnused(mem, "out") // a lock, which the next run would remove
		names, _ := mem.List(".")
		op := failing.Failed()
		switch {
		case op == "":
			if err != nil || len(names) != 3 {
				t.Fatalf("no fault: error %v, files %v", err, names)
			}
			return
		case (op == "list" || op == "stat" || op == "lock") && err == nil && len(names) == 3: // leftovers may stay, marks come and go
		case !errors.Is(err, durabletest.ErrInjected):
			t.Errorf("operation %d (%s): error %v", i, op, err)
		case len(names) == 3 && late[op] && content(t, mem, "out") == "new":
		case len(names) != 0:
			t.Errorf("operation %d (%s) left %v", i, op, names)
		}
	}
}

// whole tells whether files are all of one run, or all have marks, and whether they
// are new; what is there and what it holds.
func whole(t *testing.T, fsys durable.FS, paths []string) (ok, isNew bool, what []string) {
	t.Helper()
	ok = true
	for _, path := range paths {
		text := content(t, fsys, path)
		marked := content(t, fsys, path+durable.Unfinished) != ""
		what = append(what, fmt.Sprintf("%s %q %v", path, text, marked))
		isNew = isNew || text == "new"
		ok = ok && text != ""
	}
	for _, path := range paths {
		_, err := fsys.Stat(path + durable.Unfinished)
		ok = ok && (err == nil || content(t, fsys, path) == "new" == isNew)
	}
	return ok, isNew, what
}

// TestCommitReplaces lets operations fail over files that are there: no name
// vanishes, the output is the new one only where the others are, and files of which
// some are new and some are old have marks, which the next run removes.
func TestCommitReplaces(t *testing.T) {
	for _, paths := range groups {
		for i := 0; ; i++ {
			mem := newGroups(t)
			if err := setAll(mem, "old", paths); err != nil {
				t.Fatal(err)
			}
			failing := durabletest.FailAt(mem, i)
			err := setAll(failing, "new", paths)
			ok, isNew, what := whole(t, mem, paths)
			if !ok || err != nil && content(t, mem, "out") == "new" && !late[failing.Failed()] {
				t.Errorf("operation %d (%s): error %v leaves %v", i, failing.Failed(), err, what)
			}
			if names := list(t, mem); err != nil && !isNew && len(names) != len(paths) {
				t.Errorf("operation %d (%s): left %v", i, failing.Failed(), names)
			}
			if failing.Failed() == "" {
				break
			}
			if err := setAll(mem, "next", paths); err != nil || len(list(t, mem)) != len(paths) {
				t.Errorf("operation %d (%s), then another run: error %v, left %v", i, failing.Failed(), err, list(t, mem))
			}
		}
	}
}

// groups are outputs with what belongs to them.
var groups = [][]string{
	{"out", "out.ids", "out.run.json"},
	{"out", "x/labels", "x/out.run.json", "y/truth"},
}

// newGroups returns a file system with the directories of groups.
func newGroups(t *testing.T) *durabletest.Mem {
	t.Helper()
	mem := durabletest.NewMem()
	if err := errors.Join(mem.Mkdir("x"), mem.Mkdir("y"), mem.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	return mem
}

// list returns the names of all files.
func list(t *testing.T, fsys durable.FS) (names []string) {
	t.Helper()
	for _, dir := range []string{".", "x", "y"} {
		in, err := fsys.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range in {
			if dir != "." || name != "x" && name != "y" {
				names = append(names, filepath.Join(dir, name))
			}
		}
	}
	return names
}

// TestCommitCrash stops the machine before every operation: an output that is
// there has the others, in whatever directories.
func TestCommitCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, paths := range groups {
		mem := newGroups(t)
		shot := func() {
			for _, percent := range []int{0, 30, 50, 50, 70, 100} {
				crashed := mem.Crash(rng, percent)
				out := content(t, crashed, "out")
				for _, path := range paths {
					if got := content(t, crashed, path); out != "" && got != "new" {
						t.Errorf("out %q, %s %q", out, path, got)
					}
				}
			}
		}
		if err := setAll(durabletest.Watch(mem, shot), "new", paths); err != nil {
			t.Fatal(err)
		}
		shot()
	}
}

// TestCommitCrashReplaces stops the machine before every operation: files that were
// there are all old, all new, or have marks; afterwards they have none.
func TestCommitCrashReplaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, paths := range groups {
		mem := newGroups(t)
		if err := setAll(mem, "old", paths); err != nil {
			t.Fatal(err)
		}
		shot := func() {
			for _, percent := range []int{0, 10, 30, 50, 50, 70, 90, 100} {
				if ok, _, what := whole(t, mem.Crash(rng, percent), paths); !ok {
					t.Errorf("left %v", what)
				}
			}
		}
		if err := setAll(durabletest.Watch(mem, shot), "new", paths); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			crashed := mem.Crash(rng, 50)
			if ok, isNew, what := whole(t, crashed, paths); !ok || !isNew || len(list(t, crashed)) != len(paths) {
				t.Errorf("after the end: %v, %v", what, list(t, crashed))
			}
		}
	}
}

// setAround puts a store in place with a file beside it, whose content is text.
func setAround(fsys durable.FS, text string) error {
	p, err := durable.NewFile(fsys, "store.run.json")
	if err != nil {
		return err
	}
	io.WriteString(p, text)
	err = put(fsys, "unpublished", text)
	if err == nil {
		err = durable.Commit(func() error { return fsys.Rename("unpublished", "store") }, p)
	}
	p.Abort()
	return err
}

// TestCommitBesideFaults lets every operation fail once: where there was nothing,
// the store never stands alone, and nothing stands beside none; over files that
// are there no name vanishes.
func TestCommitBesideFaults(t *testing.T) {
	for _, before := range []string{"", "old"} {
		for i := 0; ; i++ {
			mem := durabletest.NewMem()
			if before != "" {
				if err := setAround(mem, before); err != nil {
					t.Fatal(err)
				}
			}
			failing := durabletest.FailAt(mem, i)
			err := setAround(failing, "new")
			store, run := content(t, mem, "store"), content(t, mem, "store.run.json")
			op := failing.Failed()
			switch {
			case op == "" && (err != nil || store != "new" || run != "new"):
				t.Fatalf("no fault: error %v, store %q, run %q", err, store, run)
			case store == "new" && run != "new", store == "" && run != "", before != "" && (store == "" || run == ""):
				t.Errorf("operation %d (%s): error %v, store %q, run %q", i, op, err, store, run)
			case err == nil && store != "new":
				t.Errorf("operation %d (%s): no error, store %q", i, op, store)
			}
			if op == "" {
				break
			}
		}
	}
}

// TestCommitBesideCrash stops the machine before every operation: a store that is
// there has the file beside it.
func TestCommitBesideCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	mem := durabletest.NewMem()
	shot := func() {
		for _, percent := range []int{0, 30, 50, 50, 70, 100} {
			crashed := mem.Crash(rng, percent)
			if store, run := content(t, crashed, "store"), content(t, crashed, "store.run.json"); store != "" && run != "new" {
				t.Errorf("store %q, run %q", store, run)
			}
		}
	}
	if err := setAround(durabletest.Watch(mem, shot), "new"); err != nil {
		t.Fatal(err)
	}
	shot()
}

// TestCommitOneCrash stops the machine before every operation.
func TestCommitOneCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	old, text := strings.Repeat("old", 700), strings.Repeat("new", 900)
	mem := durabletest.NewMem()
	put(mem, "out", old)
	var after []*durabletest.Mem
	shot := func() {
		for _, percent := range []int{0, 50, 50, 50, 100} {
			after = append(after, mem.Crash(rng, percent))
		}
	}
	if err := put(durabletest.Watch(mem, shot), "out", text); err != nil {
		t.Fatal(err)
	}
	done := len(after)
	shot()
	for i, crashed := range after {
		if got := content(t, crashed, "out"); got != text && (got != old || i >= done) {
			t.Errorf("crash %d of %d: %d bytes of neither", i, done, len(got))
		}
	}
}

// TestCrashLosesWhatWasNotSynced holds that the crashes of these tests are
// worth something.
func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	mem := durabletest.NewMem()
	f, _ := mem.Create("a")
	fmt.Fprint(f, "synced")
	f.Sync()
	mem.SyncDir(".")
	fmt.Fprint(f, " and not")
	g, _ := mem.Create("b")
	g.Sync()
	rng := rand.New(rand.NewPCG(1, 1))
	none, all := mem.Crash(rng, 0), mem.Crash(rng, 100)
	if got := content(t, none, "a"); got != "synced" {
		t.Errorf("%q", got)
	}
	if _, err := none.Stat("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a name that was not synced survived")
	}
	if got := content(t, all, "a"); got != "synced and not" {
		t.Errorf("%q", got)
	}
	if _, err := all.Stat("b"); err != nil {
		t.Error(err)
	}
}

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

// TestTwoWriters writes one file twice at the same time, and removes what a
// third one left.
func TestTwoWriters(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		left, err := fsys.CreateTemp(".out.heatwalk-tmp-0123abcd")
		if err != nil {
			t.Fatal(err)
		}
		if err := fsys.RemoveTemp(".out.heatwalk-tmp-0123abcd"); !errors.Is(err, durable.ErrLocked) {
			t.Errorf("removed while in use: %v", err)
		}
		left.Close()
		others := []string{".out.heatwalk-tmp", ".out.heatwalk-tmp-0123abcde", ".outer.heatwalk-tmp-0123abcd"}
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
		if _, err := fsys.Stat(".out.heatwalk-tmp-0123abcd"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the leftover: %v", err)
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

// Of two runs that publish the same group at once one waits for the other, so that all
// files are of one of them, and the marks and the lock are gone.
func TestTwoGroups(t *testing.T) {
	systems(t, func(t *testing.T, fsys durable.FS) {
		if err := set(fsys, "old"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		first := &pausing{FS: fsys, after: func() {
			go func() { done <- set(fsys, "second") }()
			select { // it has come to the end if nothing keeps it
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

// taken is a file system on which names of temporary files are taken.
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

// TestTakenNames holds that another name is tried where one is taken, and that
// every other failure is told at once.
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

// TestDevice holds that what cannot be replaced is written directly.
// TestPermissions replaces files of several permission bits, one of them behind a link:
// the new files have the same, and nobody else reads them while they are written.
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
		t.Errorf("what is not there is synced: %v", err)
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
