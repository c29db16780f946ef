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

// TestSorts compares both sorts with the library's, and holds that what agrees
// in the bits that count keeps its order.
func TestSorts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spread := rapid.SampledFrom([]uint32{3, 1 << 12, 1 << 23, math.MaxUint32}).Draw(rt, "spread")
		keys := rapid.SliceOf(rapid.Uint32Range(0, spread)).Draw(rt, "keys")
		want := slices.Clone(keys)
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(a>>1, b>>1) })
		if got := sortNarrow(slices.Clone(keys), make([]uint32, len(keys))); !slices.Equal(got, want) {
			rt.Fatalf("sortNarrow: %v, want %v", got, want)
		}
		lo := rapid.UintRange(0, 64).Draw(rt, "lo")
		hi := rapid.UintRange(lo, 64).Draw(rt, "hi")
		wide := make([]uint64, len(keys))
		place := make([]int, len(keys))
		for i, k := range keys {
			wide[i], place[i] = uint64(k)<<rapid.IntRange(0, 32).Draw(rt, "shift"), i
		}
		digits := func(k uint64) uint64 {
			if hi == lo {
				return 0
			}
			return k << (64 - hi) >> (64 - hi + lo)
		}
		order := slices.Clone(place)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(digits(wide[a]), digits(wide[b])) })
		got, gotPlace := radixSort(slices.Clone(wide), make([]uint64, len(wide)), slices.Clone(place), make([]int, len(wide)), lo, hi)
		for i, p := range order {
			if gotPlace[i] != p || got[i] != wide[p] {
				rt.Fatalf("radixSort by bits %d to %d of %x: place %d holds %d, want %d", lo, hi, wide, i, gotPlace[i], p)
			}
		}
	})
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
