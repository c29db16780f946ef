package method

import (
	"context"
	"errors"
	"slices"

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
	learner *spec.Spec
	settled []spec.Values // of the learner, to choose from
	kernels []kernel.Kernel
	kept    *gram.Values // in place of kernels, of the only one there is; may be nil

	best   int                    // of the grid
	values spec.Values            // of the learner, chosen
	gram   *sparse.Block[float64] // of the best kernel among the labels that machines are tried on, scaled
	scale  float64                // of the kernel: one over its mean on the diagonal
	dual   *classify.Model
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	return &kernel.Settings{Memory: r.set.Memory, Progress: func(done, expected int) {
		r.set.Progress(phase, float64(done)/float64(max(done, expected, 1)))
	}}
}

// choose finds the kernel and the cost with most right answers out of fold,
// the first among equals, and fits the votes to its decisions.
func (r *kernelPredictor) choose(ctx context.Context) error {
	t, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	costs := len(r.settled)
	found := make([][]trial.Outcome, len(t.grams)*costs)
	err = sched.Run(ctx, r.set.Workers, len(t.grams), func(_, i int) error {
		return trial.Cross(ctx, t.grams[i], t.class, t.fold, r.machines(), found[i*costs:(i+1)*costs])
	})
	if err != nil {
		return err
	}
	r.chose(t, found, func(fold int) int { return trial.MostRight(found, fold) })
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

// learn trains the machines on all labels.
func (r *kernelPredictor) learn(ctx context.Context) error {
	k, err := r.seenAll(ctx)
	if err != nil {
		return err
	}
	classes := len(r.p.Names)
	svm := r.set.machine(r.p.Class, classes)
	svm.Cost, svm.CacheBytes, svm.Workers = r.values.Number("cost"), cacheBytes, r.set.Workers
	r.dual, err = svm.Fit(ctx, k, r.p.Class, classes)
	if errors.Is(err, classify.ErrIterationLimit) {
		err, r.out.Unfinished = nil, unfinishedMachine // it is the best so far
	}
	if err == nil && validate.TooFew(r.p.Class) {
		for m := range r.dual.Machines {
			r.dual.Machines[m].Rho = 0 // see neutral: what no label is near to is undecided
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
	machines := len(r.dual.Pairs)
	r.model = &classify.LinearModel{Classes: r.dual.Classes, Pairs: r.dual.Pairs}
	width := min(machines, machinesAtATime)
	if r.dual.Pairs[0].Negative == classify.Rest {
		width = machines // exponentials are normalised over all
	}
	r.out.Scores = piece.Block[float32](n, len(r.p.Names))
	if r.dual.Pairs[0].Negative != classify.Rest {
		r.counts = pages.Make[uint8](n * len(r.p.Names))
	}
	return r.onLabels().Decide(ctx, r.dual, width, func(lo int, decisions *sparse.Block[float64]) error {
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
