package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/internal/sched"
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
		got, places := sortRows(slices.Clone(keys), make([]uint32, len(keys)), place, make([]int, len(keys)), column+1, hi)
		alone, _ := sortRows[uint32, int](slices.Clone(keys), make([]uint32, len(keys)), nil, nil, column+1, hi)
		for i, p := range want {
			if places[i] != p || got[i] != keys[p] || alone[i] != keys[p] {
				t.Fatalf("trial %d: %d bits of columns, %d of rows: place %d holds %d, want %d", trial, column, rowBits, i, places[i], p)
			}
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
	for _, c := range []Config{{Duplicates: SumDuplicates}, {Fields: []int{1, 2}}, {Directed: true, Duplicates: FirstDuplicates}} {
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

// TestPanicEndsTheOthers holds that pieces that wait for their turn do not wait
// for one that panicked.
func TestPanicEndsTheOthers(t *testing.T) {
	turns := newTurns()
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		_ = sched.Run(t.Context(), 4, 4, func(_, k int) error {
			return turns.piece(k, func() error {
				if k == 0 {
					panic("test")
				}
				return turns.do(k, func() error { return nil })
			})
		})
	}()
	select {
	case got := <-ended:
		if p, ok := got.(*sched.Panic); !ok || p.Value != "test" {
			t.Errorf("panic %v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("pieces wait for one that will never act")
	}
}
