package method

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// GivenWeights are the weights of edges as they are in the graph.
const GivenWeights = "given"

// weighting is a function of the weights of edges.
type weighting struct {
	name  string
	value func(i, j int, w float64) float64 // 0 of 0
}

// weightings are the functions besides [GivenWeights], in the order of the choice. The logarithm is the last one,
// because it lies between the others and is little worse than the better of them.
var weightings = []weighting{
	{"none", func(_, _ int, w float64) float64 {
		if w == 0 {
			return 0
		}
		return 1
	}},
	{"log", func(_, _ int, w float64) float64 { return math.Log1p(w) }},
}

// Weightings returns the values of Settings.Weights.
func Weightings() []string {
	names := []string{GivenWeights}
	for _, w := range weightings {
		names = append(names, w.name)
	}
	return names
}

// weightChooser is a method for which held-out labels choose the weights of edges.
type weightChooser interface{ choosesWeights(s *Settings) bool }

func (automatic) choosesWeights(*Settings) bool          { return true }
func (labelPropagation) choosesWeights(s *Settings) bool { return s.leavesOpen(&propagationSpec) }
func (blockBeliefs) choosesWeights(s *Settings) bool     { return s.leavesOpen(&beliefsSpec) }

// leavesOpen reports whether a parameter of a declaration is to be chosen.
func (s *Settings) leavesOpen(d *param.Spec) bool {
	return !s.Fixed && slices.ContainsFunc(d.Params, func(p param.Param) bool { return !s.Given.Has(p.Name) })
}

// choosesWeights reports whether held-out labels choose the weights for a method.
func choosesWeights(m Method, p *Problem, s *Settings) bool {
	chooser, ok := m.(weightChooser)
	return ok && p.Weighted && !p.Signed && s.Weights == "" && chooser.choosesWeights(s) && !split.TooFew(p.Class)
}

// Weigh returns the problem with the weights of edges that a method learns from, and their name: those of
// Settings.Weights or, if that is empty, for auto, lp and beliefs those of w, 1 and log(1 + w) that predict held-out
// labels best, and w for other methods. The name is empty for a graph without weights.
//
// Walks of weighingSteps steps from the labels of other folds predict held-out labels, by scores less their mean over
// these labels: the classes that walks end in most often depend on the weights. 1 must predict more of them than
// w, and log(1 + w) more than the better of these, by a standard error √(better + worse) of the difference. Cost: these walks with a column for
// each fold and class for each of the weights, on some of the folds of large graphs.
func Weigh(ctx context.Context, m Method, p *Problem, s *Settings) (*Problem, string, error) {
	set := s.WithDefaults()
	if !p.Weighted {
		return p, "", nil
	}
	if choosesWeights(m, p, &set) {
		return chooseWeights(ctx, p, &set)
	}
	for _, w := range weightings {
		if w.name == set.Weights && p.Signed {
			return nil, "", &param.ParameterError{Of: "edge-weights", Parameter: "edge-weights", What: w.name + " has no meaning for negative weights; leave it out"}
		}
		if w.name == set.Weights {
			q, err := w.problem(ctx, p, set.Workers)
			return q, w.name, err
		}
	}
	return p, GivenWeights, nil
}

// problem returns p with other weights.
func (w *weighting) problem(ctx context.Context, p *Problem, workers int) (*Problem, error) {
	q := *p
	a, err := sparse.MapValues(ctx, p.A, w.value)
	if err != nil {
		return nil, err
	}
	q.Graph = &graph.Graph{A: a, Components: p.Components}
	if p.In != nil {
		if q.In, err = sparse.MapValues(ctx, p.In, w.value); err != nil {
			return nil, err
		}
	}
	q.Degrees, err = sparse.Degrees(ctx, a, workers)
	return &q, err
}

// Walks of weighingSteps steps compare weights, for as many folds as need at most weighingWork entries × columns.
const (
	weighingSteps = 30
	weighingWork  = 1_000_000_000
)

// walked returns walks that compare weights.
func walked(p *Problem, s *Settings) *propagation.Propagation {
	l := compared(p, s)
	l.Steps = weighingSteps
	return l
}

// chooseWeights returns the problem with the weights that held-out labels choose.
func chooseWeights(ctx context.Context, p *Problem, s *Settings) (*Problem, string, error) {
	folds := s.folds(len(p.Row))
	fold := split.Folds(p.Class, folds, s.RNGSeed, 0)
	entries := weighingSteps * sparse.EntriesOf(p.A) * int64(len(p.Names))
	predicted := int(min(int64(folds), max(1, weighingWork/max(1, entries))))
	right := func(q *Problem) ([]bool, error) {
		rows, err := walked(q, s).OutOfFold(ctx, fold, predicted)
		out := make([]bool, len(rows))
		sums := make([]float64, len(p.Names))
		count := 0.0
		for _, row := range rows {
			for c, v := range row {
				sums[c] += float64(v)
				count += float64(v)
			}
		}
		count = max(1, math.Round(count)) // rows add up to 1
		for i, row := range rows {
			centered := make([]float64, len(row))
			for c, v := range row {
				centered[c] = float64(v) - sums[c]/count
			}
			out[i] = row != nil && classify.ArgMax(centered) == p.Class[i]
		}
		return out, err
	}
	best := p
	name := GivenWeights
	rightly, err := right(p)
	if err != nil {
		return nil, "", err
	}
	for _, w := range weightings {
		q, err := w.problem(ctx, p, s.Workers)
		if err != nil {
			return nil, "", err
		}
		correct, err := right(q)
		if err != nil {
			return nil, "", err
		}
		better := 0.0
		worse := 0.0
		for i, isRight := range correct {
			switch {
			case isRight && !rightly[i]:
				better++
			case !isRight && rightly[i]:
				worse++
			}
		}
		if better-worse > math.Sqrt(better+worse) {
			best = q
			name = w.name
			rightly = correct
		}
	}
	return best, name, nil
}

// weighBytes returns the memory of [Weigh] that a prediction keeps, and that of the choice.
func weighBytes(m Method, p *Problem, s *Settings) (kept, choice int64) {
	chooses := choosesWeights(m, p, s)
	if !p.Weighted || !chooses && (s.Weights == "" || s.Weights == GivenWeights) {
		return 0, 0
	}
	kept = 8*int64(len(p.Degrees)) + sparse.MapValuesBytes(p.A, sched.Workers(s.Workers))
	if p.In != nil {
		kept += sparse.MapValuesBytes(p.In, sched.Workers(s.Workers))
	}
	if chooses {
		choice = 2*kept + walked(p, s).CompareBytes()
	}
	return kept, choice
}
