package checkpoint

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

var ofOne = Run{"1", "g", "l", "o"}

// numbers returns so many, some of them no usual ones.
func numbers(n int) []float64 {
	all := []float64{math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64}
	for len(all) < n {
		all = append(all, math.Sin(float64(len(all))))
	}
	return all[:n]
}

// TestState reads the numbers that were written, of records shorter and longer than a frame.
func TestState(t *testing.T) {
	for _, n := range []int{0, 1, 3, frameBytes/8 - 4, frameBytes / 8, 20_000} {
		path := filepath.Join(t.TempDir(), "state")
		i, yes, x, list := -7, true, math.Pi, numbers(n)
		all := func(s *State) error {
			s.Int(&i)
			s.Bool(&yes)
			s.Float(&x)
			s.List(&list, n)
			return s.Err()
		}
		if err := Write(path, ofOne, func(w io.Writer) error { return all(StateTo(w)) }); err != nil {
			t.Fatal(err)
		}
		i, yes, x, list = 0, false, 0, nil
		if err := Read(path, ofOne, func(r io.Reader) error { return all(StateFrom(r)) }); err != nil {
			t.Fatal(err)
		}
		same := slices.EqualFunc(list, numbers(n), func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if i != -7 || !yes || x != math.Pi || !same {
			t.Errorf("%d numbers: read %d, %v, %v, %v", n, i, yes, x, list)
		}
		var wrong *Error
		err := Read(path, ofOne, func(r io.Reader) error { n--; return all(StateFrom(r)) })
		if !errors.As(err, &wrong) || !wrong.Damaged {
			t.Errorf("a list longer than it may be: %v", err)
		}
	}
}

// TestOfAnother refuses the file of another run, and one that is damaged anywhere.
func TestOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write := func(w io.Writer) error { _, err := io.WriteString(w, strings.Repeat("state ", 20)); return err }
	read := func(r io.Reader) error { _, err := io.ReadAll(r); return err }
	if err := Read(path, ofOne, read); err != nil {
		t.Fatalf("without a file: %v", err)
	}
	if err := Write(path, ofOne, write); err != nil {
		t.Fatal(err)
	}
	var wrong *Error
	for what, of := range map[string]Run{
		"with other edges": {"1", "", "l", "o"}, "with other labels or nodes": {"1", "g", "", "o"},
		"with other options": {"1", "g", "l", ""}, "of another version": {"2", "g", "l", "o"},
	} {
		if err := Read(path, of, read); !errors.As(err, &wrong) || wrong.What != "is of a run "+what || wrong.Damaged {
			t.Errorf("%v, want that it is of a run %s", err, what)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		flipped := slices.Clone(whole)
		flipped[at] ^= 4
		for _, bad := range [][]byte{flipped, whole[:at], append(slices.Clone(whole), 0)} {
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := Read(path, ofOne, read); !errors.As(err, &wrong) || !wrong.Damaged {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
	if err := errors.Join(Remove(path), Remove(path)); err != nil {
		t.Error(err)
	}
}

// TestFile writes a state when it is time to and the disk has room, and reads it in a run that
// is resumed; what cannot be written ends no run.
func TestFile(t *testing.T) {
	output := filepath.Join(t.TempDir(), "E.npy")
	text, warmup := "one", Warmup
	file := func(room int64, resume bool) *File {
		t.Helper()
		f, err := NewFile(output, room, warmup, resume, func() (Run, error) { return ofOne, nil })
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	save := func(f *File) {
		t.Helper()
		time.Sleep(time.Millisecond) // twenty times what a few bytes take
		if err := f.Save(write); err != nil {
			t.Fatal(err)
		}
	}
	f := file(0, false)
	if save(f); f.Kept() {
		t.Error("written before it is time to")
	}
	warmup = 0
	f = file(math.MaxInt64, false)
	if save(f); f.Kept() {
		t.Error("written on a disk without room")
	}
	err := file(0, false).Save(func(w io.Writer) error {
		size, counted := w.(*counter)
		if !counted {
			t.Error("written though that takes longer than the run has")
			return io.ErrShortWrite
		}
		*size += 1 << 30 // which takes two seconds, and a run that takes forty
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	f = file(0, false)
	if save(f); !f.Kept() {
		t.Fatal("not written")
	}
	text = "two"
	failing := file(0, false)
	durabletest.On(durabletest.FailAt(durable.OS, 4), func() { save(failing) })
	for resume, want := range map[bool]string{true: "one", false: ""} {
		var got []byte
		f = file(0, resume)
		if err := f.Load(func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err }); err != nil || string(got) != want || f.Kept() != resume {
			t.Errorf("resumed %v: %q, kept %v, error %v", resume, got, f.Kept(), err)
		}
	}
	if err := f.Remove(); err != nil || file(0, true).Kept() {
		t.Errorf("removed: %v", err)
	}
	if f, err := NewFile("-", 0, Warmup, true, nil); f != nil || err != nil || f.Save(write) != nil || f.Load(nil) != nil || f.Kept() || f.Remove() != nil {
		t.Errorf("beside stdout: %v, error %v", f, err)
	}
}

// TestFaults fails every operation on the files: the state before is kept.
func TestFaults(t *testing.T) {
	text := func(s string) func(w io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	for i := 0; ; i++ {
		mem := durabletest.NewMem()
		durabletest.On(mem, func() {
			if err := Write("state", ofOne, text("old")); err != nil {
				t.Fatal(err)
			}
		})
		failing := durabletest.FailAt(mem, i)
		var err error
		durabletest.On(failing, func() { err = Write("state", ofOne, text("new")) })
		var got []byte
		durabletest.On(mem, func() {
			err := Read("state", ofOne, func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err })
			if err != nil {
				t.Fatalf("after a fault in operation %d: %v", i, err)
			}
		})
		inPlace := err == nil || errors.Is(err, durable.ErrUnsynced)
		if failing.Failed() == "" {
			if err != nil || i < 5 {
				t.Fatalf("operation %d: %v", i, err)
			}
			return
		}
		if failing.Failed() != "list" && err == nil {
			t.Errorf("no error of a fault in operation %d, %s", i, failing.Failed())
		}
		if string(got) != "new" && inPlace || string(got) != "old" && string(got) != "new" {
			t.Errorf("after a fault in operation %d, %s: %q", i, failing.Failed(), got)
		}
	}
}

// A state that cannot be written leaves what was kept before, and nothing beside it.
func TestFailedSave(t *testing.T) {
	dir, full := t.TempDir(), errors.New("full")
	f, err := NewFile(filepath.Join(dir, "o"), 0, 0, false, func() (Run, error) { return ofOne, nil })
	if err != nil {
		t.Fatal(err)
	}
	f.begun = f.begun.Add(-time.Hour)
	if err := f.Save(func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }); err != nil || !f.Kept() {
		t.Fatalf("kept %v, error %v", f.Kept(), err)
	}
	if err := f.Save(func(w io.Writer) error { _, _ = io.WriteString(w, "two"); return full }); err != nil || !f.Kept() {
		t.Errorf("after a failure: kept %v, error %v", f.Kept(), err)
	}
	if err := Write(f.path, ofOne, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if names, err := durable.OS.List(dir); err != nil || len(names) != 1 {
		t.Errorf("%q are there, error %v", names, err)
	}
	err = Read(f.path, ofOne, func(r io.Reader) error {
		if got, err := io.ReadAll(r); string(got) != "one" || err != nil {
			t.Errorf("%q, error %v", got, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// little is a file system with so many free bytes.
type little struct {
	durable.FS
	free int64
}

func (l little) Free(string) (int64, error) { return l.free, nil }

// What is spared of the disk is left when a journal is there, not before.
func TestRoomOnTheDisk(t *testing.T) {
	const spare, bytes = 1000, 50
	j := newJournal(filepath.Join(t.TempDir(), "o"), spare, 0, nil)
	j.begun = j.begun.Add(-time.Hour)
	for free, want := range map[int64]bool{spare + bytes: true, spare + bytes - 1: false} {
		durabletest.On(little{durable.OS, free}, func() {
			if got := j.pays(bytes); got != want {
				t.Errorf("%d bytes of %d that are free: %v", bytes, free, got)
			}
		})
	}
}

// The sum of a graph depends on its rows, columns and weights.
func TestGraphSum(t *testing.T) {
	sum := func(entries ...sparse.Triplet) string {
		a, err := sparse.FromTriplets(3, 3, entries)
		if err != nil {
			t.Fatal(err)
		}
		s, err := GraphSum(t.Context(), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := func(i, j uint32, w float64) sparse.Triplet { return sparse.Triplet{Row: i, Col: j, Val: w} }
	of := map[string]string{}
	for name, s := range map[string]string{
		"none": sum(), "an entry": sum(at(0, 1, 2)), "another weight": sum(at(0, 1, 3)), "another column": sum(at(0, 2, 2)), "another row": sum(at(1, 1, 2)),
		"entries in one row": sum(at(0, 1, 2), at(0, 2, 2)), "in two": sum(at(0, 1, 2), at(1, 2, 2)),
	} {
		if other, twice := of[s]; twice {
			t.Errorf("%s and %s have one sum", name, other)
		}
		of[s] = name
	}
	if again := sum(at(0, 1, 2)); of[again] != "an entry" {
		t.Error("another sum for the same graph")
	}
}
