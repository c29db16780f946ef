package auto

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/method/internal/propagation"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// slacks are how many labels with the prior's shares stand beside the one that a walk meets
// first, of those that are tried.
var slacks = []float64{0.01, 0.03, 0.1, 0.3}

// tryHarmonic measures label propagation: the probabilities f of the class of the label that
// a walk meets first, as
//
//	(f_c + s·π_c)/(1 + s)
//
// for each slack s. On roads, grids and other graphs in which labels are many steps apart it
// knows what walks of some steps do not come to, and where neighbours are alike in small
// circles only, models know more. Labels of folds that are not asked have no answer.
func (r *weigher) tryHarmonic(ctx context.Context) error {
	if !propagates(r.set) || r.few() && !r.far {
		return nil
	}
	rows := r.set.Propagated
	if rows == nil {
		var err error
		rows, err = propagationOf(r.p, r.set).OutOfFold(ctx, r.sources.part, r.sources.parts, r.alone)
		if failed := new(problem.Error); errors.As(err, &failed) && failed.Short == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	for _, slack := range slacks {
		t := trialOf{setting{candidate{harmonic: true}, slack}, len(r.candidates()), newAnswers(len(r.p.Row))}
		row := make([]float64, len(r.p.Names))
		for i, f := range rows {
			switch {
			case f == nil:
				continue
			case r.alone[i]:
				copy(row, r.missed(r.sources.part[i]))
			default:
				r.loosen(row, f, slack)
			}
			t.note(i, row, r.p.Class[i])
		}
		r.trials = append(r.trials, t)
	}
	return nil
}

// propagates reports whether label propagation may be asked.
func propagates(set *Settings) bool { return !set.LowEffort }

// propagationOf returns label propagation.
func propagationOf(p *problem.Problem, set *Settings) *propagation.Propagation {
	return &propagation.Propagation{P: p, Alpha: 1, Memory: beside(p, set), Workers: set.Workers, Rough: true}
}

// loosen stores the probabilities of label propagation with a slack.
func (r *weigher) loosen(dst []float64, f []float32, slack float64) {
	for c, v := range f {
		dst[c] = (max(0, float64(v)) + float64(slack*r.columns.prior[c])) / (1 + slack)
	}
}

// propagate stores the scores of label propagation for all nodes where it answers.
func (r *weigher) propagate(ctx context.Context, scores *sparse.Block[float32]) error {
	if !slices.ContainsFunc(r.shares, r.harmonic) {
		return nil
	}
	_, err := propagationOf(r.p, r.set).ScoresTo(ctx, scores, nil, r.out.Reached, &r.out.Work)
	return err
}

// harmonic reports whether a share is that of label propagation.
func (r *weigher) harmonic(s share) bool { return s.trial >= 0 && r.trials[s.trial].candidate.harmonic }

// admit gives label propagation the logarithm of its likelihood beside that of the likeliest
// model, by the labels that it has answered, or takes it out where it does not make them
// likelier by surerErrors standard errors of the difference.
func (r *weigher) admit(shares []share, among func(label int) bool) []share {
	harmonic := slices.IndexFunc(shares, r.harmonic)
	if harmonic < 0 {
		return shares
	}
	best := 0
	for i, s := range shares {
		if i != harmonic && (best == harmonic || s.weight > shares[best].weight) {
			best = i
		}
	}
	h, b := r.said(shares[harmonic].trial), r.said(shares[best].trial)
	labels, sum, squares := 0.0, 0.0, 0.0
	for i, several := range r.several {
		if several && among(i) && h.rows[i] != nil {
			likelier := math.Log(h.truth[i]+leastTruth) - math.Log(b.truth[i]+leastTruth)
			labels++
			sum += likelier
			squares += float64(likelier * likelier)
		}
	}
	if variance := squares - sum*sum/max(1, labels); !(sum > surerErrors*math.Sqrt(variance)) {
		return slices.Delete(shares, harmonic, harmonic+1)
	}
	shares[harmonic].weight = shares[best].weight + sum
	return shares
}

// surerErrors is by how many standard errors label propagation must make labels likelier. Of
// twenty labels it often seems to: without it co-work of lawyers lost 6 points.
const surerErrors = 2
