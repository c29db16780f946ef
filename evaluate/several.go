package evaluate

import (
	"context"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
)

// SeveralReport holds the measurements of [CompareSeveral].
type SeveralReport struct {
	protocol
	Labels  int             `json:"labels"` // on all nodes together
	Classes []string        `json:"classes"`
	Results []SeveralResult `json:"results"`
}

// SeveralResult is one method at one training size. F1 are means over splits, where a test node has as many predicted labels as
// true ones (Perozzi, Al-Rfou, Skiena 2014) or, where their number is not known, those above a threshold that is learned from the training
// nodes.
type SeveralResult struct {
	measured
	MicroF1              float64 `json:"micro_f1"`
	MicroStderr          float64 `json:"micro_f1_stderr"`
	MacroF1              float64 `json:"macro_f1"`
	MacroStderr          float64 `json:"macro_f1_stderr"`
	ThresholdMicroF1     float64 `json:"threshold_micro_f1"`
	ThresholdMicroStderr float64 `json:"threshold_micro_f1_stderr"`
	ThresholdMacroF1     float64 `json:"threshold_macro_f1"`
	ThresholdMacroStderr float64 `json:"threshold_macro_f1_stderr"`
}

// CompareSeveral measures predictions of nodes with several labels each, and compares them with the most
// frequent labels for every node. Training nodes are drawn uniformly; a label that none of them has is never
// right. It uses the Fractions, Folds, Splits and Progress of the plan. Errors are those of splits and of [multilabel.Predict].
func CompareSeveral(ctx context.Context, p *method.Problem, plan *Plan,
	s *method.Settings) (*SeveralReport, error) {
	set := s.WithDefaults()
	learner := multilabel.NewLearner(p, &set)
	r := &SeveralReport{Labels: len(p.Row), Classes: p.Names}
	sizes, err := plan.drawSplits(&r.protocol, len(p.Degrees), learner.Row, set.RNGSeed)
	if err != nil {
		return nil, err
	}
	for i := range sizes {
		results := []SeveralResult{{measured: sizes[i].newResult("spectral")},
			{measured: sizes[i].newResult("majority")}}
		var splits [8][]float64 // four measures of each method
		err := plan.eachSplit(sizes, i, func(_ int, s split.Split) error {
			model, err := learner.Fit(ctx, s.Train)
			if err != nil {
				return err
			}
			counts, limit := learner.Frequent(s.Train)
			measures := learner.F1(s.Test, model.Threshold, model.Probabilities)
			frequent := learner.F1(s.Test, limit,
				func(int) []float64 { return counts })
			for k, f := range append(measures[:], frequent[:]...) {
				splits[k] = append(splits[k], f)
			}
			results[1].note(nil, s, sizes[i].splits.Len)
			return results[0].note(param.Values{"columns": param.Of(model.Columns),
				"lambda": param.Of(model.Lambda)}, s, sizes[i].splits.Len)
		})
		if err != nil {
			return nil, err
		}
		for j := range results {
			res := &results[j]
			res.MicroF1, res.MicroStderr = meanStderr(splits[4*j])
			res.MacroF1, res.MacroStderr = meanStderr(splits[4*j+1])
			res.ThresholdMicroF1, res.ThresholdMicroStderr = meanStderr(splits[4*j+2])
			res.ThresholdMacroF1, res.ThresholdMacroStderr = meanStderr(splits[4*j+3])
		}
		r.Results = append(r.Results, results...)
	}
	return r, nil
}

// WriteText writes the report as a table of percentages.
func (r *SeveralReport) WriteText(w io.Writer) error {
	page, err := report.Build("severallabels", r)
	if err == nil {
		_, err = fmt.Fprintf(w,
			"%d labels on %d nodes, %d classes; F1 in %%, %s\n%s", r.Labels,
			r.Labelled, len(r.Classes), r.Protocol,
			page.Sections[0].Tables[0].Text())
	}
	return err
}
