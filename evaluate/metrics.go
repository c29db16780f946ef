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

// classMeasures are the measures of one class, NaN where they divide by 0.
type classMeasures struct {
	truth, predicted      int // nodes of the class, and nodes with the prediction
	precision, recall, f1 float64
}

// measuresOf returns the measures of class i: with TP nodes of it that are predicted so, precision is
// TP/predicted, recall TP/truth, and F1 their harmonic mean 2·TP/(truth + predicted).
func (c confusion) measuresOf(i int) classMeasures {
	var m classMeasures
	for j := range c {
		m.truth += c[i][j]
		m.predicted += c[j][i]
	}
	right := float64(c[i][i])
	m.precision, m.recall, m.f1 = right/float64(m.predicted), right/float64(m.truth), 2*right/float64(m.truth+m.predicted)
	return m
}

// macroF1 returns the mean of 2·TP/(2·TP + FP + FN) over those of the first classes that
// occur as truth or as prediction, 0 if none does.
func (c confusion) macroF1(classes int) float64 {
	sum, present := 0.0, 0
	for i := range classes {
		if m := c.measuresOf(i); m.truth+m.predicted > 0 {
			present++
			sum += m.f1
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
