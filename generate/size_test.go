package generate

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
)

// A model makes no more lines and nodes than its size says, those that draw each
// line make just as many lines, and those that say so give one to every node.
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
		var lines, top int64
		seen := map[int64]bool{}
		for s := bufio.NewScanner(r); s.Scan(); lines++ {
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
			size.Whole && int64(len(seen)) != size.Nodes {
			t.Errorf("%+v: %d lines, %d nodes up to %d, size %+v", test.g, lines, len(seen), top, size)
		}
	}
}

// A set has room for the pairs it was made for, half of its slots stay free, and
// its size is the one that was planned.
func TestPairSet(t *testing.T) {
	for _, pairs := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 5000} {
		s := newPairSet(pairs)
		if 2*pairs > len(s.slots) || pairSetBytes(pairs) != int64(8*len(s.slots)) {
			t.Fatalf("%d pairs: %d slots, %d bytes planned", pairs, len(s.slots), pairSetBytes(pairs))
		}
		for i := range pairs {
			if !s.add(i, i+1) || s.add(i+1, i) {
				t.Fatalf("pair %d of %d is not new once", i, pairs)
			}
		}
		if s.n != pairs {
			t.Fatalf("%d pairs of %d", s.n, pairs)
		}
	}
}
