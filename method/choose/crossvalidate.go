package choose

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// CrossValidate stores for each setting what models that learn from the other folds say about each
// item.
func CrossValidate(ctx context.Context, k *sparse.Block[float64], class, fold []int, fit Fit, outcomes [][]Outcome) error {
	gram := classify.DenseGram(k)
	y := make([]int, len(class))
	for s := range outcomes {
		outcomes[s] = make([]Outcome, 0, len(class))
	}
	for f := range slices.Max(fold) + 1 {
		for i, itemFold := range fold {
			if y[i] = class[i]; itemFold == f {
				y[i] = -1
			}
		}
		largest := LargestWithout(class, fold, f)
		models, err := fit(ctx, gram, y)
		if err != nil {
			return err
		}
		for s, model := range models {
			var pairs classify.Pairs
			if model != nil {
				pairs = slices.Clone(model.Pairs) // whose memory may be that of the next fit
			}
			for i, itemFold := range fold {
				if itemFold != f {
					continue
				}
				o := Outcome{Class: class[i], Fold: f, Unreached: !related(k.Row(i), y), Largest: largest}
				if model != nil && !o.Unreached {
					o.Pairs, o.Decisions = pairs, model.ScoresTo(nil, k.Row(i), k.Row(i)[i])
				}
				outcomes[s] = append(outcomes[s], o)
			}
		}
	}
	return nil
}

// LargestWithout returns the largest of the classes outside a fold.
func LargestWithout(class, fold []int, f int) int {
	var remainder []int
	for i, c := range class {
		if fold[i] != f {
			remainder = append(remainder, c)
		}
	}
	return split.Majority(remainder)
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

// LeaveOneOut returns the outcome of each item by the decisions of a model of all other items. An
// item whose kernel values with the others are 0 is given their largest class.
func LeaveOneOut(k *sparse.Block[float64], class, fold []int, pairs classify.Pairs, decisions []float64) []Outcome {
	list := make([]Outcome, len(class))
	y := slices.Clone(class)
	for i := range class {
		y[i] = -1
		list[i].Class, list[i].Fold = class[i], fold[i]
		if list[i].Unreached = !related(k.Row(i), y); !list[i].Unreached {
			list[i].Pairs, list[i].Decisions = pairs, decisions[i*len(pairs):(i+1)*len(pairs)]
		} else {
			list[i].Largest = split.Majority(slices.Concat(class[:i], class[i+1:]))
		}
		y[i] = class[i]
	}
	return list
}
