//go:build amd64 && !noasm

package simd

// takeLanes is how many numbers the twins of Take store at a time.
const takeLanes = 4

// take stores the first numbers, up to what the list names that x has not, and returns how
// many.
func take[D, S Float](dst []D, x []S, at []int) int {
	n := len(at) / takeLanes * takeLanes
	if !hasAVX2 || n == 0 || len(x) == 0 {
		return 0
	}
	switch from := any(&x[0]).(type) {
	case *float32:
		if to, ok := any(&dst[0]).(*float32); ok {
			return takeF32ToF32AVX2(to, from, len(x), &at[0], n)
		}
		return takeF32ToF64AVX2(any(&dst[0]).(*float64), from, len(x), &at[0], n)
	case *float64:
		if to, ok := any(&dst[0]).(*float32); ok {
			return takeF64ToF32AVX2(to, from, len(x), &at[0], n)
		}
		return takeF64ToF64AVX2(any(&dst[0]).(*float64), from, len(x), &at[0], n)
	}
	return 0
}
