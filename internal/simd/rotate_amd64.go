//go:build amd64 && !noasm

package simd

func rotateStrip(x []float64, rotations []Rotation) {
	if !hasAVX2 {
		plainRotateStrip(x, rotations)
		return
	}
	rotateStripAVX2(&x[0], &rotations[0].Row, len(rotations))
}
