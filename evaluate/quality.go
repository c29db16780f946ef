package evaluate

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Quality holds measures of scores. A measure that does not apply is nil.
type Quality struct {
	// Rankings of the items by the score of one class, mean over the classes that
	// some items have and some have not.
	AveragePrecision *float64 `json:"average_precision"` // Σ (Rₙ − Rₙ₋₁)·Pₙ, Pₙ and Rₙ precision and recall above the n-th score
	AUC              *float64 `json:"auc"`               // area under the receiver operating characteristic

	// Of scores that are probabilities: to within 1e-3, all are at least 0 and each row
	// sums to one.
	LogLoss          *float64 `json:"log_loss"`          // mean of −ln p of the true class, p at least 2⁻²³
	Brier            *float64 `json:"brier"`             // mean over items of Σ over classes of (p − [class is true])², 0 … 2
	CalibrationError *float64 `json:"calibration_error"` // expected, over 15 bins of equal width: Guo et al. 2017

	// Calibration are the bins of CalibrationError, over all splits their sums.
	Calibration *calibration `json:"calibration,omitempty"`
}

// leastProbability is the resolution of float32. Smaller probabilities are raised to it, so that
// their logarithm is finite.
const leastProbability = 0x1p-23

// rounding bounds how far a probability may be below 0, and the sum of a row from 1.
const rounding = 1e-3

// measureQuality compares the scores of items with their true classes. Item i has
// class truth[i] and the prediction predicted[i], and row(i) returns its score for
// each class, which is used until the next call. Cost: a sort of the items
// for each class.
func measureQuality(truth, predicted []int, classes int, row func(i int) []float32) Quality {
	if len(truth) != len(predicted) {
		panic(badLength)
	}
	var q Quality
	if len(truth) == 0 {
		return q
	}
	confidence, right := make([]float64, len(truth)), make([]bool, len(truth))
	probabilities, logs, squares := true, 0.0, 0.0
	for i, t := range truth {
		sum := 0.0
		for c, v := range row(i)[:classes] {
			p := float64(v)
			sum += p
			probabilities = probabilities && p >= -rounding
			if c == predicted[i] {
				confidence[i] = p
			}
			if c == t {
				logs -= math.Log(max(p, leastProbability))
				p--
			}
			squares += float64(p * p)
		}
		probabilities = probabilities && math.Abs(sum-1) <= rounding
		right[i] = predicted[i] == t
	}
	if probabilities {
		n := float64(len(truth))
		bins := new(calibration)
		for i, p := range confidence {
			bins.add(p, right[i])
		}
		ece := bins.error()
		logs /= n
		squares /= n
		q.LogLoss, q.Brier, q.CalibrationError, q.Calibration = &logs, &squares, &ece, bins
	}
	q.AveragePrecision, q.AUC = rankings(truth, classes, confidence, right, row)
	return q
}

// rankings returns the means of average precision and AUC over the classes that some
// items have and some have not, nil if there are none or a score is not a number. It
// overwrites score and positive.
func rankings(truth []int, classes int, score []float64, positive []bool, row func(i int) []float32) (_, _ *float64) {
	var sum [2]float64
	present := 0
	for c := range classes {
		count := 0
		for i, t := range truth {
			score[i] = float64(row(i)[c])
			if positive[i] = t == c; positive[i] {
				count++
			}
		}
		if count > 0 && count < len(truth) {
			sum[0] += averagePrecision(positive, score)
			sum[1] += auc(positive, score)
			present++
		}
	}
	if present == 0 || math.IsNaN(sum[0]+sum[1]) {
		return nil, nil
	}
	sum[0] /= float64(present)
	sum[1] /= float64(present)
	return &sum[0], &sum[1]
}

// averagePrecision returns Σ (Rₙ − Rₙ₋₁)·Pₙ over the distinct scores from the highest
// down, with Pₙ and Rₙ the precision and recall of all items with at least that score;
// items of equal score are one step. It is not a number without a positive item.
func averagePrecision(positive []bool, score []float64) float64 {
	right, sum := 0, 0.0
	inTies(positive, score, func(rank, positives, items int) {
		right += positives
		sum += float64(positives) * float64(right) / float64(rank+items)
	})
	return sum / float64(right)
}

// auc returns the share of pairs of a positive and a negative item of which the positive
// one has the higher score, equal scores counting one half: the area under the
// receiver operating characteristic. It is not a number without such a pair.
func auc(positive []bool, score []float64) float64 {
	higher, negatives, sum := 0, 0, 0.0 // positives above a negative
	inTies(positive, score, func(_, positives, items int) {
		sum += float64(items-positives) * (float64(higher) + float64(positives)/2)
		higher += positives
		negatives += items - positives
	})
	return sum / (float64(higher) * float64(negatives))
}

// inTies calls use for every distinct score from the highest down, with the number of
// items that score more, and of positive items and of all that have it.
func inTies(positive []bool, score []float64, use func(rank, positives, items int)) {
	if len(positive) != len(score) {
		panic(badLength)
	}
	order := sched.UpTo(len(score))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	for lo := 0; lo < len(order); {
		hi, positives := lo, 0
		for ; hi < len(order) && score[order[hi]] == score[order[lo]]; hi++ {
			if positive[order[hi]] {
				positives++
			}
		}
		if hi == lo { // not a number
			hi++
		}
		use(lo, positives, hi-lo)
		lo = hi
	}
}

// calibrationBins is the number of bins of [calibration], that of Guo et al.
const calibrationBins = 15

// calibration counts items by the probability of their predicted class, in 15 bins of equal
// width. A probability between two bins belongs to the lower one.
type calibration [calibrationBins]bin

// bin holds items with similar probabilities.
type bin struct {
	Nodes       int     `json:"nodes"`
	Right       int     `json:"right"`       // with the predicted class
	Probability float64 `json:"probability"` // sum over the items
}

// add counts an item with a probability of the predicted class.
func (c *calibration) add(probability float64, isRight bool) {
	b := &c[min(max(0, int(math.Ceil(probability*calibrationBins))-1), calibrationBins-1)]
	b.Nodes++
	if isRight {
		b.Right++
	}
	b.Probability += probability
}

// error returns the expected calibration error of Guo et al. (2017): the mean over the items
// of |share of right answers − mean probability| of their bin.
func (c *calibration) error() float64 {
	sum, items := 0.0, 0
	for _, b := range c {
		sum += math.Abs(float64(b.Right) - b.Probability)
		items += b.Nodes
	}
	return sum / float64(items)
}

// plus returns the sums of two calibrations, nil if other is.
func (c *calibration) plus(addend *calibration) *calibration {
	if addend == nil {
		return nil
	}
	sum := *c
	for i, b := range addend {
		sum[i].Nodes += b.Nodes
		sum[i].Right += b.Right
		sum[i].Probability += b.Probability
	}
	return &sum
}
