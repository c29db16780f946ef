package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

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

// The name must have the old or the new text, and no other files may be left.
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

func set(fsys durable.FS, text string) error {
	return setAll(fsys, text, []string{"out", "out.ids", "out.run.json"})
}

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

// In an empty directory, all three files or none must appear, and the output never without the other files.
func TestCommitFaults(t *testing.T) {
	for i := 0; ; i++ {
		mem := durabletest.NewMem()
		failing := durabletest.FailAt(mem, i)
		err := set(failing, "new")
		durable.RemoveUnused(mem, ".") // a lock, which the next run would remove
		names, _ := mem.List(".")
		op := failing.Failed()
		switch {
		case op == "":
			if err != nil || len(names) != 3 {
				t.Fatalf("no fault: error %v, files %v", err, names)
			}
			return
		case (op == "list" || op == "stat" || op == "lock" || op == "remove") && err == nil && len(names) == 3: // leftovers may stay, marks come and go
		case !errors.Is(err, durabletest.ErrInjected):
			t.Errorf("operation %d (%s): error %v", i, op, err)
		case len(names) == 3 && late[op] && content(t, mem, "out") == "new":
		case len(names) != 0:
			t.Errorf("operation %d (%s) left %v", i, op, names)
		}
	}
}

// whole reports whether the files are all of one run, or all have marks, and whether they are new.
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

// No name may vanish. A mixture of new and old files must have marks, which the next run removes.
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

var groups = [][]string{
	{"out", "out.ids", "out.run.json"},
	{"out", "x/labels", "x/out.run.json", "y/truth"},
}

func newGroups(t *testing.T) *durabletest.Mem {
	t.Helper()
	mem := durabletest.NewMem()
	if err := errors.Join(mem.Mkdir("x"), mem.Mkdir("y"), mem.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	return mem
}

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

// Existing files must be all old, be all new, or have marks. After the next run they have no marks.
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

// In an empty directory the store must not appear without its file, nor the file without the store. Existing files must
// keep their names.
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
