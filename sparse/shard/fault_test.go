package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // stores are short-lived
	durable.OS = durabletest.Unsynced(durable.OS)
	goleak.VerifyTestMain(m)
}

type sample struct {
	a, back *sparse.CSR
	nodes   *Nodes
	o       WriteOptions
}

func newSample(identity uint64) sample {
	rng := rand.New(rand.NewPCG(identity, 3))
	const n = 40
	a, back := graph(rng, n, 80, 0, false, func() float64 { return float64(rng.IntN(9)) / 8 })
	ids, position := make([]string, n), make([]uint32, n)
	for i := range ids {
		ids[i], position[i] = fmt.Sprintf("node %d", (i*7)%n), uint32(i*3+1)%n
	}
	return sample{a: a, back: back, nodes: must(StringNodes(slices.Values(ids))).Reorder("some", position, nil),
		o: WriteOptions{Identity: identity, Directed: true, ShardBytes: 1, Force: true}}
}

func (s sample) write(fsys durable.FS) error {
	o := s.o
	o.fs = fsys
	w, err := Create("g", &o)
	if err != nil {
		return err
	}
	if err := fill(w, s.a, s.back, s.nodes); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(bg)
}

// check fails the test if the store is not one of the samples, complete, and returns the index of the sample, or −1 and
// the error of Open.
func check(t *testing.T, fsys durable.FS, samples ...sample) (int, error) {
	t.Helper()
	s, err := Open(bg, "g", &Options{fs: fsys})
	if err != nil {
		return -1, err
	}
	defer s.Close()
	for i, want := range samples {
		if s.Manifest.identity() == want.o.Identity {
			same(t, must(read(bg, s, 1)), want.a)
			same(t, must(read(bg, s.Transpose(), 1)), want.back)
			if s.Nodes.ID(3) != want.nodes.ID(3) {
				t.Fatal("ids differ")
			}
			must(verify(bg, "g", &Options{fs: fsys}))
			return i, nil
		}
	}
	t.Fatalf("store %s is none of those written", s.Manifest.Identity)
	return -1, nil
}

func clean(t *testing.T, fsys durable.FS) {
	t.Helper()
	m := must(readManifest(fsys, "g"))
	want := []string{manifestName}
	for _, f := range m.Files {
		want = append(want, f.Name)
	}
	slices.Sort(want)
	if got := must(fsys.List("g")); !slices.Equal(got, want) {
		t.Fatalf("directory holds %v, manifest lists %v", got, want)
	}
}

// The machine stops before every operation; the store is checked after the next boot.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	old, next, last := newSample(0xa1), newSample(0xb2), newSample(0xc3)
	rng := rand.New(rand.NewPCG(7, 7))
	for _, before := range []bool{false, true} {
		base := durabletest.NewMem()
		if before {
			if err := old.write(base); err != nil {
				t.Fatal(err)
			}
		}
		var after []*durabletest.Mem
		var mu sync.Mutex
		shot := func() {
			mu.Lock()
			defer mu.Unlock()
			for _, percent := range []int{0, 30, 70, 100} {
				after = append(after, base.Crash(rng, percent))
			}
		}
		if err := next.write(durabletest.Watch(base, shot)); err != nil {
			t.Fatal(err)
		}
		done := len(after)
		shot()
		seen := map[int]int{}
		for i, crashed := range after {
			got, err := check(t, crashed, old, next)
			seen[got]++
			switch {
			case i >= done && got != 1:
				t.Fatalf("crash %d: committed store lost: %v", i, err)
			case before && got < 0:
				t.Fatalf("crash %d: neither store: %v", i, err)
			case !before && got == 0:
				t.Fatalf("crash %d: a store from nowhere", i)
			case got < 0 && !errors.Is(err, ErrIncomplete) && !errors.Is(err, ErrNotStore) && !errors.Is(err, fs.ErrNotExist):
				t.Fatalf("crash %d: %v", i, err)
			}
			if err := last.write(crashed); err != nil {
				t.Fatalf("crash %d: next run: %v", i, err)
			}
			if got, err := check(t, crashed, last); got != 0 {
				t.Fatalf("crash %d: next run: %v", i, err)
			}
			clean(t, crashed)
		}
		if seen[1] == 0 || before && seen[0] == 0 || !before && seen[-1] == 0 {
			t.Fatalf("outcomes %v: some never came up", seen)
		}
	}
}

func TestWriteFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	old, next := newSample(0xa1), newSample(0xb2)
	for _, before := range []bool{false, true} {
		base := durabletest.NewMem()
		if before {
			if err := old.write(base); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; ; i++ {
			mem := durabletest.Clone(base)
			failing := durabletest.FailAt(mem, i)
			err := next.write(failing)
			if failing.Operations() <= i {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			got, openErr := check(t, mem, old, next)
			inPlace := err != nil && strings.Contains(err.Error(), "the new store is in place")
			switch {
			case err == nil || inPlace:
				if got != 1 {
					t.Fatalf("operation %d: success without the store: %v", i, openErr)
				}
			case !errors.Is(err, durabletest.ErrInjected):
				t.Fatalf("operation %d: %v", i, err)
			case before && got != 0:
				t.Fatalf("operation %d (%v): the old store is gone: %v", i, err, openErr)
			case !before && got >= 0:
				t.Fatalf("operation %d (%v): a failed run left a store", i, err)
			}
			if err := next.write(mem); err != nil {
				t.Fatalf("operation %d (%v): next run: %v", i, err, err)
			}
			clean(t, mem)
		}
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	old, next := newSample(0xa1), newSample(0xb2)
	for _, commit := range []bool{false, true} {
		for _, setup := range []string{"new", "empty", "store"} {
			mem := durabletest.NewMem()
			switch setup {
			case "empty":
				must(0, mem.Mkdir("g"))
			case "store":
				must(0, old.write(mem))
			}
			before, _ := mem.List("g")
			o := next.o
			o.fs = mem
			w := must(Create("g", &o))
			must(0, fill(w, next.a, next.back, next.nodes))
			if commit {
				if err := w.Commit(cancelled()); err == nil {
					t.Fatal("a cancelled commit succeeds")
				}
			}
			must(0, w.Abort())
			after, err := mem.List("g")
			if setup == "new" && !errors.Is(err, fs.ErrNotExist) || !slices.Equal(before, after) {
				t.Errorf("%s, commit %t: left %v (%v), before %v", setup, commit, after, err, before)
			}
		}
	}
}

func TestReadFaults(t *testing.T) {
	s := newSample(0xa1)
	mem := durabletest.NewMem()
	must(0, s.write(mem))
	for i := 0; ; i++ {
		failing := durabletest.FailAt(mem, i)
		_, err := verify(bg, "g", &Options{fs: failing})
		if failing.Operations() <= i {
			must(0, err)
			return
		}
		// A failed close of a file that was only read loses nothing.
		if !errors.Is(err, durabletest.ErrInjected) && failing.Failed() != "close" {
			t.Fatalf("operation %d, %s: %v", i, failing.Failed(), err)
		}
	}
}

func TestEveryBit(t *testing.T) {
	s := newSample(0xa1)
	mem := durabletest.NewMem()
	must(0, s.write(mem))
	for _, name := range must(mem.List("g")) {
		size := must(mem.Stat(filepath.Join("g", name))).Size()
		for at := range size {
			for bit := range 8 {
				if !testgraph.Hunt && (int(at)+bit)%5 != 0 {
					continue
				}
				flipped := durabletest.Flip(mem, name, at, 1<<bit)
				err := scan(flipped)
				var c *CorruptError
				switch {
				case name == manifestName && errors.Is(err, ErrNotStore):
				case !errors.As(err, &c):
					t.Fatalf("%s byte %d bit %d: %v", name, at, bit, err)
				case c.Path != filepath.Join("g", name):
					t.Fatalf("%s byte %d bit %d: %v names another file", name, at, bit, err)
				case name != manifestName &&
					!strings.Contains(c.What, "checksum"):
					t.Fatalf("%s byte %d bit %d: %v does not name the checksum", name, at, bit, err)
				}
			}
		}
	}
}

func scan(fsys durable.FS) error {
	s, err := Open(bg, "g", &Options{fs: fsys})
	if err != nil {
		return err
	}
	defer s.Close()
	nothing := func(int, sparse.Panel) error { return nil }
	return errors.Join(sparse.Sweep(bg, s, 1, nothing), sparse.Sweep(bg, s.Transpose(), 1, nothing))
}

func TestEveryLength(t *testing.T) {
	s := newSample(0xa1)
	base := durabletest.NewMem()
	must(0, s.write(base))
	for _, name := range must(base.List("g")) {
		path := filepath.Join("g", name)
		whole := int(must(base.Stat(path)).Size())
		for size := range whole + 3 {
			if size == whole {
				continue
			}
			mem := durabletest.Clone(base)
			mem.Change(path, func(b []byte) []byte { return append(b, 0, 0)[:size] })
			err := scan(mem)
			if !errors.Is(err, ErrCorrupt) && !(name == manifestName && errors.Is(err, ErrNotStore)) {
				t.Fatalf("%s of %d bytes cut to %d: %v", name, whole, size, err)
			}
		}
		mem := durabletest.Clone(base)
		must(0, mem.Remove(path))
		err := scan(mem)
		if name == manifestName {
			wantError(t, err, ErrIncomplete, "g: no manifest; the ingest never finished, run it again")
		} else {
			wantError(t, err, ErrCorrupt, path+": missing (listed in the manifest); restore the file or ingest again")
		}
	}
}

func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || err.Error() != text {
		t.Errorf("error %q\nwant  %q (%v)", err, text, kind)
	}
}
