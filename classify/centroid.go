package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// densityLearner is the simple kernel machine: the score of class c at x is the mean of K(x, i) over the items i of the
// class. If the kernel is a density as a function of a distance, the score is the density of the class at x (Tang and Zhu
// 2010, equations 3 and 6).
var densityLearner = Learner{
	Spec: param.Spec{Name: "density", Title: "mean kernel value to the items of each class",
		Source: "Tang and Zhu, Classifying network data with deep kernel machines, 2010, equations 3 and 6", Params: []param.Param{alwaysBalanced}},
	Fit:  fitMeans(false),
	Dual: true,
}

// centroidLearner is the nearest centroid in the space of the kernel. The score of a class is the score of [densityLearner]
// less half the squared norm of the centroid, which is the mean of K over all pairs of items of the class.
var centroidLearner = Learner{
	Spec: param.Spec{Name: "centroid", Title: "nearest centroid of a class in the space of the kernel",
		Source: "Tang and Zhu, Classifying network data with deep kernel machines, 2010, section 3.1", Params: []param.Param{alwaysBalanced}},
	Fit:  fitMeans(true),
	Dual: true,
}

// fitMeans returns a fit whose scores are class means of the kernel. If norms is set, half the squared norms of the
// centroids are subtracted.
func fitMeans(norms bool) FitFunc {
	return func(ctx context.Context, k Gram, y []int, classes int, _ param.Values) (*Model, error) {
		g, err := newGroupsOfTwo(k.Len(), y, classes)
		if err != nil {
			return nil, err
		}
		model := &Model{Classes: classes, Items: k.Len(), Pairs: g.againstRest(),
			Machines: make([]Machine, len(g.present))}
		for m, c := range g.present {
			items := g.class(c)
			machine := &model.Machines[m]
			machine.Index = items
			machine.Coef = make([]float64, len(items))
			for a := range items {
				machine.Coef[a] = 1 / float64(len(items))
			}
			if !norms {
				continue
			}
			row := make([]float64, len(items))
			for _, i := range items {
				if err := sched.Cause(ctx); err != nil {
					return nil, err
				}
				k.PartTo(row, i, items)
				machine.Rho += inner(row, machine.Coef)
			}
			machine.Rho /= 2 * float64(len(items))
			if !finite(machine.Rho) {
				return nil, ErrNotFinite
			}
		}
		return model, nil
	}
}
