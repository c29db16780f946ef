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
	p.Add(v.best(), v.accuracySection(), v.differences(), surfaceSection(v), parameterSection(v), costSection(v), classSection(v), calibrationSection(v), qualitySection(v))
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
func (v *view) head(title string, others ...string) []string {
	titles := []string{title}
	for _, size := range v.sizes {
		titles = append(titles, v.report.trainedOn(size))
	}
	return append(titles, others...)
}

// accuracy returns the accuracy of a result with its standard error.
func (v *view) accuracy(res *Result) report.Cell {
	if v.report.Splits < 2 {
		return report.Percent(res.AccuracyMean)
	}
	return report.Percent(res.AccuracyMean, res.AccuracyStderr)
}

// ranking is the most accurate method at a training size and the next one.
type ranking struct {
	first, next *Result // next is nil if no other method was measured
	test        Comparison
}

// rank returns the most accurate two methods at a fraction.
func (v *view) rank(fraction float64) ranking {
	best := v.report.result(v.report.best(fraction), fraction)
	rk := ranking{first: best}
	for _, name := range v.methods {
		if res := v.report.result(name, fraction); res != best && (rk.next == nil || res.AccuracyMean > rk.next.AccuracyMean) {
			rk.next = res
		}
	}
	if rk.next != nil {
		rk.test = v.report.comparison(best.Method, rk.next.Method, fraction)
	}
	return rk
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
	rk, splits := v.rank(v.detail), v.report.Splits
	size := v.report.trainedOn(v.detail)
	if rk.first.TrainPerClass == 0 {
		size += " of the labels"
	}
	text := fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", size, rk.first.Method, percent(rk.first.AccuracyMean))
	if splits > 1 {
		text += " ± " + percent(rk.first.AccuracyStderr)
	}
	text += " %."
	if rk.next == nil {
		return text
	}
	test := rk.test
	text += fmt.Sprintf(" The next one is %s, with a difference of %s points", rk.next.Method, points(test.Difference).Text)
	if splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
	}
	draws, others := "may be chance", "may not hold"
	if test.PDraws < Level {
		draws = "is not chance"
	}
	if test.PHolm < Level {
		others = "is significant"
	}
	return text + fmt.Sprintf("; it is more accurate on %d of %d splits and less accurate on %d. Over draws of the labelled nodes of this graph, the difference %s (p %s). For other nodes it %s (p %s; 95 %% confidence interval %s points).",
		test.Higher, splits, test.Lower, draws, equals(test.PDraws), others, equals(test.PHolm), interval(test))
}

// best returns the section with the best method of each training size.
func (v *view) best() *report.Section {
	t := &report.Table{
		Caption: "The most accurate method and the next one.",
		Head:    []string{"trained on", "best", "accuracy, %", "next", "difference, points", "more accurate on", "p (draws)", "p (nodes)", "95 % interval (nodes)"},
	}
	for _, size := range v.sizes {
		rk := v.rank(size)
		if rk.next == nil {
			continue
		}
		row := report.Texts(v.report.trainedOn(size), rk.first.Method, "", rk.next.Method, "", fmt.Sprintf("%d of %d splits", rk.test.Higher, v.report.Splits), "–", "–", "–")
		row[1].Strong, row[2], row[4] = true, v.accuracy(rk.first), points(rk.test.Difference)
		if v.report.Splits > 1 {
			row[6], row[7], row[8].Text = report.Number(rk.test.PDraws, short(rk.test.PDraws)), report.Number(rk.test.PHolm, short(rk.test.PHolm)), interval(rk.test)
		}
		t.Rows = append(t.Rows, row)
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
	return &report.Section{Title: "Best method", Text: text, Tables: []*report.Table{t}}
}

// accuracySection returns the section with the table of accuracies and their curves.
func (v *view) accuracySection() *report.Section {
	t := &report.Table{
		Caption: "Accuracy in %, " + v.report.drawn() + ". * best; ≈ not significantly worse than the best by either test; † worse by p (draws) alone; no mark: worse by both.",
		Head:    v.head("method"),
	}
	c := &report.Chart{Name: "accuracy", Caption: "Accuracy over the training size, to scale.", X: v.sizeAxis(), Y: report.Axis{Title: "accuracy, %"}}
	if v.report.Splits < 2 {
		t.Caption = "Accuracy in % on " + v.report.drawn() + ". * best."
	} else {
		c.Caption += " Bands: plus and minus one standard error."
	}
	least := math.Inf(1) // accuracy of a competitor
	var majority report.Line
	for _, name := range v.methods {
		row, line := report.Texts(name), report.Line{Name: name, Reference: name == method.Majority.Name()}
		for _, size := range v.sizes {
			res := v.report.result(name, size)
			cell := v.accuracy(res)
			line.Add(v.sizeOf(size), cell)
			if !line.Reference {
				least = min(least, cell.Value)
			}
			cell.Mark, cell.Strong = v.mark(res), res.Standing == first
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
		if line.Reference {
			majority = line
		} else {
			c.Lines = append(c.Lines, line)
		}
	}
	s := &report.Section{Title: "Accuracy", Tables: []*report.Table{t}, Charts: []*report.Chart{c}}
	if len(v.sizes) == 1 {
		s.Charts, t.Bars = nil, map[int]report.Bars{1: report.Linear}
		return s
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range majority.Points {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	switch {
	case majority.Points == nil:
	case low >= least-5:
		c.Lines = append(c.Lines, majority)
		c.Caption += " Dotted: the largest class."
	case percent(low/100) == percent(high/100):
		c.Caption += fmt.Sprintf(" Not drawn: the largest class, with an accuracy of %.1f %%.", low)
	default:
		c.Caption += fmt.Sprintf(" Not drawn: the largest class, with an accuracy of %.1f to %.1f %%.", low, high)
	}
	return s
}

// mark returns the sign of a result in the table of accuracies.
func (v *view) mark(res *Result) string {
	switch best := v.report.best(res.TrainFraction); {
	case res.Standing == notWorse && v.report.comparison(best, res.Method, res.TrainFraction).PDraws < Level:
		return "†"
	default:
		return signs[res.Standing]
	}
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
	a.From, a.To = a.Ticks[0].At, a.Ticks[len(a.Ticks)-1].At
	if a.To >= spread*a.From {
		a.Log = true
		a.Title += " (logarithmic)"
	}
	return a
}

// differences returns the section with all pairs of methods, without those of the largest class, which
// are in the CSV.
func (v *view) differences() *report.Section {
	t := &report.Table{
		Caption: "Difference of accuracies in points. * significant by both tests; † by p (draws) alone.", Head: v.head("methods"),
		Data: [][]string{{"a", "b", "train_fraction", "difference", "margin_95", "higher", "lower", "p_nodes", "p_draws"}},
	}
	for _, c := range v.report.Significance {
		t.Data = append(t.Data, []string{
			c.A, c.B, valueText(c.TrainFraction), valueText(c.Difference), valueText(c.Margin), strconv.Itoa(c.Higher), strconv.Itoa(c.Lower), valueText(c.PHolm), valueText(c.PDraws),
		})
	}
	for i, a := range v.competitors {
		for _, b := range v.competitors[i+1:] {
			row := report.Texts(a + " − " + b)
			for _, size := range v.sizes {
				c := v.report.comparison(a, b, size)
				cell := points(c.Difference)
				switch {
				case v.report.Splits < 2:
				case c.PHolm < Level:
					cell.Mark = "*"
				case c.PDraws < Level:
					cell.Mark = "†"
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return &report.Section{Title: "Differences", Text: []string{"The CSV has the confidence interval, the splits and the p values of each pair, also of the largest class."}, Tables: []*report.Table{t}}
}

// interval writes the 95 % confidence interval of a difference in points.
func interval(c Comparison) string {
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

// equals writes a p value after "p".
func equals(p float64) string {
	if text := short(p); text[0] == '<' {
		return text
	}
	return "= " + short(p)
}

// short writes a p value with two digits.
func short(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'g', 2, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// valueText writes a number with four digits, for example the value of a parameter.
func valueText(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
