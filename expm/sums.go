package expm

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// columnSums adds squares by column: over the ranges of a sweep or the chunks
// of a pass, then over these in order, and then over the processes that share the rows.
type columnSums struct {
	sums  sched.Sums
	team  *sparse.Team
	width int
}

// begin sets all sums to zero, with width columns.
func (s *columnSums) begin(team *sparse.Team, width int) {
	s.team = team
	s.width = width
	s.sums.Begin(width)
}

// of returns the sums of a range or chunk, to which a row is added. Sums of rows that do not count in this
// process are lost. The padding of a chunk that also has other rows must be zero.
func (s *columnSums) of(piece, row int) []float64 {
	if !s.team.Counts(row) {
		return make([]float64, s.width)
	}
	return s.sums.Of(piece)
}

// rootsTo stores the square roots of the totals, the norms of the columns, in dst. It returns the square root of their sum,
// the norm of the block.
func (s *columnSums) rootsTo(dst []float64) float64 {
	s.sums.TotalTo(dst)
	s.team.Sum(dst)
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
