package expm

import (
	"math"
	"sync"
)

// columnSums adds squares by column: over the ranges of a sweep or the chunks
// of a pass, and then over these in order.
type columnSums struct {
	mu    sync.Mutex
	cols  int
	parts [][]float64
}

func (s *columnSums) begin(cols int) {
	s.cols = cols
	for _, p := range s.parts {
		clear(p)
	}
}

// of returns the sums of a range.
func (s *columnSums) of(index int) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) <= index {
		s.parts = append(s.parts, nil)
	}
	if len(s.parts[index]) < s.cols {
		s.parts[index] = make([]float64, s.cols)
	}
	return s.parts[index][:s.cols]
}

// rootsTo stores the square roots of the totals in dst, and returns that of
// their sum: the norms of the columns and of the block.
func (s *columnSums) rootsTo(dst []float64) float64 {
	clear(dst)
	for _, p := range s.parts {
		if len(p) > 0 {
			for j, v := range p[:s.cols] {
				dst[j] += v
			}
		}
	}
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
