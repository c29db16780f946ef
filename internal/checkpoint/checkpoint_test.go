package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

var ofOne = Run{"1", "g", "l", "o"}

// TestOfAnother refuses the file of another run, and one that is damaged anywhere.
func TestOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	var got string
	if err := Read(path, ofOne, &got); err != nil || got != "" {
		t.Fatalf("without a file: %q, %v", got, err)
	}
	if err := Write(path, ofOne, "state"); err != nil {
		t.Fatal(err)
	}
	if err := Read(path, ofOne, &got); err != nil || got != "state" {
		t.Fatalf("%q, %v", got, err)
	}
	var wrong *Error
	for what, of := range map[string]Run{
		"with other edges": {"1", "", "l", "o"}, "with other labels or nodes": {"1", "g", "", "o"},
		"with other options": {"1", "g", "l", ""}, "of another version": {"2", "g", "l", "o"},
	} {
		if err := Read(path, of, &got); !errors.As(err, &wrong) || wrong.What != "is of a run "+what || wrong.Damaged {
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
			if err := Read(path, ofOne, &got); !errors.As(err, &wrong) || !wrong.Damaged {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
	}
	if err := errors.Join(Remove(path), Remove(path)); err != nil {
		t.Error(err)
	}
}

// TestFaults fails every operation on the files: the state before is kept.
func TestFaults(t *testing.T) {
	for i := 0; ; i++ {
		mem := durabletest.NewMem()
		durabletest.On(mem, func() {
			if err := Write("state", ofOne, "old"); err != nil {
				t.Fatal(err)
			}
		})
		failing := durabletest.FailAt(mem, i)
		var err error
		durabletest.On(failing, func() { err = Write("state", ofOne, "new") })
		var got string
		durabletest.On(mem, func() {
			if err := Read("state", ofOne, &got); err != nil {
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
		if got != "new" && inPlace || got != "old" && got != "new" {
			t.Errorf("after a fault in operation %d, %s: %q", i, failing.Failed(), got)
		}
	}
}

// The sum of a graph with a hub does not depend on the number of goroutines.
func TestGraphSumOfHub(t *testing.T) {
	want, err := GraphSum(t.Context(), testgraph.Hub(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 7} {
		if got, err := GraphSum(t.Context(), testgraph.Hub(), workers); got != want || err != nil {
			t.Errorf("%d goroutines: %s, want %s; %v", workers, got, want, err)
		}
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
