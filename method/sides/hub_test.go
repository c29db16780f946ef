package sides_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// The row of a hub has several pieces.
func TestHubCounts(t *testing.T) {
	const leaves = sparse.MaxRange + 1000
	var b strings.Builder
	names := []string{"a", "b", "c"}
	entries, labelled, same := make([]int64, 3), make([]int64, 3), make([]int64, 3)
	var rows, classes []int
	for leaf := 1; leaf <= leaves; leaf++ {
		kind := leaf % 3
		fmt.Fprintf(&b, "0 %d %s %d\n", leaf, names[kind], leaf%500)
		if entries[kind] += 2; leaf%5 > 0 {
			continue
		}
		labelled[kind] += 2
		if leaf%2 == 0 {
			same[kind] += 2
		}
	}
	for v := 0; v <= leaves; v += 5 {
		rows = append(rows, v)
		classes = append(classes, v%2)
	}
	path := filepath.Join(t.TempDir(), "edges.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &ingest.Config{Kind: "3", Time: "4", Fields: []string{"1", "2"}, Order: ingest.DefaultOrder}
	if _, err := ingest.Run(t.Context(), path+".store", []string{path}, c); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []bool{false, true} {
		s, err := shard.Open(t.Context(), path+".store", &shard.Options{Stream: stream, Workers: 7})
		if err != nil {
			t.Fatal(err)
		}
		got, err := sides.Count(t.Context(), s, rows, classes)
		if err != nil {
			t.Fatal(err)
		}
		for kind, k := range got.Manifest.Kinds {
			if k.Entries != entries[slices.Index(names, k.Name)] {
				t.Errorf("kind %d: %+v, want %v", kind, k, entries)
			}
			if i := slices.Index(names, k.Name); got.Labelled[kind] != labelled[i] || got.Same[kind] != same[i] {
				t.Errorf("kind %s: %d labelled, %d same, want %v, %v", k.Name, got.Labelled[kind], got.Same[kind], labelled, same)
			}
		}
		if m := got.Manifest; m.Entries != 2*leaves || m.Times.First != 0 || m.Times.Last != 499 {
			t.Errorf("%d entries, times %+v", m.Entries, m.Times)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
