//go:build !amd64 || noasm

package simd

func rotateStrip(x []float64, rotations []Rotation) { plainRotateStrip(x, rotations) }
