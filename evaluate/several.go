package evaluate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/multilabel"
	"github.com/heatwalk/heatwalk/validate"
)

// SeveralPlan says what [RunSeveral] measures.
type SeveralPlan struct {
	Fractions []float64 // of the labelled nodes to train on
	Splits    int       // for each of them
	Settings  *method.Settings

	// Progress, if not nil, is called when a split is done.
	Progress func(done, total int)
}

// SeveralReport is how well several labels a node are predicted.
type SeveralReport struct {
	Nodes    int             `json:"nodes"`
	Labelled int             `json:"labelled"` // nodes
	Labels   int             `json:"labels"`   // on them, all together
	Classes  []string        `json:"classes"`
	Splits   int             `json:"splits"`
	RNGSeed  uint64          `json:"seed"`
	Results  []SeveralResult `json:"results"`
}

// SeveralResult is that of a method at a training size: means of [validate.LabelF1] over
// splits with their standard errors, and what the method chose on each.
type SeveralResult struct {
	Method        string          `json:"method"`
	TrainFraction float64         `json:"train_fraction"`
	MicroF1       float64         `json:"micro_f1"`
	MicroStderr   float64         `json:"micro_f1_stderr"`
	MacroF1       float64         `json:"macro_f1"`
	MacroStderr   float64         `json:"macro_f1_stderr"`
	Chosen        []SeveralChoice `json:"parameters_by_split,omitempty"`

	micro, macro []float64
}

// SeveralChoice are the parameters of a [multilabel.Model].
type SeveralChoice struct {
	Columns int     `json:"columns"`
	Lambda  float64 `json:"lambda"`
}

// RunSeveral measures how well the labels of nodes are predicted that may have several
// each, beside the most frequent labels for every node. Training nodes are drawn
// uniformly, and a label that none of them has is never right. Each test node is given
// as many labels as it has, see [validate.LabelF1].
func RunSeveral(ctx context.Context, p *method.Problem, plan *SeveralPlan) (*SeveralReport, error) {
	set := plan.Settings.WithDefaults()
	row, sets := multilabel.SetsOf(p)
	r := &SeveralReport{Nodes: len(p.Degrees), Labelled: len(row), Labels: len(p.Row), Classes: p.Names, Splits: plan.Splits, RNGSeed: set.RNGSeed}
	draws := make([]*validate.Splits, len(plan.Fractions))
	for i, fraction := range plan.Fractions {
		var err error
		if draws[i], err = validate.Draw(make([]int, len(row)), validate.Design{Fraction: fraction}, plan.Splits, set.RNGSeed); err != nil {
			return nil, err
		}
	}
	columns, err := multilabel.NewColumns(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	for i, fraction := range plan.Fractions {
		learned := SeveralResult{Method: "spectral", TrainFraction: fraction}
		frequent := SeveralResult{Method: "majority", TrainFraction: fraction}
		for s := range plan.Splits {
			split := draws[i].At(s)
			nodes, own := pick(row, split.Train), pick(sets, split.Train)
			model, err := multilabel.Fit(ctx, columns, nodes, own, len(p.Names), &set)
			if err != nil {
				return nil, err
			}
			learned.Chosen = append(learned.Chosen, SeveralChoice{model.Columns, model.Lambda})
			truth, scores := pick(sets, split.Test), make([]float64, len(p.Names))
			learned.add(validate.LabelF1(truth, len(p.Names), func(t int) []float64 {
				return model.ProbabilitiesTo(scores, row[split.Test[t]])
			}))
			counts := make([]float64, len(p.Names))
			for _, c := range slices.Concat(own...) {
				counts[c]++
			}
			frequent.add(validate.LabelF1(truth, len(p.Names), func(int) []float64 { return counts }))
			if plan.Progress != nil {
				plan.Progress(i*plan.Splits+s+1, len(plan.Fractions)*plan.Splits)
			}
		}
		r.Results = append(r.Results, *learned.summarise(), *frequent.summarise())
	}
	return r, nil
}

func pick[T any](of []T, positions []int) []T {
	out := make([]T, len(positions))
	for i, at := range positions {
		out[i] = of[at]
	}
	return out
}

func (r *SeveralResult) add(micro, macro float64) {
	r.micro, r.macro = append(r.micro, micro), append(r.macro, macro)
}

func (r *SeveralResult) summarise() *SeveralResult {
	r.MicroF1, r.MicroStderr = meanStderr(r.micro)
	r.MacroF1, r.MacroStderr = meanStderr(r.macro)
	return r
}

// WriteText writes the report as tables of percentages.
func (r *SeveralReport) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d labels on %d nodes, %d classes; as many predicted as a node has; mean of %d splits (standard error)\n", r.Labels, r.Labelled, len(r.Classes), r.Splits)
	fmt.Fprintf(&b, "%-9s %-9s %14s %14s\n", "train", "method", "micro-F1 %", "macro-F1 %")
	for _, res := range r.Results {
		cell := func(mean, stderr float64) string {
			if r.Splits == 1 {
				return percent(mean)
			}
			return percent(mean) + " (" + percent(stderr) + ")"
		}
		fmt.Fprintf(&b, "%-9s %-9s %14s %14s\n", strconv.FormatFloat(100*res.TrainFraction, 'g', 4, 64)+" %", res.Method, cell(res.MicroF1, res.MicroStderr), cell(res.MacroF1, res.MacroStderr))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
