package sparse

import (
	"math/rand/v2"
	"testing"
)

// TestTable fills tables whose rows are dense, sparse, empty and missing, and reads them
// back.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, cols := range []int{1, 7, 3000} {
		const rows = 200
		table, want := &Table{Rows: rows, Cols: cols}, make([][]float32, rows)
		entries := int64(0)
		for _, i := range rng.Perm(rows)[:150] {
			share := []float64{0, 0.1, 0.6, 1}[rng.IntN(4)]
			want[i] = make([]float32, cols)
			for j := range want[i] {
				if rng.Float64() < share {
					want[i][j] = rng.Float32() - 2
					entries++
				}
			}
			table.Set(i, want[i])
		}
		if table.Present != 150 || table.Entries != entries {
			t.Errorf("%d rows and %d entries, want 150 and %d", table.Present, table.Entries, entries)
		}
		if bytes := table.Bytes; bytes > 20*rows+8*entries+2*4*int64(max(tableChunk, 2*cols)) {
			t.Errorf("%d columns: %d bytes for %d entries", cols, bytes, entries)
		}
		for i, values := range want {
			got := make([]float32, cols)
			columns, found := table.Row(i)
			if (found != nil) != (values != nil) {
				t.Fatalf("row %d is there: %v", i, found != nil)
			}
			last := -1
			for e, v := range found {
				j := e
				if columns != nil {
					if j = int(columns[e]); j <= last {
						t.Fatalf("row %d: column %d after %d", i, j, last)
					}
					last = j
				}
				got[j] = v
			}
			for j, v := range values {
				if got[j] != v {
					t.Fatalf("row %d, column %d: %v, want %v", i, j, got[j], v)
				}
			}
		}
	}
}
