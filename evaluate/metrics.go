package evaluate

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// confusion counts nodes by true class (rows) and predicted class (columns).
type confusion [][]int

// newConfusion returns the table of zeros for the given number of classes.
func newConfusion(classes int) confusion {
	c := make(confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
	}
	return c
}

// Count adds one node for every pair of truth[i] and predicted[i].
func (c confusion) Count(truth, predicted []int) {
	if len(truth) != len(predicted) {
		panic(badLength)
	}
	for i, t := range truth {
		c[t][predicted[i]]++
	}
}

// MacroF1 returns the mean of 2·TP/(2·TP + FP + FN) over the classes that
// occur as truth or as prediction, 0 if none does.
func (c confusion) MacroF1() float64 {
	sum, present := 0.0, 0
	for i := range c {
		truth, predicted := 0, 0
		for j := range c {
			truth += c[i][j]
			predicted += c[j][i]
		}
		if truth+predicted > 0 {
			present++
			sum += float64(2*c[i][i]) / float64(truth+predicted)
		}
	}
	if present == 0 {
		return 0
	}
	return sum / float64(present)
}

// meanStderr returns the mean of x and its standard error, the sample standard
// deviation over √len(x). The standard error of a single value is 0.
func meanStderr(x []float64) (mean, stderr float64) {
	if len(x) < 2 {
		return stat.Mean(x, nil), 0
	}
	mean, std := stat.MeanStdDev(x, nil)
	return mean, std / math.Sqrt(float64(len(x)))
}

const badLength = "evaluate: slices of different lengths"
