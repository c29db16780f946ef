package blocks

import (
	"errors"
	"math"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestCheckScale(t *testing.T) {
	for _, c := range []struct {
		degree         float64
		single, double bool
	}{
		{0, true, true}, {1, true, true}, {1e-30, true, true}, {1e30, true, true}, {1e-31, false, true}, {1e31, false, true},
		{1e-101, false, false}, {1e101, false, false}, {math.Inf(1), false, false},
	} {
		degrees := []float64{0, c.degree}
		if c.degree != 0 {
			degrees = append(degrees, 1)
		}
		if err := CheckScale[float32](nil, degrees); errors.Is(err, ErrScale) == c.single {
			t.Errorf("%g in float32: %v", c.degree, err)
		}
		if err := CheckScale[float64](nil, degrees); errors.Is(err, ErrScale) == c.double {
			t.Errorf("%g in float64: %v", c.degree, err)
		}
	}
}

func TestWeightUnit(t *testing.T) {
	a, err := sparse.FromTriplets(4, 4, []sparse.Triplet{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}, {Row: 2, Col: 2, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ weight, unit float64 }{
		{0, 1}, {1, 1}, {3.9, 1}, {4, 4}, {15, 4}, {0.9, 0.25}, {0.25, 0.25}, {0.2, 0.0625}, {math.Ldexp(1.5, 81), math.Ldexp(1, 80)}, {math.Ldexp(1.5, -81), math.Ldexp(1, -82)},
	} {
		if got := WeightUnit(a, []float64{2 * c.weight, 0, c.weight, 0}); got != c.unit {
			t.Errorf("mean weight %g: unit %g, want %g", c.weight, got, c.unit)
		}
	}
}
