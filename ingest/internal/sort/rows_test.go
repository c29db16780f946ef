package sort

import "testing"

// TestNumbersOfRows counts the entries of matrices with the smallest and the largest numbers of rows.
func TestNumbersOfRows(t *testing.T) {
	for _, test := range []struct {
		rows    int
		code    []uint32
		entries int
	}{
		{0, nil, 0},
		{0, []uint32{NoRow, NoRow}, 0},
		{1, []uint32{0, 0}, 1},
		{2, []uint32{0, 1, 1, 0}, 4},
		{1<<32 - 1, []uint32{0, 1<<32 - 2}, 2},
		{1 << 32, []uint32{0, 1<<32 - 2, 5, 1<<32 - 3}, 4},
	} {
		s := &Sorter{Context: t.Context(), Workers: 1, Rows: test.rows, KeepLoops: true,
			Load: func(int, int) ([]uint32, []float64, error) { return test.code, nil, nil }}
		if _, err := s.Plan([]int{len(test.code) / 2}); err != nil {
			t.Fatal(err)
		}
		entries := 0
		last := 0
		for _, b := range s.buckets {
			if b.lo != last || b.hi <= b.lo {
				t.Fatalf("%d rows: a bucket of rows %d to %d after row %d", test.rows, b.lo, b.hi, last)
			}
			last = b.hi
			entries += b.entries()
		}
		if last != test.rows || entries != test.entries {
			t.Errorf("%d rows: buckets of %d rows with %d entries, want %d", test.rows, last, entries, test.entries)
		}
	}
}
