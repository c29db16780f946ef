package method

import (
	"context"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// predictor holds what passes from one phase of a prediction to the next.
type predictor struct {
	job
	nodes nodeVotes
	par   Parameters

	trials   *chooser // out-of-fold trials
	features *sparse.Block[float32]

	train []int // rows of features, those of the trials before them
	class []int
	model *classify.LinearModel

	fitted *classify.Model // of by, where it is no linear function of features
	rowOf  []int           // rows of features by node, where all have one

	trained *sparse.Block[float32] // where all nodes have a row: those from the first of training on, scaled
}

// walk collects the rows that trials, training and nodes pick, in this order, from one walk. The features of the training
// rows take at most [maxFeatureBytes]: of more labels it takes a sample. Honest features leave out the labels that no
// label of another fold reaches.
func (r *predictor) walk(ctx context.Context) (err error) {
	r.trials = chooserOf(r.p, r.set)
	if err := r.trials.crossTrials(ctx); err != nil {
		return err
	}
	r.out.Work.Add(r.trials.work)
	if r.out.Reached, err = r.p.Reached(ctx, r.p.Row, r.set.Workers, &r.out.Work); err != nil {
		return err
	}
	w, picks, isHonest, partitions := r.trials.walk(r.par.alpha()), r.trials.picks, r.par.features() == Honest, max(1, r.partitions())
	fitted := split.Sample(r.p.Class, mostRows(r.learner, &r.par, len(r.p.Names))/partitions, r.set.RNGSeed, 0)
	for d := range partitions {
		fold, isolated, first := r.trials.fold, r.trials.isolated, 1
		if d > 0 {
			fold, first = split.Folds(r.p.Class, r.trials.dealt(), r.set.RNGSeed, uint64(d)), len(w.Variants)
			w.Variants = append(w.Variants, cwk.FoldVariants(r.par.alpha(), fold)[1:]...)
			if isolated, err = choose.Unreachable(ctx, r.p, fold, r.set.Workers, &r.out.Work); err != nil {
				return err
			}
		}
		leavesOut := isHonest && !r.oneClass(isolated)
		for _, i := range fitted {
			pick := cwk.Pick{Row: r.p.Row[i]}
			if isHonest {
				pick.Variant = first + fold[i]
			}
			if !leavesOut || !isolated[i] {
				r.train, r.class, picks = append(r.train, len(picks)), append(r.class, r.p.Class[i]), append(picks, pick)
			}
		}
	}
	if perNode(r.learner) {
		r.addNodes(&picks)
	}
	narrow(w, r.par.minSteps(), len(picks))
	r.features, err = collect(ctx, w, r.par.minSteps(), picks, &r.out.Work, func(done, total int64) { r.set.Progress("features", done, total) })
	return err
}

// oneClass reports whether the labels that are not left out have one class.
func (r *predictor) oneClass(left []bool) bool {
	only := -1
	for i, class := range r.p.Class {
		switch {
		case left[i]:
		case only < 0:
			only = class
		case only != class:
			return false
		}
	}
	return true
}

// Which labels share a fold is luck, and with few labels it shows. Up to
// fewLabels of them, honest rows come from fewPartitions partitions into folds, each
// row at its share of the cost.
const (
	fewLabels     = 1000
	fewPartitions = 3
)

// partitions returns the number of partitions into folds that training rows come
// from.
func (r *predictor) partitions() int {
	switch {
	case r.par.features() == Plain:
		return 0
	case len(r.p.Row) <= fewLabels && r.learner.Path != nil:
		return fewPartitions
	}
	return 1
}

// calibrate fits the votes to out-of-fold decisions, and measures how often
// these are right.
func (r *predictor) calibrate(ctx context.Context) error {
	var outcomes []choose.Outcome
	for i := range r.trials.trials[r.par.features()] {
		t := &r.trials.trials[r.par.features()][i]
		list, err := choose.New(len(r.p.Names), r.set.candidates()).Outcomes(ctx, r.features, t)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, list...)
	}
	r.nodes.votes = choose.FitVotes(len(r.p.Names), outcomes)
	var h choose.Estimator
	weight := choose.WeightsOf(r.p)
	for _, o := range outcomes {
		h.Note(!o.Unreached, r.nodes.predicted(&o) == o.Class, weight[o.Class])
	}
	r.out.Estimate = h.Estimate(r.p, r.out.Reached)
	return nil
}

// decisionBytes is the memory of decisions that is always granted. Beyond it they
// have no more than the walk they come from, because every further slab of them walks
// again.
const decisionBytes = 64 << 20

// scoreWalk returns the walk that gives machines' decisions on all nodes, with what
// memory the sums of their votes leave.
func scoreWalk(p *Problem, set *Settings, par Parameters, isRest bool) *cwk.Walk[float32] {
	w := walkOf[float32](p, set, par.steps())
	w.Variants = []cwk.Variant{{Absorb: par.alpha()}}
	perWalk := w.CollectBytes(par.minSteps(), 0)
	limit := perWalk + max(decisionBytes, perWalk)
	if isRest {
		limit = 0
	}
	if w.Memory > 0 {
		left := max(1, w.Memory-sumsBytes(p, isRest))
		if limit == 0 || left < limit {
			limit = left
		}
	}
	w.Memory = limit
	return w
}

// sumsBytes returns the memory of the votes on all nodes before they are scores: their sums,
// or all decisions if each class is separated from the rest.
func sumsBytes(p *Problem, isRest bool) int64 {
	n, k := len(p.Degrees), len(p.Names)
	if isRest {
		return chunks.Bytes[float64](n, k)
	}
	return chunks.Bytes[float32](n, k)
}

// score walks again and turns the decisions on every node into scores. Pairs
// of classes come in slabs; their votes are added one pair after the other, so
// that the slabs leave no trace. Of one against the rest all decisions are
// needed together.
func (r *predictor) score(ctx context.Context) error {
	n, _ := r.p.A.Dims()
	machines := len(r.model.Pairs)
	r.features, r.trials = nil, nil
	isRest := r.model.Pairs[0].Negative == classify.Rest
	w := scoreWalk(r.p, r.set, r.par, isRest)
	weights := sparse.NewBlock[float64](r.model.Features, machines)
	for m := range machines {
		for j := range r.model.Features {
			weights.Row(j)[m] = r.model.Weights[m*r.model.Features+j]
		}
	}
	sweeps := 0
	w.Progress = func(stage string, done, total int64) {
		sweeps = int(done)
		r.set.Progress(stage, done, total)
	}
	r.out.Scores = chunks.Block[float32](n, len(r.p.Names))
	visit := func(lo int, decisions *sparse.Block[float64]) error {
		return r.nodes.addAllVotes(ctx, r.model.Pairs, decisions, lo)
	}
	var all *sparse.Block[float64]
	var err error
	if isRest {
		all = chunks.Block[float64](n, machines)
		if err = w.Scores(ctx, all, r.par.minSteps(), weights, r.model.Bias, nil); err == nil {
			err = visit(0, all)
		}
	} else {
		err = w.Scores(ctx, nil, r.par.minSteps(), weights, r.model.Bias, visit)
	}
	if err != nil {
		return err
	}
	if r.set.Raw && r.learner.Path == nil && machines == len(r.p.Names) {
		r.out.Raw = all
	}
	r.out.Work.Sweeps += sweeps
	r.out.Work.EntryColumns += sparse.EntriesOf(w.A) * int64(sweeps) * int64(w.Seeds.Classes)
	return nil
}
