package choose

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/method/problem"
)

// Ranked describes how well probabilities of a class rank held-out labels: whether labels of the class come first.
type Ranked struct {
	Class  string `json:"class"`
	Labels int    `json:"labels"` // labels of the class
	Tested int    `json:"tested"` // held-out labels of all classes

	// AveragePrecision is the mean, over held-out labels of the class, of the precision among the labels with at least their
	// probability. For random probabilities it is the share of the class.
	AveragePrecision float64 `json:"average_precision"`
	Stderr           float64 `json:"average_precision_stderr"`

	First []FirstPrecision `json:"first"` // precision among the first 10, 100 and 1,000 held-out labels

	ForPrecision *OperatingPoint `json:"for_precision,omitempty"` // nil: no precision was asked for
	ForRecall    *OperatingPoint `json:"for_recall,omitempty"`    // nil: no recall was asked for
}

// FirstPrecision is the share of labels of a class among the held-out labels that are most likely of the class.
type FirstPrecision struct {
	Labels    int     `json:"labels"`
	Precision float64 `json:"precision"`
	Stderr    float64 `json:"precision_stderr"`
}

// OperatingPoint is a threshold of probabilities: a node with at least this probability is taken to be of the class.
// Precision and Recall are found at held-out labels by thresholds that other labels choose, because the threshold that
// suits some labels suits others less.
type OperatingPoint struct {
	Asked           float64 `json:"asked"`            // precision or recall that was asked for
	IsReached       bool    `json:"is_reached"`       // false: no threshold has it on held-out labels, and the other fields are 0
	Threshold       float64 `json:"threshold"`        // for a precision the smallest, for a recall the largest
	Precision       float64 `json:"precision"`        // share of the class among labels with the threshold
	PrecisionStderr float64 `json:"precision_stderr"` // binomial, times √[Nearness]
	Recall          float64 `json:"recall"`           // share of the labels of the class with the threshold
	RecallStderr    float64 `json:"recall_stderr"`    // binomial, times √[Nearness]
	Nodes           int     `json:"nodes,omitempty"`  // nodes without a label that have the threshold, set by the caller
}

// MostRare is the largest share of the labels that a rare class has.
const MostRare = 0.2

// RareClasses returns the classes with at least two labels and at most the share [MostRare] of the labels, the rarest first.
func RareClasses(p *problem.Problem) (classes []int) {
	count := CountsOf(p)
	for c, n := range count {
		if n >= 2 && n <= MostRare*float64(len(p.Row)) {
			classes = append(classes, c)
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int { return int(count[a] - count[b]) })
	return classes
}

type rankedLabel struct {
	probability float64
	isOfClass   bool
	unit        int // labels of a unit are drawn together: the group, or the label
}

// Rank returns the figures of classes, with thresholds for the given precision and recall unless these are 0. It leaves out
// classes of which no held-out label has probabilities. Cost: classes·labels·log(labels).
func (h *Held) Rank(p *problem.Problem, classes []int, precision, recall float64) (list []Ranked) {
	unit, members := unitsOf(p)
	counts := drawCounts(len(members))
	for _, class := range classes {
		if r := h.rank(p, class, precision, recall, unit, counts); r != nil {
			list = append(list, *r)
		}
	}
	return list
}

func (h *Held) rank(p *problem.Problem, class int, precision, recall float64, unit []int, counts [][]float64) *Ranked {
	var list []rankedLabel
	positives := 0
	for _, row := range h.Rows {
		if !row.Reached || row.Scores == nil {
			continue
		}
		isOfClass := p.Class[row.Label] == class
		if isOfClass {
			positives++
		}
		list = append(list, rankedLabel{float64(row.Scores[class]), isOfClass, unit[row.Label]})
	}
	if positives == 0 {
		return nil
	}
	const parts = 5
	part := func(skipped int) (others, tests []rankedLabel) {
		for i, l := range list {
			if i%parts == skipped {
				tests = append(tests, l)
			} else {
				others = append(others, l)
			}
		}
		return others, tests
	}
	point := func(asked float64, threshold func(ranked []rankedLabel) (float64, bool)) *OperatingPoint {
		o := &OperatingPoint{Asked: asked}
		o.Threshold, o.IsReached = threshold(sortRanked(list))
		if !o.IsReached {
			return o
		}
		found, named := 0, 0
		for skipped := range parts {
			others, tests := part(skipped)
			t, isReached := threshold(sortRanked(others))
			for _, l := range tests {
				if isReached && l.probability >= t {
					named++
					if l.isOfClass {
						found++
					}
				}
			}
		}
		o.Precision, o.PrecisionStderr = shareOf(found, named)
		o.Recall, o.RecallStderr = shareOf(found, positives)
		return o
	}
	r := &Ranked{Class: p.Names[class], Labels: int(CountsOf(p)[class]), Tested: len(list)}
	ranked := sortRanked(list)
	r.AveragePrecision = averagePrecision(ranked, func(*rankedLabel) float64 { return 1 })
	r.Stderr = errorOfAverage(ranked, counts)
	for _, n := range []int{10, 100, 1000} {
		if n <= len(ranked) {
			right := expectedAmong(ranked, n)
			_, stderr := shareOf(int(math.Round(right)), n)
			r.First = append(r.First, FirstPrecision{n, right / float64(n), stderr})
		}
	}
	if precision > 0 {
		r.ForPrecision = point(precision, func(ranked []rankedLabel) (float64, bool) { return thresholdForPrecision(ranked, precision) })
	}
	if recall > 0 {
		r.ForRecall = point(recall, func(ranked []rankedLabel) (float64, bool) { return thresholdForRecall(ranked, recall) })
	}
	return r
}

// sortRanked returns the labels by falling probability.
func sortRanked(list []rankedLabel) []rankedLabel {
	ranked := slices.Clone(list)
	slices.SortStableFunc(ranked, func(a, b rankedLabel) int {
		switch {
		case a.probability > b.probability:
			return -1
		case a.probability < b.probability:
			return 1
		}
		return 0
	})
	return ranked
}

// shareOf returns a share and its standard error, which two more of each kind keep above 0.
func shareOf(count, total int) (share, stderr float64) {
	n := float64(total)
	p := (float64(count) + 2) / (n + 4)
	return float64(count) / max(1, n), math.Sqrt(Nearness * p * (1 - p) / (n + 4))
}

// eachThreshold calls visit with each distinct probability, from the largest, the number of labels that have at least it, and
// how many of these are of the class.
func eachThreshold(ranked []rankedLabel, visit func(probability float64, named, right int)) {
	right := 0
	for i, l := range ranked {
		if l.isOfClass {
			right++
		}
		if i+1 == len(ranked) || ranked[i+1].probability < l.probability {
			visit(l.probability, i+1, right)
		}
	}
}

// averagePrecision returns the mean precision at the labels of the class, where each label counts as often as weight says.
func averagePrecision(ranked []rankedLabel, weight func(l *rankedLabel) float64) float64 {
	sum, named, right, before := 0.0, 0.0, 0.0, 0.0
	for i := range ranked {
		w := weight(&ranked[i])
		named += w
		if ranked[i].isOfClass {
			right += w
		}
		if i+1 == len(ranked) || ranked[i+1].probability < ranked[i].probability {
			if right > before {
				sum += (right - before) * right / named
			}
			before = right
		}
	}
	return sum / max(right, 1)
}

// draws is the number of draws of labels for the standard error of an average precision: enough for a tenth of it.
const draws = 100

// errorOfAverage returns the standard error of the average precision: the deviation over draws in which the number of times
// that a label or group counts has a Poisson distribution with mean 1, times √[Nearness]. counts has the numbers of each draw
// by unit. Source: Hanley and MacGibbon, Creating non-parametric bootstrap samples using Poisson frequencies (2006).
func errorOfAverage(ranked []rankedLabel, counts [][]float64) float64 {
	var found []float64
	for _, count := range counts {
		found = append(found, averagePrecision(ranked, func(l *rankedLabel) float64 { return count[l.unit] }))
	}
	_, deviation := stat.MeanStdDev(found, nil)
	return math.Sqrt(Nearness) * deviation
}

// drawCounts returns how often each unit counts in each draw.
func drawCounts(units int) (counts [][]float64) {
	for draw := range uint64(draws) {
		rng := newRand(0, streamBootstrap|draw)
		count := make([]float64, units)
		for u := range count {
			count[u] = drawPoisson(rng)
		}
		counts = append(counts, count)
	}
	return counts
}

// drawPoisson draws from the Poisson distribution with mean 1.
func drawPoisson(rng *rand.Rand) (count float64) {
	u := rng.Float64()
	p := 1 / math.E
	for u >= p && p > 0 {
		u -= p
		count++
		p /= count
	}
	return count
}

// expectedAmong returns the number of labels of the class among the first n, where labels of equal probability are in random
// order.
func expectedAmong(ranked []rankedLabel, n int) (right float64) {
	last := 0
	before := 0
	eachThreshold(ranked, func(_ float64, named, found int) {
		if last < n {
			taken := min(named, n) - last
			right += float64(taken) * float64(found-before) / float64(named-last)
		}
		last = named
		before = found
	})
	return right
}

// thresholdForPrecision returns the smallest threshold with at least the given precision.
func thresholdForPrecision(ranked []rankedLabel, precision float64) (threshold float64, isReached bool) {
	eachThreshold(ranked, func(probability float64, named, right int) {
		if float64(right) >= precision*float64(named) {
			threshold = probability
			isReached = true
		}
	})
	return threshold, isReached
}

// thresholdForRecall returns the largest threshold with at least the given recall.
func thresholdForRecall(ranked []rankedLabel, recall float64) (threshold float64, isReached bool) {
	positives := 0
	for _, l := range ranked {
		if l.isOfClass {
			positives++
		}
	}
	eachThreshold(ranked, func(probability float64, _, right int) {
		if !isReached && float64(right) >= recall*float64(positives) {
			threshold = probability
			isReached = true
		}
	})
	return threshold, isReached && positives > 0
}
