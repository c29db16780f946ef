package multilabel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
)

// measure is a way to score predictions with its value in a result.
type measure struct {
	title, name string // name is that of a file
	of          func(*Result) (mean, stderr float64)
}

var measures = []measure{
	{"micro-F1", "micro-f1", func(r *Result) (float64, float64) { return r.MicroF1, r.MicroStderr }},
	{"macro-F1", "macro-f1", func(r *Result) (float64, float64) { return r.MacroF1, r.MacroStderr }},
	{"micro-F1, threshold", "micro-f1-threshold", func(r *Result) (float64, float64) { return r.ThresholdMicroF1, r.ThresholdMicroStderr }},
	{"macro-F1, threshold", "macro-f1-threshold", func(r *Result) (float64, float64) { return r.ThresholdMacroF1, r.ThresholdMacroStderr }},
}

// Page returns the report as a page: micro-F1 and macro-F1 as a table and as figures over the training size.
// The caller adds the graph and the command.
func (r *Report) Page() *report.Page {
	first, last := &r.Results[0], &r.Results[1]
	t := &report.Table{
		Caption: fmt.Sprintf("F1 in %%, %s.", r.drawn()),
		Head:    []string{"trained on", "method"},
		Data:    [][]string{{"train_fraction", "method", "measure", "mean", "standard_error"}},
	}
	for _, m := range measures {
		t.Head = append(t.Head, m.title)
	}
	for i := range r.Results {
		res := &r.Results[i]
		row := report.Texts(size(res)+" %", res.Method)
		for _, m := range measures {
			mean, stderr := m.of(res)
			row = append(row, report.Cell{Text: r.cell(mean, stderr)})
			t.Data = append(t.Data, []string{plain(res.TrainFraction), res.Method, m.title, plain(mean), plain(stderr)})
		}
		t.Rows = append(t.Rows, row)
	}
	parts := []report.Part{{Table: t}}
	for i, m := range measures[:2] {
		parts = append(parts, report.Part{Title: m.title, Figure: r.figure(m, measures[i+2])})
	}
	return &report.Page{
		Title: "Several labels of each node",
		Facts: []report.Fact{
			{Name: "Labels", Value: fmt.Sprintf("%d labels on %d of %d nodes, %d classes", r.Labels, r.Labelled, r.Nodes, len(r.Classes))},
			{Name: "Protocol", Value: fmt.Sprintf("%s; the same splits for all methods; rng seed %d", r.drawn(), r.RNGSeed)},
		},
		Summary: []string{fmt.Sprintf("Trained on %s %% of the labelled nodes, %s has a micro-F1 of %s %% and a macro-F1 of %s %%; %s has %s %% and %s %%.",
			size(first), first.Method, percent(first.MicroF1), percent(first.MacroF1), last.Method, percent(last.MicroF1), percent(last.MacroF1))},
		Sections: []report.Section{{
			Title: "F1",
			Text: []string{"A test node gets as many predicted labels as it has true ones, as in Perozzi, Al-Rfou and Skiena (2014). " +
				"With a threshold it gets the labels above one that is learned from the training nodes, which needs no true number."},
			Parts: parts,
		}},
	}
}

// figure draws a measure by the true number of labels, and the one by the threshold.
func (r *Report) figure(m, threshold measure) *report.Figure {
	curves := &report.Chart{X: report.Axis{Title: "training nodes, % of the labelled nodes"}, Y: report.Axis{Title: m.title + ", %"}}
	bars := &report.Bars{X: report.Axis{Title: m.title + ", %"}}
	for i := range r.Results[:2] {
		for _, variant := range []measure{m, threshold} {
			l := report.Line{Name: r.Results[i].Method}
			if variant.name == threshold.name {
				l.Name += ", threshold"
			}
			for k := i; k < len(r.Results); k += 2 {
				mean, stderr := variant.of(&r.Results[k])
				l.Points = append(l.Points, report.Point{X: 100 * r.Results[k].TrainFraction, Y: 100 * mean, Margin: 100 * stderr})
			}
			slices.SortFunc(l.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
			mean, stderr := variant.of(&r.Results[i])
			bars.Bars = append(bars.Bars, report.Bar{Label: l.Name, Values: []float64{100 * mean}, Texts: []string{percent(mean)}, Margin: 100 * stderr})
			if i == 0 {
				curves.Lines = append(curves.Lines, l)
			}
		}
	}
	f := &report.Figure{Name: m.name, Caption: m.title + " over the training size, with plus and minus one standard error where there are several splits. Not drawn: the most frequent labels for every node.", Drawing: curves, Alt: "The " + m.title + " of each method at each training size. The table has the same numbers."}
	if len(r.Results) == 2 { // a single training size of two methods
		f.Drawing, f.Caption = bars, m.title+"."
	}
	return f
}

// drawn describes the splits.
func (r *Report) drawn() string {
	if r.Splits == 1 {
		return "one split"
	}
	return fmt.Sprintf("mean of %d splits (standard error)", r.Splits)
}

// size writes the training size of a result in percent.
func size(r *Result) string { return strconv.FormatFloat(100*r.TrainFraction, 'g', 4, 64) }

// plain writes a number for other programs.
func plain(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
