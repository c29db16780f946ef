package heatwalk

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// RankClasses describes how well the probabilities of each rare class rank held-out labels, see [choose.RareClasses], the
// rarest class first. If precision or recall is not 0, the results have thresholds for it, and if no class is rare, there is
// one result, for the class with the fewest labels. A result is left out if no held-out label of its class has probabilities.
//
// If held-out labels have no probabilities yet and thresholds are asked for, RankClasses predicts labels by models without
// their fold, see [engine.Engine.HoldOut], and waits for memory as [Graph.Begin] does.
func (p *Prediction) RankClasses(ctx context.Context, precision, recall float64) (list []choose.Ranked, err error) {
	if p.Value != nil || p.LabelSets != nil || p.problem == nil {
		return nil, nil
	}
	classes := choose.RareClasses(p.problem)
	isAsked := precision > 0 || recall > 0
	if isAsked && classes == nil {
		count := choose.CountsOf(p.problem)
		classes = []int{slices.Index(count, slices.Min(count))}
	}
	if isAsked && p.job.division == nil && p.Prediction.Scores != nil {
		err = p.again(ctx, func() error {
			_, err := p.engine.HoldOut(ctx, p.problem, p.Prediction, p.settings)
			return err
		})
	}
	if err != nil || p.Held == nil || !p.Held.HasScores() {
		return nil, err
	}
	list = p.Held.Rank(p.problem, classes, precision, recall)
	for _, r := range list {
		for _, o := range []*choose.OperatingPoint{r.ForPrecision, r.ForRecall} {
			if o != nil && o.IsReached {
				o.Nodes = p.countAbove(slices.Index(p.Classes, r.Class), o.Threshold)
			}
		}
	}
	return list, nil
}

// countAbove returns the number of nodes without a label that labels reach and whose probability of a class is at least a
// threshold.
func (p *Prediction) countAbove(class int, threshold float64) (nodes int) {
	for _, row := range problem.ListUnlabelled(p.problem, p.options.Targets) {
		if q := p.probabilities(row); q != nil && q[class] >= threshold {
			nodes++
		}
	}
	return nodes
}
