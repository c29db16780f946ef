package propagation

import (
	"context"
	"errors"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

// Comparison is the accuracy of label propagation.
type Comparison struct {
	Propagation problem.Estimate

	Answers [][]float32 // those of [Propagation.OutOfFold]; nil: it failed
}

// Compare estimates the accuracy of label propagation by folds of the labels. Cost: that of [Propagation.OutOfFold]; where no solution is found, of walks that
// need not have settled.
func (l *Propagation) Compare(ctx context.Context, fold []int, folds int) (*Comparison, error) {
	p := l.P
	var found problem.Work
	reached, err := p.Reached(ctx, p.Row, l.Workers, &found)
	if err != nil {
		return nil, err
	}
	alone, err := choose.Alone(ctx, p, fold, l.Workers, &found)
	if err != nil {
		return nil, err
	}
	answers, err := l.OutOfFold(ctx, fold, folds, alone)
	out := &Comparison{Answers: answers}
	if failed := new(problem.Error); errors.As(err, &failed) {
		answers, err = l.walkedOutOfFold(ctx, fold, folds, alone)
	}
	if err != nil {
		return nil, err
	}
	var propagation choose.Estimator
	weight := choose.WeightsOf(p)
	for f := range folds {
		largest := choose.LargestWithout(p.Class, fold, f)
		for i, c := range p.Class {
			if fold[i] != f {
				continue
			}
			if row := answers[i]; row != nil {
				answer := classify.ArgMax(row)
				if alone[i] {
					answer = l.Prior.Likeliest(p.Row[i], largest)
				}
				propagation.Note(!alone[i], answer == c, weight[c])
			}
		}
	}
	out.Propagation = propagation.Estimate(p, reached)
	return out, nil
}
