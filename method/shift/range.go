package shift

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/method/problem"
)

// accuracy is a weighted share of right predictions.
type accuracy struct{ right, weight, squares float64 }

// add adds a prediction.
func (a *accuracy) add(isRight bool, weight float64) {
	a.weight += weight
	a.squares += weight * weight
	if isRight {
		a.right += weight
	}
}

// stderr returns the standard error of the share among as many labels as the weights are worth, and two more
// right and two more wrong ones, so that an error is left where all are right.
func (a *accuracy) stderr() float64 {
	if a.weight == 0 {
		return 1
	}
	labels := a.weight * a.weight / a.squares
	share := (a.right/a.weight*labels + 2) / (labels + 4)
	return math.Sqrt(share * (1 - share) / (labels + 4))
}

// upper returns the share and two standard errors.
func (a *accuracy) upper() float64 {
	return min(1, a.right/max(a.weight, 1)+2*a.stderr())
}

// isLower reports whether fewer predictions of the first labels are right than of the second, by more than a standard error.
func isLower(first, second []heldOut) bool {
	var sum [2]accuracy
	for i, list := range [][]heldOut{first, second} {
		for _, h := range list {
			sum[i].add(h.isRight, 1)
		}
	}
	difference := sum[1].right/max(1, sum[1].weight) -
		sum[0].right/max(1, sum[0].weight)
	return difference > math.Hypot(sum[0].stderr(), sum[1].stderr())
}

// leastLabels is the number of held-out labels that make the accuracy at a distance known.
const leastLabels = 8

// weighByHops returns the mean accuracy at nodes, of which the numbers by hops to the nearest label are given.
// It is that of held-out labels at the same distance, made decreasing,
//
//	min over i ≤ h of max over j ≥ h of the accuracy at i to j hops,
//
// less one standard error at h hops, and 0 beyond the last h with leastLabels labels.
func weighByHops(list []heldOut, weight func(class int) float64,
	nodes []float64) (mean float64) {
	var bins [mostHops + 1]accuracy
	var count [mostHops + 1]int
	last := 0
	stderr := 1.0
	for _, h := range list {
		bins[h.hops].add(h.isRight, weight(h.class))
		if count[h.hops]++; count[h.hops] >= leastLabels {
			last = max(last, h.hops)
		}
	}
	for h := range last + 1 {
		if bins[h].weight > 0 {
			stderr = bins[h].stderr()
		}
		fitted := 1.0
		for i := range h + 1 {
			highest := 0.0
			right := 0.0
			sum := 0.0
			for j := i; j <= last; j++ {
				right += bins[j].right
				sum += bins[j].weight
				if j >= h && sum > 0 {
					highest = max(highest, right/sum)
				}
			}
			fitted = min(fitted, highest)
		}
		mean += nodes[h] * max(0, fitted-stderr)
	}
	return mean / max(1, floats.Sum(nodes))
}

// setRange sets the bounds of the accuracy at other nodes from predictions of labels by other labels. The lower
// bound is that for a share of s.low or s.high of the class whose shares differ most, the worse of the two: the
// labels of this class have one weight and all others another. The upper bound is the better of the two if the difference
// exceeds its limit, and at most two standard errors above the estimate. Nodes of parts that lack labels may have a class without labels, so that those missing from
// a random sample are wrong for the lower bound.
func (r *Report) setRange(estimate problem.Estimate, random, far []heldOut, nodes []float64) {
	s := r.Share
	held := slices.Concat(random, far)
	var members, remainder accuracy
	for _, h := range random {
		if h.class == s.class {
			members.add(h.isRight, 1)
		} else {
			remainder.add(h.isRight, 1)
		}
	}
	highest := 0.0
	r.Low = 1
	r.High = 1
	for _, share := range []float64{s.low, s.high} {
		r.Low = min(r.Low, weighByHops(held, func(class int) float64 {
			if class == s.class {
				return share / s.labels
			}
			return (1 - share) / (1 - s.labels)
		}, nodes))
		highest = max(highest, share*members.upper()+(1-share)*remainder.upper())
	}
	if s.Exceeds() {
		r.High = highest
	}
	if r.Part.Exceeds() {
		r.Low *= 1 - r.Part.missing
	}
	r.High = min(r.High, estimate.Accuracy+2*estimate.Stderr, 1)
	r.Low = max(0, min(r.Low, r.High))
}

// setMargins sets the bounds of the accuracy a that allows for the probabilities of other nodes, with its standard error s:
//
//	a·(1 − m/3 − 0.3·h) − 0.13 − s/2 − d/2 … a + 0.035 + 0.06·h + 1.2·s − 0.2·d
//
// m is the share of the nodes in a part that lacks labels above that of its labels, because these nodes may be of a class
// without labels; h the distance of the distributions of hops, if labels are near each other; and d by how much labels of
// other classes than the largest are predicted worse, because there may be too many of this class. Where labels have low degrees,
// the upper end is a + 0.085 + 0.06·h + 1.2·s, because more is known of nodes with more neighbours. The factors were fitted to odd
// samples of several kinds, see bench/results/accuracy.md.
func (r *Report) setMargins(c *problem.Comparison, estimate problem.Estimate) {
	largest := floats.MaxIdx(c.Labels)
	right := floats.Sum(c.Right) - c.Right[largest]
	labels := floats.Sum(c.Labels) - c.Labels[largest]
	accuracy := estimate.Accuracy
	difference := max(0, accuracy-(right+1)/(labels+2))
	lower := 0.13 + estimate.Stderr/2 + difference/2
	upper := 0.035 + 1.2*estimate.Stderr
	if r.Degree.Exceeds() && r.Degree.Labelled < r.Degree.Others {
		upper += 0.05
	} else {
		upper -= 0.2 * difference
	}
	if r.Part.Exceeds() {
		lower += accuracy * r.Part.missing / 3
	}
	if r.Hops.Exceeds() && r.Hops.Labelled < r.Hops.Others {
		lower += 0.3 * accuracy * r.Hops.Distance
		upper += 0.06 * r.Hops.Distance
	}
	r.Low = max(0, accuracy-lower)
	r.High = min(1, accuracy+upper)
}
