package multilabel

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"gonum.org/v1/gonum/stat"
)

// Report is how well several labels a node are predicted.
type Report struct {
	Nodes    int      `json:"nodes"`
	Labelled int      `json:"labelled"` // nodes
	Labels   int      `json:"labels"`   // on them, all together
	Classes  []string `json:"classes"`
	Splits   int      `json:"splits"`
	RNGSeed  uint64   `json:"seed"`
	Protocol string   `json:"protocol"` // how splits were drawn
	Results  []Result `json:"results"`
}

// Result holds the measures of a method at a training size, means over splits with their standard
// errors, and the choice of the method on each split.
type Result struct {
	Method        string  `json:"method"`
	TrainedOn     string  `json:"trained_on"` // TrainFraction in percent
	TrainFraction float64 `json:"train_fraction"`
	MicroF1       float64 `json:"micro_f1"`
	MicroStderr   float64 `json:"micro_f1_stderr"`
	MacroF1       float64 `json:"macro_f1"`
	MacroStderr   float64 `json:"macro_f1_stderr"`

	// Those of labels above a threshold that is learned from the training nodes.
	ThresholdMicroF1     float64 `json:"threshold_micro_f1"`
	ThresholdMicroStderr float64 `json:"threshold_micro_f1_stderr"`
	ThresholdMacroF1     float64 `json:"threshold_macro_f1"`
	ThresholdMacroStderr float64 `json:"threshold_macro_f1_stderr"`

	Chosen []param.Values `json:"parameters_by_split,omitempty"` // columns and lambda on each split, see [Model]; nil: there is nothing to choose

	measures [4][]float64 // of each split: micro-F1 and macro-F1, by counts and by thresholds
}

// Evaluate measures predictions of nodes with several labels each, and compares them with the most
// frequent labels for every node. It draws the given number of splits for each fraction of the
// labelled nodes, with training nodes drawn uniformly; a label that none of them has is never
// right. A test node has as many predicted labels as true ones (Perozzi, Al-Rfou, Skiena 2014) or, where
// their number is not known, those above a threshold that is learned from the training nodes.
// progress, if not nil, is called with "splits" after each of them. Errors are
// [*split.SplitError] and those of [Predict].
func Evaluate(ctx context.Context, p *method.Problem, fractions []float64, splits int, s *method.Settings, progress func(stage string, done, total int64)) (*Report, error) {
	set := s.WithDefaults()
	row, sets := setsOf(p)
	r := &Report{Nodes: len(p.Degrees), Labelled: len(row), Labels: len(p.Row), Classes: p.Names, Splits: splits, RNGSeed: set.RNGSeed}
	if r.Protocol = fmt.Sprintf("mean of %d splits (standard error)", splits); splits == 1 {
		r.Protocol = "one split"
	}
	draws := make([]*split.Splits, len(fractions))
	for i, fraction := range fractions {
		var err error
		if draws[i], err = split.Draw(make([]int, len(row)), split.Design{Fraction: fraction}, splits, set.RNGSeed); err != nil {
			return nil, err
		}
	}
	p, options, err := withoutDirections(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	columns, err := newColumns(ctx, p, options)
	if err != nil {
		return nil, err
	}
	for i, fraction := range fractions {
		size := strconv.FormatFloat(100*fraction, 'g', 4, 64) + " %"
		learned := Result{Method: "spectral", TrainedOn: size, TrainFraction: fraction}
		frequent := Result{Method: "majority", TrainedOn: size, TrainFraction: fraction}
		for s := range splits {
			split := draws[i].At(s)
			nodes, trainSets := pick(row, split.Train), pick(sets, split.Train)
			model, err := fit(ctx, columns, nodes, trainSets, len(p.Names), &set)
			if err != nil {
				return nil, err
			}
			learned.Chosen = append(learned.Chosen, param.Values{"columns": param.Of(model.Columns), "lambda": param.Of(model.Lambda)})
			truth, scores := pick(sets, split.Test), make([]float64, len(p.Names))
			learned.add(truth, len(p.Names), model.Threshold, func(t int) []float64 {
				return model.probabilitiesTo(scores, row[split.Test[t]])
			})
			counts := make([]float64, len(p.Names))
			for _, c := range slices.Concat(trainSets...) {
				counts[c]++
			}
			scoresOf := func(int) []float64 { return counts }
			frequent.add(truth, len(p.Names), threshold(trainSets, scoresOf), scoresOf)
			if progress != nil {
				progress("splits", int64(i*splits+s+1), int64(len(fractions)*splits))
			}
		}
		r.Results = append(r.Results, *learned.summarise(), *frequent.summarise())
	}
	return r, nil
}

func pick[T any](values []T, positions []int) []T {
	out := make([]T, len(positions))
	for i, position := range positions {
		out[i] = values[position]
	}
	return out
}

// add measures the predictions of a split, given the scores of the labels of an item.
func (r *Result) add(truth [][]int, labels int, limit float64, scores func(item int) []float64) {
	micro, macro := labelF1(truth, labels, scores)
	thresholdMicro, thresholdMacro := setF1(truth, labels, func(item int) []int { return above(scores(item), limit) })
	for i, f := range []float64{micro, macro, thresholdMicro, thresholdMacro} {
		r.measures[i] = append(r.measures[i], f)
	}
}

func (r *Result) summarise() *Result {
	r.MicroF1, r.MicroStderr = meanStderr(r.measures[0])
	r.MacroF1, r.MacroStderr = meanStderr(r.measures[1])
	r.ThresholdMicroF1, r.ThresholdMicroStderr = meanStderr(r.measures[2])
	r.ThresholdMacroF1, r.ThresholdMacroStderr = meanStderr(r.measures[3])
	return r
}

// meanStderr returns the mean of x and its standard error, 0 of a single value.
func meanStderr(x []float64) (mean, stderr float64) {
	mean, std := stat.MeanStdDev(x, nil)
	if len(x) < 2 {
		return mean, 0
	}
	return mean, stat.StdErr(std, float64(len(x)))
}

// WriteText writes the report as a table of percentages.
func (r *Report) WriteText(w io.Writer) error {
	page, err := report.Build("severallabels", r)
	if err == nil {
		_, err = fmt.Fprintf(w, "%d labels on %d nodes, %d classes; F1 in %%, %s\n%s", r.Labels, r.Labelled, len(r.Classes), r.Protocol, page.Sections[0].Tables[0].Text())
	}
	return err
}
