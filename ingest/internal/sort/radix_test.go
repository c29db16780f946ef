package sort

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRadixSort(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spread := rapid.SampledFrom([]uint32{3, 1 << 12, 1 << 23, math.MaxUint32}).Draw(rt, "spread")
		narrow := rapid.SliceOf(rapid.Uint32Range(0, spread)).Draw(rt, "keys")
		shift := rapid.UintRange(0, 32).Draw(rt, "shift")
		wide := make([]uint64, len(narrow))
		for i, k := range narrow {
			wide[i] = uint64(k)<<shift | uint64(k)
		}
		lo := rapid.UintRange(0, 64).Draw(rt, "lo")
		hi := rapid.UintRange(lo, 64).Draw(rt, "hi")
		sorts(rt, narrow, min(lo, 32), min(hi, 32))
		sorts(rt, wide, lo, hi)
	})
	r := rand.New(rand.NewPCG(2, 3)) // all bits alike
	for lo := range uint(24) {
		keys := make([]uint64, 1000)
		for i := range keys {
			keys[i] = r.Uint64()
		}
		sorts(t, keys, lo, lo+1+r.UintN(64-lo))
	}
}

func sorts[K key](rt interface{ Fatalf(string, ...any) }, keys []K, lo, hi uint) {
	digits := func(k K) uint64 { return uint64(k) >> lo & (1<<(hi-lo) - 1) }
	want, place := make([]int, len(keys)), make([]int, len(keys))
	for i := range want {
		want[i], place[i] = i, i
	}
	slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(digits(keys[a]), digits(keys[b])) })
	got, places := Radix(slices.Clone(keys), make([]K, len(keys)), place, make([]int, len(keys)), lo, hi)
	alone, _ := Radix[K, int](slices.Clone(keys), make([]K, len(keys)), nil, nil, lo, hi)
	for i, p := range want {
		if places[i] != p || got[i] != keys[p] || alone[i] != keys[p] {
			rt.Fatalf("%x by bits %d to %d: place %d holds %d, want %d", keys, lo, hi, i, places[i], p)
		}
	}
}

func TestSortRows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	r := rand.New(rand.NewPCG(7, 11))
	for trial := range 400 {
		column, rowBits := uint(1+r.IntN(17)), uint(r.IntN(14))
		keys := make([]uint32, r.IntN(3000))
		next := make([]uint32, 1<<rowBits)
		for i := range keys {
			row := r.Uint32N(1 << rowBits)
			next[row] = min(next[row]+r.Uint32N(3), 1<<column-1)
			keys[i] = row<<(column+1) | next[row]<<1 | r.Uint32N(2)
		}
		switch trial % 4 {
		case 0:
			r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		case 1:
			if n := len(keys); n > 1 {
				keys[r.IntN(n)] ^= 2
			}
		}
		want, place := make([]int, len(keys)), make([]int, len(keys))
		for i := range want {
			want[i], place[i] = i, i
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(keys[a]>>1, keys[b]>>1) })
		hi := column + 1 + rowBits
		var count [radixSize]uint32
		order := unordered
		if rowBits <= radixBits {
			order = countRows(&count, keys, column+1)
			if real := orderOf(keys, column+1); order != real {
				t.Fatalf("trial %d: order %d, want %d", trial, order, real)
			}
		}
		again := count
		got, places := sortRows(order, &count, slices.Clone(keys), make([]uint32, len(keys)), place, make([]int, len(keys)), column+1, hi)
		alone, _ := sortRows[uint32, int](order, &again, slices.Clone(keys), make([]uint32, len(keys)), nil, nil, column+1, hi)
		for i, p := range want {
			if places[i] != p || got[i] != keys[p] || alone[i] != keys[p] {
				t.Fatalf("trial %d: %d bits of columns, %d of rows: place %d holds %d, want %d", trial, column, rowBits, i, places[i], p)
			}
		}
	}
}

func orderOf(keys []uint32, row uint) rowOrder {
	order := increasing
	for i, k := range keys {
		for _, before := range keys[:i] {
			switch {
			case before>>row != k>>row:
			case before>>1 > k>>1:
				return unordered
			case before>>1 == k>>1:
				order = ordered
			}
		}
	}
	return order
}

func TestPlaceRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for trial := range 200 {
		const column = 12
		rows := 1 + r.IntN(300)
		keys := make([]uint64, r.IntN(2000))
		var values []float64
		if trial%2 == 0 {
			values = make([]float64, len(keys))
		}
		next := make([]uint64, rows)
		for i := range keys {
			row := r.IntN(rows)
			keys[i] = uint64(row)<<(column+1) | next[row]<<1 | r.Uint64N(2)
			next[row] += 1 + r.Uint64N(3)
			if values != nil {
				values[i] = r.Float64()
			}
		}
		var count [radixSize]uint32
		if order := countRows(&count, keys, column+1); order != increasing {
			t.Fatalf("trial %d: order %d", trial, order)
		}
		var got Rows
		got.begin(7, len(keys), values != nil)
		placeRows(&got, count[:rows], keys, values, column+1)
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
		want := Rows{Lo: 7, Ptr: []int{0}, Col: []uint32{}, Val: got.Val[:0:0]}
		for _, i := range order {
			for row := int(keys[i] >> (column + 1)); len(want.Ptr) <= row; {
				want.Ptr = append(want.Ptr, len(want.Col))
			}
			want.Col = append(want.Col, uint32(keys[i]>>1&(1<<column-1)))
			if values != nil {
				want.Val = append(want.Val, values[i])
			}
		}
		for len(want.Ptr) <= rows {
			want.Ptr = append(want.Ptr, len(want.Col))
		}
		if !slices.Equal(got.Ptr, want.Ptr) || !slices.Equal(got.Col, want.Col) || !slices.Equal(got.Val, want.Val) {
			t.Fatalf("trial %d: %v\nwant %v", trial, got, want)
		}
	}
}

func TestWideKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, lines = 9000, 60_000
	code, weight := make([]uint32, 2*lines), make([]float64, lines)
	for i := range lines {
		code[2*i], code[2*i+1], weight[i] = r.Uint32N(rows), r.Uint32N(rows), float64(r.IntN(3))
	}
	for _, m := range []Merger{{Policy: Sum, Values: true}, {}, {Directed: true, Policy: First, Values: true}} {
		var all [2]Rows
		for i, wide := range []bool{false, true} {
			s := &Sorter{Context: t.Context(), Workers: 2, Rows: rows, Values: m.Values, Merge: m, wide: wide}
			s.Load = func(int, int) ([]uint32, []float64, error) { return code, weight, nil }
			if m.Directed {
				s.View = Outgoing
			}
			if _, err := s.Plan([]int{lines}); err != nil {
				t.Fatal(err)
			}
			if s.form.narrow == wide {
				t.Fatal("keys of the other width")
			}
			err := s.Each(func(b *Rows) error {
				for _, end := range b.Ptr[1:] {
					all[i].Ptr = append(all[i].Ptr, len(all[i].Col)+end)
				}
				all[i].Col, all[i].Val = append(all[i].Col, b.Col...), append(all[i].Val, b.Val...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(all[0].Ptr, all[1].Ptr) || !slices.Equal(all[0].Col, all[1].Col) || !slices.Equal(all[0].Val, all[1].Val) {
			t.Errorf("%+v: keys of 4 and of 8 bytes make different rows", m)
		}
	}
}
