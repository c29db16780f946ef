// Package graphlearner holds learners that score all nodes of a graph at once, as methods
// have them: those of package propagate, and logistic regression on eigenvectors. Their
// parameters are chosen by what they answer to labels that are hidden with their fold.
package graphlearner

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// Learner gives every node of a graph without directions a score of every class.
type Learner interface {
	// Declaration names the learner and its parameters.
	Declaration() *spec.Spec

	// Predict scores all nodes with the given values, or with its own choice if they are
	// nil.
	Predict(ctx context.Context, p *problem.Problem, v spec.Values, s *Settings) (*Answer, error)

	// Tune chooses values on splits of the labels of p, and tells its work.
	Tune(ctx context.Context, p *problem.Problem, splits *validate.Splits, s *Settings) (*validate.Choice, problem.Work, error)

	// Bytes is the memory of Predict, and of Tune on splits of the given number of labels.
	Bytes(p *problem.Problem, labels int, s *Settings) (int64, error)
}

// All returns every learner.
func All() []Learner {
	var list []Learner
	for _, l := range propagate.Learners() {
		list = append(list, spreading{l})
	}
	return append(list, spectralLogistic{})
}

// Settings are those of one prediction. Memory is in bytes, 0 for no limit.
type Settings struct {
	Given   spec.Values          // values of parameters that are not chosen
	Tried   *spec.Spec           // the declaration, with what is tried of each parameter
	Folds   func(labels int) int // of cross-validation
	Sample  int                  // labels that a choice is made on, where each is a fit of its own
	RNGSeed uint64               // of folds and samples
	Memory  int64
	Workers int

	// Count counts the right answers of several settings on so many units of work, such as
	// splits. add adds those on one unit, and returns how many answers it tested.
	Count func(settings, units int, add func(unit int, right []int64) (tested int, err error)) (right []int64, err error)

	// Progress is called with the share of a phase that is done.
	Progress func(phase string, done float64)
}

// Answer is what a learner says of all nodes.
type Answer struct {
	Class   []int
	Scores  *sparse.Block[float32]
	Raw     *sparse.Block[float64] // as the learner's formula gives them; nil: it gives probabilities
	Reached *roaring.Bitmap

	Values   spec.Values // of the parameters
	Settings int         // how many there were to choose from

	problem.Estimate

	Unfinished string // what ended at its limit; "": nothing

	Work    problem.Work
	Seconds problem.PhaseSeconds
}

// Shares is the prior of methods that do not walk: the shares of the labels, each class
// counted once more.
var Shares = cwk.Prior{Empirical: true, Pseudo: 1}

// graphOf returns what is known of the graph of a problem, and an answer that says what a
// label reaches.
func graphOf(ctx context.Context, p *problem.Problem, s *Settings) (*graph.Graph, *Answer, error) {
	out := new(Answer)
	g, err := p.Whole(ctx, s.Workers, &out.Work)
	if err != nil {
		return nil, nil, err
	}
	out.Reached = g.Components.Reached(p.Row)
	return g, out, nil
}

// testedOn returns how many test nodes splits have together.
func testedOn(splits *validate.Splits) (tested int) {
	for i := range splits.Len {
		tested += len(splits.At(i).Test)
	}
	return tested
}

// reply is what a setting says of a label that is hidden with its fold.
type reply struct{ reached, right bool }

// rightOutside counts the right answers outside a fold, −1 for all of them.
func rightOutside(list []reply, fold []int, without int) (right int64) {
	for i, a := range list {
		if a.right && (without < 0 || fold[i] != without) {
			right++
		}
	}
	return right
}

// judged counts how often the settings are right that are chosen without a fold of the
// labels of p.
func judged(p *problem.Problem, found [][]reply, fold []int, folds int) *choose.Estimator {
	held, weight := new(choose.Estimator), choose.WeightsOf(p)
	for f := range folds {
		best, most := 0, int64(-1)
		for i, list := range found {
			if right := rightOutside(list, fold, f); right > most {
				best, most = i, right
			}
		}
		for i, a := range found[best] {
			if fold[i] == f {
				held.Note(a.reached, a.right, weight[p.Class[i]])
			}
		}
	}
	return held
}
