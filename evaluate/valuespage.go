package evaluate

import (
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/report"
)

// table returns the errors of all methods.
func (r *ValuesReport) table() *report.Table {
	t := &report.Table{Caption: "Errors of predicted numbers, " + r.drawn() + ". " + r.legend() + ".", Head: []string{"trained on", "method"}, Bars: map[int]report.Bars{2: report.Linear}}
	for _, c := range errorColumns {
		t.Head = append(t.Head, c.title)
	}
	for i := range r.Results {
		res := &r.Results[i]
		row := []report.Cell{report.Number(100*res.TrainFraction, res.size()), {Text: res.Method, Mark: signs[res.Standing], Strong: res.Standing == first}}
		for _, c := range errorColumns {
			mean, stderr := c.measure(res)
			row = append(row, report.Fixed(mean, r.decimals(c.measure), stderr))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Page returns the report as a page: a table of errors, and a chart of RMSE over the training size. The
// caller adds the graph and the command.
func (r *ValuesReport) Page() *report.Page {
	t := r.table()
	p := &report.Page{
		Title: "Comparison of methods for numbers",
		Facts: []report.Fact{
			{Name: "Numbers", Value: fmt.Sprintf("at %s of %s nodes", thousands(r.Labelled), thousands(r.Nodes))},
			{Name: "Protocol", Value: fmt.Sprintf("%s; the same splits for all methods; rng seed %d; parameters chosen inside each training set", r.drawn(), r.RNGSeed)},
		},
	}
	for i := range r.Results {
		res := &r.Results[i]
		if res.TrainFraction == r.Results[0].TrainFraction {
			p.Series = append(p.Series, res.Method)
		}
		if res.Standing == first {
			p.Summary = append(p.Summary, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %s, R² %s.", res.size(), res.Method, t.Rows[i][2].Text, digits(res.R2)))
		}
	}
	p.Add(&report.Section{Title: "Errors", Tables: []*report.Table{t}, Charts: []*report.Chart{{
		Name: "rmse", Caption: "RMSE over the training size, with plus and minus one standard error where there are several splits.",
		X: report.Axis{Title: "training nodes, % of the nodes with a number"}, Y: report.Axis{Title: "RMSE"}, Lines: t.Curves(1, 0, 2),
	}}}, r.predictedSection())
	return p
}

// predictedSection returns the section with predicted against true numbers of the best method of each training size.
func (r *ValuesReport) predictedSection() *report.Section {
	s := &report.Section{Title: "Predicted and true numbers", Text: []string{"Test nodes of the first split, at most 400 of them. On the dotted line the prediction is right."}}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Standing != first || len(res.predicted) == 0 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range res.predicted {
			low, high = min(low, p.X, p.Y), max(high, p.X, p.Y)
		}
		s.Charts = append(s.Charts, &report.Chart{
			Name: "predicted", Caption: res.Method + ", trained on " + res.size() + ".", Diagonal: true,
			X: report.Axis{Title: "true", Low: low, High: high}, Y: report.Axis{Title: "predicted", Low: low, High: high},
			Lines: []report.Line{{Name: res.Method, Points: res.predicted, Scatter: true}},
		})
	}
	return s
}
