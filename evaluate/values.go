package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/sparse"
)

// ValuesReport holds the measurements of [CompareValues]: those of every method on the same splits.
type ValuesReport struct {
	Nodes    int `json:"nodes"`
	Labelled int `json:"labelled"` // nodes with a value

	Splits  int    `json:"splits"`          // for each training size
	Folds   int    `json:"folds,omitempty"` // splits are those of cross-validation
	RNGSeed uint64 `json:"seed"`

	Protocol string `json:"protocol"` // how splits were drawn
	Marks    string `json:"marks"`    // meanings of the marks of results
	Summary  string `json:"summary"`

	Results []ValuesResult `json:"results"` // by training size, in each the two means and then the methods
}

// ValuesResult is one method at one training size. Errors are means over splits of those of the test nodes.
type ValuesResult struct {
	Method        string  `json:"method"`
	TrainedOn     string  `json:"trained_on"`
	Mark          string  `json:"mark,omitempty"`
	TrainFraction float64 `json:"train_fraction"` // of the nodes with a value
	regress.Errors
	RMSEStderr   float64   `json:"rmse_stderr"`
	MAEStderr    float64   `json:"mae_stderr"`
	R2Stderr     float64   `json:"r2_stderr"`
	Standing     string    `json:"standing"`      // by RMSE: "best", "not worse" at [Level], or "worse"
	RMSEs        []float64 `json:"rmse_by_split"` // of every split
	NodesTrained float64   `json:"nodes_trained"` // means over splits
	NodesTested  float64   `json:"nodes_tested"`

	parametersOfSplits

	Tested []regress.TestedValue `json:"tested_values"` // true and predicted values of some test nodes of the first split
}

// CompareValues measures methods that predict numbers: at each training size all of them learn from the same
// known values, choose their parameters by cross-validation of these alone, and are scored on the same
// other known values. It uses the Fractions, Folds, Given, Splits and Progress of the plan. The
// errors are those of [regress.Run] and of splits.
func CompareValues(ctx context.Context, p *regress.Problem, methods []*regress.Method, plan *Plan, s *regress.Settings) (*ValuesReport, error) {
	sizes, err := plan.sizes(&method.Problem{Row: p.Row, Class: make([]int, len(p.Row)), Names: []string{"value"}}, s.RNGSeed)
	if err != nil {
		return nil, err
	}
	r := &ValuesReport{
		Nodes: sparse.TeamOf(p.A).TotalOf(len(p.Degrees)), Labelled: len(p.Row), Splits: sizes[0].splits.Len, Folds: plan.Folds, RNGSeed: s.RNGSeed,
	}
	for i, size := range sizes {
		var results []ValuesResult
		var errorLists [][]regress.Errors // of each result by split
		for j := range size.splits.Len {
			split := size.splits.At(j)
			test, index := p.At(split.Test), 0
			err := regress.Each(ctx, p.At(split.Train), methods, s, func(name string, v method.Parameters, predicted []float64) {
				if j == 0 {
					results, errorLists = append(results, ValuesResult{Method: name, TrainFraction: size.fraction, TrainedOn: size.text(), parametersOfSplits: parametersOfSplits{Text: v.String()}}), append(errorLists, nil)
				}
				errorLists[index] = append(errorLists[index], regress.Measure(test.Value, func(i int) float64 { return predicted[test.Row[i]] }))
				results[index].note(v, split.Train, split.Test)
				for i := 0; j == 0 && i < len(test.Row); i += 1 + len(test.Row)/mostPoints {
					results[index].Tested = append(results[index].Tested, regress.TestedValue{True: test.Value[i], Predicted: predicted[test.Row[i]]})
				}
				index++
			})
			if err != nil {
				return nil, err
			}
			if plan.Progress != nil {
				plan.Progress("", int64(i*r.Splits+j+1), int64(len(sizes)*r.Splits))
			}
		}
		for index := range results {
			results[index].summarise(errorLists[index])
		}
		standing(results)
		r.Results = append(r.Results, results...)
	}
	r.describe()
	return r, nil
}

// describe stores the texts of a report and of its results.
func (r *ValuesReport) describe() {
	r.Protocol, r.Marks = (&Report{Splits: r.Splits, Folds: r.Folds}).drawn(), "* least RMSE"
	if r.Splits > 1 {
		r.Marks += ", ≈ not significantly larger; " + tests
	}
	var best []string
	for i := range r.Results {
		res := &r.Results[i]
		res.Mark = map[string]string{first: bestMark, notWorse: notWorseMark}[res.Standing]
		if res.Standing == first {
			best = append(best, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %.4g, R² %.3f.", res.TrainedOn, res.Method, res.RMSE, res.R2))
		}
	}
	r.Summary = strings.Join(best, " ")
}

// note stores the parameters and the sizes of a split.
func (r *ValuesResult) note(v method.Parameters, train, test []int) {
	r.NodesTrained += float64(len(train))
	r.NodesTested += float64(len(test))
	if text, err := json.Marshal(v); err == nil && v.String() != "" {
		r.ParametersBySplit = append(r.ParametersBySplit, text)
	}
}

// summarise stores the means over all splits.
func (r *ValuesResult) summarise(errorList []regress.Errors) {
	mean := func(metric func(regress.Errors) float64) (list []float64, mean, stderr float64) {
		for _, e := range errorList {
			list = append(list, metric(e))
		}
		mean, stderr = meanStderr(list)
		return list, mean, stderr
	}
	r.RMSEs, r.RMSE, r.RMSEStderr = mean(func(e regress.Errors) float64 { return e.RMSE })
	_, r.MAE, r.MAEStderr = mean(func(e regress.Errors) float64 { return e.MAE })
	_, r.R2, r.R2Stderr = mean(func(e regress.Errors) float64 { return e.R2 })
	r.NodesTrained /= float64(len(errorList))
	r.NodesTested /= float64(len(errorList))
	r.unite()
}

// standing tests the differences of the methods of a training size, by RMSE in units of that of the mean, and
// stores how each compares with the best.
func standing(results []ValuesResult) {
	list, unit := make([]Result, len(results)), results[0].RMSE
	if unit == 0 {
		unit = 1
	}
	for i, r := range results {
		result := &list[i]
		result.Method, result.NodesTrained, result.NodesTested = strconv.Itoa(i), r.NodesTrained, r.NodesTested
		for _, x := range r.RMSEs {
			result.Accuracies = append(result.Accuracies, -x/unit)
		}
		result.AccuracyMean = -r.RMSE / unit
	}
	compare(list)
	for i := range results {
		results[i].Standing = list[i].Standing
	}
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
	fmt.Fprintf(&b, "errors of predicted numbers, %s\n%s%s\n", r.Protocol, page.Sections[0].Tables[0].Text(), r.Marks)
	for i := range r.Results {
		r.Results[i].lineTo(&b, r.Results[i].Method, r.Results[i].TrainedOn)
	}
	_, err = io.WriteString(w, b.String())
	return err
}
