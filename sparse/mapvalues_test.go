package sparse_test

import (
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestMapValues(t *testing.T) {
	a := testgraph.Random(3, 300, 2000, true)
	for _, value := range []func(float64) float64{math.Log1p, func(float64) float64 { return 1 }} {
		m, err := sparse.MapValues(t.Context(), a, func(_, _ int, w float64) float64 { return value(w) })
		if err != nil {
			t.Fatal(err)
		}
		want, err := sparse.Load(t.Context(), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		col, val := a.Row(0)
		for e, c := range col {
			if got := want.At(0, int(c)); got != value(val[e]) {
				t.Errorf("element %d is %v, want %v", c, got, value(val[e]))
			}
		}
		if want.IsWeighted() == (value(5) == 1) {
			t.Errorf("values of ones: %t", want.IsWeighted())
		}
		testgraph.TestMatrix(t, func() sparse.Matrix { return m }, want)
	}
}
