package evaluate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Page returns the report as a page: a table of errors, and a figure of RMSE over the training size, or of
// the methods at a single size. The caller adds the graph and the command.
func (r *ValuesReport) Page() *report.Page {
	t := &report.Table{
		Caption: "Errors of predicted numbers, " + r.drawn() + ". " + r.legend() + ".",
		Head:    []string{"trained on", "method"},
		Data:    [][]string{{"train_fraction", "method", "measure", "mean", "standard_error"}},
	}
	for _, c := range errorColumns {
		t.Head = append(t.Head, c.title)
	}
	for i := range r.Results {
		res := &r.Results[i]
		row := report.Texts(res.size(), res.Method)
		row[1].Mark, row[1].Strong = signs[res.Standing], res.Standing == first
		for _, c := range errorColumns {
			mean, stderr := c.of(res)
			row = append(row, report.Cell{Text: r.cell(mean, stderr)})
			t.Data = append(t.Data, []string{plain(res.TrainFraction), res.Method, c.title, plain(mean), plain(stderr)})
		}
		t.Rows = append(t.Rows, row)
	}
	return &report.Page{
		Title: "Comparison of methods for numbers",
		Facts: []report.Fact{
			{Name: "Numbers", Value: fmt.Sprintf("at %s of %s nodes", thousands(r.Labelled), thousands(r.Nodes))},
			{Name: "Protocol", Value: fmt.Sprintf("%s; the same splits for all methods; rng seed %d; parameters chosen inside each training set", r.drawn(), r.RNGSeed)},
		},
		Summary:  r.verdicts(),
		Sections: []report.Section{{Title: "Errors", Parts: []report.Part{{Table: t}, {Figure: r.figure()}}}},
	}
}

// verdicts names the best method of each training size.
func (r *ValuesReport) verdicts() (list []string) {
	for i := range r.Results {
		if res := &r.Results[i]; res.Standing == first {
			list = append(list, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %s, R² %s.", res.size(), res.Method, r.cell(res.RMSE, res.RMSEStderr), digits(res.R2)))
		}
	}
	return list
}

// figure draws the RMSE of all methods.
func (r *ValuesReport) figure() *report.Figure {
	curves := &report.Chart{X: report.Axis{Title: "training nodes, % of the nodes with a number"}, Y: report.Axis{Title: "RMSE"}}
	bars := &report.Bars{X: report.Axis{Title: "RMSE"}}
	for i := range r.Results {
		res := &r.Results[i]
		if res.TrainFraction == r.Results[0].TrainFraction {
			curves.Lines = append(curves.Lines, report.Line{Name: res.Method})
			bars.Bars = append(bars.Bars, report.Bar{Label: res.Method, Values: []float64{res.RMSE}, Texts: []string{digits(res.RMSE)}, Margin: res.RMSEStderr})
		}
		l := &curves.Lines[i%len(bars.Bars)]
		l.Points = append(l.Points, report.Point{X: 100 * res.TrainFraction, Y: res.RMSE, Margin: res.RMSEStderr})
		slices.SortFunc(l.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
	}
	f := &report.Figure{Name: "rmse", Caption: "RMSE of each method.", Drawing: bars, Alt: "The RMSE of each method. The table has the same numbers."}
	if len(r.Results) > len(bars.Bars) {
		f.Drawing, f.Caption = curves, "RMSE over the training size, with plus and minus one standard error."
	}
	return f
}
