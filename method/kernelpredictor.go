package method

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/internal/gram"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// kernelPredictor holds what passes from one phase of a prediction to the next.
type kernelPredictor struct {
	predictor
	kernel  *kernel.Family
	grid    []spec.Values
	settled []spec.Values // of the learner, to choose from
	usual   int           // the place of the learner's defaults among them, of one without a path
	kernels []kernel.Kernel
	kept    *gram.Values // in place of kernels, of the only one there is; may be nil

	best   int                    // of the grid
	values spec.Values            // of the learner, chosen
	gram   *sparse.Block[float64] // of the best kernel among the labels that machines are tried on, scaled
	scale  float64                // of the kernel: one over its mean on the diagonal

	items []int // nodes of the Gram that the model has learned from: labelled ones first, in the order of their labels
	whole classify.Gram
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	return &kernel.Settings{Memory: r.set.Memory, Progress: func(done, expected int) {
		r.set.Progress(phase, float64(done)/float64(max(done, expected, 1)))
	}}
}

// choose finds the kernel and the learner's setting with the highest merit, the first among
// equals: on a path of all of both; otherwise the kernel with the learner's defaults, and then the
// setting on that kernel, the defaults among equals. merits returns those of some kernels
// each with some settings, which vary faster.
func (r *kernelPredictor) choose(merits func(kernels, settings []int) ([]float64, error)) (kernel, setting int, merit float64, err error) {
	kernels, settings := upTo(len(r.grid)), upTo(len(r.settled))
	if r.by.path != nil {
		found, err := merits(kernels, settings)
		if err != nil {
			return 0, 0, 0, err
		}
		best := classify.ArgMax(found)
		return best / len(settings), best % len(settings), found[best], nil
	}
	found, err := merits(kernels, []int{r.usual})
	if err != nil {
		return 0, 0, 0, err
	}
	kernel = classify.ArgMax(found)
	if found, err = merits([]int{kernel}, settings); err != nil {
		return 0, 0, 0, err
	}
	if setting = classify.ArgMax(found); found[r.usual] == found[setting] {
		setting = r.usual
	}
	return kernel, setting, found[setting], nil
}

// judged is what was found of a kernel with a setting of the learner.
type judged struct {
	list []trial.Outcome // of labels, by what learns from others; nil: the kernel does not allow the setting
	loss float64         // beside it, see [classify.Path]
}

// merit returns the share of right answers outside a fold, −1 for none, less the loss.
func (j judged) merit(without int) float64 {
	if j.list == nil {
		return math.Inf(-1)
	}
	right, of := trial.CountRight(j.list, without)
	return float64(right)/float64(max(1, of)) - j.loss
}

// chooseOutOfFold chooses by what models say of labels that they have not learned from, and
// fits the votes to that.
func (r *kernelPredictor) chooseOutOfFold(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	var all []judged // what is found later comes first
	known := map[[2]int]judged{}
	kernel, setting, _, err := r.choose(func(kernels, settings []int) ([]float64, error) {
		found, err := r.outOfFold(ctx, t, kernels, settings, known)
		if err != nil {
			return nil, err
		}
		merits := make([]float64, len(found))
		for i, j := range found {
			merits[i] = j.merit(-1)
			known[[2]int{kernels[i/len(settings)], settings[i%len(settings)]}] = j
		}
		all = slices.Concat(found, all)
		return merits, nil
	})
	if err != nil {
		return err
	}
	r.best, r.values = kernel, r.settled[setting]
	r.gram, r.scale = t.grams[kernel], t.scales[kernel]
	lists, merits := make([][]trial.Outcome, len(all)), make([]float64, len(all))
	for i, j := range all {
		lists[i] = j.list
	}
	r.judge(known[[2]int{kernel, setting}].list, lists, func(fold int) int {
		for i, j := range all {
			merits[i] = j.merit(fold)
		}
		return classify.ArgMax(merits)
	})
	return nil
}

// outOfFold returns what models of some kernels, each with some settings, say of labels,
// unless it is known already.
func (r *kernelPredictor) outOfFold(ctx context.Context, t *tried, kernels, settings []int, known map[[2]int]judged) ([]judged, error) {
	n := len(settings)
	found := make([]judged, len(kernels)*n)
	if path := r.by.path; path != nil {
		return found, sched.Run(ctx, r.set.Workers, len(kernels), func(_, a int) error {
			return r.alongPath(ctx, t, t.grams[kernels[a]], found[a*n:][:n])
		})
	}
	return found, sched.Run(ctx, r.set.Workers, len(found), func(_, i int) error {
		kernel, setting := kernels[i/n], settings[i%n]
		j, there := known[[2]int{kernel, setting}]
		if !there {
			list := make([][]trial.Outcome, 1)
			if err := trial.Cross(ctx, t.grams[kernel], t.class, t.fold, r.each(r.settled[setting]), list); err != nil {
				return err
			}
			j.list = list[0]
		}
		found[i] = j
		return nil
	})
}

// alongPath finds what models of all settings on a kernel say of labels: where the path has it,
// of each by what learns from all others, otherwise out of fold.
func (r *kernelPredictor) alongPath(ctx context.Context, t *tried, k *sparse.Block[float64], found []judged) error {
	leaveOneOut := r.by.path.LeaveOneOut
	if leaveOneOut == nil {
		lists := make([][]trial.Outcome, len(found))
		err := trial.Cross(ctx, k, t.class, t.fold, r.fitPath(), lists)
		for s, list := range lists {
			found[s].list = list
		}
		return err
	}
	pairs, decisions, loss, err := leaveOneOut(ctx, classify.DenseGram(k), t.class, len(r.p.Names), complete(r.set.beside, r.settled...))
	if err != nil {
		return err
	}
	for s := range found {
		if found[s].loss = loss[s]; decisions[s] != nil {
			found[s].list = trial.LeftOut(k, t.class, t.fold, pairs, decisions[s])
		}
	}
	return nil
}

// tried are labels that machines are tried on.
type tried struct {
	grams       []*sparse.Block[float64] // of each kernel among them, scaled
	scales      []float64                // of each kernel
	class, fold []int
}

// tryOut returns the labels that machines are tried on.
func (r *kernelPredictor) tryOut(ctx context.Context) (*tried, error) {
	seen := r.p.At(validate.Sample(r.p.Class, r.set.Sample, r.set.RNGSeed, 0))
	grams, err := r.grams(ctx, upTo(len(r.grid)), seen.Row, nil, "choose")
	if err != nil {
		return nil, err
	}
	t := &tried{grams: grams, class: seen.Class, fold: validate.Folds(seen.Class, r.set.folds(len(seen.Class)), r.set.RNGSeed, 0)}
	for _, k := range grams {
		t.scales = append(t.scales, trial.Rescale(k))
	}
	return t, nil
}

// grams returns the blocks of some of the kernels between items, and below between others and
// items.
func (r *kernelPredictor) grams(ctx context.Context, kernels, items, others []int, phase string) ([]*sparse.Block[float64], error) {
	if r.kept != nil {
		return []*sparse.Block[float64]{r.kept.Between(slices.Concat(items, others), items)}, nil
	}
	var ks []kernel.Kernel
	for _, i := range kernels {
		ks = append(ks, r.kernels[i])
	}
	grams, sweeps, err := kernel.Grams(ctx, ks, items, others, r.settings(phase))
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
		trial.Scale(k, r.scale)
	}
	r.gram = nil
	return classify.DenseGram(k), nil
}

// learn learns from all labels, with the values between all nodes if the learner needs
// them.
func (r *kernelPredictor) learn(ctx context.Context) (err error) {
	r.items = r.p.Row
	class, classes, values := slices.Clone(r.p.Class), len(r.p.Names), complete(r.set.beside, r.values)[0]
	switch {
	case r.by.solves(len(class)):
		r.gram = nil
		on := r.onLabels()
		r.fitted, err = r.by.Solve(class, classes, values, func(ridge float64, targets *mat.Dense) (*mat.Dense, error) {
			return on.Solve(ctx, ridge, targets)
		})
		return err
	case r.by.Whole:
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
	default:
		if r.whole, err = r.seenAll(ctx); err != nil {
			return err
		}
	}
	if path := r.by.path; path != nil && path.Train != nil {
		r.fitted, err = path.Train(ctx, r.whole, class, classes, values, r.set.Workers)
	} else {
		r.fitted, err = r.by.Fit(ctx, r.whole, class, classes, values)
	}
	if errors.Is(err, classify.ErrIterationLimit) && r.fitted != nil {
		err, r.out.Unfinished = nil, r.by.unfinished() // it is the best so far
	}
	if err == nil && r.by.path != nil && validate.TooFew(class) {
		for m := range r.fitted.Machines {
			r.fitted.Machines[m].Rho = 0 // see neutral: what no label is near to is undecided
		}
	}
	return err
}

// machinesAtATime is the number of machines whose decisions are computed in
// one application of the kernel.
const machinesAtATime = 32

// score applies the kernel to the dual coefficients and turns the decisions on every
// node into scores.
func (r *kernelPredictor) score(ctx context.Context) error {
	n, _ := r.p.A.Dims()
	machines := len(r.fitted.Pairs)
	r.whole, r.gram = nil, nil
	r.model = &classify.LinearModel{Classes: r.fitted.Classes, Pairs: r.fitted.Pairs}
	width := min(machines, machinesAtATime)
	if r.fitted.Pairs[0].Negative == classify.Rest {
		width = machines // exponentials are normalised over all
	}
	r.out.Scores = piece.Block[float32](n, len(r.p.Names))
	if r.fitted.Pairs[0].Negative != classify.Rest {
		r.counts = pages.Make[uint8](n * len(r.p.Names))
	}
	return r.onLabels().Decide(ctx, r.fitted, width, func(lo int, decisions *sparse.Block[float64]) error {
		return r.addAllVotes(ctx, decisions, lo)
	})
}

// onLabels returns the chosen kernel between labelled nodes and all nodes.
func (r *kernelPredictor) onLabels() *gram.Map {
	m := &gram.Map{P: r.p, Kept: r.kept, Scale: r.scale, Workers: r.set.Workers, Settings: r.settings("walk"), Work: &r.out.Work}
	if r.kept == nil {
		m.Kernel = r.kernels[r.best]
	}
	return m
}
