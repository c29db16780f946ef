package choose

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Confidence estimates the accuracy of calibrated probabilities. With the largest probability q of a node the accuracy is
//
//	mean of q over other nodes + mean of (1 if right, else 0) − q over held-out labels
//
// so that an error of the calibration cancels: Angelopoulos et al., Prediction-powered inference (2023). The only label of a
// class counts as a wrong prediction, because it stands for the nodes whose class has no label, see [UnseenShare].
//
// Model weights that all labels chose predict these labels right more often, by luck, than weights chosen without a label's
// fold. Confidence subtracts the difference from the right predictions by weights without the fold. Compare Tibshirani and
// Tibshirani, A bias correction for the minimum error rate in cross-validation (2009).
type Confidence struct {
	p      *problem.Problem
	count  []float64
	weight []float64

	sum, squares, total float64 // sums of (1 if right, else 0) − q, of its squares, and of the weights
	luck                float64 // right predictions by weights of all labels, less those by weights without the fold
	lucky               float64 // weight of the labels for which the largest class is predicted
	largest             float64 // luck in the share of the largest class
	tested              int

	held *Held
}

// NewConfidence returns a Confidence without held-out labels.
func NewConfidence(p *problem.Problem) *Confidence {
	c := &Confidence{p: p, count: CountsOf(p), held: new(Held)}
	if p.Shares != nil {
		c.weight = WeightsOf(p)
	}
	return c
}

// Note adds a held-out label with its probabilities: row by model weights chosen without the label's fold, full by weights
// that all labels chose. q is the largest of full. If reached is false, because no other label reaches the label, Note does
// nothing.
func (c *Confidence) Note(reached bool, label int, row, full []float64) {
	c.held.Add(label, classify.ArgMax(row), reached, row)
	if !reached {
		return
	}
	class := c.p.Class[label]
	right := func(predicted int) float64 {
		if predicted == class && c.count[class] > 1 {
			return 1
		}
		return 0
	}
	best := classify.ArgMax(row)
	bestByAll := classify.ArgMax(full)
	excess := right(best) - full[bestByAll]
	weight := 1.0
	if c.weight != nil {
		weight = c.weight[class]
	}
	c.tested++
	c.total += weight
	c.sum += float64(weight * excess)
	c.squares += float64(weight * excess * excess)
	c.luck += float64(weight * (right(bestByAll) - right(best)))
	if c.count[bestByAll] == slices.Max(c.count) {
		c.lucky += weight
	}
}

// AllowForLargest makes [Confidence.Estimate] subtract the luck of predicting the largest class, which is expected to be
// rarer among other nodes.
func (c *Confidence) AllowForLargest() {
	_, c.largest = ofLargest(c.p)
}

// Held returns the predictions of all labels that were noted.
func (c *Confidence) Held() *Held { return c.held }

// Estimate returns the accuracy on the nodes of reached that have no label. mean must be the mean over these nodes of their
// largest probability.
func (c *Confidence) Estimate(reached *roaring.Bitmap,
	mean float64) problem.Estimate {
	e, unseen := newEstimate(c.p, c.p.CountOf(reached), c.tested)
	if e.Tested == 0 {
		return e
	}
	excess := c.sum / max(1, c.total)
	luck := max(0, c.luck/max(1, c.total)) +
		float64(c.largest*c.lucky)/max(1, c.total)
	e.Accuracy = max(0, min(1, mean+excess-luck))
	if c.weight != nil {
		e.Accuracy *= 1 - e.Unseen // labels of classes with a single label have no weight
	}
	// Two more right and two more wrong predictions keep the error above 0 if all are right; they do not change the
	// accuracy.
	variance := (max(0, c.squares-float64(c.total*excess*excess)) +
		1) / (c.total + 4)
	variance *= Nearness * (1/max(1, c.total) + 1/float64(max(1, e.Reached)))
	// The variance already contains the binomial part of the share of single labels.
	unseen = max(0, unseen-float64(e.Unseen*(1-e.Unseen))/float64(len(c.p.Row)))
	e.Stderr = math.Sqrt(variance + float64(luck*luck) +
		float64(e.Accuracy*e.Accuracy*unseen))
	e.Stderr = max(e.Stderr, c.held.ErrorOfGroups(c.p, e.Accuracy))
	return e
}
