package kernel

import (
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// Parts of a block put side by side are the block, to the bit, and each piece of one
// lies in its part, where rows and columns come in several pieces too.
func TestPartsAreTheWhole(t *testing.T) {
	g := newGraph(t, testgraph.Random(17, 200, 500, true), 2)
	for _, name := range []string{"diffusion", "regularized-laplacian", "pagerank", "modularity", "commute-time", "p-step"} {
		k := mustNew(t, g, name, nil)
		for _, lists := range [][2][]int{{upTo(60), upTo(60)}, {upTo(140), upTo(60)}, {upTo(60), upTo(140)}} {
			for _, memory := range []int64{0, 1<<20 + 1<<17} {
				whole, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Memory: memory})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				byRows := ByRows(len(lists[0]), len(lists[1]))
				got := sparse.NewBlock[float64](whole.Rows, whole.Cols)
				for _, part := range []Part{{0, 1}, {1, 37}, {37, 60}} {
					_, err := k.Block(background, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
						first, count := left, piece.Cols
						if byRows {
							first, count = lo, piece.Rows
						}
						if first < part.Lo || first+count > part.Hi {
							t.Errorf("%s %d×%d: a piece of %d from %d on in the part %v", name, whole.Rows, whole.Cols, count, first, part)
						}
						for i := range piece.Rows {
							copy(got.Row(lo + i)[left:left+piece.Cols], piece.Row(i))
						}
						return nil
					}, &Settings{Memory: memory, Part: part})
					if err != nil {
						t.Fatalf("%s %v: %v", name, part, err)
					}
				}
				for i := range whole.Rows {
					for j, want := range whole.Row(i) {
						if got.Row(i)[j] != want {
							t.Fatalf("%s %d×%d, %d bytes: (%d, %d) is %v in a part, %v in the whole", name, whole.Rows, whole.Cols, memory, i, j, got.Row(i)[j], want)
						}
					}
				}
			}
		}
	}
}
