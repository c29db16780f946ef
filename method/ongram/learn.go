package ongram

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// machine has learned from kernel values: it scores whatever it is given the values of with
// the items that it has learned from.
type machine struct {
	*classify.Model
	probabilities func(dst, scores []float64) []float64 // nil: the learner has none
}

// learn gives the items of k that have a class y ≥ 0 to a learner with complete values v of
// its parameters. With calibrate, a learner that has no probabilities of its own is
// given those that fit the scores of held-out items ([classify.Calibrate]). The error is a
// [*problem.Error], or that of ctx; where an iteration came to its limit there may be a
// machine too, without probabilities. Cost: a fit, or six.
func learn(ctx context.Context, l *classify.Learner, k classify.Gram, y []int, classes int, v param.Values, calibrate bool) (*machine, error) {
	model, err := l.Fit(ctx, k, y, classes, v)
	var m *machine
	if model != nil {
		m = &machine{model, l.Probabilities}
	}
	if err == nil && calibrate && l.Probabilities == nil {
		m.probabilities, err = classify.Calibrate(ctx, l, model, k, y, classes, v)
	}
	switch {
	case err == nil:
		return m, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return m, &problem.Error{Method: l.Name, Err: err}
}

// sharesTo stores in dst the share of each class that follows from the scores of an item:
// probabilities, or else soft votes, which sum to one too. A nil dst allocates.
func (m *machine) sharesTo(dst, scores []float64) []float64 {
	if m.probabilities != nil {
		return m.probabilities(dst, scores)
	}
	return classify.SoftVotes(dst, m.Pairs, scores, 1)
}

// scoreNames returns what scores are called, given the names of the classes: a class, or
// the two that a score decides between.
func (m *machine) scoreNames(classes []string) (names []string) {
	for _, p := range m.Pairs {
		name := classes[p.Positive]
		if p.Negative != classify.Rest {
			name += " vs " + classes[p.Negative]
		}
		names = append(names, name)
	}
	return names
}
