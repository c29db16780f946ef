package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
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
	kept      *keptKernel // in place of kernels, of the only one there is; may be nil

	best     int // of the grid
	strength float64
	seen     []int                  // labels that machines are tried on
	gram     *sparse.Block[float64] // among them, of the best kernel, scaled
	scale    float64                // of the kernel: one over its mean on the diagonal
	dual     *classify.KernelModel
}

// settings returns those of kernels.
func (r *kernelPredictor) settings(phase string) *kernel.Settings {
	s := &kernel.Settings{Memory: r.set.Memory}
	if r.set.Progress != nil {
		s.Progress = func(done, expected int) { r.set.Progress(phase, float64(done)/float64(max(done, expected, 1))) }
	}
	return s
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
	fold := validate.Folds(class, r.set.folds(len(class)), r.set.RNGSeed)
	found := make([][]trial.Outcome, len(grams)*costs)
	scales := make([]float64, len(grams))
	err = sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		scales[i] = kernel.Rescale(grams[i])
		return crossOutcomes(ctx, grams[i], class, len(r.p.Names), fold, r.strengths, r.set, found[i*costs:(i+1)*costs])
	})
	if err != nil {
		return err
	}
	best := mostRight(found, -1)
	r.best, r.strength = best/costs, r.strengths[best%costs]
	r.gram, r.scale = grams[r.best], scales[r.best]
	r.judge(found[best])
	r.judgeChoice(found, func(fold int) int { return mostRight(found, fold) })
	return nil
}

// mostRight returns the list with most right answers outside a fold, the first among
// equals.
func mostRight(found [][]trial.Outcome, fold int) int {
	best, most := 0, -1
	for i, list := range found {
		if right, _ := countRight(list, fold); right > most {
			best, most = i, right
		}
	}
	return best
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
		return []*sparse.Block[float64]{r.kept.between(rows, rows)}, nil
	}
	grams, sweeps, err := kernel.Grams(ctx, ks, rows, r.settings(phase))
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
func (r *kernelPredictor) seenAll(ctx context.Context) (*classify.DenseGram[float64], error) {
	k := r.gram
	if len(r.seen) < len(r.p.Row) {
		grams, err := r.grams(ctx, r.bestOf(), r.p.Row, "walk")
		if err != nil {
			return nil, err
		}
		k = grams[0]
		kernel.ScaleTo(k, r.scale, k)
	}
	r.gram = nil
	return classify.NewDenseGram(sparse.DenseOf(k)), nil
}

// crossOutcomes stores for every cost what machines that learn from the other
// folds say about each item.
func crossOutcomes(ctx context.Context, k *sparse.Block[float64], class []int, classes int, fold []int, costs []float64, set *Settings, found [][]trial.Outcome) error {
	var solver classify.Solver
	gram := classify.NewDenseGram(sparse.DenseOf(k))
	y := make([]int, len(class))
	for f := range slices.Max(fold) + 1 {
		largest := hideFold(y, class, fold, f)
		solver.SVM = set.machine(y, classes)
		solver.SVM.MaxIterations = trial.TrialIterations
		models, err := solver.Path(ctx, gram, y, classes, costs)
		switch {
		case errors.Is(err, classify.ErrOneClass):
			models = make([]classify.KernelModel, len(costs))
		case err != nil && !errors.Is(err, classify.ErrIterationLimit):
			return err
		}
		for c := range costs {
			pairs := slices.Clone(models[c].Pairs)
			for i := range y {
				if fold[i] != f {
					continue
				}
				o := trial.Outcome{Class: class[i], Fold: f, Unreached: !related(k.Row(i), y), Largest: largest}
				if len(pairs) > 0 && !o.Unreached {
					o.Pairs, o.Decisions = pairs, models[c].DecisionsTo(nil, k.Row(i))
				}
				found[c] = append(found[c], o)
			}
		}
	}
	return nil
}

// hideFold stores the classes in y, −1 in a fold, and returns the largest of the others.
func hideFold(y, class, fold []int, f int) (largest int) {
	var rest []int
	for i := range y {
		y[i] = class[i]
		if fold[i] == f {
			y[i] = -1
		} else {
			rest = append(rest, class[i])
		}
	}
	return validate.Majority(rest)
}

// related reports whether an item has anything in common with those used.
func related(row []float64, y []int) bool {
	for j, v := range row {
		if y[j] >= 0 && v != 0 {
			return true
		}
	}
	return false
}

// countRight counts the outcomes outside a fold, −1 for none, whose class the machines
// vote for.
func countRight(list []trial.Outcome, fold int) (right, of int) {
	for _, o := range list {
		if o.Fold == fold {
			continue
		}
		of++
		answer := o.Largest
		if len(o.Pairs) > 0 {
			answer = o.Pairs.Predict(o.Decisions)
		}
		if answer == o.Class {
			right++
		}
	}
	return right, of
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
	return r.decide(ctx, r.dual, width, func(lo int, decisions *sparse.Block[float64]) error {
		return r.addAllVotes(ctx, decisions, lo)
	})
}

// decide applies the kernel to the dual coefficients of so many machines at a time,
// K[:, L]·C = K·(E_L·C), and calls visit with the decisions on all nodes of those from
// number lo on.
func (r *kernelPredictor) decide(ctx context.Context, dual *classify.KernelModel, width int, visit func(lo int, decisions *sparse.Block[float64]) error) error {
	n, machines := len(r.p.Degrees), len(dual.Machines)
	y := sparse.NewBlock[float64](n, width)
	var x *sparse.Block[float64]
	if r.kept == nil {
		x = sparse.NewBlock[float64](n, width)
	}
	for lo := 0; lo < machines; lo += width {
		images := y.Columns(0, min(width, machines-lo))
		var err error
		if r.kept != nil {
			err = r.kept.imagesTo(ctx, images, lo, dual, r.p.Row, r.scale, r.set.Workers)
		} else {
			err = r.imagesTo(ctx, images, x.Columns(0, images.Cols), lo, dual)
		}
		if err != nil {
			return err
		}
		for i := range n {
			row := images.Row(i)
			for j := range row {
				row[j] -= dual.Machines[lo+j].Rho
			}
		}
		if err := visit(lo, images); err != nil {
			return err
		}
	}
	return nil
}

// imagesTo applies the kernel to the coefficients of the machines from number lo on, with
// x to put them in.
func (r *kernelPredictor) imagesTo(ctx context.Context, y, x *sparse.Block[float64], lo int, dual *classify.KernelModel) error {
	coef := make([]float64, dual.Items)
	for j := range y.Cols {
		dual.CoefTo(coef, lo+j)
		for i, row := range r.p.Row {
			x.Row(row)[j] = r.scale * coef[i]
		}
	}
	report, err := r.kernels[r.best].ApplyTo(ctx, y, x, r.settings("walk"))
	if err != nil {
		return err
	}
	r.out.Work.Add(Work{Sweeps: report.Sweeps, EntryColumns: r.p.A.NNZ() * int64(report.Sweeps) * int64(y.Cols)})
	return nil
}
