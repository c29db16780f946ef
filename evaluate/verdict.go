package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// describe stores the texts of a report, and the times of its results.
func (r *Report) describe() {
	r.Protocol, r.ParameterChoice, r.Marks = r.drawn(), strings.Join(r.parameterChoice(), "; "), bestMark+" best"
	for i := range r.Results {
		res := &r.Results[i]
		res.SecondsPrediction = (res.Phases.Choose + res.Phases.Walk + res.Phases.Classify) / float64(max(1, r.Splits))
	}
	if r.Splits > 1 {
		r.Marks = legend
	}
	r.Summary = r.verdict()
}

// verdict states the best method at the middle training size.
func (r *Report) verdict() string {
	var sizes []string
	for _, res := range r.Results {
		if !slices.Contains(sizes, res.TrainedOn) {
			sizes = append(sizes, res.TrainedOn)
		}
	}
	size := sizes[(len(sizes)-1)/2]
	var best, next *Result
	for i := range r.Results {
		switch res := &r.Results[i]; {
		case res.TrainedOn != size:
		case res.Standing == first:
			best = res
		case next == nil || res.AccuracyMean > next.AccuracyMean:
			next = res
		}
	}
	if best.TrainPerClass == 0 {
		size += " of the labels"
	}
	text := fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", size, best.Method, percent(best.AccuracyMean))
	if r.Splits > 1 {
		text += " ± " + percent(best.AccuracyStderr)
	}
	text += " %."
	if next == nil {
		return text
	}
	text += fmt.Sprintf(" The next one is %s, with a difference of %s points", next.Method, points(best.AccuracyMean-next.AccuracyMean))
	if r.Splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
	}
	test := r.Significance[slices.IndexFunc(r.Significance, func(c Comparison) bool {
		return c.TrainedOn == best.TrainedOn && (c.A == best.Method && c.B == next.Method || c.A == next.Method && c.B == best.Method)
	})]
	if test.A == next.Method {
		test.Difference, test.Higher, test.Lower = -test.Difference, test.Lower, test.Higher
	}
	draws, nodes, confidence := "may be chance", "may not hold", ""
	if test.Margin > 0 {
		confidence = "; 95 % confidence interval, points: " + points(test.Difference-test.Margin) + " to " + points(test.Difference+test.Margin)
	}
	if test.PDraws < Level {
		draws = "is not chance"
	}
	if test.PHolm < Level {
		nodes = "is significant"
	}
	return text + fmt.Sprintf("; it is more accurate on %d of %d splits and less accurate on %d. Over draws of the labelled nodes of this graph, the difference %s (p value %s). For other nodes it %s (p value %s%s).",
		test.Higher, r.Splits, test.Lower, draws, pValue(test.PDraws), nodes, pValue(test.PHolm), confidence)
}

// points writes a difference of shares of one in percentage points.
func points(difference float64) string {
	if math.Abs(difference) < 0.0005 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", 100*difference), "-", "−", 1)
}

// pValue writes a p value with three decimals.
func pValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
