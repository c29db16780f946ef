package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// learnerMethod is a declared learner on a kernel of package kernel. The model of a
// learner that is linear in the kernel predicts by one application of it; any other is
// given the values between all nodes and the labels, or between all nodes.
type learnerMethod struct {
	kernelMethod
	by *classify.Learner
}

// learnerMethods returns every kernel with every learner but those of [kernelMethods].
func learnerMethods() (list []Method) {
	for _, f := range kernels() {
		for _, l := range classify.Learners() {
			if name := learner(l.Name); name != kernelSVM && name != rls {
				list = append(list, learnerMethod{kernelMethod{f, name}, l})
			}
		}
	}
	return list
}

// Declarations implements [Method]: that of the kernel and that of the learner.
func (m learnerMethod) Declarations() []*spec.Spec {
	return []*spec.Spec{&m.kernel.Spec, &m.by.Spec}
}

// Takes implements [Method]: the parameters of the kernel and of the learner.
func (m learnerMethod) Takes() []string { return append(m.takes(), m.by.Takes()...) }

// Predict implements [Method].
func (m learnerMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	r, err := m.beginWith(ctx, p, par, s)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, r.chooseBoth, r.fit, r.scoreAll)
}

// beginWith is begin of a learner, with the settings to choose from. One that wants the values
// between all nodes has a block of its own.
func (m learnerMethod) beginWith(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*learnerPredictor, error) {
	set := s.WithDefaults()
	set.Sample = min(set.Sample, trySettings)
	if m.by.Whole {
		set.kernels = nil
	}
	base, err := m.begin(ctx, p, par, &set)
	if err != nil {
		return nil, err
	}
	base.by, base.learner = m.by, &m.by.Spec
	r := &learnerPredictor{kernelPredictor: base}
	if par == nil {
		r.settled, r.usual, err = m.settings(p, &set)
	}
	return r, err
}

// learnerPredictor makes one prediction.
type learnerPredictor struct {
	*kernelPredictor
	usual int // the place of the learner's defaults among what is tried

	items []int // nodes of the Gram that the model has learned from: labelled ones first, in the order of their labels
	whole classify.Gram
}

// trySettings is the number of labels that declared learners are tried on: each
// setting of theirs is a fit from nothing in every fold.
const trySettings = 250

// settings returns the learner's settings to choose from: all usual ones and the place of its
// defaults among them or, with too few labels, the defaults.
func (m learnerMethod) settings(p *Problem, s *Settings) (settled []spec.Values, usual int, err error) {
	if !validate.TooFew(p.Class) {
		return s.settled(m.by)
	}
	v, err := m.by.Resolve(m.by.Spec.Own(s.Given), nil)
	return []spec.Values{v}, 0, err
}

// chooseBoth finds the kernel that has most right answers out of fold with the
// learner's defaults, and then the learner's setting on that kernel; the first among
// equals.
func (r *learnerPredictor) chooseBoth(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	usual := r.usual
	kernels := make([][]trial.Outcome, len(t.grams))
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		return trial.Cross(ctx, t.grams[i], t.class, t.fold, r.models(r.settled[usual]), kernels[i:i+1])
	})
	if err != nil {
		return err
	}
	r.best = trial.MostRight(kernels, -1)
	found := make([][]trial.Outcome, len(r.settled))
	found[usual] = kernels[r.best]
	err = sched.Run(ctx, r.set.Workers, len(found), func(_, i int) error {
		if i == usual {
			return nil
		}
		return trial.Cross(ctx, t.grams[r.best], t.class, t.fold, r.models(r.settled[i]), found[i:i+1])
	})
	if err != nil {
		return err
	}
	best := trial.MostRight(found, -1)
	most, _ := trial.CountRight(found[best], -1)
	if right, _ := trial.CountRight(found[usual], -1); right == most {
		best = usual
	}
	r.values, r.gram, r.scale = r.settled[best], t.grams[r.best], t.scales[r.best]
	tried := slices.Concat(found, kernels)
	r.judge(found[best], tried, func(fold int) int { return trial.MostRight(tried, fold) })
	return nil
}

// fit learns from all labels, with the values between all nodes if the learner needs
// them.
func (r *learnerPredictor) fit(ctx context.Context) (err error) {
	r.items = r.p.Row
	class := slices.Clone(r.p.Class)
	if r.by.Whole {
		labelled := make([]bool, len(r.p.Degrees))
		for _, row := range r.p.Row {
			labelled[row] = true
		}
		r.items = slices.Clone(r.p.Row)
		for i := range labelled {
			if !labelled[i] {
				r.items, class = append(r.items, i), append(class, -1)
			}
		}
		r.gram = nil
		grams, err := r.grams(ctx, []int{r.best}, r.items, nil, "walk")
		if err != nil {
			return err
		}
		trial.Scale(grams[0], r.scale)
		r.whole = classify.DenseGram(grams[0])
	} else if r.whole, err = r.seenAll(ctx); err != nil {
		return err
	}
	r.fitted, err = r.by.Fit(ctx, r.whole, class, len(r.p.Names), r.values)
	if errors.Is(err, classify.ErrIterationLimit) && r.fitted != nil {
		err, r.out.Unfinished = nil, unfinishedLearner
	}
	return err
}

// scoreAll turns what the model says of every node into scores.
func (r *learnerPredictor) scoreAll(ctx context.Context) error {
	n, outputs := len(r.p.Degrees), r.fitted.Pairs
	if r.by.Dual {
		r.whole, r.gram = nil, nil
		decisions := piece.Block[float64](n, len(outputs))
		err := r.onLabels().Decide(ctx, r.fitted, min(len(outputs), machinesAtATime), func(lo int, some *sparse.Block[float64]) error {
			for i := range n {
				copy(decisions.Row(i)[lo:], some.Row(i))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.shareAll(ctx, outputs, 0, func(_ []float64, i int) []float64 { return decisions.Row(i) })
	}
	place := make([]int, n)
	values := &sparse.Block[float64]{}
	if r.by.Whole {
		for a, i := range r.items {
			place[i] = a
		}
	} else {
		var err error
		if values, err = r.besideAll(ctx); err != nil {
			return err
		}
	}
	return r.shareAll(ctx, outputs, len(r.items), func(row []float64, i int) []float64 {
		if !r.by.Whole {
			return r.fitted.ScoresTo(nil, values.Row(i), 0)
		}
		r.whole.RowTo(row, place[i])
		return r.fitted.ScoresTo(nil, row, row[place[i]])
	})
}

// besideAll returns the values between all nodes and the items, scaled.
func (r *learnerPredictor) besideAll(ctx context.Context) (values *sparse.Block[float64], err error) {
	all := upTo(len(r.p.Degrees))
	if r.kept != nil {
		values = r.kept.Between(all, r.items)
	} else {
		var report *kernel.Report
		if values, report, err = kernel.Matrix(ctx, r.kernels[r.best], all, r.items, r.settings("walk")); err != nil {
			return nil, err
		}
		r.out.Work.Sweeps += report.Sweeps
	}
	trial.Scale(values, r.scale)
	return values, nil
}

// shareAll turns the decisions of a learner on every node, found with room for the values
// with so many items, into scores.
func (r *predictor) shareAll(ctx context.Context, outputs classify.Pairs, items int, decisions func(row []float64, i int) []float64) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	r.out.Scores = piece.Block[float32](n, k)
	if r.set.Raw && outputs[0].Negative == classify.Rest && len(outputs) == k {
		r.out.Raw = piece.Block[float64](n, k)
	}
	return sched.Run(ctx, r.set.Workers, (n+piece.Length-1)/piece.Length, func(_, part int) error {
		row, shares := make([]float64, items), make([]float64, k)
		for i := part * piece.Length; i < min(n, (part+1)*piece.Length); i++ {
			if i%64 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			d := decisions(row, i)
			if r.out.Raw != nil {
				copy(r.out.Raw.Row(i), d)
			}
			r.share(shares, outputs, d)
			simd.ConvertTo(r.out.Scores.Row(i), shares)
		}
		return nil
	})
}

// share stores the probabilities that a learner's decisions stand for: its own, or those
// that its decisions out of fold fit.
func (r *predictor) share(dst []float64, outputs classify.Pairs, decisions []float64) {
	if r.by.Probabilities == nil {
		classify.SoftVotes(dst, outputs, decisions, trial.VoteSlope)
		r.votes.ScoresTo(dst)
		trial.FavourVotes(dst, outputs, decisions)
		return
	}
	own := r.by.Probabilities(nil, decisions)
	clear(dst)
	for o, p := range outputs {
		dst[p.Positive] = own[o]
	}
}
