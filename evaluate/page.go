package evaluate

import (
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
	p := &report.Page{Title: "Comparison of methods"}
	fractions := r.fractions()
	v := &view{Report: r, fractions: fractions, detail: fractions[(len(fractions)-1)/2]}
	p.Facts = []report.Fact{
		{Name: "Labels", Value: fmt.Sprintf("%s of %s nodes, %d classes", thousands(r.Labelled), thousands(r.Nodes), len(r.Classes))},
		{Name: "Protocol", Value: r.drawn() + "; the same splits for all methods; rng seed " + strconv.FormatUint(r.RNGSeed, 10)},
	}
	if lines := r.protocol(); lines != nil {
		p.Facts = append(p.Facts, report.Fact{Name: "Parameters", Value: strings.Join(lines, "; ")})
	}
	p.Summary = []string{v.verdict()}
	for _, s := range []*report.Section{v.best(), v.accuracy(), v.differences(), v.tried(), v.parameters(), v.cost(), v.classes(), v.calibration(), v.quality()} {
		if s != nil {
			p.Sections = append(p.Sections, *s)
		}
	}
	return p
}

// view is a report with the training sizes that a page shows.
type view struct {
	*Report
	fractions []float64
	detail    float64 // the size of the sections about a single one
}

// at names the size of these sections in a title.
func (v *view) at() string { return "trained on " + v.trainedOn(v.detail) }

// competitors returns the names of the methods except that of the largest class, which has no part in the
// range of figures.
func (v *view) competitors() []string {
	return slices.DeleteFunc(v.methods(), func(name string) bool { return name == method.Majority.Name() })
}

// ranking is the most accurate method at a training size and the next one.
type ranking struct {
	first, next *Result // next is nil if no other method was measured
	test        Comparison
}

// rank returns the most accurate two methods at a fraction.
func (v *view) rank(fraction float64) ranking {
	best := v.result(v.Report.best(fraction), fraction)
	rk := ranking{first: best}
	for _, name := range v.methods() {
		if res := v.result(name, fraction); res != best && (rk.next == nil || res.AccuracyMean > rk.next.AccuracyMean) {
			rk.next = res
		}
	}
	for _, c := range v.Significance {
		switch {
		case rk.next == nil || c.TrainFraction != fraction:
		case c.A == best.Method && c.B == rk.next.Method:
			rk.test = c
		case c.B == best.Method && c.A == rk.next.Method:
			c.Difference, c.Higher, c.Lower = -c.Difference, c.Lower, c.Higher
			rk.test = c
		}
	}
	return rk
}

// interval writes the 95 % confidence interval of a difference in points.
func interval(c Comparison) string {
	return points(c.Difference-c.Margin) + " to " + points(c.Difference+c.Margin)
}

// verdict states the best method at the middle training size.
func (v *view) verdict() string {
	rk := v.rank(v.detail)
	text := fmt.Sprintf("Trained on %s of the labels, %s is the most accurate method: %s", v.trainedOn(v.detail), rk.first.Method, percent(rk.first.AccuracyMean))
	if rk.first.TrainPerClass > 0 {
		text = fmt.Sprintf("Trained on %s, %s is the most accurate method: %s", v.trainedOn(v.detail), rk.first.Method, percent(rk.first.AccuracyMean))
	}
	if v.Splits > 1 {
		text += " ± " + percent(rk.first.AccuracyStderr)
	}
	text += " %."
	if rk.next == nil {
		return text
	}
	text += fmt.Sprintf(" The next one is %s, with a difference of %s points", rk.next.Method, points(rk.test.Difference))
	if v.Splits < 2 {
		return text + ". A single split does not show whether the difference is chance."
	}
	test := rk.test
	text += fmt.Sprintf("; it is more accurate on %d of %d splits and less accurate on %d. ", test.Higher, v.Splits, test.Lower)
	draws := "may be chance"
	if test.PDraws < Level {
		draws = "is not chance"
	}
	others := "may not hold"
	if test.PHolm < Level {
		others = "is significant"
	}
	return text + fmt.Sprintf("Over draws of the labelled nodes of this graph, the difference %s (p %s). For other nodes it %s (p %s; 95 %% confidence interval %s points).",
		draws, equals(test.PDraws), others, equals(test.PHolm), interval(test))
}

// testText explains the tests.
var testText = []string{
	"p (draws) is about other draws of labelled nodes of this graph: the paired t-test, whose splits are independent draws. p (nodes) and the confidence interval are about other nodes: " +
		"the corrected resampled t-test of Nadeau and Bengio (2003), whose variance has the factor 1/splits + test nodes/training nodes. It assumes that two splits correlate by " +
		"the share of the nodes in a test set, which is very cautious where few nodes are labelled.",
	"Tests are two-sided. Both p values have Holm's correction for all pairs of methods at a training size. Differences with p < 0.05 are called significant.",
}

// best returns the section with the best method of each training size.
func (v *view) best() *report.Section {
	t := &report.Table{
		Caption: "The most accurate method and the next one.",
		Head:    []string{"trained on", "best", "accuracy, %", "next", "difference, points", "more accurate on", "p (draws)", "p (nodes)", "95 % interval (nodes)"},
	}
	for _, f := range v.fractions {
		rk := v.rank(f)
		if rk.next == nil {
			return nil
		}
		row := report.Texts(v.trainedOn(f), rk.first.Method, v.accuracyOf(rk.first), rk.next.Method, points(rk.test.Difference), fmt.Sprintf("%d of %d splits", rk.test.Higher, v.Splits), "–", "–", "–")
		if v.Splits > 1 {
			row[6].Text, row[7].Text, row[8].Text = short(rk.test.PDraws), short(rk.test.PHolm), interval(rk.test)
		}
		row[1].Strong = true
		t.Rows = append(t.Rows, row)
	}
	text := testText
	if v.Folds > 0 {
		text = append(slices.Clone(text), "Folds share training nodes, so that p (draws) is somewhat too small.")
	}
	return &report.Section{Title: "Best method", Text: text, Parts: []report.Part{{Table: t}}}
}

// accuracyOf writes the accuracy of a result with its standard error.
func (v *view) accuracyOf(res *Result) string {
	if v.Splits < 2 {
		return percent(res.AccuracyMean)
	}
	return percent(res.AccuracyMean) + " (" + percent(res.AccuracyStderr) + ")"
}

// accuracy returns the section with the table of accuracies and their curves.
func (v *view) accuracy() *report.Section {
	t := &report.Table{
		Caption: "Accuracy in %, " + v.drawn() + ". * best; ≈ not significantly worse than the best by either test; † worse by p (draws) alone; no mark: worse by both.",
		Head:    []string{"method"},
		Data:    [][]string{{"method", "train_fraction", "accuracy", "standard_error", "standing"}},
	}
	if v.Splits < 2 {
		t.Caption = "Accuracy in % on " + v.drawn() + ". * best."
	}
	for _, f := range v.fractions {
		t.Head = append(t.Head, v.trainedOn(f))
	}
	for _, name := range v.methods() {
		row := report.Texts(name)
		for _, f := range v.fractions {
			res := v.result(name, f)
			row = append(row, report.Cell{Text: v.accuracyOf(res), Mark: v.mark(res), Strong: res.Standing == first})
			t.Data = append(t.Data, []string{name, plain(f), plain(res.AccuracyMean), plain(res.AccuracyStderr), res.Standing})
		}
		t.Rows = append(t.Rows, row)
	}
	figure := v.bars()
	if len(v.fractions) > 1 {
		figure = v.curves()
	}
	return &report.Section{Title: "Accuracy", Parts: []report.Part{{Table: t}, {Figure: figure}}}
}

// mark returns the sign of a result in the table of accuracies.
func (v *view) mark(res *Result) string {
	switch res.Standing {
	case first:
		return "*"
	case worse:
		return ""
	}
	best := v.Report.best(res.TrainFraction)
	for _, c := range v.Significance {
		if c.TrainFraction == res.TrainFraction && (c.A == best && c.B == res.Method || c.B == best && c.A == res.Method) && c.PDraws < Level {
			return "†"
		}
	}
	return "≈"
}

// spread is the ratio of values from which an axis is logarithmic.
const spread = 5

// sizeAxis returns the axis of training sizes, and the value of a fraction on it.
func (v *view) sizeAxis() (report.Axis, func(fraction float64) float64) {
	a := report.Axis{Title: "training nodes, % of the labelled nodes"}
	value := func(f float64) float64 { return 100 * f }
	if v.Results[0].TrainPerClass > 0 {
		a.Title = "training nodes of each class"
		value = func(f float64) float64 { return float64(v.result(v.Results[0].Method, f).TrainPerClass) }
	}
	sizes := slices.Sorted(slices.Values(v.fractions))
	least, most := value(sizes[0]), value(sizes[len(sizes)-1])
	a.Log = most >= spread*least
	if a.Log {
		a.Title += " (logarithmic)"
	}
	a.From, a.To = least, most
	for _, f := range sizes {
		a.Ticks = append(a.Ticks, report.Tick{At: value(f), Text: strconv.FormatFloat(value(f), 'g', 4, 64)})
	}
	return a, value
}

// line returns a value of each training size as a curve. Sizes where the value is missing are left out.
func (v *view) line(name string, of func(*Result) (y, margin float64)) report.Line {
	_, value := v.sizeAxis()
	l := report.Line{Name: name}
	for _, f := range slices.Sorted(slices.Values(v.fractions)) {
		if y, margin := of(v.result(name, f)); !math.IsNaN(y) {
			l.Points = append(l.Points, report.Point{X: value(f), Y: y, Margin: margin})
		}
	}
	return l
}

// curves draws the accuracy of methods over the training sizes.
func (v *view) curves() *report.Figure {
	x, _ := v.sizeAxis()
	c := &report.Chart{X: x, Y: report.Axis{Title: "accuracy, %"}}
	percents := func(res *Result) (float64, float64) { return 100 * res.AccuracyMean, 100 * res.AccuracyStderr }
	least := math.Inf(1)
	for _, name := range v.competitors() {
		l := v.line(name, percents)
		for _, p := range l.Points {
			least = min(least, p.Y)
		}
		c.Lines = append(c.Lines, l)
	}
	majority := v.line(method.Majority.Name(), percents)
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range majority.Points {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	caption := "Accuracy over the training size, to scale."
	if v.Splits > 1 {
		caption += " Bands: plus and minus one standard error."
	}
	if low >= least-5 || len(c.Lines) == 0 {
		majority.Reference = true
		c.Lines = append(c.Lines, majority)
		caption += " Dotted: the largest class."
	} else {
		caption += fmt.Sprintf(" Not drawn: the largest class, with an accuracy of %s %%.", span(low, high))
	}
	return &report.Figure{
		Name: "accuracy", Caption: caption, Drawing: c,
		Alt: "Curves of the accuracy of each method over the training size. The table of accuracies has the same numbers. " + v.verdict(),
	}
}

// span writes a range of percentages.
func span(low, high float64) string {
	a, b := strconv.FormatFloat(low, 'f', 1, 64), strconv.FormatFloat(high, 'f', 1, 64)
	if a == b {
		return a
	}
	return a + " to " + b
}

// bars draws the accuracies at a single training size.
func (v *view) bars() *report.Figure {
	b := &report.Bars{X: report.Axis{Title: "accuracy, %"}}
	for _, name := range v.methods() {
		res := v.result(name, v.detail)
		b.Bars = append(b.Bars, report.Bar{
			Label: name, Values: []float64{100 * res.AccuracyMean}, Texts: []string{percent(res.AccuracyMean)}, Margin: 100 * res.AccuracyStderr,
		})
	}
	caption := "Accuracy."
	if v.Splits > 1 {
		caption = "Accuracy, with plus and minus one standard error."
	}
	return &report.Figure{Name: "accuracy", Caption: caption, Drawing: b, Alt: "Bars of the accuracy of each method. " + v.verdict()}
}

// differences returns the section with all pairs of methods, without those of the largest class, which
// are in the CSV.
func (v *view) differences() *report.Section {
	t := &report.Table{
		Caption: "Difference of accuracies in points. * significant by both tests; † by p (draws) alone.", Head: []string{"methods"},
		Data: [][]string{{"a", "b", "train_fraction", "difference", "margin_95", "higher", "lower", "p_nodes", "p_draws"}},
	}
	for _, f := range v.fractions {
		t.Head = append(t.Head, v.trainedOn(f))
	}
	for _, c := range v.Significance {
		t.Data = append(t.Data, []string{
			c.A, c.B, plain(c.TrainFraction), plain(c.Difference), plain(c.Margin), strconv.Itoa(c.Higher), strconv.Itoa(c.Lower), plain(c.PHolm), plain(c.PDraws),
		})
	}
	names := v.competitors()
	for i, a := range names {
		for _, b := range names[i+1:] {
			row := report.Texts(a + " − " + b)
			for _, f := range v.fractions {
				for _, c := range v.Significance {
					if c.A == a && c.B == b && c.TrainFraction == f {
						cell := report.Cell{Text: points(c.Difference)}
						switch {
						case v.Splits < 2:
						case c.PHolm < Level:
							cell.Mark = "*"
						case c.PDraws < Level:
							cell.Mark = "†"
						}
						row = append(row, cell)
					}
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &report.Section{Title: "Differences", Text: []string{"The CSV has the confidence interval, the splits and the p values of each pair, also of the largest class."}, Parts: []report.Part{{Table: t}}}
}

// points writes a difference of shares of one in percentage points.
func points(x float64) string {
	if math.Abs(x) < 0.0005 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", 100*x), "-", "−", 1)
}

// equals writes a p value after "p".
func equals(p float64) string {
	if text := short(p); text[0] == '<' {
		return text
	}
	return "= " + short(p)
}

// short writes a p value with two digits.
func short(x float64) string {
	switch {
	case x < 0.001:
		return "< 0.001"
	case x < 0.1:
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// plain writes a number for other programs.
func plain(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
