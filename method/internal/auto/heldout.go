package auto

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"

	"github.com/RoaringBitmap/roaring/v2"
)

// heldOut holds the probabilities that each candidate predicts for the learned labels, each
// without its fold.
type heldOut struct {
	p           *problem.Problem // with all labels
	class       []int            // of the learned labels, as all lists below
	classes     int
	fold        []int
	folds       int
	hasFeatures []bool // whether a label has features
	hasOthers   []bool // whether another label has its class
	isolated    []bool // whether no label that is not hidden from it can be reached
	attributed  bool   // there are attributes, which reach every label

	tooFewLabels bool
	settings     []heldOutSetting // of every candidate and λ
	poisson      probabilities    // of Poisson learning
}

// heldOutSetting is a setting with its held-out probabilities.
type heldOutSetting struct {
	setting
	position int // position of the candidate
	probabilities
}

// probabilities are those that one model predicts for labels.
type probabilities struct {
	rows  [][]float32 // of all classes; nil: not predicted
	truth []float64   // of the label's own class
}

func newProbabilities(labels int) probabilities {
	return probabilities{make([][]float32, labels), make([]float64, labels)}
}

// set stores the probabilities of label i.
func (a *probabilities) set(i int, row []float64, class int) {
	a.rows[i] = make([]float32, len(row))
	simd.ConvertTo(a.rows[i], row)
	a.truth[i] = row[class]
}

// predictHeldOut predicts the labels by all candidates, each without its fold.
func predictHeldOut(ctx context.Context, f *features) (*heldOut, error) {
	in := f.in
	h := &heldOut{
		p: in.p, class: in.learned.Class, classes: f.columns.classes, fold: f.fold, folds: in.folds,
		hasFeatures: f.full.hasFeatures, hasOthers: f.hasOthers, isolated: f.isolated, attributed: f.attributes != nil, tooFewLabels: in.tooFewLabels,
	}
	h.poisson = f.poisson
	if !in.tooFewLabels {
		if err := h.addModels(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := h.addBeliefs(ctx, f); err != nil {
		return nil, err
	}
	return h, h.addPropagation(ctx, f)
}

// predictPoisson returns the probabilities of Poisson learning.
func predictPoisson(f *features) probabilities {
	out := newProbabilities(len(f.fold))
	row, filtered := make([]float64, f.columns.classes), make([]float32, f.walks.cols)
	for i, c := range f.in.learned.Class {
		if f.seeds.honestTo(filtered, f.walks, i, -1); f.isKnown(filtered) {
			poissonProbabilities(row, f.columns, filtered)
		} else {
			copy(row, f.columns.prior)
		}
		out.set(i, row, c)
	}
	return out
}

// sharpness of the scores of Poisson learning, in units of their root mean square, as
// logits.
const sharpness = 2

// poissonLogits stores the scores of Poisson learning for a row of filters, in units of their root mean square.
func poissonLogits(dst []float64, c *columns, row []float32) {
	c.poissonTo(dst, c.of(row, source))
	for class := range dst {
		dst[class] *= sharpness * c.sharedScale[0]
	}
}

// poissonProbabilities stores the softmax of the logits of Poisson learning.
func poissonProbabilities(dst []float64, c *columns, row []float32) {
	poissonLogits(dst, c, row)
	classify.Softmax(dst, dst)
}

// settingsOf returns every candidate with each λ.
func settingsOf(d *design, p *problem.Problem, labels int) (list []heldOutSetting) {
	for position, c := range candidatesOf(d, p) {
		for _, lambda := range c.lambdas() {
			list = append(list, heldOutSetting{setting{c, lambda}, position, newProbabilities(labels)})
		}
	}
	return list
}

// addModels adds every candidate with each λ.
func (h *heldOut) addModels(ctx context.Context, f *features) error {
	h.settings = settingsOf(&f.in.design, f.in.p, len(h.class))
	k, sampled := h.classes, f.sampled()
	for fold := range h.folds {
		out, err := f.predictFold(ctx, fold, sampled, h.settings)
		if err != nil {
			return err
		}
		f.in.reportProgress(stageChoose, fold+1, h.folds)
		for t := range h.settings {
			position := 0
			for i, of := range h.fold {
				if of == fold {
					h.settings[t].rows[i], h.settings[t].truth[i] = out.rows[t][position*k:][:k], out.truth[t][position]
					position++
				}
			}
		}
		if fold == 0 {
			h.race()
		}
	}
	return nil
}

const (
	// After the first fold, if it has raceLabels labels or more, settings are dropped whose likelihood is by
	// raceErrors standard errors of the difference below the highest one.
	raceErrors = 2
	raceLabels = 20
)

// race drops the settings that the labels of the first fold make unlikely, so that other folds fit few models.
func (h *heldOut) race() {
	best, highest, count := 0, math.Inf(-1), 0
	first := func(i int) bool { return h.fold[i] == 0 }
	for t := range h.settings {
		if l := h.settings[t].likelihood(first, h.hasOthers); l > highest {
			best, highest = t, l
		}
	}
	for i, hasOthers := range h.hasOthers {
		if hasOthers && first(i) {
			count++
		}
	}
	if count < raceLabels {
		return
	}
	winner := h.settings[best].truth
	h.settings = slices.DeleteFunc(h.settings, func(s heldOutSetting) bool {
		sum, squares := 0.0, 0.0
		for i, hasOthers := range h.hasOthers {
			if hasOthers && first(i) {
				loss := math.Log(winner[i]+leastTruth) - math.Log(s.truth[i]+leastTruth)
				sum += loss
				squares += float64(loss * loss)
			}
		}
		return sum > raceErrors*math.Sqrt(squares-sum*sum/float64(count))
	})
}

// slacks are the weights s of the prior in label propagation that are searched, in labels.
var slacks = []float64{0.01, 0.03, 0.1, 0.3}

// addPropagation adds label propagation: the probabilities f of the class of the label that
// a walk meets first, as
//
//	(f_c + s·π_c)/(1 + s)
//
// for each slack s. On roads, grids and other graphs in which labels are many steps apart it
// reaches nodes that walks of some steps miss; where neighbours are alike within small
// neighbourhoods only, models are better. Labels of folds that are not predicted have nil rows.
func (h *heldOut) addPropagation(ctx context.Context, f *features) error {
	in := f.in
	if !propagates(&in.design, f.labelsOutOfReach) {
		return nil
	}
	isolated := make([]bool, len(in.p.Row))
	for i, label := range in.places {
		isolated[label] = f.isolated[i]
	}
	rows, err := propagateOutOfFold(ctx, in.p, in.set, in.memory, isolated)
	if rows == nil || err != nil {
		return err
	}
	for _, slack := range slacks {
		t := heldOutSetting{setting{candidate{Propagation: true}, slack}, len(candidatesOf(&in.design, in.p)), newProbabilities(len(h.class))}
		row := make([]float64, h.classes)
		for i, label := range in.places {
			switch {
			case rows[label] == nil:
				continue
			case f.isolated[i]:
				copy(row, f.priorOfMissed(f.fold[i]))
			default:
				slackenTo(row, rows[label], f.columns.prior, slack)
			}
			t.set(i, row, h.class[i])
		}
		h.settings = append(h.settings, t)
	}
	return nil
}

// propagateOutOfFold returns [Settings.Propagated], which it computes if they are not given; nil if they do not
// converge. isolated are the labels that no label of another fold reaches, for a graph with directions.
func propagateOutOfFold(ctx context.Context, p *problem.Problem, set *Settings, memory int64, isolated []bool) ([][]float32, error) {
	if set.Propagated != nil {
		return set.Propagated, nil
	}
	folds := FoldCount(len(p.Row)) // those of [Settings.Propagated], also with many classes
	rows, err := propagationOf(p, set, memory).OutOfFold(ctx, split.Folds(p.Class, folds, set.RNGSeed, 0), folds, isolated)
	if failed := new(problem.Error); errors.As(err, &failed) && failed.Short == 0 {
		return nil, nil
	}
	return rows, err
}

// propagates reports whether label propagation is a candidate: with few labels only if walks miss
// most nodes.
func propagates(d *design, labelsOutOfReach bool) bool {
	return d.propagation && (labelsOutOfReach || !d.tooFewLabels)
}

// slackenTo stores the probabilities of label propagation with a slack.
func slackenTo(dst []float64, scores []float32, prior []float64, slack float64) {
	for class, v := range scores {
		dst[class] = (max(0, float64(v)) + float64(slack*prior[class])) / (1 + slack)
	}
}

// indirect corrects the optimism of the estimate: models of other folds, which have learned from a
// label, have a part in the weights without its fold. It is the share of the difference
// between the accuracy of weights by all labels and that of weights without a label's fold which is
// subtracted from the latter. Compare Tibshirani and Tibshirani, A bias correction for the minimum
// error rate in cross-validation (2009). Without it the estimate from 21 labels on co-work of
// lawyers was 4.4 ± 0.8 points too high.
const indirect = 0.5

// estimate returns the cross-validated accuracy of a mixture, with balanced classes or without, and its calibrated
// predictions for the labels.
func (h *heldOut) estimate(mixture []component, calibrated calibration, reached *roaring.Bitmap, balanced bool) (problem.Estimate, []problem.HeldOut) {
	predicted := make([]problem.HeldOut, 0, len(h.class))
	var honest, full choose.Estimator // weights without the label's fold, and by all labels
	weight := choose.WeightsOf(h.p)
	row := make([]float64, h.classes)
	reweigh := h.p.Reweigher(balanced)
	if reweigh == nil {
		reweigh = func([]float64) {}
	}
	for f := range h.folds {
		refitted := h.combine(func(i int) bool { return h.fold[i] != f })
		for i, class := range h.class {
			if h.fold[i] == f && h.isPredicted(refitted, i) && h.isPredicted(mixture, i) {
				reached := h.attributed || !h.isolated[i]
				h.mixTo(row, refitted, i)
				probabilities := slices.Clone(row)
				calibrated.apply(probabilities)
				reweigh(probabilities)
				best := classify.ArgMax(probabilities)
				predicted = append(predicted, problem.HeldOut{Class: class, Predicted: best, Probability: probabilities[best]})
				reweigh(row)
				honest.Note(reached, classify.ArgMax(row) == class, weight[class])
				h.mixTo(row, mixture, i)
				reweigh(row)
				full.Note(reached, classify.ArgMax(row) == class, weight[class])
			}
		}
	}
	e := honest.Estimate(h.p, reached)
	e.Accuracy = max(0, e.Accuracy-float64(indirect*max(0, full.Estimate(h.p, reached).Accuracy-e.Accuracy)))
	return e, predicted
}

// doubled returns x in double precision.
func doubled(x []float32) []float64 {
	y := make([]float64, len(x))
	simd.ConvertTo(y, x)
	return y
}
