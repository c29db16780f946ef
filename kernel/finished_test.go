package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// A computation that begins behind columns, or rows, that were reported as finished gives the
// others to the same bits; kernels that are computed as a whole report none.
func TestFinished(t *testing.T) {
	a := testgraph.Random(17, 200, 500, true)
	few, more, most := upTo(40), upTo(150), upTo(180)
	for _, c := range []struct {
		name       string
		given      param.Values
		rows, cols []int
		finished   []int
	}{
		{"diffusion", nil, most, more, []int{64, 128}},
		{"diffusion", param.Values{"laplacian": param.Of(randomWalk)}, more, most, []int{64, 128}},
		{"pseudo-inverse", nil, most, more, []int{64, 128}},
		{"pseudo-inverse", nil, more, most, []int{64, 128}},
		{"vertex", nil, most, more, []int{64, 128}},
		{"vertex", nil, more, most, []int{64, 128}},
		{"diffusion", nil, most, most, nil},
		{"pseudo-inverse", nil, most, most, nil},
		{"commute-time", nil, most, more, nil},
		{"vertex", nil, most, most, nil},
		{"modularity", param.Values{"rank": param.Of(5)}, most, more, nil},
		{"diffusion", nil, most, few, nil},
	} {
		name := fmt.Sprintf("%s %d×%d", c.name, len(c.rows), len(c.cols))
		var finished []int
		reports := map[int]Report{}
		all, report := mustMatrix(t, mustNew(t, newGraph(t, a, 2), c.name, c.given), c.rows, c.cols, &Settings{Finished: func(done int, r Report) error {
			finished, reports[done] = append(finished, done), r
			return nil
		}})
		if !slices.Equal(finished, c.finished) {
			t.Errorf("%s: finished %v, want %v", name, finished, c.finished)
		}
		for _, done := range finished {
			byRow := byRows(len(c.rows), len(c.cols))
			rest := &Settings{Lo: done, Hi: min(len(c.rows), len(c.cols))}
			r, err := Block(background, mustNew(t, newGraph(t, a, 1+rand.IntN(7)), c.name, c.given), c.rows, c.cols, func(lo, left int, piece *sparse.Block[float64]) error {
				if byRow && lo < done || !byRow && left < done {
					t.Errorf("%s: a piece at row %d, column %d, behind %d", name, lo, left, done)
				}
				for i := range piece.Rows {
					if !slices.Equal(piece.Row(i), all.Row(lo + i)[left:left+piece.Cols]) {
						t.Fatalf("%s behind %d: other values", name, done)
					}
				}
				return nil
			}, rest)
			if err != nil {
				t.Fatal(err)
			}
			if got := max(r.ErrorBound, reports[done].ErrorBound); math.Abs(got-report.ErrorBound) > 1e-6*report.ErrorBound {
				t.Errorf("%s behind %d: error bound %g, want %g", name, done, got, report.ErrorBound)
			}
			if got := max(r.Largest, reports[done].Largest); got != report.Largest {
				t.Errorf("%s behind %d: largest %g, want %g", name, done, got, report.Largest)
			}
		}
	}
}
