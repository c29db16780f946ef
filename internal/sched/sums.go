package sched

import "sync"

// Sums has width sums for each piece of work. The number of pieces need not be known in advance. Of is safe for
// concurrent use. The total is added in the order of the pieces, so that it does not depend on which worker gets which
// piece. The zero value is ready for Begin.
type Sums struct {
	mu    sync.Mutex
	width int
	parts [][]float64
}

// Begin sets all sums to zero. width is the number of sums of each piece.
func (s *Sums) Begin(width int) {
	s.width = width
	for _, p := range s.parts {
		clear(p)
	}
}

// Of returns the sums of a piece. The caller must add to them.
func (s *Sums) Of(piece int) []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) <= piece {
		s.parts = append(s.parts, nil)
	}
	if len(s.parts[piece]) < s.width {
		s.parts[piece] = make([]float64, s.width)
	}
	return s.parts[piece][:s.width]
}

// TotalTo stores in dst the sums added over the pieces, in the order of the pieces.
func (s *Sums) TotalTo(dst []float64) {
	clear(dst)
	for _, p := range s.parts {
		for j, v := range p[:min(s.width, len(p))] {
			dst[j] += v
		}
	}
}
