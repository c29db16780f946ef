package kernel

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// Parts of a block put side by side are the block, to the bit, and each piece of one
// lies in its part, where rows and columns come in several pieces too.
func TestPartsAreTheWhole(t *testing.T) {
	g := newGraph(t, testgraph.Random(17, 200, 500, true), 2)
	names := []string{"diffusion", "modularity", "commute-time", "regularized-laplacian", "pagerank", "p-step"}
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		k := mustNew(t, g, name, nil)
		for _, lists := range [][2][]int{{upTo(80), upTo(80)}, {upTo(140), upTo(80)}, {upTo(80), upTo(140)}} {
			for _, memory := range []int64{0, 1<<20 + 1<<17} {
				whole, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Memory: memory})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				turned := byRows(len(lists[0]), len(lists[1]))
				got := sparse.NewBlock[float64](whole.Rows, whole.Cols)
				for _, part := range []struct{ lo, hi int }{{0, 1}, {1, 70}, {70, 80}} {
					_, err := Block(background, k, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
						first, count := left, piece.Cols
						if turned {
							first, count = lo, piece.Rows
						}
						if first < part.lo || first+count > part.hi {
							t.Errorf("%s %d×%d: a piece of %d from %d on in the part %v", name, whole.Rows, whole.Cols, count, first, part)
						}
						for i := range piece.Rows {
							copy(got.Row(lo + i)[left:left+piece.Cols], piece.Row(i))
						}
						return nil
					}, &Settings{Memory: memory, Lo: part.lo, Hi: part.hi})
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

// TestValues checks that values rounded to float32 are within the reported bound, that pieces are
// placed within the part, and that a tolerance below the precision of float32 is rejected.
func TestValues(t *testing.T) {
	g := newGraph(t, testgraph.Random(17, 60, 150, true), 2)
	k := mustNew(t, g, "diffusion", param.Values{"beta": param.Of(2.0)})
	for _, lists := range [][2][]int{{upTo(40), upTo(30)}, {upTo(30), upTo(40)}} {
		exact, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Tolerance: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		turned := byRows(len(lists[0]), len(lists[1]))
		part, worst, seen := struct{ lo, hi int }{7, 19}, 0.0, 0
		for _, tolerance := range []float64{0, 1e-4} {
			report, err := Values[float32](background, k, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
				for i := range piece.Rows {
					for j, v := range piece.Row(i) {
						row, col := lo+i, left+j+part.lo
						if turned {
							row, col = lo+i+part.lo, left+j
						}
						worst, seen = max(worst, math.Abs(float64(float32(v))-exact.Row(row)[col])), seen+1
					}
				}
				return nil
			}, &Settings{Tolerance: tolerance, Lo: part.lo, Hi: part.hi})
			if err != nil || worst > report.ErrorBound || report.ErrorBound > max(tolerance, 0x1p-22)*report.Largest {
				t.Errorf("%v: an error of %g, told %+v", err, worst, report)
			}
		}
		if want := 2 * 12 * max(len(lists[0]), len(lists[1])); seen != want {
			t.Errorf("%d values of %d", seen, want)
		}
	}
	if _, err := Values[float32](background, k, upTo(5), upTo(5), nil, &Settings{Tolerance: 1e-8}); !errors.Is(err, ErrTolerance) {
		t.Errorf("error %v", err)
	}
	tiny := mustNew(t, g, "matern", param.Values{"nu": param.Of(30.0), "kappa": param.Of(0.5)})
	ignored := func(int, int, *sparse.Block[float64]) error { return nil }
	if _, err := Values[float32](background, tiny, upTo(5), upTo(5), ignored, nil); !errors.As(err, new(*param.ParameterError)) {
		t.Errorf("values that float32 does not hold: error %v", err)
	}
}
