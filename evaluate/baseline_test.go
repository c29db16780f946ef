package evaluate

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
)

// Label propagation gives what the whole walk does, however many classes fit at
// a time, and ends long before it.
func TestPropagation(t *testing.T) {
	ctx := context.Background()
	for _, directed := range []bool{false, true} {
		p := planted(t, 4, 600, 60)
		p.Directed = directed
		w := walkOf[float64](p, &Settings{}, propagationSteps)
		w.Variants = []cwk.Variant{{Absorb: 1}}
		want := sparse.NewBlock[float64](len(p.Degrees), len(p.Names))
		err := w.Run(ctx, func(t int, rows sparse.Rows, x *sparse.Block[float64]) {
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
				s := &Settings{Workers: workers, Memory: keptBytes(p) + propagatedBytes(p, width)}
				if got := propagated(p, &Settings{Memory: propagatedBytes(p, width)}); got != width {
					t.Fatalf("%d classes at a time, want %d", got, width)
				}
				out, err := labelPropagation{}.Predict(ctx, p, nil, s)
				if err != nil {
					t.Fatal(err)
				}
				passes := len(p.Names) / width
				if out.Work.Sweeps > passes*propagationSteps/2 {
					t.Errorf("%d classes at a time take %d sweeps", width, out.Work.Sweeps)
				}
				got := out.Scores
				if first == nil {
					first = slices.Clone(got.Data)
				}
				if !slices.Equal(first, got.Data) {
					t.Errorf("directed %t, %d workers, %d classes at a time: other bits", directed, workers, width)
				}
				for i := range got.Rows {
					if !out.Reached.Contains(uint32(i)) {
						continue
					}
					for j, v := range got.Row(i) {
						if math.Abs(float64(v)-want.Row(i)[j]) > 2e-6 {
							t.Fatalf("directed %t: [%d,%d] is %v, want %v", directed, i, j, v, want.Row(i)[j])
						}
					}
				}
			}
		}
	}
}
