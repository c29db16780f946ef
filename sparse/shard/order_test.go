package shard

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
)

func shuffled(n int, seed uint64) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func TestReorder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(rt, "ids")
		numbers := rapid.SliceOfNDistinct(rapid.Uint64(), len(ids), len(ids), rapid.ID).Draw(rt, "numbers")
		slices.Sort(numbers)
		order := shuffled(len(ids), rapid.Uint64().Draw(rt, "rng seed"))
		for _, plain := range []*Nodes{must(StringNodes(slices.Values(ids))), NumericNodes(numbers), NewNumericNodes(len(ids))} {
			n := plain.Reorder("some", order, nil)
			for row, position := range order {
				id := plain.ID(int(position))
				if got, ok := n.Lookup(id); n.ID(row) != id || got != row || !ok {
					rt.Fatalf("row %d: id %q, looked up as %d; want %q", row, n.ID(row), got, id)
				}
			}
			position := 0
			for row := range n.Rows() {
				if int(order[row]) != position {
					rt.Fatalf("row %d comes at place %d, its position is %d", row, position, order[row])
				}
				position++
			}
			if position != len(ids) || !slices.Equal(n.Order, order) {
				rt.Fatalf("%d rows, order %v", position, n.Order)
			}
			inverse, _ := invert(order)
			if same := plain.Reorder("some", order, inverse); !slices.Equal(same.rows, n.rows) {
				rt.Fatalf("rows %v with the inverse given, %v without", same.rows, n.rows)
			}
			if more := n.Bytes() - plain.Bytes(); more != int64(8*len(ids)) {
				rt.Fatalf("%d bytes more for %d rows", more, len(ids))
			}
			if _, ok := n.Lookup("no such id"); ok != slices.Contains(ids, "no such id") {
				rt.Fatal("an id that does not exist is found")
			}
			if n.ids.kind == nodesImplicit {
				continue
			}
			m := &Manifest{Rows: int64(len(ids)), Nodes: n.ids.kind, Order: n.name}
			again := must(parseNodes("nodes", content(n.ids.write), m))
			must(0, again.parseOrder("order", content(func(w *bufio.Writer) { writeRows(w, n.Order) }), m))
			for row := range order {
				if again.ID(row) != n.ID(row) {
					rt.Fatalf("row %d reads %q, wrote %q", row, again.ID(row), n.ID(row))
				}
			}
		}
	})
}

func TestRowsInOrderOfIDs(t *testing.T) {
	const n = 37
	ids := make([]string, n)
	for i, k := range shuffled(n, 1) {
		ids[i] = fmt.Sprint("id ", k)
	}
	plain := must(StringNodes(slices.Values(ids)))
	for _, nodes := range []*Nodes{plain, plain.Reorder("some", shuffled(n, 2), nil)} {
		rows := slices.Collect(nodes.Rows())
		for i, id := range ids {
			if row, _ := nodes.Lookup(id); row != rows[i] {
				t.Errorf("%q is row %d, want %d", id, rows[i], row)
			}
		}
	}
}

func TestRowsStop(t *testing.T) {
	for row := range NewNumericNodes(9).Rows() {
		if row == 3 {
			return
		}
	}
	t.Error("never reached row 3")
}

func TestNoPermutation(t *testing.T) {
	base := durabletest.NewMem()
	must(0, newSample(0xa1).write(base))
	name := "g/" + fileName(0xa1, orderEnding)
	for _, c := range []struct {
		position uint32
		want     string
	}{
		{4, "position 4 of row 3 is another row's or none"},
		{40, "position 40 of row 3 is another row's or none"},
		{1<<32 - 1, "position 4294967295 of row 3 is another row's or none"},
	} {
		mem := durabletest.Clone(base)
		mem.Change(name, func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[fileHead+4*3:], c.position)
			return b
		})
		reseal(mem, nil)
		wantError(t, scan(mem), ErrCorrupt, name+": "+c.want+restore)
	}
	for _, size := range []int{fileHead, fileHead + 4*39, fileHead + 4*40 + 1} {
		mem := durabletest.Clone(base)
		mem.Change(name, func(b []byte) []byte { return append(b, 0)[:size] })
		reseal(mem, nil)
		if err := scan(mem); err == nil || !strings.Contains(err.Error(), "bytes for 40 rows") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestReorderPanics(t *testing.T) {
	two := NewNumericNodes(2)
	for name, call := range map[string]func(){
		"no name":   func() { two.Reorder("", []uint32{1, 0}, nil) },
		"too short": func() { two.Reorder("some", []uint32{0}, nil) },
		"too high":  func() { two.Reorder("some", []uint32{0, 2}, nil) },
		"twice":     func() { two.Reorder("some", []uint32{1, 1}, nil) },
		"long":      func() { two.Reorder("some", []uint32{1, 0}, []uint32{1, 0, 2}) },
		"no place":  func() { two.Reorder("some", []uint32{0, 2}, []uint32{0, 1}) },
		"inverse":   func() { two.Reorder("some", []uint32{1, 0}, []uint32{0, 1}) },
		"again":     func() { two.Reorder("some", []uint32{1, 0}, nil).Reorder("other", []uint32{1, 0}, nil) },
	} {
		func() {
			defer func() {
				if recover() != badReorder {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
