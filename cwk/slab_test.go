package cwk

import (
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestPadding(t *testing.T) {
	var l walker[float64]
	wide := l.block(0, 5, 8)
	for i := range wide.Data {
		wide.Data[i] = 1
	}
	narrow := l.block(0, 5, 7)
	for i := range narrow.Rows {
		if padding := narrow.Data[i*narrow.Stride+7 : (i+1)*narrow.Stride]; slices.Max(padding) != 0 {
			t.Errorf("padding of row %d is %v", i, padding)
		}
	}
}

func TestNoPicks(t *testing.T) {
	w := &Walk[float64]{
		A: testgraph.Path(4), Degrees: []float64{1, 2, 2, 1}, Variants: []Variant{{Absorb: .5}}, Steps: 2,
		Seeds: Seeds{Classes: 2, Row: []int{0, 3}, Class: []int{0, 1}},
	}
	for _, w.Memory = range []int64{0, 1 << 20} {
		f, err := w.Features(t.Context(), 0, nil, nil)
		if err != nil || f.Rows != 0 || f.Cols != 6 {
			t.Errorf("%v, %v", f, err)
		}
		if _, sweeps, err := w.FeaturesBytes(0, nil); err != nil || sweeps != 0 {
			t.Errorf("%d sweeps, %v", sweeps, err)
		}
	}
}
