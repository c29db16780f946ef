package simd

import "math"

// LargestGain returns the index k with down[k] > f and the largest gain (down[k] − f)²/e, where e = kii + diag[k] −
// 2·row[k]. Of equal gains it returns the last index. If no index has down[k] > f, it returns −1. If e is not positive,
// floor replaces e. diag and row must be as long as down.
//
// It chooses the second item of a pair by second order: Fan, Chen, Lin, Working set selection using second order
// information for training support vector machines, JMLR 6 (2005), WSS 2.
func LargestGain[T Float](down, diag []float64, row []T,
	f, kii, floor float64) int {
	diag = diag[:len(down)]
	row = row[:len(down)]
	start, best, gain := largestGain(down, diag, row, f, kii, floor)
	for k := start; k < len(down); k++ {
		diff := down[k] - f
		if !(diff > 0) {
			continue
		}
		e := kii + diag[k] - 2*float64(row[k])
		if !(e > 0) {
			e = floor
		}
		if g := diff * diff / e; g >= gain {
			best = k
			gain = g
		}
	}
	return best
}

// Advance adds step·(ri[k] − rj[k]) to up[k] and to down[k]. It returns the last index of the smallest number in up,
// that number, and the largest number in down. If all numbers in up exceed math.MaxFloat64, index is 0 and lowest is
// math.MaxFloat64. All slices must be as long as up.
func Advance[T Float](up, down []float64, ri, rj []T,
	step float64) (index int, lowest, highest float64) {
	down = down[:len(up)]
	ri = ri[:len(up)]
	rj = rj[:len(up)]
	start, index, lowest, highest := advance(up, down, ri, rj, step)
	for k := start; k < len(up); k++ {
		change := float64(step * (float64(ri[k]) - float64(rj[k])))
		u, v := up[k]+change, down[k]+change
		up[k] = u
		down[k] = v
		if u <= lowest {
			index = k
			lowest = u
		}
		if v > highest {
			highest = v
		}
	}
	return index, lowest, highest
}

func nothingAdvanced() (n, index int, lowest, highest float64) {
	return 0, 0, math.MaxFloat64, math.Inf(-1)
}
