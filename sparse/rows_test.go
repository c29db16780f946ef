package sparse_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// hubs returns a matrix in which one piece of a row has values other than 1.
func hubs(t *testing.T) *sparse.CSR {
	t.Helper()
	const n = 3*sparse.MaxRange + 100
	var entries []sparse.Triplet
	for i, length := range map[int]int{0: n, 5: sparse.MaxRange, 6: sparse.MaxRange + 1, 7: 2 * sparse.MaxRange, n - 1: n - 1} {
		for c := range length {
			v := 1.0
			if c > sparse.MaxRange {
				v = float64(c%7) + 0.5
			}
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(c), Val: v})
		}
	}
	for i := 8; i < n-1; i += 3 {
		entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(i / 2), Val: 2})
	}
	a, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEachRow(t *testing.T) {
	a := hubs(t)
	n, _ := a.Dims()
	mapped, err := sparse.MapValues(t.Context(), a, func(_, _ int, w float64) float64 { return w }) // pieces without values
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []sparse.Matrix{a, mapped} {
		for _, workers := range []int{1, 2, 7} {
			for _, rows := range [][2]int{{0, n}, {1, 7}, {6, 7}, {n - 1, n}, {3, 3}} {
				visits, last := make([]int, n), make([]int, workers)
				err := sparse.EachRowOf(t.Context(), m, rows[0], rows[1], workers, func(worker, row int, col []uint32, val []float64) error {
					visits[row]++
					wantCol, wantVal := a.Row(row)
					if val == nil {
						val = slices.Repeat([]float64{1}, len(col))
					}
					if !slices.Equal(col, wantCol) || !slices.Equal(val, wantVal) {
						t.Errorf("other entries in row %d", row)
					}
					if row < last[worker] {
						t.Errorf("goroutine %d has row %d after %d", worker, row, last[worker])
					}
					last[worker] = row
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for row, count := range visits {
					if isInside := rows[0] <= row && row < rows[1]; count != 1 && isInside || count != 0 && !isInside {
						t.Fatalf("%d visits of row %d among %v", count, row, rows)
					}
				}
			}
		}
	}
	failure := errors.New("visit failed")
	if err := sparse.EachRow(t.Context(), a, 2, func(int, int, []uint32, []float64) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
}

func TestRowSums(t *testing.T) {
	a := hubs(t)
	sum := func(col []uint32, val []float64) (s float64) {
		for e, c := range col {
			s += float64(c%3) * val[e]
		}
		return s
	}
	for _, workers := range []int{1, 2, 7} {
		got, err := sparse.RowSums(t.Context(), a, workers, sum)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range got {
			if want := sum(a.Row(i)); s != want { // values are multiples of 1/2
				t.Errorf("row %d: %v, want %v", i, s, want)
			}
		}
	}
}

func TestLongRowBytes(t *testing.T) {
	a, short := hubs(t), testgraph.Path(9)
	for workers, copies := range map[int]int64{1: 3, 3: 4, 7: 4} {
		if got, want := sparse.LongRowBytes(a, workers), copies*12*4*sparse.MaxRange; got != want {
			t.Errorf("%d goroutines: %d bytes, want %d", workers, got, want)
		}
		if got := sparse.LongRowBytes(short, workers); got != 0 {
			t.Errorf("%d bytes without a long row", got)
		}
	}
}
