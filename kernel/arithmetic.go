package kernel

import "github.com/heatwalk/heatwalk/sparse"

// ScaleTo stores c·a in dst, which may be a. A kernel needs c ≥ 0.
func ScaleTo(dst *sparse.Block[float64], c float64, a *sparse.Block[float64]) {
	scaleRows(dst, a, func(int) float64 { return c })
}

// Rescale divides a block of nodes among themselves by the mean of its diagonal, if that is
// positive, and returns what it multiplied by.
func Rescale(k *sparse.Block[float64]) float64 {
	var trace float64
	for i := range k.Rows {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	f := float64(k.Rows) / trace
	ScaleTo(k, f, k)
	return f
}
