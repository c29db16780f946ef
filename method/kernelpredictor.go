package method

import (
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// kernelPredictor holds what passes from one phase of a prediction to the next.
type kernelPredictor struct {
	job
	nodes   nodeVotes
	fitted  *classify.Model
	kernel  *kernel.Family
	grid    []param.Values
	settled []param.Values // of the learner, to choose from
	space   *choose.Space  // of these
	usual   param.Values   // defaults of the kernel, nil: unknown
	kernels []kernel.Kernel

	choice *choose.Found          // nil without a choice
	best   int                    // of the grid
	values param.Values           // of the learner, chosen
	gram   *sparse.Block[float64] // of the best kernel among the labels that machines are tried on, scaled
	scale  float64                // of the kernel: one over its mean on the diagonal

	items []int // nodes of the Gram that the model has learned from: labelled ones first, in the order of their labels
	full  classify.Gram
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	return &kernel.Settings{Memory: r.set.Memory, Progress: func(_ string, done, total int64) {
		r.set.Progress(phase, done, max(done, total, 1))
	}}
}

// kernelSpace returns the space of the settings of the kernel.
func (r *kernelPredictor) kernelSpace() *choose.Space {
	return choose.SpaceOf(r.set.trying(&r.kernel.Spec), r.grid, r.usual)
}

// chooseByFolds chooses by the predictions of models for labels that they have not learned
// from, and fits the votes to these.
func (r *kernelPredictor) chooseByFolds(ctx context.Context) error {
	t, err := r.labelled(ctx, sched.UpTo(len(r.grid)))
	if err != nil {
		return err
	}
	if k := r.set.model; k != nil { // everything is chosen
		r.values, r.gram, r.scale, r.nodes.votes = r.settled[0], t.grams[0], t.scales[0], choose.VotesOf(k.Power)
		return nil
	}
	weight := choose.WeightsOf(r.p)
	s := &choose.Search{Kernel: r.kernelSpace(), Learner: r.space, Together: r.learner.Path != nil}
	s.Measure = func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernels)*len(settings), make([]choose.FoldLabels, slices.Max(t.fold)+1))
		return counts, r.outOfFold(ctx, t, kernels, settings, func(candidate int, list []choose.Outcome, loss float64) {
			counts.Note(candidate, list, loss, weight, r.nodes.predicted)
		})
	}
	choice, err := s.Run(ctx)
	if err != nil {
		return err
	}
	r.choice, r.best, r.values = choice, choice.Kernel, r.settled[choice.Setting]
	var list []choose.Outcome
	settings := []int{choice.Setting}
	if s.Together { // all settings are fitted together
		settings = sched.UpTo(len(r.settled))
	}
	err = r.outOfFold(ctx, t, []int{choice.Kernel}, settings, func(i int, outcomes []choose.Outcome, _ float64) {
		if settings[i] == choice.Setting {
			list = outcomes
		}
	})
	if err != nil {
		return err
	}
	r.nodes.votes = choose.FitVotes(len(r.p.Names), list)
	r.out.Estimate = choice.HeldOut.Estimate(r.p, r.out.Reached)
	if len(r.grid) > 1 { // values that are computed for several kernels at once have other last bits
		if t, err = r.labelled(ctx, []int{r.best}); err != nil {
			return err
		}
	}
	r.gram, r.scale = t.grams[0], t.scales[0]
	return nil
}

// outOfFold calls visit with the predictions of models of each pair of some kernels and settings, which vary faster, for
// labels: for each label by a model of all others if the path has a closed form for that, otherwise by a model of the
// other folds. The list is nil if the kernel does not allow the setting. On a path settings are all settings.
func (r *kernelPredictor) outOfFold(ctx context.Context, t *labels, kernels, settings []int, visit func(candidate int, list []choose.Outcome, loss float64)) error {
	path, n := r.learner.Path, len(settings)
	if path == nil {
		return sched.Run(ctx, r.set.Workers, len(kernels)*n, func(_, i int) error {
			list := make([][]choose.Outcome, 1)
			err := choose.CrossValidate(ctx, t.grams[kernels[i/n]], t.class, t.fold, eachOf(r, r.settled[settings[i%n]]), list)
			if err == nil {
				visit(i, list[0], 0)
			}
			return err
		})
	}
	return sched.Run(ctx, r.set.Workers, len(kernels), func(_, a int) error {
		k := t.grams[kernels[a]]
		if path.LeaveOneOut == nil {
			lists := make([][]choose.Outcome, n)
			err := choose.CrossValidate(ctx, k, t.class, t.fold, fitPath(r), lists)
			for s, list := range lists {
				visit(a*n+s, list, 0)
			}
			return err
		}
		pairs, decisions, loss, err := path.LeaveOneOut(ctx, classify.DenseGram(k), t.class, len(r.p.Names), complete(r.set.constant, r.settled...))
		for s := range decisions {
			var list []choose.Outcome
			if decisions[s] != nil {
				list = choose.LeaveOneOut(k, t.class, t.fold, pairs, decisions[s])
			}
			visit(a*n+s, list, loss[s])
		}
		return err
	})
}

// labels are the labels that candidates are compared on.
type labels struct {
	grams       []*sparse.Block[float64] // of each kernel among them, scaled
	scales      []float64                // of each kernel
	class, fold []int
}

// labelled returns the labels that candidates are compared on, a sample of many, with the values of some kernels between them.
func (r *kernelPredictor) labelled(ctx context.Context, kernels []int) (*labels, error) {
	seen := r.p.At(split.Sample(r.p.Class, r.set.sample, r.set.RNGSeed, 0))
	grams, err := r.grams(ctx, kernels, seen.Row, nil, "choose")
	if err != nil {
		return nil, err
	}
	t := &labels{grams: grams, class: seen.Class, fold: split.Folds(seen.Class, r.set.folds(len(seen.Class)), r.set.RNGSeed, 0)}
	for _, k := range grams {
		t.scales = append(t.scales, choose.Rescale(k))
	}
	return t, nil
}

// grams returns the blocks of some of the kernels between items, and below between rows and
// items.
func (r *kernelPredictor) grams(ctx context.Context, kernels, items, rows []int, phase string) ([]*sparse.Block[float64], error) {
	var ks []kernel.Kernel
	for _, i := range kernels {
		ks = append(ks, r.kernels[i])
	}
	grams, sweeps, err := kernel.Grams(ctx, ks, items, rows, r.settings(phase))
	r.out.Work.Sweeps += sweeps
	return grams, err
}

// seenAll returns the block of the best kernel among all labels, scaled.
func (r *kernelPredictor) seenAll(ctx context.Context) (classify.Gram, error) {
	k := r.gram
	if k.Rows < len(r.p.Row) {
		grams, err := r.grams(ctx, []int{r.best}, r.p.Row, nil, "walk")
		if err != nil {
			return nil, err
		}
		k = grams[0]
		choose.Scale(k, r.scale)
	}
	r.gram = nil
	return classify.DenseGram(k), nil
}

// learn learns from all labels, with the values between all nodes if the learner needs
// them.
func (r *kernelPredictor) learn(ctx context.Context) (err error) {
	r.items = r.p.Row
	class, classes, values := slices.Clone(r.p.Class), len(r.p.Names), complete(r.set.constant, r.values)[0]
	switch {
	case solves(r.learner, len(class)):
		r.gram = nil
		r.fitted, err = r.learner.Solve(class, classes, values, func(ridge []float64, targets *mat.Dense) (*mat.Dense, error) {
			return r.solve(ctx, ridge, targets)
		})
		return err
	case r.learner.Whole:
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
		choose.Scale(grams[0], r.scale)
		r.full = classify.DenseGram(grams[0])
	default:
		if r.full, err = r.seenAll(ctx); err != nil {
			return err
		}
	}
	r.fitted, err = r.learner.Fit(ctx, r.full, class, classes, values)
	if errors.Is(err, classify.ErrIterationLimit) && r.fitted != nil {
		err, r.out.Unfinished = nil, unfinished(r.learner) // it is the best so far
	}
	if err == nil && r.learner.Path != nil && split.TooFew(class) {
		for m := range r.fitted.Machines {
			r.fitted.Machines[m].Rho = 0 // see neutral: what no label is near to is undecided
		}
	}
	return err
}
