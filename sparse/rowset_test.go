package sparse_test

import (
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestRowSet(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 100_000} {
		for name, has := range map[string]func(i int) bool{
			"all":       func(int) bool { return true },
			"none":      func(int) bool { return false },
			"scattered": func(i int) bool { return i*i%7 < 3 },
			"runs":      func(i int) bool { return i/1000%2 == 1 },
		} {
			set, want := sparse.RowSet(n, has), uint64(0)
			for i := range n {
				if has(i) {
					want++
				}
				if set.Contains(uint32(i)) != has(i) {
					t.Fatalf("%s of %d: row %d is wrong", name, n, i)
				}
			}
			if set.GetCardinality() != want {
				t.Errorf("%s of %d: %d rows, want %d", name, n, set.GetCardinality(), want)
			}
			if bytes := set.GetSizeInBytes(); int(bytes) > (n+1<<16-1)>>16<<13+100 {
				t.Errorf("%s of %d: %d bytes", name, n, bytes)
			}
		}
	}
}
