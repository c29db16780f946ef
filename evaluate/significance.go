package evaluate

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk/internal/sched"
)

// Comparison is a test of the difference between two methods on the same splits: the corrected resampled t-test of
// Nadeau and Bengio (2003). With differences d of J splits it compares
//
//	t = mean(d) / √((1/J + tested/trained)·var(d))
//
// with Student's t distribution with J − 1 degrees of freedom. The second term of the variance accounts for nodes that
// several splits share, with the assumed correlation tested/(tested + trained) of two splits. P is therefore about
// other nodes than the nodes of the graph.
//
// If test sets are larger than 0.4 times the training sets, this test is left out, and P, PHolm and Margin are NaN:
// with test and training sets of equal size, a difference of one standard deviation, which 17 of 20 splits show, has p
// = 0.33. Nadeau and Bengio recommend a tenth to a fifth.
//
// PDraws is the p value of the paired t-test, which lacks the second term. It is about other draws of labelled nodes
// from the same graph, because splits are independent draws from them.
type Comparison struct {
	TrainFraction float64 `json:"train_fraction"`
	TrainedOn     string  `json:"trained_on"`
	A             string  `json:"a"`
	B             string  `json:"b"`
	Difference    float64 `json:"difference"`     // mean accuracy of A less the mean accuracy of B
	Margin        float64 `json:"margin"`         // half the 95 % confidence interval of Difference; 0 for fewer than leastSplits
	Higher        int     `json:"higher"`         // splits on which A is more accurate
	Lower         int     `json:"lower"`          // splits on which B is more accurate
	P             float64 `json:"p"`              // two-sided; 1 for fewer than two splits
	PHolm         float64 `json:"p_holm"`         // P, corrected for all pairs at the training size by the procedure of Holm (1979)
	PDraws        float64 `json:"p_draws"`        // p value of the paired t-test, corrected in the same way
	Mark          string  `json:"mark,omitempty"` // * significant by all tests that were made, † by PDraws alone
}

// leastSplits is the least number of splits for a confidence interval. The interval of two splits is wider than ± 90
// points.
const leastSplits = 5

// Level is the p value below which the report calls a difference significant.
const Level = 0.05

// mostTested is the largest ratio of test nodes to training nodes for the corrected resampled t-test of [Comparison].
const mostTested = 0.4

func (m *Measured) byDraws() bool {
	return m.NodesTested > mostTested*m.NodesTrained
}

const (
	first    = "best"      // the highest mean accuracy
	notWorse = "not worse" // the difference from the best is not significant at [Level] by PHolm or, if byDraws holds, by PDraws
	worse    = "worse"
)

// scoresOf returns the score of each method on each split: the accuracy, or for numbers −RMSE divided by the mean RMSE
// of the first method.
func scoresOf(list []Result) (scores [][]float64) {
	for i := range list {
		r := &list[i]
		if r.NumberMeasures == nil {
			scores = append(scores, r.Accuracies)
			continue
		}
		errors := slices.Clone(r.RMSEs)
		if unit := stat.Mean(list[0].RMSEs, nil); unit > 0 {
			floats.Scale(-1/unit, errors)
		}
		scores = append(scores, errors)
	}
	return scores
}

// compare tests all pairs of methods at one training size, and stores how they compare with the best method. With a
// single split no difference is significant.
func compare(results []Result) (tests []Comparison) {
	scores := scoresOf(results)
	best := 0
	for i := range results {
		results[i].Standing = worse
		if stat.Mean(scores[i], nil) > stat.Mean(scores[best], nil) {
			best = i
		}
	}
	var p, draws []float64
	for i := range results {
		for j := i + 1; j < len(results); j++ {
			c := newComparison(&results[i].Measured, &results[j].Measured, scores[i], scores[j])
			tests = append(tests, c)
			p = append(p, c.P)
			draws = append(draws, c.PDraws)
		}
	}
	p = holm(p)
	draws = holm(draws)
	for i := range tests {
		t := &tests[i]
		t.PHolm = p[i]
		t.PDraws = draws[i]
		switch {
		case t.PHolm < Level, results[0].byDraws() && t.PDraws < Level:
			t.Mark = bestMark
		case t.PDraws < Level:
			t.Mark = drawsMark
		}
	}
	results[best].Standing = first
	results[best].Mark = bestMark
	for i, test := 0, 0; i < len(results); i++ {
		for j := i + 1; j < len(results); j, test = j+1, test+1 {
			if i != best && j != best || len(scores[best]) < 2 {
				continue
			}
			t := tests[test]
			rival := &results[i+j-best]
			if t.PHolm >= Level || results[best].byDraws() && t.PDraws >= Level {
				rival.Standing = notWorse
				rival.Mark = notWorseMark
			}
		}
	}
	return tests
}

// newComparison compares two methods at one training size.
func newComparison(a, b *Measured, x, y []float64) Comparison {
	c := Comparison{TrainFraction: a.TrainFraction, TrainedOn: a.TrainedOn,
		A: a.Method, B: b.Method, Difference: stat.Mean(x, nil) - stat.Mean(y, nil)}
	for i := range x {
		switch cmp.Compare(x[i], y[i]) {
		case 1:
			c.Higher++
		case -1:
			c.Lower++
		}
	}
	c.P, c.Margin = correctedT(x, y, a.NodesTested/a.NodesTrained, a.NodesTested)
	switch {
	case a.byDraws():
		c.P = math.NaN()
		c.Margin = math.NaN()
	case len(x) < leastSplits:
		c.Margin = 0
	}
	c.PDraws, _ = correctedT(x, y, 0, a.NodesTested)
	return c
}

// correctedT returns the two-sided p value of the corrected resampled t-test, see [Comparison], and half the width of
// the 95 % confidence interval of the mean difference. ratio is the number of test nodes divided by the number of
// training nodes. The variance is at least 1/(12·tested²), the variance of accuracies rounded to whole nodes, because a
// few differences can be equal by chance. p is 1 if all differences are 0 or there are fewer than two.
func correctedT(a, b []float64, ratio, tested float64) (p, margin float64) {
	if len(a) < 2 {
		return 1, 0
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	mean, variance := stat.MeanVariance(d, nil)
	if mean == 0 && variance == 0 {
		return 1, 0
	}
	variance = max(variance, 1/(12*tested*tested))
	stderr := math.Sqrt((1/float64(len(d)) + ratio) * variance)
	dist := distuv.StudentsT{Sigma: 1, Nu: float64(len(d) - 1)}
	return 2 * dist.CDF(-math.Abs(mean/stderr)), stderr * dist.Quantile(1-Level/2)
}

// holm corrects m p values by the step-down procedure of Holm (1979): the k-th smallest p value, counted from 0,
// becomes the largest of (m − i)·pᵢ over i ≤ k, and at most 1.
func holm(p []float64) []float64 {
	order := sched.Ascending(p)
	adjusted := make([]float64, len(p))
	highest := 0.0
	for k, i := range order {
		highest = max(highest, min(1, float64(len(p)-k)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}
