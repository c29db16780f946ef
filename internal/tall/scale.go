package tall

import (
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrScale is returned for weights so large or so small that products of degrees would overflow or
// underflow.
var ErrScale = errors.New("graph: edge weights")

// CheckScale returns [ErrScale] unless all degrees are 0 or within 1e-100 … 1e100 (1e-30 … 1e30 for
// float32). Within these limits, squares and products of two degrees, which occur in norms and
// bounds of eigenvalues, do not overflow or underflow; for float32 the limits apply to the degrees
// and their inverses.
func CheckScale[T sparse.Float](degrees []float64) error {
	low, high := 1e-100, 1e100
	if _, single := any(T(0)).(float32); single {
		low, high = 1e-30, 1e30
	}
	least, largest := math.Inf(1), 0.0
	for _, d := range degrees {
		if d != 0 {
			least, largest = min(least, d), max(largest, d)
		}
	}
	if largest == 0 || least >= low && largest <= high {
		return nil
	}
	return fmt.Errorf("%w: their sums at the nodes are between %.3g and %.3g; multiply all weights by a factor that brings these sums between %g and %g",
		ErrScale, least, largest, low, high)
}

// WeightUnit returns the largest power of four that is at most the mean weight of the entries. Values
// relative to it do not depend on the unit of the weights. Dividing by it or by its root is exact,
// because both are powers of two.
func WeightUnit(degrees []float64, entries int64) float64 {
	sum := 0.0
	for _, d := range degrees {
		sum += d
	}
	if sum == 0 {
		return 1
	}
	_, exponent := math.Frexp(sum / float64(entries))
	return math.Ldexp(1, (exponent-1)&^1)
}
