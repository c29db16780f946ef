package main

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
)

// nearest is the learner "nearest": an item has the class of the labelled items that are nearest
// in the space of the kernel, where ‖x − y‖² = K(x, x) − 2K(x, y) + K(y, y). It is not linear in
// the kernel values, so that it has a Rule in place of Machines.
var nearest = &classify.Learner{
	Spec: param.Spec{
		Name: "nearest", Title: "mean distance to the nearest labelled items of each class",
		Params: []param.Param{{
			Name: "neighbours", Symbol: "k", Meaning: "nearest labelled items of a class", Kind: param.Whole,
			Range: param.Range{Least: 1, Most: 1000}, Default: param.Of(1), Grid: param.Grid(1, 3, 9),
		}},
	},
	Fit: func(_ context.Context, k classify.Gram, y []int, classes int, v param.Values) (*classify.Model, error) {
		r := &rule{neighbours: v.Int("neighbours"), own: make([]float64, k.Len())}
		model := &classify.Model{Classes: classes, Items: k.Len(), Rule: r}
		members := make([][]int, classes)
		for i, c := range y {
			if c < 0 {
				continue
			}
			members[c] = append(members[c], i)
			k.PartTo(r.own[i:i+1], i, []int{i})
		}
		for c, items := range members {
			if len(items) > 0 {
				model.Pairs = append(model.Pairs, classify.Pair{Positive: c, Negative: classify.Rest})
				r.members = append(r.members, items)
			}
		}
		if len(r.members) < 2 {
			return nil, classify.ErrOneClass
		}
		return model, nil
	},
	Workspace: func(items, _, _ int) budget.Workspace { return budget.Held(24 * int64(items)) },
}

// rule scores an item by minus its mean distance to the nearest items of each class.
type rule struct {
	neighbours int
	own        []float64 // K(y, y) of each item
	members    [][]int   // items of each class that has any
}

// ScoresTo implements [classify.Rule].
func (r *rule) ScoresTo(dst, row []float64, own float64) {
	for m, items := range r.members {
		nearest := make([]float64, 0, r.neighbours+1) // distances without K(x, x), in increasing order
		for _, i := range items {
			d := r.own[i] - 2*row[i]
			at := len(nearest)
			for at > 0 && nearest[at-1] > d {
				at--
			}
			nearest = append(nearest[:at], append([]float64{d}, nearest[at:]...)...)
			nearest = nearest[:min(len(nearest), r.neighbours)]
		}
		sum := 0.0
		for _, d := range nearest {
			sum += math.Sqrt(math.Max(0, own+d))
		}
		dst[m] = -sum / float64(len(nearest))
	}
}
