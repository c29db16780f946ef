package evaluate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// describe stores the texts of a report, and of its results and tests.
func (r *Report) describe() {
	r.Protocol, r.ParameterChoice = r.drawn(), strings.Join(r.parameterChoice(), "; ")
	for i := range r.Results {
		res := &r.Results[i]
		res.TrainedOn, res.Mark = r.trainedOn(res.TrainFraction), mark(r, res)
		res.SecondsPrediction = (res.Phases.Choose + res.Phases.Walk + res.Phases.Classify) / float64(max(1, r.Splits))
	}
	for i := range r.Significance {
		test := &r.Significance[i]
		test.TrainedOn = r.trainedOn(test.TrainFraction)
		switch {
		case test.PHolm < Level:
			test.Mark = bestMark
		case test.PDraws < Level:
			test.Mark = drawsMark
		}
	}
	r.Marks = bestMark + " best"
	if r.Splits > 1 {
		r.Marks = legend(r)
	}
	r.Summary = r.verdict()
}

// next returns the test of the most accurate method at a fraction against the next one; false if it is alone.
func (r *Report) next(fraction float64) (test Comparison, hasNext bool) {
	best, accuracy := r.best(fraction), -1.0
	for i := range r.Results {
		if res := &r.Results[i]; res.TrainFraction == fraction && res.Method != best && res.AccuracyMean > accuracy {
			accuracy, test = res.AccuracyMean, r.comparison(best, res.Method, fraction)
		}
	}
	return test, accuracy >= 0
}

// comparison returns the test of method a against method b at a fraction.
func (r *Report) comparison(a, b string, fraction float64) Comparison {
	for _, c := range r.Significance {
		switch {
		case c.TrainFraction != fraction:
		case c.A == a && c.B == b:
			return c
		case c.A == b && c.B == a:
			c.A, c.B, c.Difference, c.Higher, c.Lower = a, b, -c.Difference, c.Lower, c.Higher
			return c
		}
	}
	return Comparison{}
}

// verdict states the best method at the middle training size.
func (r *Report) verdict() string {
	sizes := r.fractions()
	fraction := sizes[(len(sizes)-1)/2]
	test, hasNext := r.next(fraction)
	res := r.result(r.best(fraction), fraction)
	size := r.trainedOn(fraction)
	if res.TrainPerClass == 0 {
		size += " of the labels"
	}
	text := fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", size, res.Method, percent(res.AccuracyMean))
	if r.Splits > 1 {
		text += " ± " + percent(res.AccuracyStderr)
	}
	text += " %."
	if !hasNext {
		return text
	}
	text += fmt.Sprintf(" The next one is %s, with a difference of %s points", test.B, points(test.Difference))
	if r.Splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
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
