package evaluate

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// Label propagation gives what the whole walk does, however many columns are
// walked at a time, and ends when nothing moves.
func TestPropagationSettles(t *testing.T) {
	p := planted(t, 4, 600, 60)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	w := walkOf[float64](p, &Settings{}, propagationSteps)
	w.Variants = []cwk.Variant{{Absorb: 1}}
	want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
	err := w.Run(context.Background(), func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
		for i := rows.Lo; t == propagationSteps && i < rows.Hi; i++ {
			copy(want.Row(i), x.Row(i))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var first []float32
	for _, workers := range []int{1, 2, 7} {
		for _, width := range []int{len(p.Names), 2, 1} {
			w := walkOf[float32](p, &Settings{Workers: workers}, propagationSteps)
			w.Variants = []cwk.Variant{{Absorb: 1}}
			got := sparse.NewBlock[float32](len(p.Degrees), len(p.Names))
			for lo := 0; lo < len(p.Names); lo += width {
				sweeps, err := settle(context.Background(), w, got, lo, min(lo+width, len(p.Names)), func(float64) {})
				if err != nil {
					t.Fatal(err)
				}
				if sweeps > propagationSteps/2 {
					t.Errorf("columns from %d take %d steps", lo, sweeps)
				}
			}
			if first == nil {
				first = slices.Clone(got.Data)
			}
			if !slices.Equal(first, got.Data) {
				t.Errorf("%d workers, %d columns at a time: other bits", workers, width)
			}
			for i := range got.Rows {
				for j, v := range got.Row(i) {
					if math.Abs(float64(v)-want.Row(i)[j]) > 2e-6 {
						t.Fatalf("[%d,%d] is %v, want %v", i, j, v, want.Row(i)[j])
					}
				}
			}
		}
	}
}
