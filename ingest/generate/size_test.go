package generate

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestSize(t *testing.T) {
	for _, test := range []struct {
		g     Graph
		exact bool
	}{
		{made(t, "rmat", given{"scale": 8, "edge-factor": 3}, 0), true},
		{made(t, "sbm", given{"nodes": 300}, 0), true},
		{made(t, "sbm", given{"nodes": 300, "edges": 500}, 0), true},
		{made(t, "er", given{"nodes": 200, "edges": 700}, 0), true},
		{grid{rows: 7, columns: 9}, false},
		{grid{rows: 1, columns: 2, torus: true}, false},
		{grid{rows: 7, columns: 9, torus: true}, true},
	} {
		size := test.g.Size()
		r, w := io.Pipe()
		go func() { w.CloseWithError(test.g.EdgesTo(context.Background(), w)) }()
		var lines, top, text int64
		seen := map[int64]bool{}
		for s := bufio.NewScanner(r); s.Scan(); lines++ {
			text += int64(len(s.Bytes()) + 1)
			for _, id := range strings.Fields(s.Text()) {
				v, err := strconv.ParseInt(id, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				top = max(top, v)
				seen[v] = true
			}
		}
		if lines > size.Lines || test.exact && lines != size.Lines || top >= size.Nodes || top < size.Nodes/2 ||
			text > size.Text {
			t.Errorf("%+v: %d lines, %d nodes up to %d, size %+v", test.g, lines, len(seen), top, size)
		}
	}
}

func TestFewNodes(t *testing.T) {
	g := made(t, "sbm", given{"nodes": 5, "classes": 5}, 0)
	if lines := g.Size().Lines; lines != 10 {
		t.Fatalf("%d edges of five nodes", lines)
	}
	if class := slices.Sorted(slices.Values(sbmClasses(t, g))); !slices.Equal(class, []int{0, 1, 2, 3, 4}) {
		t.Errorf("classes %v", class)
	}
}

func TestNarrowTorus(t *testing.T) {
	var b strings.Builder
	if err := (grid{rows: 3, columns: 2, torus: true}).EdgesTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if lines := slices.Sorted(strings.Lines(b.String())); !slices.Equal(lines, []string{
		"0\t1\n", "0\t2\n", "1\t3\n", "2\t3\n", "2\t4\n", "3\t5\n", "4\t0\n", "4\t5\n", "5\t1\n",
	}) {
		t.Errorf("%q", lines)
	}
}
