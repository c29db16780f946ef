package sparse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// cutUp cuts each entry into up to most entries, and adds entries that cancel.
func cutUp(a *sparse.CSR, rng *rand.Rand, most int) *sparse.CSR {
	n, _ := a.Dims()
	ptr, col, val := []int64{0}, []uint32(nil), []float64(nil)
	for i := range n {
		columns, values := a.Row(i)
		for e, c := range columns {
			v, parts := 1.0, 1+rng.IntN(most)
			if values != nil {
				v = values[e]
			}
			col, val = append(col, c), append(val, v-float64(parts-1))
			for range parts - 1 {
				col, val = append(col, c), append(val, 1)
			}
			next := c + 1
			if int(next) < n && (e+1 == len(columns) || columns[e+1] > next) && rng.IntN(4) == 0 {
				col, val = append(col, next, next, next), append(val, 2, 0, -2)
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	return sparse.NewUnchecked(n, n, ptr, col, val)
}

func TestJoined(t *testing.T) {
	small := testgraph.Random(3, 300, 2000, true)
	ones := testgraph.Random(3, 300, 2000, false)
	for _, a := range []*sparse.CSR{hubs(t), small, ones} {
		rng := newRand(t, 1)
		for _, most := range []int{1, 3} {
			m := &sparse.Joined{Matrix: cutUp(a, rng, most)}
			if err := m.Plan(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			if m.NNZ() != a.NNZ() || m.Weighted != a.IsWeighted() {
				t.Errorf("%d entries, weighted %t; want %d", m.NNZ(), m.Weighted, a.NNZ())
			}
			for _, workers := range []int{1, 2, 7} {
				got, err := sparse.Load(t.Context(), m, workers)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := a.Dims()
				for i := range n {
					col, val := got.Row(i)
					wantCol, wantVal := a.Row(i)
					if !slices.Equal(col, wantCol) || !slices.Equal(val, wantVal) {
						t.Fatalf("row %d is %v %v, want %v %v", i, col, val, wantCol, wantVal)
					}
				}
				for _, r := range a.Ranges() {
					if r.Pieces > 1 && !slices.Contains(got.Ranges(), r) {
						t.Errorf("no range %+v", r)
					}
				}
			}
			if a == small {
				testgraph.TestMatrix(t, func() sparse.Matrix { return m }, a)
			}
		}
	}
}
