package evaluate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
)

// ValuesReport holds the measurements of [CompareValues]: those of every method on the same splits.
type ValuesReport struct {
	protocol
	Results []ValuesResult `json:"results"` // by training size, in each the two means and then the methods
}

// ValuesResult is one method at one training size. Errors are means over splits of those of the test nodes, and the standing is by RMSE.
type ValuesResult struct {
	measured
	method.Errors
	RMSEStderr float64              `json:"rmse_stderr"`
	MAEStderr  float64              `json:"mae_stderr"`
	R2Stderr   float64              `json:"r2_stderr"`
	RMSEs      []float64            `json:"rmse_by_split"` // of every split
	Tested     []method.TestedValue `json:"tested_values"` // true and predicted values of some test nodes of the first split

	splits [2][]float64 // MAE and R2
}

// CompareValues measures methods that predict numbers: at each training size all of them learn from the same
// known values, choose their parameters by cross-validation of these alone, and are scored on the same
// other known values. It uses the Fractions, Folds, Given, Splits and Progress of the plan. The
// errors are those of [method.PredictNumbers] and of splits.
func CompareValues(ctx context.Context, p *method.Problem,
	methods []method.Entry, plan *Plan,
	s *method.Settings) (*ValuesReport, error) {
	r := new(ValuesReport)
	sizes, err := plan.drawSplits(&r.protocol,
		p.Team().TotalOf(len(p.Degrees)), p.Row, s.RNGSeed)
	if err != nil {
		return nil, err
	}
	for i := range sizes {
		var results []ValuesResult
		err := plan.eachSplit(sizes, i, func(j int, split split.Split) error {
			test := p.At(split.Test)
			train, err := method.WeighNumbers(ctx, p.At(split.Train), s)
			if err != nil {
				return err
			}
			for k, e := range slices.Concat(method.Means(), methods) {
				set := s.WithDefaults()
				set.Given = e.Own
				set.Unmeasured = true
				out, err := e.Method.Predict(ctx, train, nil, &set)
				if err != nil {
					return err
				}
				if j == 0 {
					results = append(results, ValuesResult{measured: sizes[i].newResult(e.Method.Name)})
					results[k].Text = out.Parameters.String()
				}
				results[k].add(test, out.Parameters, split, sizes[i].splits.Len, out.Value)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		unit := stat.Mean(results[0].RMSEs, nil)
		for k := range results {
			res := &results[k]
			res.RMSE, res.RMSEStderr = meanStderr(res.RMSEs)
			res.MAE, res.MAEStderr = meanStderr(res.splits[0])
			res.R2, res.R2Stderr = meanStderr(res.splits[1])
			res.unite()
		}
		compare(results, func(res *ValuesResult) (*measured, []float64) {
			scores := slices.Clone(res.RMSEs)
			if unit > 0 {
				floats.Scale(-1/unit, scores)
			}
			return &res.measured, scores
		})
		r.Results = append(r.Results, results...)
	}
	r.describe()
	return r, nil
}

// add measures the predictions of one of some splits.
func (r *ValuesResult) add(test *method.Problem, v method.Parameters,
	s split.Split, splits int, predicted []float64) {
	e := method.MeasureErrors(test.Value,
		func(i int) float64 { return predicted[test.Row[i]] })
	if r.RMSEs == nil {
		for i := 0; i < len(test.Row); i += 1 + len(test.Row)/mostPoints {
			r.Tested = append(r.Tested,
				method.TestedValue{True: test.Value[i],
					Predicted: predicted[test.Row[i]]})
		}
	}
	r.RMSEs, r.splits[0], r.splits[1] = append(r.RMSEs, e.RMSE),
		append(r.splits[0], e.MAE), append(r.splits[1], e.R2)
	var parameters any
	if v.String() != "" {
		parameters = v
	}
	_ = r.note(parameters, s, splits) // numbers and words can be written
}

// describe stores the texts of a report and of its results.
func (r *ValuesReport) describe() {
	r.Marks = "* least RMSE"
	if r.Splits > 1 {
		r.Marks += ", ≈ not significantly larger; " + tests
	}
	var best []string
	for i := range r.Results {
		res := &r.Results[i]
		res.Mark = map[string]string{first: bestMark,
			notWorse: notWorseMark}[res.Standing]
		if res.Standing == first {
			best = append(best, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %.4g, R² %.3f.", res.TrainedOn, res.Method, res.RMSE, res.R2))
		}
	}
	r.Summary = strings.Join(best, " ")
}

// mostPoints bounds the points of a chart of predicted values.
const mostPoints = 400

// WriteText writes the table of errors, and the parameters that all splits have.
func (r *ValuesReport) WriteText(w io.Writer) error {
	var b strings.Builder
	page, err := report.Build("values", r)
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "errors of predicted numbers, %s\n%s%s\n", r.Protocol,
		page.Sections[0].Tables[0].Text(), r.Marks)
	for i := range r.Results {
		r.Results[i].lineTo(&b)
	}
	_, err = io.WriteString(w, b.String())
	return err
}
