package sched_test

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/sched"
)

func TestSumsAddInTheOrderOfThePieces(t *testing.T) {
	// Adding 1 to 2⁵³ loses the 1, so that the sum shows the order of the additions.
	values := []float64{1, 1, 0x1p53, 1, 1, -0x1p53}
	var want float64
	for _, v := range values {
		want += v
	}
	var s sched.Sums
	for _, workers := range []int{1, 2, 7} {
		s.Begin(2)
		_ = sched.Run(t.Context(), workers, len(values), func(_, piece int) error {
			piece = len(values) - 1 - piece // pieces run from the last to the first
			sums := s.Of(piece)
			sums[0] += values[piece]
			sums[1]++
			return nil
		})
		got := []float64{9, 9}
		s.TotalTo(got)
		if !slices.Equal(got, []float64{want, float64(len(values))}) {
			t.Errorf("%d workers: %v, want %v and %d", workers, got, want, len(values))
		}
	}
	s.Begin(1) // narrower, then wider than before
	s.Of(2)[0] = 5
	one := []float64{0}
	if s.TotalTo(one); one[0] != 5 {
		t.Errorf("sums of an earlier round remain: %v", one)
	}
	s.Begin(3)
	s.Of(0)[2] = 4
	three := make([]float64, 3)
	if s.TotalTo(three); !slices.Equal(three, []float64{0, 0, 4}) {
		t.Errorf("%v", three)
	}
}
