package sched

import "sync"

// Sums holds a row of sums for each piece of work, for callers that do not know
// beforehand how many pieces there will be. Pieces may ask for their rows at
// the same time; the total is added in the order of the pieces, so it does not
// depend on who did them. The zero value is ready for Begin.
type Sums struct {
	mu    sync.Mutex
	width int
	parts [][]float64
}

// Begin sets all sums to zero, width of them for each piece. It keeps the
// memory of earlier sums.
func (s *Sums) Begin(width int) {
	s.width = width
	for _, p := range s.parts {
		clear(p)
	}
}

// Of returns the sums of a piece, for the piece to add to.
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

// TotalTo stores the sum over the pieces, in their order, in dst.
func (s *Sums) TotalTo(dst []float64) {
	clear(dst)
	for _, p := range s.parts {
		for j, v := range p[:min(s.width, len(p))] {
			dst[j] += v
		}
	}
}
