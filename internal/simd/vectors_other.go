//go:build !amd64 || noasm

package simd

func dot[T Float](lanes *[4]float64, x []T, y []float64) { plainDot(lanes, x, y) }

func addScaled[T Float](dst []float64, a float64, x []T) { plainAddScaled(dst, a, x) }
