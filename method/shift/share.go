package shift

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Share is the class whose share as class of the nearest label, or whose mean probability, differs most between labelled and
// other nodes. The label of a labelled node itself does not count.
type Share struct {
	Class    string  `json:"class"`
	Labelled float64 `json:"labelled"` // share of labelled nodes whose nearest other label has the class
	Others   float64 `json:"others"`   // share of other nodes whose nearest label has it

	// IsPredicted reports that Labelled and Others are mean probabilities of the class, at held-out labels and at other nodes.
	IsPredicted bool `json:"is_predicted,omitempty"`

	Errors float64 `json:"errors"` // the difference in standard errors
	Limit  float64 `json:"limit"`  // exceeded by at most shareRate of random samples

	class     int
	low, high float64 // bounds of the class's share of the other nodes
	labels    float64 // its share of the labels
}

// Exceeds reports whether the difference is larger than chance explains.
func (s Share) Exceeds() bool { return s.Errors > s.Limit }

// reflexive is an upper bound of the variance of the number of labelled nodes whose nearest other label
// has a class, relative to the binomial one: 62 % of random points of a plane are the nearest of their
// nearest point, and such pairs have one class more often than not (Cox, Reflexive nearest neighbours, 1981).
const reflexive = 1.6

// nearestClasses compares the classes of the nearest labels. The nearest label is a classifier that has
// predicted each label without learning from it, so that its errors are the same at labelled and at other
// nodes of a random sample: Lipton, Wang and Smola, Detecting and correcting for label shift with black box
// predictors (2018). The difference of a class is the signed root of the likelihood ratio of two binomial
// distributions; its limit is a quantile of the normal distribution for all classes together.
func nearestClasses(p *problem.Problem, paths nearest,
	nodes []float64) (largest Share) {
	k := len(p.Names)
	tested := 0.0
	total := floats.Sum(nodes)
	members := make([]float64, k)
	nearest := make([]float64, k)
	right := make([]float64, k)
	for i, row := range p.Row {
		if r := paths.at(1, row); r != unreached {
			tested++
			members[p.Class[i]]++
			if nearest[p.Class[r.label()]]++; p.Class[r.label()] == p.Class[i] {
				right[p.Class[i]]++
			}
		}
	}
	if tested == 0 || total == 0 {
		return largest
	}
	for c := range nearest {
		if e := math.Sqrt(likelihoodRatio(nearest[c], tested, nodes[c],
			total) / reflexive); e > largest.Errors {
			largest.class = c
			largest.Errors = e
		}
	}
	c := largest.class
	largest.Class = p.Names[c]
	largest.Labelled = nearest[c] / tested
	largest.Others = nodes[c] / total
	largest.Limit = math.Sqrt2 * math.Erfinv(1-shareRate/float64(k))
	largest.labels = choose.CountsOf(p)[c] / float64(len(p.Row))
	largest.bound(right[c], members[c], nearest[c]-right[c], tested-members[c])
	return largest
}

// compareProbabilities compares the mean probabilities of the k classes at held-out labels with those at other nodes. The difference
// of a class is in units of its standard error, with the mean of the variances at labels and at others, because few labels
// may have nearly the same probability by chance. The sum of the squares, times (k − 1)/k because differences add up to 0 (of
// two classes both are the same), exceeds a quantile of χ² with k − 1 degrees of freedom if labels are no random sample: with
// too many labels of one class there are too few of all others. The class that is reported is the one with most too many labels.
func compareProbabilities(p *problem.Problem, c *problem.Comparison,
	nodes int) (share Share) {
	tested := floats.Sum(c.Labels)
	squares := 0.0
	largest := 0.0
	// degrees of freedom of the variances
	free := max(1, tested-float64(len(p.Names)))
	for class, variance := range c.Variance {
		difference := (c.HeldOut[class] -
			c.Others[class]) / math.Sqrt((variance+leastVariance)*(1/free+
			1/float64(max(1, nodes))))
		squares += float64(difference * difference)
		if difference > largest {
			share.class, largest = class, difference
		}
	}
	class := share.class
	share.Class = p.Names[class]
	share.Labelled = c.HeldOut[class]
	share.Others = c.Others[class]
	share.IsPredicted = true
	free = float64(len(p.Names) - 1)
	share.Errors = math.Sqrt(squares * free / float64(len(p.Names)))
	share.Limit = math.Sqrt(distuv.ChiSquared{K: free}.Quantile(1 - shareRate))
	return share
}

// shareRate is the share of random samples that cause a warning.
const shareRate = 0.002

// mostPredicted is the largest number of labels whose mean probabilities are compared. Held-out labels are predicted from
// fewer labels than other nodes, which changes these means a little; with thousands of labels chance explains less than that.
const mostPredicted = 500

// leastVariance is added to the variances of probabilities. Where predictions say nothing of classes they differ by less than a
// hundredth, and held-out ones from others because they are learned from fewer labels.
const leastVariance = 1e-3

// likelihoodRatio returns twice the logarithm of the likelihood ratio of two shares x/m and y/n to a common one.
func likelihoodRatio(x, m, y, n float64) float64 {
	term := func(count, expected float64) float64 {
		if count == 0 {
			return 0
		}
		return count * math.Log(count/expected)
	}
	q := (x + y) / (m + n)
	return max(0, 2*(term(x, m*q)+term(m-x, m*(1-q))+term(y, n*q)+
		term(n-y, n*(1-q))))
}

// bound sets the bounds of the share π of the class among other nodes. The nearest label has the class for
// the share a of its labels and b of other labels, so that for other nodes it has it for q = πa + (1 − π)b.
// The bounds are two standard errors of π away, on one side of the share of the labels if the difference exceeds
// its limit.
func (s *Share) bound(right, members, wrong, remaining float64) {
	a, b := (right+1)/(members+2), (wrong+1)/(remaining+2)
	s.low = 0
	s.high = 1
	switch {
	case s.Exceeds() && s.Others > s.Labelled:
		s.low = s.labels
	case s.Exceeds():
		s.high = s.labels
	}
	if a <= b {
		return
	}
	share := (s.Others - b) / (a - b)
	spread := 2 * math.Sqrt(reflexive*(share*share*a*(1-a)/(members+3)+
		(1-share)*(1-share)*b*(1-b)/(remaining+3))) / (a - b)
	s.low, s.high = min(s.high, max(s.low, share-spread)),
		max(s.low, min(s.high, share+spread))
}
