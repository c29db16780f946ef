package sparse

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestTableOutline(t *testing.T) {
	const rows, cols, first = 50_000, 30, 2_000
	for _, filled := range []int{cols, 3} {
		table := &Table{Rows: rows, Cols: cols}
		values := make([]float32, cols)
		for j := range filled {
			values[j] = 1
		}
		var outline *Table
		for i := range rows {
			if table.Set(i, values); i == first {
				outline = table.Outline(rows)
			}
		}
		const ends = 2 * 2 * 4 * tableChunk
		if more := outline.Bytes - table.Bytes; more < -ends/2 || more > ends || outline.Present != rows || outline.Entries != table.Entries || outline.Cols != cols {
			t.Errorf("%d values a row: estimate %+v of %+v", filled, outline, table)
		}
		if _, values := outline.Reader().Row(0); values != nil {
			t.Error("an outline has rows")
		}
	}
}

func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, shape := range [][2]int{{200, 1}, {200, 7}, {200, 3000}, {8, tableChunk + 1}} {
		rows, cols := shape[0], shape[1]
		present := rows * 3 / 4
		table, want := &Table{Rows: rows, Cols: cols}, make([][]float32, rows)
		entries := int64(0)
		for n, i := range rng.Perm(rows)[:present] {
			share := []float64{0, 0.1, 0.6, 1}[n%4]
			want[i] = make([]float32, cols)
			for j := range want[i] {
				if rng.Float64() < share {
					want[i][j] = rng.Float32() - 2
					entries++
				}
			}
			table.Set(i, want[i])
		}
		if table.Present != present || table.Entries != entries {
			t.Errorf("%d rows and %d entries, want %d and %d", table.Present, table.Entries, present, entries)
		}
		if bytes := table.Bytes; cols < tableChunk && bytes > 20*int64(rows)+8*entries+2*4*int64(max(tableChunk, 2*cols)) {
			t.Errorf("%d columns: %d bytes for %d entries", cols, bytes, entries)
		}
		held := int64(unsafe.Sizeof(tableRow{})) * int64(rows)
		for _, c := range table.values {
			held += 4 * int64(cap(c))
		}
		for _, c := range table.columns {
			held += 4 * int64(cap(c))
		}
		if table.Bytes != held {
			t.Errorf("%d columns: %d bytes estimated, %d allocated", cols, table.Bytes, held)
		}
		for i, values := range want {
			got := make([]float32, cols)
			columns, found := table.Reader().Row(i)
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

func TestTableRefusesRows(t *testing.T) {
	for name, row := range map[string]struct {
		at     int
		values []float32
	}{
		"set twice":       {0, []float32{1, 2}},
		"too short":       {1, []float32{1}},
		"no number":       {1, []float32{1, float32(math.NaN())}},
		"infinite":        {1, []float32{1, float32(math.Inf(1))}},
		"infinite, below": {1, []float32{float32(math.Inf(-1)), 0}},
	} {
		t.Run(name, func(t *testing.T) {
			table := &Table{Rows: 2, Cols: 2}
			table.Set(0, []float32{1, 0})
			defer func() {
				if recover() == nil {
					t.Errorf("row %d with the values %v is taken", row.at, row.values)
				}
			}()
			table.Set(row.at, row.values)
		})
	}
}
