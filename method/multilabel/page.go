package multilabel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
)

// measures are the columns of the table of a page. The names of their charts follow from the titles.
var measures = []struct {
	title string
	value func(*Result) (mean, stderr float64)
}{
	{"micro-F1", func(r *Result) (float64, float64) { return r.MicroF1, r.MicroStderr }},
	{"macro-F1", func(r *Result) (float64, float64) { return r.MacroF1, r.MacroStderr }},
	{"micro-F1, threshold", func(r *Result) (float64, float64) { return r.ThresholdMicroF1, r.ThresholdMicroStderr }},
	{"macro-F1, threshold", func(r *Result) (float64, float64) { return r.ThresholdMacroF1, r.ThresholdMacroStderr }},
}

// table returns micro-F1 and macro-F1 of all methods.
func (r *Report) table() *report.Table {
	t := &report.Table{Caption: fmt.Sprintf("F1 in %%, %s.", r.drawn()), Head: []string{"trained on", "method"}, Bars: map[int]report.Bars{2: report.Linear, 3: report.Linear}}
	for _, m := range measures {
		t.Head = append(t.Head, m.title)
	}
	for i := range r.Results {
		res := &r.Results[i]
		row := []report.Cell{report.Number(100*res.TrainFraction, size(res)+" %"), {Text: res.Method}}
		for _, m := range measures {
			row = append(row, report.Percent(m.value(res)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Page returns the report as a page: micro-F1 and macro-F1 as a table and as charts over the training size.
// The caller adds the graph and the command.
func (r *Report) Page() *report.Page {
	model, frequent, t := &r.Results[0], &r.Results[1], r.table()
	s := &report.Section{
		Title: "F1",
		Text: []string{"A test node gets as many predicted labels as it has true ones, as in Perozzi, Al-Rfou and Skiena (2014). " +
			"With a threshold it gets the labels above one that is learned from the training nodes, which needs no true number."},
		Tables: []*report.Table{t},
	}
	for i, m := range measures {
		s.Charts = append(s.Charts, &report.Chart{
			Name: strings.ReplaceAll(strings.ToLower(m.title), ", ", "-"), Caption: m.title + " over the training size, with plus and minus one standard error where there are several splits.",
			X: report.Axis{Title: "training nodes, % of the labelled nodes"}, Y: report.Axis{Title: m.title + ", %"}, Lines: t.Curves(1, 0, 2+i),
		})
	}
	p := &report.Page{
		Title:  "Several labels of each node",
		Series: []string{model.Method, frequent.Method},
		Facts: []report.Fact{
			{Name: "Labels", Value: fmt.Sprintf("%d labels on %d of %d nodes, %d classes", r.Labels, r.Labelled, r.Nodes, len(r.Classes))},
			{Name: "Protocol", Value: fmt.Sprintf("%s; the same splits for all methods; rng seed %d", r.drawn(), r.RNGSeed)},
		},
		Summary: []string{fmt.Sprintf("Trained on %s %% of the labelled nodes, %s has a micro-F1 of %s %% and a macro-F1 of %s %%; %s has %s %% and %s %%.",
			size(model), model.Method, percent(model.MicroF1), percent(model.MacroF1), frequent.Method, percent(frequent.MicroF1), percent(frequent.MacroF1))},
	}
	p.Add(s)
	return p
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
