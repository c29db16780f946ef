package trial

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// MostRight returns the list with most right answers outside a fold, the first among
// equals.
func MostRight(found [][]Outcome, fold int) int {
	best, most := 0, -1
	for i, list := range found {
		if right, _ := CountRight(list, fold); right > most {
			best, most = i, right
		}
	}
	return best
}

// CrossMachines stores for every cost what machines that learn from the other
// folds say about each item.
func CrossMachines(ctx context.Context, k *sparse.Block[float64], class []int, classes int, fold []int, costs []float64, machine func(y []int, classes int) classify.SVM, found [][]Outcome) error {
	var solver classify.Solver
	gram := classify.DenseGram(k)
	y := make([]int, len(class))
	for f := range slices.Max(fold) + 1 {
		largest := hideFold(y, class, fold, f)
		solver.SVM = machine(y, classes)
		solver.SVM.MaxIterations = TrialIterations
		models, err := solver.Path(ctx, gram, y, classes, costs)
		switch {
		case errors.Is(err, classify.ErrOneClass):
			models = make([]classify.Model, len(costs))
		case err != nil && !errors.Is(err, classify.ErrIterationLimit):
			return err
		}
		for c := range costs {
			pairs := slices.Clone(models[c].Pairs)
			for i := range y {
				if fold[i] != f {
					continue
				}
				o := Outcome{Class: class[i], Fold: f, Unreached: !related(k.Row(i), y), Largest: largest}
				if len(pairs) > 0 && !o.Unreached {
					o.Pairs, o.Decisions = pairs, models[c].ScoresTo(nil, k.Row(i), 0)
				}
				found[c] = append(found[c], o)
			}
		}
	}
	return nil
}

// hideFold stores the classes in y, −1 in a fold, and returns the largest of the others.
func hideFold(y, class, fold []int, f int) (largest int) {
	var rest []int
	for i := range y {
		y[i] = class[i]
		if fold[i] == f {
			y[i] = -1
		} else {
			rest = append(rest, class[i])
		}
	}
	return validate.Majority(rest)
}

// related reports whether an item has anything in common with those used.
func related(row []float64, y []int) bool {
	for j, v := range row {
		if y[j] >= 0 && v != 0 {
			return true
		}
	}
	return false
}

// CountRight counts the outcomes outside a fold, −1 for none, whose class the machines
// vote for.
func CountRight(list []Outcome, fold int) (right, of int) {
	for _, o := range list {
		if o.Fold == fold {
			continue
		}
		of++
		answer := o.Largest
		if len(o.Pairs) > 0 {
			answer = o.Pairs.Predict(o.Decisions)
		}
		if answer == o.Class {
			right++
		}
	}
	return right, of
}

// CrossLearner returns what models of a learner with the given values, each of which learns
// from the other folds, say about each item.
func CrossLearner(ctx context.Context, by *classify.Learner, v spec.Values, k *sparse.Block[float64], class []int, classes int, fold []int) (list []Outcome, err error) {
	gram := classify.DenseGram(k)
	y := make([]int, len(class))
	for f := range slices.Max(fold) + 1 {
		largest := hideFold(y, class, fold, f)
		model, err := by.Fit(ctx, gram, y, classes, v)
		if err != nil && !errors.Is(err, classify.ErrOneClass) && (model == nil || !errors.Is(err, classify.ErrIterationLimit)) {
			return nil, err
		}
		for i := range y {
			if fold[i] != f {
				continue
			}
			o := Outcome{Class: class[i], Fold: f, Unreached: !related(k.Row(i), y), Largest: largest}
			if model != nil && !o.Unreached {
				o.Pairs, o.Decisions = model.Pairs, model.ScoresTo(nil, k.Row(i), k.Row(i)[i])
			}
			list = append(list, o)
		}
	}
	return list, nil
}

// LeftOut returns what the decisions by all other items say about each item.
// One that has nothing in common with the others is given their largest class.
func LeftOut(k *sparse.Block[float64], class, fold []int, pairs classify.Pairs, decisions []float64) []Outcome {
	list := make([]Outcome, len(class))
	y := append([]int(nil), class...)
	for i := range class {
		y[i] = -1
		list[i].Class, list[i].Fold = class[i], fold[i]
		if list[i].Unreached = !related(k.Row(i), y); !list[i].Unreached {
			list[i].Pairs, list[i].Decisions = pairs, decisions[i*len(pairs):(i+1)*len(pairs)]
		} else {
			list[i].Largest = validate.Majority(withoutItem(class, i))
		}
		y[i] = class[i]
	}
	return list
}

func withoutItem(class []int, i int) []int {
	return append(append([]int(nil), class[:i]...), class[i+1:]...)
}
