package method

import (
	"context"
	"errors"

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
	kernel    *kernel.Family
	grid      []spec.Values
	strengths []float64 // costs or λ
	kernels   []kernel.Kernel
	kept      *gram.Values // in place of kernels, of the only one there is; may be nil

	best     int // of the grid
	strength float64
	seen     []int                  // labels that machines are tried on
	gram     *sparse.Block[float64] // among them, of the best kernel, scaled
	scale    float64                // of the kernel: one over its mean on the diagonal
	dual     *classify.Model
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	return &kernel.Settings{Memory: r.set.Memory, Progress: func(done, expected int) {
		r.set.Progress(phase, float64(done)/float64(max(done, expected, 1)))
	}}
}

// rowsOf returns the rows of labels.
func (r *kernelPredictor) rowsOf(labels []int) []int {
	rows := make([]int, len(labels))
	for i, l := range labels {
		rows[i] = r.p.Row[l]
	}
	return rows
}

// choose finds the kernel and the cost with most right answers out of fold,
// the first among equals, and fits the votes to its decisions.
func (r *kernelPredictor) choose(ctx context.Context) error {
	grams, class, err := r.tryOut(ctx)
	if err != nil {
		return err
	}
	costs := len(r.strengths)
	fold := validate.Folds(class, r.set.folds(len(class)), r.set.RNGSeed, 0)
	found := make([][]trial.Outcome, len(grams)*costs)
	scales := make([]float64, len(grams))
	err = sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		scales[i] = trial.Rescale(grams[i])
		return trial.Cross(ctx, grams[i], class, fold, r.machines(), found[i*costs:(i+1)*costs])
	})
	if err != nil {
		return err
	}
	r.chose(grams, scales, found, func(fold int) int { return trial.MostRight(found, fold) })
	return nil
}

// chose keeps the best kernel and strength, which choose finds without a fold, −1 for none, and
// fits the votes to what was found with each of them.
func (r *kernelPredictor) chose(grams []*sparse.Block[float64], scales []float64, found [][]trial.Outcome, choose func(without int) int) {
	best := max(0, choose(-1))
	r.best, r.strength = best/len(r.strengths), r.strengths[best%len(r.strengths)]
	r.gram, r.scale = grams[r.best], scales[r.best]
	r.judge(found[best], found, choose)
}

// tryOut returns the blocks of all kernels among the labels that machines are
// tried on, and their classes.
func (r *kernelPredictor) tryOut(ctx context.Context) (grams []*sparse.Block[float64], class []int, err error) {
	r.seen = validate.Sample(r.p.Class, r.set.Sample, r.set.RNGSeed, 0)
	class = make([]int, len(r.seen))
	for i, l := range r.seen {
		class[i] = r.p.Class[l]
	}
	grams, err = r.grams(ctx, r.kernels, r.rowsOf(r.seen), "choose")
	return grams, class, err
}

// grams returns the blocks of kernels between labelled nodes.
func (r *kernelPredictor) grams(ctx context.Context, ks []kernel.Kernel, rows []int, phase string) ([]*sparse.Block[float64], error) {
	if r.kept != nil {
		return []*sparse.Block[float64]{r.kept.Between(rows, rows)}, nil
	}
	grams, sweeps, err := kernel.Grams(ctx, ks, rows, nil, r.settings(phase))
	r.out.Work.Sweeps += sweeps
	return grams, err
}

// bestOf returns the chosen one of the kernels, nil if its values are kept.
func (r *kernelPredictor) bestOf() []kernel.Kernel {
	if r.kept != nil {
		return nil
	}
	return r.kernels[r.best : r.best+1]
}

// seenAll returns the block of the best kernel among all labels, scaled.
func (r *kernelPredictor) seenAll(ctx context.Context) (classify.Gram, error) {
	k := r.gram
	if len(r.seen) < len(r.p.Row) {
		grams, err := r.grams(ctx, r.bestOf(), r.p.Row, "walk")
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
	svm.Cost, svm.CacheBytes, svm.Workers = r.strength, cacheBytes, r.set.Workers
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
