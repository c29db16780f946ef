package evaluate

import (
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Page returns the report as a page: a table of errors, and a chart of RMSE over the training size. The
// caller adds the graph and the command.
func (r *ValuesReport) Page() *report.Page {
	t := &report.Table{Caption: "Errors of predicted numbers, " + r.drawn() + ". " + r.legend() + ".", Head: []string{"trained on", "method"}, Bars: map[int]report.Bars{2: report.Linear}}
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
			p.Summary = append(p.Summary, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %s, R² %s.", res.size(), res.Method, r.cell(res.RMSE, res.RMSEStderr), digits(res.R2)))
		}
		t.Rows = append(t.Rows, []report.Cell{report.Number(100*res.TrainFraction, res.size()), {Text: res.Method, Mark: signs[res.Standing], Strong: res.Standing == first}})
	}
	for _, c := range errorColumns {
		t.Head = append(t.Head, c.title)
		largest := math.SmallestNonzeroFloat64
		for i := range r.Results {
			mean, _ := c.measure(&r.Results[i])
			largest = max(largest, math.Abs(mean))
		}
		decimals := min(9, max(0, 3-int(math.Floor(math.Log10(largest))))) // four digits of the largest number
		for i, row := range t.Rows {
			mean, stderr := c.measure(&r.Results[i])
			t.Rows[i] = append(row, report.Fixed(mean, decimals, stderr))
		}
	}
	p.Add(&report.Section{Title: "Errors", Tables: []*report.Table{t}, Charts: []*report.Chart{{
		Name: "rmse", Caption: "RMSE over the training size, with plus and minus one standard error where there are several splits.",
		X: report.Axis{Title: "training nodes, % of the nodes with a number"}, Y: report.Axis{Title: "RMSE"}, Lines: t.Curves(1, 0, 2),
	}}})
	return p
}
