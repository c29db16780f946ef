package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestRowProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 0}, {1, 1}, {2, 3}, {7, 4}, {67, 5}, {131, 41}} {
		n, cols := size[0], size[1]
		f := newFeatures(n, cols)
		all := make([]int, n)
		for i := range n {
			all[i] = i
			for j := range cols {
				f.Row(i)[j] = rng.NormFloat64()
			}
		}
		want := sparse.NewBlock[float64](n, n)
		if err := rowProductsTo(t.Context(), 1, want, f, all, all); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				var sum, most float64
				for q, v := range f.Row(i) {
					sum += v * f.Row(j)[q]
					most += math.Abs(v * f.Row(j)[q])
				}
				if got := want.Row(i)[j]; math.Abs(got-sum) > float64(cols)*epsilon*most || got != want.Row(j)[i] {
					t.Fatalf("n = %d, %d columns: (%d, %d) is %g and %g, want %g", n, cols, i, j, got, want.Row(j)[i], sum)
				}
			}
		}
		rows, some := all[n/3:], []int{n - 1, 0, n / 2}
		slices.Reverse(rows)
		got := sparse.NewBlock[float64](len(rows), len(some))
		if err := rowProductsTo(t.Context(), 3, got, f, rows, some); err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			for j, c := range some {
				if got.Row(i)[j] != want.Row(r)[c] {
					t.Fatalf("n = %d, %d columns: (%d, %d) has other bits in a part", n, cols, r, c)
				}
			}
		}
	}
}
