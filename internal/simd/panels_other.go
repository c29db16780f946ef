//go:build !amd64 || noasm

package simd

func dotPanels(lanes *[32]float64, v0, v1, w0, w1, w2, w3 []float64) {
	plainDotPanels(lanes, v0, v1, w0, w1, w2, w3)
}

func addPanels(w0, w1, v0, v1, v2, v3 []float64, c *[8]float64) {
	plainAddPanels(w0, w1, v0, v1, v2, v3, c)
}
