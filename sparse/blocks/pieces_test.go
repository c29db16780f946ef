package blocks

import (
	"math"
	"testing"
)

func TestPieces(t *testing.T) {
	const rows, chunk, size = 100_003, 64, 3
	var want []float64
	for _, workers := range []int{1, 2, 7} {
		p := NewPieces(nil, rows, chunk, workers)
		err := p.Each(t.Context(), size, func(_, at int, sums []float64) {
			for i := at * chunk; i < min(rows, (at+1)*chunk); i++ {
				for j := range sums {
					sums[j] += math.Sin(float64(i + j))
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, size-1)
		p.TotalTo(got, size, 1)
		for j, sum := range got {
			exact := new(ExactSum)
			for i := range rows {
				exact.Add(1 + math.Sin(float64(i+j+1)))
			}
			if d := math.Abs(sum - (exact.Value() - rows)); d > 1e-9 {
				t.Errorf("sum %d is off by %v", j, d)
			}
			if want != nil && want[j] != sum {
				t.Errorf("%d workers: sum %d is %v, with one %v", workers, j, sum, want[j])
			}
		}
		want = got
	}
}
