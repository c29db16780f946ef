package expm

import (
	"math"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// columnSums adds up squares by column. It adds the rows of each piece, a range or a chunk of rows, then the pieces in
// their order, and then the processes.
type columnSums struct {
	sums  sched.Sums
	team  *sparse.Team
	width int
}

func (s *columnSums) begin(team *sparse.Team, width int) {
	s.team = team
	s.width = width
	s.sums.Begin(width)
}

// of returns the sums of the given piece, to which the caller adds row. If the row does not count in this process, the
// returned sums are discarded. Padding must be zero.
func (s *columnSums) of(piece, row int) []float64 {
	if !s.team.Counts(row) {
		return make([]float64, s.width)
	}
	return s.sums.Of(piece)
}

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

func addSquares(sums []float64, w float64, v []float64) {
	sums = sums[:len(v)]
	for j, x := range v {
		x *= w
		sums[j] += float64(x * x)
	}
}
