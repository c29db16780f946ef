package sparse_test

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestComputed(t *testing.T) {
	const n = sparse.MaxRange + 5000
	length := func(i int) int {
		if i == 300 {
			return n
		}
		return min(n, i%4)
	}
	row := func(i int, col []uint32, val []float64) {
		for e := range col {
			col[e] = uint32(e)
			val[e] = math.Sqrt(float64(1 + i + e))
		}
	}
	m := sparse.NewComputed(n, n, length, row)
	want, err := sparse.Load(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		col, val := want.Row(i)
		if len(col) != length(i) || len(col) > 0 && val[len(col)-1] != math.Sqrt(float64(i+len(col))) {
			t.Fatalf("row %d has %d entries", i, len(col))
		}
	}
	testgraph.TestMatrix(t, func() sparse.Matrix { return m }, want)
	wrong := sparse.NewComputed(2, 2, func(int) int { return 1 }, func(_ int, col []uint32, _ []float64) { col[0] = 2 })
	if _, err := sparse.Load(t.Context(), wrong, 1); !errors.Is(err, sparse.ErrStructure) {
		t.Error(err)
	}
}
