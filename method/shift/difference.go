package shift

import (
	"math"
	"slices"
)

// Difference compares a quantity of labelled nodes with that of other nodes.
type Difference struct {
	Labelled float64 `json:"labelled"` // mean of labelled nodes
	Others   float64 `json:"others"`   // mean of other nodes
	Distance float64 `json:"distance"` // largest difference of the distribution functions, 0 to 1
	Limit    float64 `json:"limit"`    // exceeded by 0.5 % of random samples
}

// Exceeds reports whether the difference is larger than chance explains.
func (d Difference) Exceeds() bool { return d.Distance > d.Limit }

// ksFactor is the quantile of the distribution of Kolmogorov at 0.5 %.
const ksFactor = 1.73

// compare returns the difference of two lists, which it sorts. The statistic is that of the
// two-sample test of Kolmogorov and Smirnov, with the limit ksFactor·√(1/m + 1/n).
func compare(labelled, unlabelled []float64) (d Difference) {
	if len(labelled) == 0 || len(unlabelled) == 0 {
		return d
	}
	slices.Sort(labelled)
	slices.Sort(unlabelled)
	m, n := float64(len(labelled)), float64(len(unlabelled))
	d = Difference{Labelled: mean(labelled), Others: mean(unlabelled), Limit: ksFactor * math.Sqrt(1/m+1/n)}
	for i, j := 0, 0; i < len(labelled) && j < len(unlabelled); {
		x := min(labelled[i], unlabelled[j])
		for i < len(labelled) && labelled[i] == x {
			i++
		}
		for j < len(unlabelled) && unlabelled[j] == x {
			j++
		}
		d.Distance = max(d.Distance, math.Abs(float64(i)/m-float64(j)/n))
	}
	return d
}

func mean(list []float64) float64 { return sum(list) / float64(len(list)) }

// Share is the class whose share among the labels differs most from that among other nodes.
type Share struct {
	Class     string  `json:"class"`
	Labels    float64 `json:"labels"`    // its share of the labels
	Predicted float64 `json:"predicted"` // its share of the predictions of other nodes
	Errors    float64 `json:"errors"`    // the part of the difference that wrong predictions cannot explain, in standard errors
}

// mostErrors is the number of standard errors from which a difference of shares is reported.
const mostErrors = 3

// Exceeds reports whether the difference is larger than chance and wrong predictions explain.
func (s Share) Exceeds() bool { return s.Errors > mostErrors }

// compareShares returns the share that differs most. The share of a class among predictions differs from
// its share among the nodes by at most the share of wrong predictions, errorRate, so that only the rest of
// a difference is compared with chance. With p of the labels of a class the variance is
//
//	p(1 − p)·(1/labels + 1/nodes)
//
// where p has one label more and one more of another class, so that it is positive.
func compareShares(names []string, count, predicted []float64, errorRate float64) (largest Share) {
	labels, nodes := sum(count), sum(predicted)
	for c, n := range count {
		p := (n + 1) / (labels + 2)
		s := Share{Class: names[c], Labels: n / labels, Predicted: predicted[c] / nodes}
		s.Errors = max(0, math.Abs(s.Predicted-s.Labels)-errorRate) / math.Sqrt(p*(1-p)*(1/labels+1/nodes))
		if s.Errors > largest.Errors {
			largest = s
		}
	}
	return largest
}

func sum(list []float64) (sum float64) {
	for _, x := range list {
		sum += x
	}
	return sum
}
