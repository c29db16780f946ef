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
func compare(labelled, others []float64) (d Difference) {
	if len(labelled) == 0 || len(others) == 0 {
		return d
	}
	slices.Sort(labelled)
	slices.Sort(others)
	m, n := float64(len(labelled)), float64(len(others))
	d = Difference{Labelled: mean(labelled), Others: mean(others), Limit: ksFactor * math.Sqrt(1/m+1/n)}
	for i, j := 0, 0; i < len(labelled) && j < len(others); {
		x := min(labelled[i], others[j])
		for i < len(labelled) && labelled[i] == x {
			i++
		}
		for j < len(others) && others[j] == x {
			j++
		}
		d.Distance = max(d.Distance, math.Abs(float64(i)/m-float64(j)/n))
	}
	return d
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// Share is the class whose share among the labels differs most from that among other nodes.
type Share struct {
	Class     string  `json:"class"`
	Labels    float64 `json:"labels"`    // its share of the labels
	Predicted float64 `json:"predicted"` // its mean probability at other nodes
	Errors    float64 `json:"errors"`    // the difference in standard errors, less the allowance for bias
}

// A difference of shares is reported from mostErrors standard errors on. Mean probabilities of a model are
// biased by a part of its error rate also where labels are a random sample: by a fifth to a third of it in
// block models with 5,000 labels. biasAllowance times the error rate is therefore no difference.
const (
	mostErrors    = 3
	biasAllowance = 0.5
)

// Exceeds reports whether the difference is larger than chance explains.
func (s Share) Exceeds() bool { return s.Errors > mostErrors }

// compareShares returns the share that differs most. With p of the labels of a class the variance is
//
//	p(1 − p)·(1/labels + 1/nodes)
//
// where p has one label more and one more of another class, so that it is positive. errorRate is that of the
// model at held-out labels.
func compareShares(names []string, count []float64, probability []float64, labels, nodes, errorRate float64) (most Share) {
	sum := 0.0
	for _, n := range count {
		sum += n
	}
	for c, n := range count {
		p := (n + 1) / (sum + 2)
		s := Share{Class: names[c], Labels: n / sum, Predicted: probability[c]}
		s.Errors = max(0, math.Abs(s.Predicted-s.Labels)-biasAllowance*errorRate) / math.Sqrt(p*(1-p)*(1/labels+1/nodes))
		if s.Errors > most.Errors {
			most = s
		}
	}
	return most
}
