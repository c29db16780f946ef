package kernel

import (
	"context"
	"errors"
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
	a, b := blockOf(2, 2, 4, 2, 2, 9), blockOf(2, 2, 1, 0.5, 0.5, 3)
	dst := sparse.NewBlock[float64](2, 2)
	SumTo(dst, a, b)
	wantBlock(t, dst, 5, 2.5, 2.5, 12)
	ProductTo(dst, a, b)
	wantBlock(t, dst, 4, 1, 1, 27)
	ScaleTo(dst, 0.5, dst)
	wantBlock(t, dst, 2, 0.5, 0.5, 13.5)
	if err := CosineTo(dst, a, []float64{4, 9}, []float64{4, 9}); err != nil {
		t.Fatal(err)
	}
	wantBlock(t, dst, 1, 1./3, 1./3, 1)
	if err := CosineTo(dst, a, []float64{4, 0}, []float64{4, 9}); !errors.Is(err, ErrDiagonal) {
		t.Error(err)
	}
	// The rows of a centred kernel sum to 0.
	CentreTo(dst, a)
	wantBlock(t, dst, 2.25, -2.25, -2.25, 2.25)
	// Eigenvalues 3 and −1 with vectors (1, ±1)/√2.
	if err := PositivePartTo(t.Context(), dst, blockOf(2, 2, 1, 2, 2, 1)); err != nil {
		t.Fatal(err)
	}
	wantBlock(t, dst, 1.5, 1.5, 1.5, 1.5)
	if err := PositivePartTo(t.Context(), dst, a); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := PositivePartTo(ended, dst, a); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantBlock(t, dst, 4, 2, 2, 9)
	func() {
		defer func() {
			if recover() != badShape {
				t.Error("no panic for wrong shapes")
			}
		}()
		SumTo(dst, a, blockOf(1, 4, 1, 2, 3, 4))
	}()
}
