package choose

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/method/problem"
)

// Estimator estimates the accuracy of a method from its predictions for held-out labels. The caller must predict each label
// without its fold, by the setting that is best for the other folds. Only labels that another label reaches count.
//
// Labels are weighted by the shares of their classes, shrunk towards equal shares, see [Shrink].
//
// Nodes of classes without a label count as wrong, see [UnseenShare], so that the only label of a class does not count here.
type Estimator struct {
	right, total float64 // weights of the right predictions and of all predictions
	tested       int
}

// Note counts the prediction for a label with a weight of [WeightsOf]. If reached is false, because no other label reaches
// the label, Note does nothing.
func (h *Estimator) Note(reached, right bool, weight float64) {
	if !reached {
		return
	}
	h.tested++
	h.total += weight
	if right {
		h.right += weight
	}
}

// WeightsOf returns for each class the weight of a label: the share of the class over its number of labels, up to a factor.
// The only label of a class has weight 0. The weights of the other labels add up to their number. Known shares are used
// without [Shrink].
func WeightsOf(p *problem.Problem) []float64 {
	count := CountsOf(p)
	list := make([]float64, len(p.Names))
	labels := float64(len(p.Row))
	var shares []float64 // shares of the classes with a label
	for c, n := range count {
		switch {
		case n > 0 && p.Shares != nil:
			shares = append(shares, p.Shares[c])
		case n > 0:
			shares = append(shares, n/labels)
		}
	}
	if p.Shares == nil {
		Shrink(shares, labels)
	}
	several := 0.0
	sum := 0.0
	for c, n := range count {
		if n == 0 {
			continue
		}
		if n > 1 {
			several += n
			sum += shares[0]
			list[c] = shares[0] / n
		}
		shares = shares[1:]
	}
	for c, n := range count {
		if n > 1 {
			list[c] *= several / sum
		}
	}
	return list
}

// UnseenShare estimates the share of nodes whose class has no label.
func UnseenShare(p *problem.Problem) float64 {
	share, _ := unseenShare(p)
	return share
}

// unseenShare returns the share that [UnseenShare] returns, and the variance of this estimate. If n labels were drawn at
// random, f₁ classes have one label and f₂ have two, these are
//
//	f₁/n  and  (f₁·(1 − f₁/n) + 2·f₂)/n²
//
// Good, The population frequencies of species and the estimation of population parameters (1953); Esty, A normal limit law
// for a nonparametric estimator of the coverage of a random sample (1983). If the shares of all classes are known, share is
// the sum of the shares of classes without a label.
func unseenShare(p *problem.Problem) (share, variance float64) {
	ones := 0.0
	twos := 0.0
	labels := float64(len(p.Row))
	for c, n := range CountsOf(p) {
		switch {
		case n == 0 && p.Shares != nil:
			share += p.Shares[c]
		case n == 1:
			ones++
		case n == 2:
			twos++
		}
	}
	if p.Shares != nil {
		return share, 0
	}
	share = ones / labels
	return share, (ones*(1-share) + 2*twos) / (labels * labels)
}

// Shrink moves the shares of k classes towards 1/k, as far as chance would explain them if all classes had the same size. It
// sets share to w·share + (1 − w)/k with w = labels/(labels + K) and
//
//	K = (1 − Σp²)/Σ(p − 1/k)²
//
// of Fienberg and Holland, Simultaneous estimation of multinomial cell probabilities (1973).
func Shrink(share []float64, labels float64) {
	even := 1 / float64(len(share))
	left := 1.0
	spread := 0.0
	for _, p := range share {
		left -= float64(p * p)
		spread += float64((p - even) * (p - even))
	}
	factor := 0.0
	if spread > 0 {
		factor = float64(labels*spread) / (float64(labels*spread) + max(0, left))
	}
	for c, p := range share {
		share[c] = even + float64(factor*(p-even))
	}
}

// CountsOf returns how many labels each class has.
func CountsOf(p *problem.Problem) []float64 {
	count := make([]float64, len(p.Names))
	for _, c := range p.Class {
		count[c]++
	}
	return count
}

// Nearness is the variance of a share of right predictions over the variance for independent labels: labels near each other
// are right or wrong together. Over 900 draws from eight graphs the ratio was 1.1 to 1.7.
const Nearness = 1.4

// share returns the share of right predictions with two more right and two more wrong ones.
func (h Estimator) share() float64 { return (h.right + 2) / (h.total + 4) }

// variance returns the variance of the accuracy at held-out labels less the accuracy at the given number of other nodes. Two
// more right and two more wrong predictions keep it positive.
func (h Estimator) variance(nodes int) float64 {
	share := h.share()
	return Nearness * share * (1 - share) * (1/(h.total+4) +
		1/float64(max(1, nodes)))
}

// ofLargest returns the share of labels that have the largest class, and the expected excess of this share over the share
// among other nodes. With the share p of the largest class and the shares q of other classes the excess is
//
//	Σ_q σ·φ((p − q)/σ)  with  σ² = (p + q − (p − q)²)/labels
//
// where φ is the density of the normal distribution.
func ofLargest(p *problem.Problem) (share, luck float64) {
	count := CountsOf(p)
	labels := float64(len(p.Row))
	largest := slices.Index(count, slices.Max(count))
	share = count[largest] / labels
	for c := range count {
		difference := share - count[c]/labels
		variance := (share + count[c]/labels -
			float64(difference*difference)) / labels
		if c != largest && variance > 0 {
			luck += float64(math.Sqrt(variance/(2*math.Pi)) * math.Exp(-difference*difference/(2*variance)))
		}
	}
	return share, luck
}

// Estimate returns the accuracy on the nodes of reached that have no label: the accuracy on nodes whose class has a label
// times the share of such nodes, see [UnseenShare]. The estimate is zero if there are too few labels, see [TooFew], or if no
// label reaches another label.
func (h Estimator) Estimate(p *problem.Problem,
	reached *roaring.Bitmap) problem.Estimate {
	e, unseen := newEstimate(p, p.CountOf(reached), h.tested)
	if e.Tested == 0 {
		return e
	}
	accuracy := 0.0
	seen := 1 - e.Unseen
	if h.total > 0 {
		accuracy = h.right / h.total
	}
	e.Accuracy = accuracy * seen
	// Of few labels none may be right by chance; then the share of unseen classes is uncertain all the same.
	uncertain := max(accuracy, h.share())
	e.Stderr = math.Sqrt(float64(h.variance(e.Reached)*seen*seen) +
		float64(uncertain*uncertain*unseen))
	return e
}

// newEstimate returns an estimate whose accuracy is not set yet, and the variance of its share of nodes whose class has no
// label.
func newEstimate(p *problem.Problem, reached, tested int) (e problem.Estimate, variance float64) {
	if tested == 0 || TooFew(p.Class) {
		return e, 0
	}
	e = problem.Estimate{Tested: tested, Reached: reached - len(p.Row),
		Unreached: p.Nodes() - reached}
	e.Unseen, variance = unseenShare(p)
	return e, variance
}

// LargestClass estimates the accuracy of predicting the largest class everywhere. It predicts the labels of each fold by
// the largest class of the other folds. The estimate is at least 1/k for k classes.
func LargestClass(p *problem.Problem, fold []int) problem.Estimate {
	var h Estimator
	for f := range slices.Max(fold) + 1 {
		largest := LargestWithout(p.Class, fold, f)
		for _, i := range OfFold(fold, f).Test {
			h.Note(true, p.Class[i] == largest, 1)
		}
	}
	// The expected luck of the largest class is subtracted. Every node counts as reached, because the prediction needs
	// no edge.
	e, _ := newEstimate(p, p.Nodes(), h.tested)
	switch {
	case e.Tested == 0:
		return e
	case p.Shares != nil:
		e.Accuracy = slices.Max(p.Shares)
	default:
		prior, luck := ofLargest(p)
		e.Accuracy = max(1/float64(len(p.Names)), (h.right+prior)/(h.total+1)-luck)
	}
	e.Stderr = math.Sqrt(h.variance(e.Reached))
	return e
}
