package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRadixSort compares with the library's sort, and holds that what agrees in
// the bits that count keeps its order.
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
	got, places := radixSort(slices.Clone(keys), make([]K, len(keys)), place, make([]int, len(keys)), lo, hi)
	alone, _ := radixSort[K, int](slices.Clone(keys), make([]K, len(keys)), nil, nil, lo, hi)
	for i, p := range want {
		if places[i] != p || got[i] != keys[p] || alone[i] != keys[p] {
			rt.Fatalf("%x by bits %d to %d: place %d holds %d, want %d", keys, lo, hi, i, places[i], p)
		}
	}
}

// TestSortRows sorts entries of which those of each row are in order, all or
// nearly, and such as are not.
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

// orderOf looks at all entries of every row.
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

// TestPlaceRows compares rows that need no merging with merged ones.
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
		var got sorted
		got.begin(7, len(keys), values != nil)
		placeRows(&got, count[:rows], keys, values, column+1)
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
		want := sorted{lo: 7, ptr: []int{0}, col: []uint32{}, val: got.val[:0:0]}
		for _, i := range order {
			for row := int(keys[i] >> (column + 1)); len(want.ptr) <= row; {
				want.ptr = append(want.ptr, len(want.col))
			}
			want.col = append(want.col, uint32(keys[i]>>1&(1<<column-1)))
			if values != nil {
				want.val = append(want.val, values[i])
			}
		}
		for len(want.ptr) <= rows {
			want.ptr = append(want.ptr, len(want.col))
		}
		if !slices.Equal(got.ptr, want.ptr) || !slices.Equal(got.col, want.col) || !slices.Equal(got.val, want.val) {
			t.Fatalf("trial %d: %v\nwant %v", trial, got, want)
		}
	}
}

// TestWideKeys holds that stores do not depend on the width of keys.
func TestWideKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := edgeText(60_000, func(int) string {
		return fmt.Sprintf("%d %d %d", r.IntN(9000), r.IntN(9000), r.IntN(3))
	})
	paths := write(t, file{"e.txt", text})
	for _, c := range []Config{{Duplicates: SumDuplicates}, {Fields: []string{"1", "2"}}, {Directed: true, Duplicates: FirstDuplicates}} {
		var stores []map[string]string
		for _, buckets := range []int{narrowBuckets, 0} {
			func() {
				defer func(n int) { narrowBuckets = n }(narrowBuckets)
				narrowBuckets = buckets
				dir, _, err := ingestInto(t, fixed(c), paths...)
				if err != nil {
					t.Fatal(err)
				}
				stores = append(stores, contents(t, dir))
			}()
		}
		if !maps.Equal(stores[0], stores[1]) {
			t.Errorf("%+v: keys of 4 and of 8 bytes make different stores", c)
		}
	}
}
