//go:build amd64 && !noasm

package simd

func dotPanels(lanes *[32]float64, v0, v1, w0, w1, w2, w3 []float64) {
	if !hasAVX2 || len(v0) == 0 {
		plainDotPanels(lanes, v0, v1, w0, w1, w2, w3)
		return
	}
	dotPanelsAVX2(&lanes[0], &v0[0], &v1[0], &w0[0], &w1[0], &w2[0], &w3[0],
		len(v0)/4*registerBytes)
}

func addPanels(w0, w1, v0, v1, v2, v3 []float64, c *[8]float64) {
	if !hasAVX2 || len(w0) == 0 {
		plainAddPanels(w0, w1, v0, v1, v2, v3, c)
		return
	}
	addPanelsAVX2(&w0[0], &w1[0], &v0[0], &v1[0], &v2[0], &v3[0], &c[0],
		len(w0)/4*registerBytes)
}
