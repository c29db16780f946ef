package shift

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
)

// heldOut is the prediction for a label from other labels, the visible ones.
type heldOut struct {
	class   int
	hops    int // to the nearest visible label
	isRight bool
}

// predictor predicts labels from other labels with the parameters of a prediction from all of them.
type predictor struct {
	*method.Engine
	p   *method.Problem
	out *method.Prediction
	set method.Settings
}

// folds is the number of random folds, and regions that of the regions with visible labels.
const folds, regions = 3, 3

// predict returns predictions for the labels of each random fold from the others, and for those outside a
// region from the eighth of the labels in it. The centers of regions are labels that are far from each other.
// Both halves of the labels and a quarter of them in a region add time, and change no range.
func (r *predictor) predict(ctx context.Context) (random, far []heldOut, err error) {
	fold := split.Folds(r.p.Class, folds, r.set.RNGSeed, 0)
	order := sched.UpTo(len(r.p.Row))
	for f := range folds {
		visible := slices.DeleteFunc(slices.Clone(order),
			func(i int) bool { return fold[i] == f })
		if random, err = r.hide(ctx, random, visible); err != nil {
			return nil, nil, err
		}
	}
	// The first center has the largest degree, so that it is in a large component.
	center := slices.MaxFunc(order,
		func(i, j int) int { return cmp.Compare(r.p.Degrees[r.p.Row[i]], r.p.Degrees[r.p.Row[j]]) })
	nearest := slices.Repeat([]reach{unreached}, len(order)) // hops to the nearest center
	for range regions {
		paths, err := nearestLabels(ctx, r.p.At([]int{center}), r.set.Workers,
			&r.out.Work)
		if err != nil {
			return nil, nil, err
		}
		hops := func(i int) reach { return paths.at(0, r.p.Row[i]) }
		nearest[center] = 0
		for i := range nearest {
			nearest[i] = min(nearest[i], hops(i))
			if nearest[i] != unreached && nearest[i] > nearest[center] {
				center = i
			}
		}
		slices.SortStableFunc(order,
			func(i, j int) int { return cmp.Compare(hops(i), hops(j)) })
		if far, err = r.hide(ctx, far, order[:(len(order)+7)/8]); err != nil {
			return nil, nil, err
		}
	}
	return random, far, nil
}

// hide appends the predictions for the labels that are not visible and that a visible one reaches. A single
// class is predicted everywhere.
func (r *predictor) hide(ctx context.Context, list []heldOut,
	visible []int) ([]heldOut, error) {
	training := r.p.At(visible)
	paths, err := nearestLabels(ctx, training, r.set.Workers, &r.out.Work)
	if err != nil {
		return nil, err
	}
	predicted := func(int) int { return training.Class[0] }
	if err := training.Validate(); err == nil {
		var par *method.Parameters
		if r.out.Settings > 0 {
			par = &r.out.Parameters
		}
		out, err := r.Predict(ctx, training, par, &r.set)
		if err == nil {
			err = method.Reweigh(ctx, training, out, r.set.Workers)
		}
		if err != nil {
			return nil, err
		}
		r.out.Work.Sweeps += out.Work.Sweeps
		predicted = func(row int) int { return out.Class[row] }
	} else if !errors.Is(err, problem.ErrOneClass) {
		return nil, err
	}
	isVisible := make([]bool, len(r.p.Row))
	for _, i := range visible {
		isVisible[i] = true
	}
	for i, row := range r.p.Row {
		if nearest := paths.at(0, row); !isVisible[i] && nearest != unreached {
			list = append(list, heldOut{r.p.Class[i], nearest.hops(),
				predicted(row) == r.p.Class[i]})
		}
	}
	return list, nil
}
