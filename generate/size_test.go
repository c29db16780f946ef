package generate

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
)

// A model makes no more lines and nodes than its size says, and those that draw
// each line make just as many lines.
func TestSize(t *testing.T) {
	for _, test := range []struct {
		g     Graph
		exact bool
	}{
		{RMAT{Scale: 8, EdgeFactor: 3}, true},
		{SBM{Nodes: 300}, true},
		{SBM{Nodes: 300, Edges: 500}, true},
		{ErdosRenyi{Nodes: 200, Edges: 700}, true},
		{Grid{Rows: 7, Columns: 9}, false},
		{Grid{Rows: 7, Columns: 9, Torus: true}, true},
	} {
		size := test.g.Size()
		r, w := io.Pipe()
		go func() { w.CloseWithError(test.g.EdgesTo(context.Background(), w)) }()
		var lines, top int64
		for s := bufio.NewScanner(r); s.Scan(); lines++ {
			for _, id := range strings.Fields(s.Text()) {
				v, err := strconv.ParseInt(id, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				top = max(top, v)
			}
		}
		if lines > size.Lines || test.exact && lines != size.Lines || top >= size.Nodes || top < size.Nodes/2 {
			t.Errorf("%+v: %d lines, nodes to %d, size %+v", test.g, lines, top, size)
		}
	}
}

// A set of pairs never has more slots than were planned.
func TestPairSetBytes(t *testing.T) {
	var s pairSet
	for n := 1; n < 5000; n++ {
		s.add(n, n+1)
		if want := int64(8 * len(s.slots)); pairSetBytes(n) < want+want/2 || pairSetBytes(n) > 2*want {
			t.Fatalf("%d pairs: %d bytes planned, the slots take %d", n, pairSetBytes(n), want)
		}
	}
}
