package kernel

import "github.com/heatwalk/heatwalk/sparse"

// scaleTo stores c·a in dst, which may be a.
func scaleTo(dst *sparse.Block[float64], c float64, a *sparse.Block[float64]) {
	scaleRows(dst, a, func(int) float64 { return c })
}
