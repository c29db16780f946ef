package simd

import (
	"math"
	"testing"
)

func TestConvertTo(t *testing.T) {
	single := []float32{0, 0, 0, 0, 7}
	ConvertTo(single, []float64{0.5, 1 + 0x1p-24, 1 + 0x3p-24, math.Inf(-1)})
	if want := [5]float32{0.5, 1, 1 + 0x1p-22, float32(math.Inf(-1)), 7}; [5]float32(single) != want {
		t.Errorf("%v, want %v", single, want)
	}
	double := make([]float64, 2)
	ConvertTo(double, []float32{0.1, -3})
	if want := [2]float64{float64(float32(0.1)), -3}; [2]float64(double) != want {
		t.Errorf("%v, want %v", double, want)
	}
}
