package shard

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestNodes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var n *Nodes
		var ids []string
		switch rapid.IntRange(0, 2).Draw(rt, "kind") {
		case 0:
			size := rapid.IntRange(0, 40).Draw(rt, "n")
			n = NewNumericNodes(size)
			for i := range size {
				ids = append(ids, strconv.Itoa(i))
			}
		case 1:
			numbers := rapid.SliceOfDistinct(rapid.Uint64(), rapid.ID).Draw(rt, "numbers")
			slices.Sort(numbers)
			if n = NumericNodes(numbers); rapid.Bool().Draw(rt, "short") {
				short := make([]uint32, len(numbers))
				for i := range numbers {
					numbers[i] &= math.MaxUint32
				}
				slices.Sort(numbers)
				numbers = slices.Compact(numbers)
				short = short[:len(numbers)]
				for i, v := range numbers {
					short[i] = uint32(v)
				}
				n = NumericNodes(short)
			}
			for _, v := range numbers {
				ids = append(ids, strconv.FormatUint(v, 10))
			}
		default:
			ids = rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(rt, "ids")
			if rapid.Bool().Draw(rt, "sorted") {
				slices.Sort(ids)
			}
			n = must(StringNodes(slices.Values(ids)))
		}
		check := func(n *Nodes) {
			if n.Len() != len(ids) {
				rt.Fatalf("%d ids, want %d", n.Len(), len(ids))
			}
			for i, id := range ids {
				row, ok := n.Lookup(id)
				if n.ID(i) != id || row != i || !ok {
					rt.Fatalf("row %d: id %q, looked up as %d", i, n.ID(i), row)
				}
			}
			absent := rapid.String().Draw(rt, "absent")
			if _, ok := n.Lookup(absent); ok != slices.Contains(ids, absent) {
				rt.Fatalf("Lookup(%q) finds %t", absent, ok)
			}
		}
		check(n)
		if n.ids.kind == nodesImplicit {
			return
		}
		m := &Manifest{Rows: int64(len(ids)), Nodes: n.ids.kind}
		check(must(parseNodes("nodes", content(n.ids.write), m)))
	})
}

func TestNodesLookupForms(t *testing.T) {
	for _, n := range []*Nodes{NewNumericNodes(10), NumericNodes([]uint64{0, 7, 1 << 40})} {
		for _, id := range []string{"", "07", "+7", "-1", "7 ", "x", "99", "18446744073709551616"} {
			if row, ok := n.Lookup(id); ok {
				t.Errorf("%s: %q is row %d", n.ids.kind, id, row)
			}
		}
	}
	if n := NumericNodes([]uint64{0, 1, 2}); n.ids.kind != nodesImplicit {
		t.Errorf("0 to n−1 are stored as %s", n.ids.kind)
	}
}

func TestDuplicateIDs(t *testing.T) {
	_, err := StringNodes(slices.Values([]string{"b", "a", "c", "a"}))
	if err == nil || err.Error() != `"a" is at 1 and 3; give each an id of its own` {
		t.Error(err)
	}
}

func TestSortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"", "a", "b", "\x00", "\xff", "user_", "1234567", "123456789abcdef"})
		seen := map[string]int{}
		var ids []string
		for range rapid.IntRange(0, 400).Draw(t, "ids") {
			id := ""
			for range rapid.IntRange(0, 4).Draw(t, "pieces") {
				id += piece.Draw(t, "piece")
			}
			if _, has := seen[id]; !has {
				seen[id] = len(ids)
				ids = append(ids, id)
			}
		}
		n := must(StringNodes(slices.Values(ids)))
		for id, row := range seen {
			if found, ok := n.Lookup(id); !ok || found != row {
				t.Fatalf("%q is in row %d, %t, want %d", id, found, ok, row)
			}
		}
		if !n.ids.isIncreasing() {
			t.Fatal("out of order")
		}
		if len(ids) > 0 {
			if _, err := StringNodes(slices.Values(append(ids, ids[len(ids)/2]))); err == nil {
				t.Fatal("two equal ids are accepted")
			}
		}
	})
}

func content(write func(*bufio.Writer)) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	write(w)
	must(0, w.Flush())
	return b.Bytes()
}

func TestNodesFile(t *testing.T) {
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = fmt.Sprint((i * 7) % 20)
	}
	for _, n := range []*Nodes{must(StringNodes(slices.Values(ids))), NumericNodes([]uint64{3, 5, 1 << 63, 1<<64 - 1})} {
		b := content(n.ids.write)
		m := &Manifest{Rows: int64(n.ids.n), Nodes: n.ids.kind}
		must(parseNodes("nodes", b, m))
		for size := range len(b) {
			if _, err := parseNodes("nodes", b[:size], m); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut to %d of %d: %v", n.ids.kind, size, len(b), err)
			}
		}
		if _, err := parseNodes("nodes", append(b, 0), m); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s with a byte more: %v", n.ids.kind, err)
		}
		m.Rows++
		if _, err := parseNodes("nodes", b, m); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s with a row more: %v", n.ids.kind, err)
		}
	}
}

// The lengths of the ids add up only modulo 2^64.
func TestNodesOverflow(t *testing.T) {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, 2)
	b = le.AppendUint64(b, 5)
	b = le.AppendUint64(b, 0)
	b = binary.AppendUvarint(b, math.MaxUint64)
	b = binary.AppendUvarint(b, 6)
	b = append(b, "hello"...)
	if _, err := parseNodes("nodes", b, &Manifest{Rows: 2, Nodes: nodesString}); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// A changed file that still parses gives a usable dictionary.
func TestNodesFields(t *testing.T) {
	ids := []string{"pear", "apple", "", "fig"}
	n := must(StringNodes(slices.Values(ids)))
	m := &Manifest{Rows: int64(n.ids.n), Nodes: n.ids.kind}
	for at := range content(n.ids.write) {
		for v := range 256 {
			b := content(n.ids.write)
			b[at] = byte(v)
			got, err := parseNodes("nodes", b, m)
			if err != nil {
				continue
			}
			for row := range got.Len() {
				got.Lookup(got.ID(row))
			}
		}
	}
}
