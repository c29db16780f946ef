package expm

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// columnSums adds squares by column: over the ranges of a sweep or the chunks
// of a pass, and then over these in order.
type columnSums struct{ sched.Sums }

// rootsTo stores the square roots of the totals in dst, and returns that of
// their sum: the norms of the columns and of the block.
func (s *columnSums) rootsTo(dst []float64) float64 {
	s.TotalTo(dst)
	var total float64
	for j, v := range dst {
		total += v
		dst[j] = math.Sqrt(v)
	}
	return math.Sqrt(total)
}

// addSquares adds (w·v_j)² to the sums.
func addSquares(sums []float64, w float64, v []float64) {
	sums = sums[:len(v)]
	for j, x := range v {
		x *= w
		sums[j] += float64(x * x)
	}
}
