package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
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

	isForward bool // folds are intervals of time, see Folds
}

// NewTask returns the labels at the given positions of p, of which the measured folds are predicted. folds must divide these
// labels.
func NewTask(p *problem.Problem, places []int, folds *Folds) *Task {
	t := &Task{Problem: p.At(places), Place: places, Fold: slices.Clone(folds.Of), isForward: folds.isForward}
	for i, f := range t.Fold {
		if f >= folds.Measured {
			t.Fold[i] = -1
		}
	}
	return t
}

// TaskOf returns all labels of p in the folds by which settings are chosen, if folds are columns of a sweep. Each draw is
// another division from the same seed.
func TaskOf(p *problem.Problem, seed, draw uint64) *Task {
	return TaskIn(p, FoldCount(len(p.Row)), seed, draw)
}

// FitTaskOf returns all labels of p in the folds by which settings are chosen, if each fold and setting needs its own fit.
func FitTaskOf(p *problem.Problem, seed uint64) *Task { return TaskIn(p, dearFolds, seed, 0) }

// TaskIn returns all labels of p in about count folds, see [DrawFolds].
func TaskIn(p *problem.Problem, count int, seed, draw uint64) *Task {
	return NewTask(p, sched.UpTo(len(p.Row)), DrawFolds(p, count, seed, draw))
}

// SplitTask returns the training and the test labels of a split of p, in this order. The test labels are fold 0.
func SplitTask(p *problem.Problem, s Split) *Task {
	places := slices.Concat(s.Train, s.Test)
	fold := slices.Repeat([]int{-1}, len(s.Train))
	return &Task{Problem: p.At(places), Place: places, Fold: append(fold, make([]int, len(s.Test))...)}
}

// Folds returns the number of folds.
func (t *Task) Folds() int { return slices.Max(t.Fold) + 1 }

// Split returns the positions of the labels of a fold as test set, and of the labels that a model of it learns from as
// training set, see [Folds.Split].
func (t *Task) Split(fold int) Split { return splitFolds(t.Fold, fold, t.isForward) }

// Largest returns the most frequent class outside a fold.
func (t *Task) Largest(fold int) int { return Majority(problem.Pick(t.Class, t.Split(fold).Train)) }

// Learned returns the number of labels that a model learns from. These labels come first.
func (t *Task) Learned() int {
	if t.Folds() == 1 {
		return len(t.Fold) - len(t.Split(0).Test)
	}
	return len(t.Fold)
}

// FindIsolated sets t.Isolated. Cost: [graph.Graph.FindComponents] on an undirected graph, [problem.Problem.Reachable] for
// each fold on a directed graph.
func (t *Task) FindIsolated(ctx context.Context, workers int, work *graph.Work) error {
	fold := t.Fold
	if t.LeavesOneOut {
		fold = sched.UpTo(len(t.Fold))
	}
	t.Isolated = make([]bool, len(t.Row))
	if t.Directed {
		for f := range slices.Max(fold) + 1 {
			s := OfFold(fold, f)
			reached, err := t.Reachable(ctx, t.At(s.Train).Row, workers, work)
			if err != nil {
				return err
			}
			for _, i := range s.Test {
				t.Isolated[i] = !reached.Contains(uint32(t.Row[i]))
			}
		}
		return nil
	}
	parts, err := t.FindComponents(ctx, workers, work)
	if err != nil {
		return err
	}
	const several = -1
	sole := make(map[uint32]int) // fold of the labels of a component
	for i, row := range t.Row {
		component := parts.Of[row]
		if f, isSeen := sole[component]; isSeen && f != fold[i] {
			sole[component] = several
		} else {
			sole[component] = fold[i]
		}
	}
	for i, row := range t.Row {
		t.Isolated[i] = sole[parts.Of[row]] != several
	}
	return nil
}
