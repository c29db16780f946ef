package shift

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// accuracy is a weighted share of right predictions.
type accuracy struct{ right, weight, squares float64 }

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
func (a *accuracy) upper() float64 { return min(1, a.right/max(a.weight, 1)+2*a.stderr()) }

// leastLabels is the number of held-out labels that make the accuracy at a distance known.
const leastLabels = 8

// weighByHops returns the mean accuracy at nodes, of which the numbers by hops to the nearest label are given.
// It is that of held-out labels at the same distance, made decreasing,
//
//	min over i ≤ h of max over j ≥ h of the accuracy at i to j hops,
//
// less one standard error at h hops, and 0 beyond the last h with leastLabels labels.
func weighByHops(list []heldOut, weight func(class int) float64, nodes []float64) (mean float64) {
	var bins [mostHops + 1]accuracy
	var count [mostHops + 1]int
	last, stderr := 0, 1.0
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
			highest, right, sum := 0.0, 0.0, 0.0
			for j := i; j <= last; j++ {
				right += bins[j].right
				if sum += bins[j].weight; j >= h && sum > 0 {
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
// exceeds its limit. Nodes of parts that lack labels may have a class without labels, so that those missing from a random sample
// are wrong for the lower bound.
func (r *Report) setRange(random, far []heldOut, nodes []float64) {
	s, held := r.Share, slices.Concat(random, far)
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
		r.High = min(r.High, highest)
	} else if r.Expected != "lower" {
		r.compareHalves(random)
	}
	if r.Part.Exceeds() {
		r.Low *= 1 - r.Part.missing
	}
	r.Low = min(r.Low, r.High)
}

// compareHalves expects a higher accuracy if the half of the held-out labels that is nearer to others, or
// of larger degree, is right more often than the other half by a test of two shares at 5 %. The upper bound is
// then that of the better half.
func (r *Report) compareHalves(random []heldOut) {
	list := slices.Clone(random)
	slices.SortStableFunc(list, func(a, b heldOut) int {
		if c := cmp.Compare(a.hops, b.hops); c != 0 && r.Hops.Exceeds() {
			return c
		}
		return cmp.Compare(b.degree, a.degree)
	})
	var better, worse accuracy
	for i, h := range list {
		if i < len(list)/2 {
			better.add(h.isRight, 1)
		} else {
			worse.add(h.isRight, 1)
		}
	}
	const quantile = 1.645 // of the normal distribution
	share := (better.right + worse.right) / float64(len(list))
	if better.right/better.weight-worse.right/worse.weight > quantile*math.Sqrt(share*(1-share)*(1/better.weight+1/worse.weight)) {
		r.Expected, r.High = "higher", max(r.High, better.upper())
	}
}
