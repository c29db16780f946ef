package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method"
)

// Page returns the report as a page: which method is the best at each training size and whether the
// difference may be chance, learning curves, parameters, cost, classes and calibration. Sections
// about one training size are about the middle one. The caller adds the graph and the command.
func (r *Report) Page() *report.Page {
	v := newView(r)
	p := &report.Page{Title: "Comparison of methods", Series: v.competitors, Summary: []string{v.verdict()}, Facts: []report.Fact{
		{Name: "Labels", Value: fmt.Sprintf("%s of %s nodes, %d classes", thousands(r.Labelled), thousands(r.Nodes), len(r.Classes))},
		{Name: "Protocol", Value: r.drawn() + "; the same splits for all methods; rng seed " + strconv.FormatUint(r.RNGSeed, 10)},
	}}
	if lines := r.protocol(); lines != nil {
		p.Facts = append(p.Facts, report.Fact{Name: "Parameters", Value: strings.Join(lines, "; ")})
	}
	p.Add(v.accuracySection(), v.differences(), surfaceSection(v), parameterSection(v), costSection(v), classSection(v), calibrationSection(v), qualitySection(v))
	return p
}

// view is a report with the selection that a page shows.
type view struct {
	report      *Report
	sizes       []float64 // training fractions
	detail      float64   // the fraction of the sections about a single one
	at          string    // the detail in a title
	methods     []string
	competitors []string // the methods except that of the largest class, by decreasing accuracy
}

func newView(r *Report) *view {
	v := &view{report: r, sizes: r.fractions(), methods: r.methods()}
	v.detail = v.sizes[(len(v.sizes)-1)/2]
	v.at = "trained on " + r.trainedOn(v.detail)
	v.competitors = slices.DeleteFunc(slices.Clone(v.methods), func(name string) bool { return name == method.Majority.Name() })
	slices.SortStableFunc(v.competitors, func(a, b string) int {
		return cmp.Compare(r.result(b, v.detail).AccuracyMean, r.result(a, v.detail).AccuracyMean)
	})
	return v
}

// head returns the titles of a table with a column for each training size.
func (v *view) head(title string, more ...string) []string {
	titles := []string{title}
	for _, size := range v.sizes {
		titles = append(titles, v.report.trainedOn(size))
	}
	return append(titles, more...)
}

// rank returns the test of the most accurate method at a fraction against the next one; false if it is alone.
func (v *view) rank(fraction float64) (test Comparison, hasNext bool) {
	best, next := v.report.best(fraction), -1.0
	for _, name := range v.methods {
		if res := v.report.result(name, fraction); name != best && res.AccuracyMean > next {
			next, test = res.AccuracyMean, v.report.comparison(best, name, fraction)
		}
	}
	return test, next >= 0
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
func (v *view) verdict() string {
	test, hasNext := v.rank(v.detail)
	res := v.report.result(v.report.best(v.detail), v.detail)
	size := v.report.trainedOn(v.detail)
	if res.TrainPerClass == 0 {
		size += " of the labels"
	}
	text := fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", size, res.Method, percent(res.AccuracyMean))
	if v.report.Splits > 1 {
		text += " ± " + percent(res.AccuracyStderr)
	}
	text += " %."
	if !hasNext {
		return text
	}
	text += fmt.Sprintf(" The next one is %s, with a difference of %s points", test.B, points(test.Difference).Text)
	if v.report.Splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
	}
	draws, nodes, confidence := "may be chance", "may not hold", ""
	if test.Margin > 0 {
		confidence = "; 95 % confidence interval, points: " + interval(test)
	}
	if test.PDraws < Level {
		draws = "is not chance"
	}
	if test.PHolm < Level {
		nodes = "is significant"
	}
	return text + fmt.Sprintf("; it is more accurate on %d of %d splits and less accurate on %d. Over draws of the labelled nodes of this graph, the difference %s (p value %s). For other nodes it %s (p value %s%s).",
		test.Higher, v.report.Splits, test.Lower, draws, pValue(test.PDraws).Text, nodes, pValue(test.PHolm).Text, confidence)
}

// differences returns the section with the tests of the best method of each training size against the next
// one, and of all pairs of methods.
func (v *view) differences() *report.Section {
	head := []string{"trained on", "method", "less", "difference, points", "splits with a higher accuracy", "a lower one", "p (draws)", "p (nodes)", "95 % interval (nodes)"}
	best := &report.Table{Caption: "The most accurate method less the next one. * significant by both tests; † by p (draws) alone.", Head: head}
	pairs := &report.Table{Caption: "All pairs of methods.", Head: head, Folded: true}
	for _, size := range v.sizes {
		if test, hasNext := v.rank(size); hasNext {
			best.Rows = append(best.Rows, v.testRow(test))
		}
	}
	for _, test := range v.report.Significance {
		pairs.Rows = append(pairs.Rows, v.testRow(test))
	}
	text := []string{
		"p (draws) is about other draws of labelled nodes of this graph: the paired t-test, whose splits are independent draws. p (nodes) and the confidence interval are about other nodes: " +
			"the corrected resampled t-test of Nadeau and Bengio (2003), whose variance has the factor 1/splits + test nodes/training nodes. It assumes that two splits correlate by " +
			"the share of the nodes in a test set, which is very cautious where few nodes are labelled.",
		"Tests are two-sided. Both p values have Holm's correction for all pairs of methods at a training size. Differences with p < 0.05 are called significant.",
	}
	if v.report.Folds > 0 {
		text = append(text, "Folds share training nodes, so that p (draws) is somewhat too small.")
	}
	return &report.Section{Title: "Best method", Text: text, Tables: []*report.Table{best, pairs}}
}

// testRow returns the row of a test.
func (v *view) testRow(test Comparison) []report.Cell {
	row := report.Texts(v.report.trainedOn(test.TrainFraction), test.A, test.B, "", "", "", "–", "–", "–")
	row[3], row[4], row[5] = points(test.Difference), report.Count(test.Higher), report.Count(test.Lower)
	if v.report.Splits > 1 {
		row[6], row[7], row[8].Text = pValue(test.PDraws), pValue(test.PHolm), interval(test)
		switch {
		case test.PHolm < Level:
			row[3].Mark = "*"
		case test.PDraws < Level:
			row[3].Mark = "†"
		}
	}
	return row
}

// accuracySection returns the section with the table of accuracies and their curves.
func (v *view) accuracySection() *report.Section {
	t := &report.Table{
		Caption: "Accuracy in %, " + v.report.drawn() + ". " + legend(v.report) + ".",
		Head:    v.head("method"),
	}
	c := &report.Chart{Name: "accuracy", Caption: "Accuracy over the training size, to scale.", X: v.sizeAxis(), Y: report.Axis{Title: "accuracy, %"}}
	if v.report.Splits < 2 {
		t.Caption = "Accuracy in % on " + v.report.drawn() + ". * best."
	} else {
		c.Caption += " Bands: plus and minus one standard error."
	}
	if len(v.competitors) < len(v.methods) {
		c.Caption += " Not drawn: the largest class."
	}
	for _, name := range v.methods {
		row, line := report.Texts(name), report.Line{Name: name}
		for _, size := range v.sizes {
			res := v.report.result(name, size)
			cell := report.Percent(res.AccuracyMean, res.AccuracyStderr)
			line.Add(v.sizeOf(size), cell)
			cell.Mark, cell.Strong = mark(v.report, res), res.Standing == first
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
		if slices.Contains(v.competitors, name) {
			c.Lines = append(c.Lines, line)
		}
	}
	if len(v.sizes) == 1 {
		c.Lines, t.Bars = nil, map[int]report.Bars{1: report.Linear}
	}
	return &report.Section{Title: "Accuracy", Tables: []*report.Table{t}, Charts: []*report.Chart{c}}
}

// sizeOf returns the value of a fraction on the axis of training sizes.
func (v *view) sizeOf(fraction float64) float64 {
	if n := v.report.result(v.methods[0], fraction).TrainPerClass; n > 0 {
		return float64(n)
	}
	return 100 * fraction
}

// spread is the ratio of values from which an axis is logarithmic.
const spread = 5

// sizeAxis returns the axis of training sizes.
func (v *view) sizeAxis() report.Axis {
	a := report.Axis{Title: "training nodes, % of the labelled nodes"}
	if v.report.Results[0].TrainPerClass > 0 {
		a.Title = "training nodes of each class"
	}
	for _, size := range slices.Sorted(slices.Values(v.sizes)) {
		a.Ticks = append(a.Ticks, report.Tick{At: v.sizeOf(size), Text: valueText(v.sizeOf(size))})
	}
	a.Low, a.High = a.Ticks[0].At, a.Ticks[len(a.Ticks)-1].At
	if a.High >= spread*a.Low {
		a.Log = true
		a.Title += " (logarithmic)"
	}
	return a
}

// interval writes the 95 % confidence interval of a difference in points.
func interval(c Comparison) string {
	if c.Margin == 0 {
		return "–"
	}
	return points(c.Difference-c.Margin).Text + " to " + points(c.Difference+c.Margin).Text
}

// points returns a difference of shares of one in percentage points.
func points(difference float64) report.Cell {
	text := "0.0"
	if math.Abs(difference) >= 0.0005 {
		text = strings.Replace(fmt.Sprintf("%+.1f", 100*difference), "-", "−", 1)
	}
	return report.Number(100*difference, text)
}

// pValue returns a p value with three decimals.
func pValue(p float64) report.Cell {
	if p < 0.001 {
		return report.Number(p, "< 0.001")
	}
	return report.Fixed(p, 3, 0)
}

// valueText writes a number with four digits, for example the value of a parameter.
func valueText(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
