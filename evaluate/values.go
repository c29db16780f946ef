package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regression"
)

// NumberMeasures are measures of predicted numbers at the test nodes, averaged over splits. Methods are compared by
// RMSE.
type NumberMeasures struct {
	engine.Errors
	RMSEStderr float64              `json:"rmse_stderr"`
	MAEStderr  float64              `json:"mae_stderr"`
	R2Stderr   float64              `json:"r2_stderr"`
	RMSEs      []float64            `json:"rmse_by_split"` // RMSE of each split
	Tested     []engine.TestedValue `json:"tested_values"` // true and predicted values of some test nodes of the first split
}

// beginNumbers prepares the comparison of methods that predict numbers, with two means as baselines. All methods choose
// parameters by cross-validation.
func (c *comparison) beginNumbers(_ context.Context, set *engine.Settings) error {
	for _, m := range slices.Concat(regression.Means(), c.plan.Methods) {
		own := *set
		own.Given = m.Own
		own.Unmeasured = true
		m.Name = m.Method.Name
		c.entries = append(c.entries, entry{Entry: m, predict: func(ctx context.Context, s choose.Split, _ *engine.Parameters) (*trial, error) {
			out, err := m.Method.Predict(ctx, c.p.At(s.Train), nil, &own)
			if err != nil {
				return nil, err
			}
			t := &trial{text: out.Parameters.String(), add: func(r *Result) { r.addErrors(c.p.At(s.Test), out.Value) }}
			if t.text != "" {
				t.parameters = out.Parameters
			}
			return t, nil
		}})
	}
	return c.draw(c.p.Row, make([]int, len(c.p.Row)), set.RNGSeed)
}

func (r *Result) addErrors(test *engine.Problem, predicted []float64) {
	predicted = problem.Pick(predicted, test.Row)
	e := engine.MeasureErrors(test.Value, predicted)
	if r.NumberMeasures == nil {
		r.NumberMeasures = new(NumberMeasures)
		for i := 0; i < len(test.Row); i += 1 + len(test.Row)/mostPoints {
			r.Tested = append(r.Tested,
				engine.TestedValue{True: test.Value[i],
					Predicted: predicted[i]})
		}
	}
	r.RMSEs = append(r.RMSEs, e.RMSE)
	r.addColumns(e.RMSE, e.MAE, e.R2)
}

func (r *Report) describeErrors() {
	var best []string
	for i := range r.Results {
		res := &r.Results[i]
		if res.Standing == first {
			best = append(best, fmt.Sprintf("Trained on %s of the numbers, %s has the least RMSE: %.4g, R² %.3f.", res.TrainedOn, res.Method, res.RMSE, res.R2))
		}
	}
	if best == nil { // the methods predict several labels
		return
	}
	r.Summary = strings.Join(best, " ")
	r.Marks = "* least RMSE"
	if r.Splits > 1 {
		r.Marks += ", ≈ not significantly larger; " + tests
	}
}

const mostPoints = 400

func (r *Report) writeErrors(b *strings.Builder, table string) {
	if r.Labels > 0 {
		fmt.Fprintf(b, "%d labels on %d nodes, %d classes; F1 in %%, %s\n%s", r.Labels,
			r.Labelled, len(r.Classes), r.Protocol, table)
		return
	}
	fmt.Fprintf(b, "errors of predicted numbers, %s\n%s%s\n", r.Protocol, table, r.Marks)
	for i := range r.Results {
		r.Results[i].lineTo(b)
	}
}
