package graphs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

// The hub has more arcs than a piece of a row.
func TestHubOfFile(t *testing.T) {
	const leaves = sparse.MaxRange + 1000
	var b strings.Builder
	for leaf := range leaves {
		fmt.Fprintf(&b, "hub\tn%d\n", leaf)
	}
	temp := t.TempDir()
	c, err := Read(t.Context(), put(t, map[string]string{"star.tsv": b.String(), "pair.tsv": "a\tb\n"}), &ReadOptions{Workers: 7, Temp: func() (string, error) { return temp, nil }})
	if err != nil {
		t.Fatal(err)
	}
	star := &c.Graphs[1]
	if c.IDs[1] != "star" || star.Len() != leaves+1 || len(star.To) != 2*leaves {
		t.Fatalf("%s: %d vertices, %d arcs", c.IDs[1], star.Len(), len(star.To))
	}
	for v := range star.Len() {
		to := arcsOf(star, v)
		if star.ID[v] != "hub" {
			if len(to) != 1 || star.ID[to[0]] != "hub" {
				t.Fatalf("%s has arcs %v", star.ID[v], to)
			}
			continue
		}
		if len(to) != leaves {
			t.Errorf("the hub has %d arcs", len(to))
		}
		for e := 1; e < len(to); e++ {
			if to[e] <= to[e-1] {
				t.Fatalf("arcs of the hub: %d after %d", to[e], to[e-1])
			}
		}
	}
}
