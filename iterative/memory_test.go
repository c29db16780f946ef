package iterative

import (
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// The last group has fewer columns.
func TestFewerColumnsTakeNoMoreMemory(t *testing.T) {
	a := grid(100)
	n, _ := a.Dims()
	system := func() *System {
		s, err := ShiftedLaplacian(graphOf(t, a), false, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	solve := func(s *System, x, b *sparse.Block[float64]) {
		if _, err := s.SolveTo(ctx, x, b, &Settings{Tolerance: 1e-6}); err != nil {
			t.Fatal(err)
		}
	}
	b, x, alone := randomBlock(1, n, 16), sparse.NewBlock[float64](n, 16), sparse.NewBlock[float64](n, 12)
	s := system()
	solve(s, x, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	solve(s, x.Columns(0, 12), b.Columns(0, 12))
	runtime.ReadMemStats(&after)
	if got, block := int64(after.TotalAlloc-before.TotalAlloc), budget.Block[float64](n, 12); got > block {
		t.Errorf("%d bytes are allocated, and a block has %d", got, block)
	}
	solve(system(), alone, b.Columns(0, 12))
	for i := range n {
		if !slices.Equal(x.Row(i)[:12], alone.Row(i)) {
			t.Fatalf("row %d: %v, alone %v", i, x.Row(i)[:12], alone.Row(i))
		}
	}
}
