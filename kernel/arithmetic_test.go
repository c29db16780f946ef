package kernel

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func blockOf(rows, cols int, v ...float64) *sparse.Block[float64] {
	return sparse.BlockOf(rows, cols, v)
}

func wantBlock(t *testing.T, got *sparse.Block[float64], want ...float64) {
	t.Helper()
	for i := range got.Rows {
		for j, v := range got.Row(i) {
			if w := want[i*got.Cols+j]; math.Abs(v-w) > 1e-14*max(1, math.Abs(w)) {
				t.Errorf("(%d, %d): %v, want %v", i, j, v, w)
			}
		}
	}
}

func TestArithmetic(t *testing.T) {
	dst := sparse.NewBlock[float64](2, 2)
	scaleTo(dst, 0.5, blockOf(2, 2, 4, 1, 1, 8))
	wantBlock(t, dst, 2, 0.5, 0.5, 4)
}
