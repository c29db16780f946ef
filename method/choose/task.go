package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Task is a problem whose labels are predicted by models that have not learned from them: a model of the labels outside a
// fold predicts the labels of the fold.
type Task struct {
	*problem.Problem
	Place []int // position of each label in the problem that the labels were taken from
	Fold  []int // fold of each label; −1: models of all folds learn from the label, and none predicts it

	// Isolated states for each label whether no label outside its fold reaches it; nil: it was not asked for, see
	// [Task.FindIsolated].
	Isolated []bool

	// LeavesOneOut states that each label is predicted from all other labels. Folds then only say which labels choose the
	// setting that predicts a label.
	LeavesOneOut bool
}

// NewTask returns the labels at the given positions of p, of which the measured folds are predicted. folds must divide these
// labels.
func NewTask(p *problem.Problem, places []int, folds *Folds) *Task {
	t := &Task{Problem: p.At(places), Place: places, Fold: slices.Clone(folds.Of)}
	for i, f := range t.Fold {
		if f >= folds.Measured {
			t.Fold[i] = -1
		}
	}
	return t
}

// SplitTask returns the training and the test labels of a split of p, in this order. The test labels are fold 0.
func SplitTask(p *problem.Problem, s Split) *Task {
	places := slices.Concat(s.Train, s.Test)
	fold := slices.Repeat([]int{-1}, len(s.Train))
	return &Task{Problem: p.At(places), Place: places, Fold: append(fold, make([]int, len(s.Test))...)}
}

// Folds returns the number of folds.
func (t *Task) Folds() int { return slices.Max(t.Fold) + 1 }

// Split returns the positions of the labels of a fold as test set, and of all other labels as training set.
func (t *Task) Split(fold int) Split { return OfFold(t.Fold, fold) }

// Learned returns the number of labels that a model learns from. These labels come first.
func (t *Task) Learned() int {
	if t.Folds() == 1 {
		return len(t.Fold) - len(t.Split(0).Test)
	}
	return len(t.Fold)
}

// FindIsolated sets t.Isolated. Cost: see [Unreachable].
func (t *Task) FindIsolated(ctx context.Context, workers int, work *graph.Work) (err error) {
	fold := t.Fold
	if t.LeavesOneOut {
		fold = make([]int, len(t.Fold))
		for i := range fold {
			fold[i] = i
		}
	}
	t.Isolated, err = Unreachable(ctx, t.Problem, fold, workers, work)
	return err
}
