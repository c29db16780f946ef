package method

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
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

// machinesAtATime is the number of machines whose decisions are computed in
// one application of the kernel.
const machinesAtATime = 32

// score turns the decisions on every node into scores. Those of a learner that is linear in the kernel come from one
// application of it to the dual coefficients.
func (r *kernelPredictor) score(ctx context.Context) error {
	n, outputs := len(r.p.Degrees), r.fitted.Pairs
	if r.learner.Dual {
		r.full, r.gram = nil, nil
		isVoted := r.learner.Path != nil
		width := min(len(outputs), machinesAtATime)
		if outputs[0].Negative == classify.Rest || !isVoted {
			width = len(outputs) // probabilities are normalised over all
		} else {
			r.nodes.counts = pages.Make[uint8](n * len(r.p.Names))
		}
		if isVoted {
			r.out.Scores = chunks.Block[float32](n, len(r.p.Names))
		}
		return r.decide(ctx, width, func(lo int, decisions *sparse.Block[float64]) error {
			if isVoted {
				return r.nodes.addAllVotes(ctx, outputs, decisions, lo)
			}
			return r.nodes.shareAll(ctx, outputs, 0, func(_ []float64, i int) []float64 { return decisions.Row(i) })
		})
	}
	if r.learner.Whole {
		place := make([]int, n)
		for a, i := range r.items {
			place[i] = a
		}
		return r.nodes.shareAll(ctx, outputs, len(r.items), func(row []float64, i int) []float64 {
			r.full.RowTo(row, place[i])
			return r.fitted.ScoresTo(nil, row, row[place[i]])
		})
	}
	values, report, err := kernel.Matrix(ctx, r.kernels[r.best], sched.UpTo(n), r.items, r.settings("walk"))
	if err != nil {
		return err
	}
	r.out.Work.Sweeps += report.Sweeps
	choose.Scale(values, r.scale)
	return r.nodes.shareAll(ctx, outputs, 0, func(_ []float64, i int) []float64 { return r.fitted.ScoresTo(nil, values.Row(i), 0) })
}

// decide applies the kernel to the dual coefficients of width classifiers at a time,
// K[:, L]·C = K·(E_L·C), and calls visit with the decisions on all nodes of those from
// number lo on.
func (r *kernelPredictor) decide(ctx context.Context, width int, visit func(lo int, decisions *sparse.Block[float64]) error) error {
	n, machines := len(r.p.Degrees), r.fitted.Machines
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	for lo := 0; lo < len(machines); lo += width {
		batch := machines[lo:min(lo+width, len(machines))]
		coef, decisions := x.Columns(0, len(batch)), y.Columns(0, len(batch))
		for j := range batch {
			for _, row := range r.p.Row {
				coef.Row(row)[j] = 0
			}
			for s, i := range batch[j].Index {
				coef.Row(r.p.Row[i])[j] = r.scale * batch[j].Coef[s]
			}
		}
		report, err := r.kernels[r.best].ApplyTo(ctx, decisions, coef, r.settings("walk"))
		if err != nil {
			return err
		}
		r.noteSweeps(report.Sweeps, len(batch))
		for i := range n {
			row := decisions.Row(i)
			for j := range row {
				row[j] -= batch[j].Rho
			}
		}
		if err := visit(lo, decisions); err != nil {
			return err
		}
	}
	return nil
}

// noteSweeps adds sweeps with a number of columns to the work.
func (r *kernelPredictor) noteSweeps(sweeps, columns int) {
	r.out.Work.Add(problem.Work{Sweeps: sweeps, EntryColumns: sparse.EntriesOf(r.p.A) * int64(sweeps) * int64(columns)})
}

// solveTolerance is the residual of the solution without a kernel block,
// relative to the targets, all ±1.
const solveTolerance = 1e-7

// solve returns (K + diag(ridge))⁻¹·T for the kernel between the labels, without a value of it, by
// conjugate gradients on E_Lᵀ·K·E_L + diag(ridge). The error wraps [kernel.ErrUnsolved]
// where the tolerance is not reached.
func (r *kernelPredictor) solve(ctx context.Context, ridge []float64, t *mat.Dense) (*mat.Dense, error) {
	labels, machines := t.Dims()
	width := min(machines, solveColumns)
	operator := kernel.NewAmong(r.kernels[r.best], r.p.Row, r.scale, ridge, width, r.settings("walk"))
	coef, err := operator.Solve(ctx, sparse.BlockOf(labels, machines, t.RawMatrix().Data), solveTolerance, r.set.Workers)
	r.noteSweeps(operator.Sweeps, width)
	if errors.Is(err, kernel.ErrUnsolved) {
		return nil, fmt.Errorf("method: least squares with a ridge of %v: %w; choose a larger λ, or the support vector machine", slices.Min(ridge), err)
	} else if err != nil {
		return nil, err
	}
	return sparse.DenseOf(coef), nil
}

// maxTestedRows bounds the test nodes of a tuning split for learners on kernels: each
// has a row of values for every kernel of the grid.
const maxTestedRows = 2000

// Tune implements [Method].
func (m kernelMethod) Tune(ctx context.Context, p *Problem, splits *split.Splits, s *Settings) (*Choice, error) {
	r, err := m.begin(ctx, p, nil, s)
	if err != nil {
		return nil, err
	}
	search := &choose.Search{Kernel: r.kernelSpace(), Learner: r.space, Together: m.learner.Path != nil}
	search.Measure = func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		var values []param.Values
		for _, i := range settings {
			values = append(values, r.settled[i])
		}
		fit := eachOf(r, values...)
		if m.learner.Path != nil {
			fit = func(ctx context.Context, k classify.Gram, y []int) ([]*classify.Model, error) {
				return fitPath(r)(ctx, k, y) // kernels are compared concurrently, and a path is for one fit at a time
			}
		}
		return splitCounts(ctx, r, splits, kernels, len(settings), fit)
	}
	choice, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: r.parameters(choice.Kernel, r.settled[choice.Setting]), Settings: choice.Candidates,
		Accuracy: choice.Accuracy, Tested: choice.Tested,
	}, nil
}

// splitCounts counts the right predictions on the test nodes of all splits with each of some kernels
// and each of the given number of settings, which vary faster.
func splitCounts(ctx context.Context, r *kernelPredictor, splits *split.Splits, kernels []int, settings int, fit choose.Fit) (*choose.Counts, error) {
	counts := choose.NewCounts(len(kernels)*settings, make([]choose.FoldLabels, 1))
	for i := range splits.Len {
		trainTest := splits.At(i)
		train := r.p.At(trainTest.Train)
		train = train.At(split.Sample(train.Class, r.set.sample, r.set.RNGSeed, 0))
		test := r.p.At(trainTest.Test)
		limit := maxTestedRows
		if r.learner.Whole {
			limit = r.set.sample
		}
		test = test.At(split.Sample(test.Class, limit, r.set.RNGSeed, 1))
		group := tuneTogether(len(train.Row), len(test.Row), len(kernels), r.learner.Whole)
		for lo := 0; lo < len(kernels); lo += group {
			hi := min(lo+group, len(kernels))
			if err := countSplit(ctx, r, train, test, kernels[lo:hi], fit, counts.Right[lo*settings:hi*settings]); err != nil {
				return nil, err
			}
		}
		counts.Folds[0].Tested += len(test.Row)
		r.set.Progress("choose", int64(i+1), int64(splits.Len))
	}
	return counts, nil
}

// tuneBytes bounds the blocks of kernels that are compared together.
const tuneBytes = 96 << 20

// tuneTogether returns how many kernels are tried together.
func tuneTogether(train, test, kernels int, isTransductive bool) int {
	if isTransductive {
		train += test
		test = 0
	}
	return min(kernels, max(1, tuneBytes/(8*train*(train+test))))
}

// countSplit adds the right answers on one split to hits.
func countSplit(ctx context.Context, r *kernelPredictor, train, test *Problem, kernels []int, fit choose.Fit, hits []int64) error {
	items, rows, y := train.Row, test.Row, train.Class
	if r.learner.Whole {
		items, rows, y = slices.Concat(items, rows), nil, slices.Concat(y, slices.Repeat([]int{-1}, len(test.Row)))
	}
	grams, err := r.grams(ctx, kernels, items, rows, "choose")
	if err != nil {
		return err
	}
	largest := split.Majority(train.Class)
	return sched.Run(ctx, r.set.Workers, len(grams), func(_, i int) error {
		values := grams[i]
		block := *values
		block.Rows = len(items)
		choose.Scale(values, choose.MeanDiagonal(values, len(train.Row)))
		models, err := fit(ctx, classify.DenseGram(&block), y)
		if err != nil {
			return err
		}
		for j, class := range test.Class {
			row, selfValue := values.Row(len(train.Row)+j), 0.0
			if r.learner.Whole {
				selfValue = row[len(train.Row)+j]
			}
			choose.Ask(models, row, selfValue, y, choose.Outcome{Largest: largest}, func(s int, o choose.Outcome) {
				if o.Voted() == class {
					hits[i*len(models)+s]++
				}
			})
		}
		return nil
	})
}

// fitPath returns what fits all settings of the learner on its path, one time after the other
// in the same memory.
func fitPath(r *kernelPredictor) choose.Fit {
	return choose.OnPath(r.learner, r.learner.Path, len(r.p.Names))(complete(r.set.constant, r.settled...))
}

// eachOf returns what fits the learner with several settings, each by itself.
func eachOf(r *kernelPredictor, settings ...param.Values) choose.Fit {
	return choose.Each(r.learner, len(r.p.Names), settings)
}
