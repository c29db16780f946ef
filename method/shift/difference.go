package shift

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Difference compares a quantity of labelled nodes with that of other nodes.
type Difference struct {
	Labelled float64 `json:"labelled"` // mean of labelled nodes
	Others   float64 `json:"others"`   // mean of other nodes
	Distance float64 `json:"distance"` // largest difference of the distribution functions, 0 to 1
	Limit    float64 `json:"limit"`    // exceeded by a share of 0.001 of random samples
}

// Exceeds reports whether the difference is larger than chance explains.
func (d Difference) Exceeds() bool { return d.Distance > d.Limit }

// ksFactor is the quantile √(½ log 2/ε) of the distribution of Kolmogorov, so that the share ε = 0.001 of random
// samples exceeds the limit of each of two differences. With shareRate and partRate it is one in a hundred.
const ksFactor = 1.949

// compare returns the difference of two lists, which it sorts. The statistic is that of the
// two-sample test of Kolmogorov and Smirnov, with the limit ksFactor·√(1/m + 1/n).
func compare(labelled, unlabelled []float64) (d Difference) {
	if len(labelled) == 0 || len(unlabelled) == 0 {
		return d
	}
	slices.Sort(labelled)
	slices.Sort(unlabelled)
	m := float64(len(labelled))
	n := float64(len(unlabelled))
	d = Difference{Labelled: stat.Mean(labelled, nil),
		Others: stat.Mean(unlabelled, nil), Limit: ksFactor * math.Sqrt(1/m+1/n)}
	d.Distance = stat.KolmogorovSmirnov(labelled, nil, unlabelled, nil)
	return d
}
