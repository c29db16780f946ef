package graphfile

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bitWriter follows the definitions of the codes, bit by bit.
type bitWriter struct {
	data []byte
	n    int
}

func (w *bitWriter) bits(v uint64, n int) {
	for i := n - 1; i >= 0; i-- {
		if w.n%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.n/8] |= byte(v>>i&1) << (7 - w.n%8)
		w.n++
	}
}

func (w *bitWriter) code(name string, k int, v uint64) {
	switch name {
	case "UNARY":
		for range v {
			w.bits(0, 1)
		}
		w.bits(1, 1)
	case "GAMMA":
		msb := bits.Len64(v+1) - 1
		w.code("UNARY", 0, uint64(msb))
		w.bits(v+1, msb)
	case "DELTA":
		msb := bits.Len64(v+1) - 1
		w.code("GAMMA", 0, uint64(msb))
		w.bits(v+1, msb)
	case "ZETA":
		h := (bits.Len64(v+1) - 1) / k
		w.code("UNARY", 0, uint64(h))
		left := uint64(1) << (h * k)
		w.minimal(v+1-left, left<<k-left)
	}
}

// minimal writes v < m in minimal binary.
func (w *bitWriter) minimal(v, m uint64) {
	width := bits.Len64(m) - 1
	if short := uint64(1)<<(width+1) - m; v < short {
		w.bits(v, width)
	} else {
		w.bits(v+short, width+1)
	}
}

type bvSettings struct {
	code                   map[string]string // codes by kind of number
	window, minInterval, k int
}

func natural(n int) uint64 {
	if n >= 0 {
		return uint64(2 * n)
	}
	return uint64(-2*n - 1)
}

func (s *bvSettings) encode(lists [][]int, back func(x int) int) []byte {
	w := &bitWriter{}
	put := func(kind string, v int) { w.code(s.code[kind], s.k, uint64(v)) }
	for x, list := range lists {
		put("OUTDEGREES", len(list))
		if len(list) == 0 {
			continue
		}
		extra := list
		if s.window > 0 {
			ref := back(x)
			put("REFERENCES", ref)
			if ref > 0 {
				from := lists[x-ref]
				var blocks []int
				copies, length := true, 0
				extra = slices.Clone(list)
				for _, v := range from { // the last block is not written
					at := slices.Index(extra, v)
					if (at >= 0) != copies {
						blocks = append(blocks, length)
						copies, length = !copies, 0
					}
					if length++; at >= 0 {
						extra = slices.Delete(extra, at, at+1)
					}
				}
				put("BLOCK_COUNT", len(blocks))
				for i, b := range blocks {
					put("BLOCKS", b-min(i, 1))
				}
			}
		}
		if len(extra) == 0 {
			continue
		}
		residuals := extra
		if s.minInterval > 0 {
			type interval struct{ left, length int }
			var intervals []interval
			residuals = nil
			for i := 0; i < len(extra); {
				j := i + 1
				for j < len(extra) && extra[j] == extra[j-1]+1 {
					j++
				}
				if j-i >= s.minInterval {
					intervals = append(intervals, interval{extra[i], j - i})
				} else {
					residuals = append(residuals, extra[i:j]...)
				}
				i = j
			}
			w.code("GAMMA", 0, uint64(len(intervals)))
			end := 0
			for i, v := range intervals {
				if i == 0 {
					w.code("GAMMA", 0, natural(v.left-x))
				} else {
					w.code("GAMMA", 0, uint64(v.left-end-1))
				}
				w.code("GAMMA", 0, uint64(v.length-s.minInterval))
				end = v.left + v.length
			}
		}
		for i, v := range residuals {
			if i == 0 {
				w.code(s.code["RESIDUALS"], s.k, natural(v-x))
			} else {
				w.code(s.code["RESIDUALS"], s.k, uint64(v-residuals[i-1]-1))
			}
		}
	}
	return w.data
}

func readBV(t interface{ Fatal(...any) }, dir, properties string, graph []byte) (edges []string, err error) {
	path := filepath.Join(dir, "x.graph")
	if err := os.WriteFile(filepath.Join(dir, "x.properties"), []byte(properties), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Read(BVGraph, &Input{Name: path, Text: bytes.NewReader(graph)}, func(b *Batch) error {
		for i := 0; i < len(b.Number); i += 2 {
			edges = append(edges, fmt.Sprint(b.Number[i], " ", b.Number[i+1]))
		}
		return nil
	})
	return edges, err
}

func TestBVGraph(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		one := func(name string, codes ...string) string { return rapid.SampledFrom(codes).Draw(t, name) }
		s := &bvSettings{
			window: rapid.IntRange(0, 3).Draw(t, "window"), minInterval: rapid.SampledFrom([]int{0, 2, 4}).Draw(t, "interval"), k: rapid.IntRange(1, 5).Draw(t, "k"),
			code: map[string]string{
				"OUTDEGREES": one("degrees", "GAMMA", "DELTA"), "REFERENCES": one("references", "UNARY", "GAMMA", "DELTA"),
				"BLOCK_COUNT": one("count", "GAMMA", "UNARY", "DELTA"), "BLOCKS": one("blocks", "GAMMA", "UNARY", "DELTA"),
				"RESIDUALS": one("residuals", "ZETA", "GAMMA", "DELTA"),
			},
		}
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		lists := make([][]int, n)
		var want []string
		for x := range lists {
			for v := range n {
				if rapid.IntRange(0, 3).Draw(t, "arc") == 0 || x > 0 && slices.Contains(lists[x-1], v) && rapid.IntRange(0, 3).Draw(t, "again") > 0 {
					lists[x] = append(lists[x], v)
					want = append(want, fmt.Sprint(x, " ", v))
				}
			}
		}
		graph := s.encode(lists, func(x int) int { return rapid.IntRange(0, min(x, s.window)).Draw(t, "back") })
		var flags []string
		for kind, code := range s.code {
			flags = append(flags, kind+"_"+code)
		}
		properties := func(arcs int) string {
			return fmt.Sprintf("#BVGraph properties\nnodes=%d\narcs=%d\nwindowsize=%d\nminintervallength=%d\nzetak=%d\ncompressionflags=%s\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n",
				n, arcs, s.window, s.minInterval, s.k, strings.Join(flags, " | "))
		}
		edges, err := readBV(t, dir, properties(len(want)), graph)
		if err != nil || !slices.Equal(edges, want) {
			t.Fatalf("%v, %v, want %v", err, edges, want)
		}
		if _, err := readBV(t, dir, properties(len(want)+1), graph); err == nil {
			t.Error("another number of arcs was accepted")
		}
		if _, err := readBV(t, dir, properties(len(want)), graph[:rapid.IntRange(0, len(graph)-1).Draw(t, "cut")]); err == nil {
			t.Error("a cut file was accepted")
		}
	})
}

func TestBadBVGraphs(t *testing.T) {
	const good = "#BVGraph properties\nnodes=2\narcs=1\ncompressionflags=\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n"
	for _, test := range []struct {
		properties, graph, want string
	}{
		{good, "", "x.graph@0: the file ends in the successors of node 0 of 2; fetch the file again"},
		{good, "\x00\x00", "x.graph@2: the file ends in the successors of node 0 of 2; fetch the file again"},
		{good, "\x21\xff\xff\xff", "x.graph@0: the successors of node 0 are damaged; fetch the file again"},
		{strings.Replace(good, "BVGraph\n", "EFGraph\n", 1), "", ""},
		{strings.Replace(good, "nodes=2", "nodes=many", 1), "", `x.properties: nodes is "many", want a number; fetch the file again`},
		{strings.Replace(good, "flags=", "flags=RESIDUALS_RICE", 1), "", `x.properties: compressionflags has "RESIDUALS_RICE", which is not read; it.unimi.dsi.webgraph.BVGraph writes the graph again with the usual codes`},
		{good + "version=1\n", "", `x.properties: version "1"; version 0 is read`},
		{good + "nothing\n", "", `x.properties:6: "nothing" is not a property; fetch the file again`},
	} {
		dir := t.TempDir()
		_, err := readBV(t, dir, test.properties, []byte(test.graph))
		if got := strings.ReplaceAll(fmt.Sprint(err), dir+string(filepath.Separator), ""); err == nil || test.want != "" && got != test.want {
			t.Errorf("%q: %s, want %s", test.graph, got, test.want)
		}
	}
}
