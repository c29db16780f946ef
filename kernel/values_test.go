package kernel

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestValues(t *testing.T) {
	g := newGraph(t, testgraph.Random(17, 60, 150, true), 2)
	k := mustNew(t, g, "diffusion", param.Values{"beta": param.Of(2.0)})
	for _, lists := range [][2][]int{{upTo(40), upTo(30)}, {upTo(30), upTo(40)}} {
		exact, _, err := Matrix(background, k, lists[0], lists[1], &Settings{Tolerance: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, tolerance := range []float64{0, 1e-4} {
			report, err := Values[float32](background, k, lists[0], lists[1], func(lo, left int, piece *sparse.Block[float64]) error {
				for i := range piece.Rows {
					for j, v := range piece.Row(i) {
						worst = max(worst, math.Abs(float64(float32(v))-exact.Row(lo + i)[left+j]))
					}
				}
				return nil
			}, &Settings{Tolerance: tolerance})
			if err != nil || worst > report.ErrorBound || report.ErrorBound > max(tolerance, 0x1p-22)*report.Largest {
				t.Errorf("%v: an error of %g, told %+v", err, worst, report)
			}
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
