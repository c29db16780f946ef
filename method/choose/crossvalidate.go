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
		for _, model := range models {
			if model != nil {
				model.Pairs = slices.Clone(model.Pairs) // whose memory may be that of the next fit
			}
		}
		for i, itemFold := range fold {
			if itemFold == f {
				about := Outcome{Class: class[i], Fold: f, Largest: largest}
				Ask(models, k.Row(i), k.Row(i)[i], y, about, func(s int, o Outcome) { outcomes[s] = append(outcomes[s], o) })
			}
		}
	}
	return nil
}

// Ask calls visit with the outcome of each model, nil for none, for an item with the given kernel values between it and the items
// that the models have learned from, those with y ≥ 0, and with itself. Where it has no value with them it has no decisions. about
// has the class, the fold and the largest class.
func Ask(models []*classify.Model, row []float64, selfValue float64, y []int, about Outcome, visit func(setting int, o Outcome)) {
	about.Unreached = !related(row, y)
	for s, model := range models {
		o := about
		if model != nil && !o.Unreached {
			o.Pairs, o.Decisions = model.Pairs, model.ScoresTo(nil, row, selfValue)
		}
		visit(s, o)
	}
}

// Voted returns the class that the decisions of an outcome vote for.
func (o *Outcome) Voted() int {
	if len(o.Pairs) == 0 {
		return o.Largest
	}
	return o.Pairs.Predict(o.Decisions)
}

// LargestWithout returns the largest of the classes outside a fold.
func LargestWithout(class, fold []int, f int) int {
	var remainder []int
	for _, i := range split.OfFold(fold, f).Train {
		remainder = append(remainder, class[i])
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

// MeanDiagonal returns one over the mean value between each of the first items and
// itself, 1 if that is not positive.
func MeanDiagonal(k *sparse.Block[float64], items int) float64 {
	var trace float64
	for i := range items {
		trace += k.Row(i)[i]
	}
	if !(trace > 0) {
		return 1
	}
	return float64(items) / trace
}

// Rescale divides a block of items among themselves by the mean of its diagonal, if that is
// positive, and returns the factor.
func Rescale(k *sparse.Block[float64]) float64 {
	f := MeanDiagonal(k, k.Rows)
	Scale(k, f)
	return f
}

// Scale multiplies a block by f.
func Scale(k *sparse.Block[float64], f float64) {
	for i := range k.Rows {
		row := k.Row(i)
		for j := range row {
			row[j] *= f
		}
	}
}
