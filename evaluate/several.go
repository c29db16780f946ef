package evaluate

import (
	"context"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/param"
)

// LabelMeasures are measures of several predicted labels of each node. Measures of F1 are means over splits. A test
// node has as many predicted labels as true labels (Perozzi, Al-Rfou, Skiena 2014). In the measures with a threshold,
// the number of true labels is not known, and the predicted labels are those above a threshold learned from the
// training nodes.
type LabelMeasures struct {
	MicroF1              float64 `json:"micro_f1"`
	MicroStderr          float64 `json:"micro_f1_stderr"`
	MacroStderr          float64 `json:"macro_f1_stderr"`
	ThresholdMicroF1     float64 `json:"threshold_micro_f1"`
	ThresholdMicroStderr float64 `json:"threshold_micro_f1_stderr"`
	ThresholdMacroF1     float64 `json:"threshold_macro_f1"`
	ThresholdMacroStderr float64 `json:"threshold_macro_f1_stderr"`
}

// beginLabels prepares the comparison of the model of several labels with the most frequent labels. Training nodes are
// drawn uniformly. A true label that no training node has is never predicted.
func (c *comparison) beginLabels(_ context.Context, set *engine.Settings) error {
	learner := regression.NewLabelLearner(c.p, set)
	c.report.Labels = len(c.p.Row)
	add := func(name string, fit func(ctx context.Context, train []int) (*trial, float64, func(node int) []float64, error)) {
		c.entries = append(c.entries, entry{Entry: engine.Entry{Name: name}, predict: func(ctx context.Context, s choose.Split, _ *engine.Parameters) (*trial, error) {
			t, limit, scores, err := fit(ctx, s.Train)
			if err != nil {
				return nil, err
			}
			measures := learner.F1(s.Test, limit, scores)
			t.add = func(r *Result) {
				r.F1 = new(F1)
				r.LabelMeasures = new(LabelMeasures)
				r.addColumns(measures[:]...)
			}
			return t, nil
		}})
	}
	add("spectral", func(ctx context.Context, train []int) (*trial, float64, func(node int) []float64, error) {
		model, err := learner.Fit(ctx, train)
		if err != nil {
			return nil, 0, nil, err
		}
		return &trial{parameters: param.Values{"columns": param.Of(model.Columns),
			"lambda": param.Of(model.Lambda)}}, model.Threshold, model.Probabilities, nil
	})
	add("majority", func(_ context.Context, train []int) (*trial, float64, func(node int) []float64, error) {
		counts, limit := learner.Frequent(train)
		return new(trial), limit, func(int) []float64 { return counts }, nil
	})
	return c.draw(learner.Row, make([]int, len(learner.Row)), set.RNGSeed)
}
