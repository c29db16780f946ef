package method

import (
	"context"
	"errors"
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

// chooseOnPath finds the kernel and the setting with most right answers out of fold,
// the first among equals, and fits the votes to its decisions.
func (r *kernelPredictor) chooseOnPath(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	n := len(r.settled)
	found := make([][]trial.Outcome, len(t.grams)*n)
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		return trial.Cross(ctx, t.grams[i], t.class, t.fold, r.alongPath(), found[i*n:(i+1)*n])
	})
	if err != nil {
		return err
	}
	r.chose(t, found, func(fold int) int { return trial.MostRight(found, fold) })
	return nil
}

// chooseLeftOut is chooseOnPath where every label is judged by what learns from all others.
// Chosen is the largest share of right answers less the loss; the first among equals.
func (r *kernelPredictor) chooseLeftOut(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	settings := complete(r.set.beside, r.settled...)
	found := make([][]trial.Outcome, len(t.grams)*len(settings))
	losses := make([]float64, len(found))
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		pairs, decisions, loss, err := r.by.path.LeaveOneOut(ctx, classify.DenseGram(t.grams[i]), t.class, len(r.p.Names), settings)
		if err != nil {
			return err
		}
		copy(losses[i*len(settings):], loss)
		for s := range settings {
			if decisions[s] != nil { // the kernel allows it
				found[i*len(settings)+s] = trial.LeftOut(t.grams[i], t.class, t.fold, pairs, decisions[s])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.chose(t, found, func(without int) int {
		best, most := -1, 0.0
		for i, list := range found {
			if list == nil {
				continue
			}
			right, of := trial.CountRight(list, without)
			if merit := float64(right)/float64(max(1, of)) - losses[i]; best < 0 || merit > most {
				best, most = i, merit
			}
		}
		return best
	})
	return nil
}

// chose keeps the best kernel and setting of the learner, which choose finds without a fold, −1 for none, and
// fits the votes to what was found with each of them.
func (r *kernelPredictor) chose(t *tried, found [][]trial.Outcome, choose func(without int) int) {
	best := max(0, choose(-1))
	r.best, r.values = best/len(r.settled), r.settled[best%len(r.settled)]
	r.gram, r.scale = t.grams[r.best], t.scales[r.best]
	r.judge(found[best], found, choose)
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

// chooseInTurn finds the kernel that has most right answers out of fold with the
// learner's defaults, and then the learner's setting on that kernel; the first among
// equals.
func (r *kernelPredictor) chooseInTurn(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	usual := r.usual
	kernels := make([][]trial.Outcome, len(t.grams))
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		return trial.Cross(ctx, t.grams[i], t.class, t.fold, r.each(r.settled[usual]), kernels[i:i+1])
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
		return trial.Cross(ctx, t.grams[r.best], t.class, t.fold, r.each(r.settled[i]), found[i:i+1])
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
