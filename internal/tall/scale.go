package tall

import (
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/sparse"
)

// ErrScale is returned for weights so large or so small that computing with them would
// overflow or underflow.
var ErrScale = errors.New("graph: edge weights")

// CheckScale returns [ErrScale] unless the sums of weights at all nodes are 0 or lie
// between two numbers: in float64 the squares and products of two of them, in norms and in
// bounds on eigenvalues, then neither overflow nor vanish, and in float32 they and their
// inverses do not.
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

// WeightUnit returns the power of four just below the mean weight of the entries, 1 if they have
// no weights. Quantities divided by it do not depend on the unit of the weights, and division by a
// power of four, or by its root, does not round.
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
