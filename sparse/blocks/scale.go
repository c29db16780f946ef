package blocks

import (
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrScale is returned for weights so large or so small that computing with them would overflow or underflow.
var ErrScale = errors.New("graph: edge weights")

// leastWeight is the smallest accepted weight of an edge in float64.
const leastWeight = 1e-100

// CheckLeast returns an [*input.Error] that wraps [ErrScale] if smallest is below 1e-100, because its inverse would
// overflow in products. smallest must be the least absolute value of a weight other than 0.
func CheckLeast(smallest float64) error {
	if smallest >= leastWeight {
		return nil
	}
	return &input.Error{
		Msg: fmt.Sprintf("edge weights: the smallest is %.3g", smallest),
		Fix: fmt.Sprintf("leave out edges of weights below %g, or multiply all weights by a factor", leastWeight), Err: ErrScale,
	}
}

// CheckScale returns an [*input.Error] that wraps [ErrScale] if a nonzero degree is outside 1e-100 to 1e100, or 1e-30
// to 1e30 in float32. In this range, squares and products of two degrees neither overflow nor underflow in float64; in
// float32, degrees and their inverses do not. degrees must be the sums of the weights at the nodes of this process.
func CheckScale[T sparse.Float](team *sparse.Team, degrees []float64) error {
	low, high := leastWeight, 1/leastWeight
	if _, single := any(T(0)).(float32); single {
		low, high = 1e-30, 1e30
	}
	smallest := math.Inf(1)
	largest := 0.0
	for _, d := range degrees {
		if d != 0 {
			smallest = min(smallest, d)
			largest = max(largest, d)
		}
	}
	ends := []float64{-smallest, largest}
	team.Max(ends)
	smallest = -ends[0]
	largest = ends[1]
	if largest == 0 || smallest >= low && largest <= high {
		return nil
	}
	return &input.Error{
		Msg: fmt.Sprintf("edge weights: their sums at the nodes are between %.3g and %.3g", smallest, largest),
		Fix: fmt.Sprintf("multiply all weights by a factor that brings these sums between %g and %g", low, high), Err: ErrScale,
	}
}

// WeightUnit returns the power of four just below the mean weight of the entries of a matrix, or 1 if all degrees are
// 0. degrees must be the sums of the rows. Quantities divided by WeightUnit do not depend on the unit of the weights.
// Division by a power of four, or by its root, does not round.
func WeightUnit(a sparse.Matrix, degrees []float64) float64 {
	team := sparse.TeamOf(a)
	sum := 0.0
	for lo, hi := range team.CountingRows(0, len(degrees)) {
		for _, d := range degrees[lo:hi] {
			sum += d
		}
	}
	sum = SumOver(team, sum)
	if sum == 0 {
		return 1
	}
	_, exponent := math.Frexp(sum / float64(sparse.EntriesOf(a)))
	return math.Ldexp(1, (exponent-1)&^1)
}
