package kernels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// predictor chooses a kernel and a setting of the learner, fits them and predicts all nodes.
type predictor struct {
	*engine.Job
	kernels []kernel.Kernel // one for each setting in Sources

	best  kernel.Kernel
	gram  *sparse.Block[float64] // scale × values of best between the compared labels
	scale float64                // 1 / mean of the diagonal of best

	// isUsual states that Values are usual values, for kernels where the mean of the diagonal is 1. Otherwise they are given
	// values, for the kernel by its formula.
	isUsual bool

	fitted *classify.Model
	items  []int // nodes to learn from, first the labelled nodes in their order
	full   classify.Gram
}

func (r *predictor) settings(phase string) *kernel.Settings {
	return &kernel.Settings{Lenient: true, Memory: r.Settings.Memory, Progress: func(_ string, done, total int64) {
		r.Settings.Progress(phase, done, max(done, total, 1))
	}}
}

// chooseByFolds chooses by predictions of models for labels that they have not learned from.
func (r *predictor) chooseByFolds(ctx context.Context) (*engine.Choice, error) {
	t, err := r.compareLabels(ctx)
	if err != nil {
		return nil, err
	}
	hidden := t.fold
	if r.leavesOneOut() {
		hidden = sched.UpTo(len(t.fold)) // each label is predicted from all others
	}
	isolated, err := choose.Unreachable(ctx, t.p, hidden, r.Settings.Workers,
		&r.Out.Work)
	if err != nil {
		return nil, err
	}
	weight := choose.WeightsOf(r.Problem)
	folds := choose.Labels(weight, t.p.Class, t.fold, isolated)
	choice, err := r.Choose(ctx, func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernels)*len(settings), folds)
		return counts, r.outOfFold(ctx, t, kernels, settings, counts.Loss, func(candidate int, o *choose.Outcome) {
			counts.Note(candidate, o.Fold, r.MajorityClass(o), o, weight)
		})
	})
	if err != nil {
		return nil, err
	}
	if err := r.calibrate(ctx, t, choice.Found.Kernel, choice.Found.Setting); err != nil {
		return nil, err
	}
	r.settle(&choice.Parameters, r.scale)
	return choice, nil
}

// settle replaces usual values of the learner by the values for a kernel by its formula, whose mean of the diagonal is
// 1/scale. Values are rounded to digits that a user can give again.
func (r *predictor) settle(par *engine.Parameters, scale float64) {
	name, _ := choose.UnitParameter(r.Learner)
	if !r.isUsual || name == "" {
		return
	}
	values := choose.SettingOn(r.Learner, par.Declared.Values, 1/scale)
	if r.Settings.Model == nil {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(values.Number(name), 'g', 4, 64), 64)
		values[name] = param.Of(rounded)
	}
	par.Declared = &engine.Setting{Spec: par.Declared.Spec, Values: values}
}

// valuesOn returns the settings at the given positions of r.Values, for a kernel that is multiplied by scale.
func (r *predictor) valuesOn(scale float64, settings []int) []param.Values {
	list := problem.Pick(r.Values, settings)
	for i, v := range list {
		if !r.isUsual {
			list[i] = choose.SettingOn(r.Learner, v, scale)
		}
	}
	return list
}

// calibrate fits the power of the votes to out-of-fold predictions by the kernel and setting at the given positions. It sets
// r.best, r.gram and r.scale.
func (r *predictor) calibrate(ctx context.Context, t *labels, source, setting int) (err error) {
	var list []choose.Outcome
	settings := []int{setting}
	if r.Learner.Path != nil { // a path fits all settings together
		settings = sched.UpTo(len(r.Values))
	}
	err = r.outOfFold(ctx, t, []int{source}, settings, make([]float64, len(settings)), func(i int, o *choose.Outcome) {
		if settings[i] == setting {
			list = append(list, o.Clone())
		}
	})
	if err != nil {
		return err
	}
	r.Votes = choose.FitVotes(len(r.Problem.Names), list)
	for i := range list {
		list[i].Label = t.places[list[i].Label]
	}
	r.Out.Held = r.Hold(list, r.MajorityClass)
	if len(r.kernels) > 1 && !kernel.IsApart(r.kernels[source]) { // values for several kernels at once differ in the last bits
		r.kernels = r.kernels[source:][:1]
		if t, err = r.compareLabels(ctx); err != nil {
			return err
		}
		source = 0
	}
	r.best = r.kernels[source]
	r.gram = t.grams[source]
	r.scale = t.scales[source]
	return nil
}

// learnChosen is the Learn of a job: it fits the learner, and the votes if the choice has not fitted them.
func (r *predictor) learnChosen(ctx context.Context, c *engine.Choice) error {
	t := &r.Out.Seconds
	learn := func(ctx context.Context) error { return r.learnItems(ctx, c) }
	fitVotes := func(ctx context.Context) error { return r.fitVotes(ctx, c) }
	err := engine.RunPhases(ctx, []*float64{&t.Choose, &t.Classify, &t.Walk, &t.Walk}, fitVotes, learn, r.score, r.keepForm)
	if err == nil {
		engine.FillClasses(r.Out, r.Problem, engine.ClassShares)
		r.Out.Power = r.Votes.Power
	}
	return err
}

// fitVotes fits the votes of the setting of c, which was given, not chosen.
func (r *predictor) fitVotes(ctx context.Context, c *engine.Choice) error {
	if r.best != nil {
		return nil
	}
	t, err := r.compareLabels(ctx)
	if err != nil {
		return err
	}
	if k := r.Settings.Model; k != nil {
		r.best, r.gram, r.scale, r.Votes = r.kernels[0], t.grams[0], t.scales[0], choose.Votes{Power: k.Power}
	} else if err := r.calibrate(ctx, t, 0, 0); err != nil {
		return err
	}
	r.settle(&c.Parameters, r.scale)
	r.Out.Parameters = c.Parameters
	return nil
}

// leavesOneOut reports whether each label is predicted from all other labels, which learners with a closed form do unless
// labels of a group are held out together.
func (r *predictor) leavesOneOut() bool {
	path := r.Learner.Path
	return path != nil && path.LeaveOneOut != nil && r.Problem.Group == nil
}

// outOfFold calls visit with a prediction of each label for each pair of kernels and settings; settings vary faster. If the
// learner's path has a closed form, each label is predicted from all other labels, else from the other folds. If a kernel
// does not allow a setting, the loss of the pair is +Inf. On a path, settings must be all settings.
func (r *predictor) outOfFold(ctx context.Context, t *labels,
	kernels, settings []int, losses []float64,
	visit func(candidate int, o *choose.Outcome)) error {
	path := r.Learner.Path
	n := len(settings)
	if !r.leavesOneOut() {
		return validateKernels(ctx, r, problem.Pick(t.grams, kernels), problem.Pick(t.scales, kernels), t.p.Class,
			t.fold, settings, visit)
	}
	return sched.Run(ctx, r.Settings.Workers, len(kernels), func(_, a int) error {
		k := t.grams[kernels[a]]
		pairs, decisions, loss, err := path.LeaveOneOut(ctx, classify.DenseGram(k),
			t.p.Class, len(r.Problem.Names), r.valuesOn(t.scales[kernels[a]], sched.UpTo(len(r.Values))))
		for s := range decisions {
			losses[a*n+s] = loss[s]
			if decisions[s] == nil {
				losses[a*n+s] = math.Inf(1)
			} else {
				choose.LeaveOneOut(k, t.p.Class, t.fold, pairs, decisions[s],
					func(o *choose.Outcome) { visit(a*n+s, o) })
			}
		}
		return err
	})
}

// validateKernels calls visit with the outcomes of [choose.CrossValidate] for each pair of a kernel, given by its values in
// grams and their factors in scales, and a setting; settings vary faster.
func validateKernels(ctx context.Context, r *predictor,
	grams []*sparse.Block[float64], scales []float64, class, fold, settings []int,
	visit func(candidate int, o *choose.Outcome)) error {
	group := 1
	if r.Learner.Path != nil || r.Learner.Compare != nil {
		group = len(settings)
	}
	groups := len(settings) / group
	return sched.Run(ctx, r.Settings.Workers, len(grams)*groups, func(_, i int) error {
		values := r.valuesOn(scales[i/groups], settings[i%groups*group:][:group])
		fit := choose.Each(r.Learner, len(r.Problem.Names), values)
		if path := r.Learner.Path; path != nil {
			fit = choose.OnPath(r.Learner, path, len(r.Problem.Names))(values)
		}
		return choose.CrossValidate(ctx, grams[i/groups], class, fold, fit,
			func(s int, o *choose.Outcome) { visit(i*group+s, o) })
	})
}

// labels are the labels on which settings are compared, with the kernel values between them.
type labels struct {
	p      *engine.Problem
	places []int // positions of the labels in all labels
	fold   []int
	grams  []*sparse.Block[float64] // scale × values of each kernel between the labels
	scales []float64
}

// compareLabels returns a sample of the labels on which settings are compared, with the values of all kernels between them.
func (r *predictor) compareLabels(ctx context.Context) (*labels, error) {
	t := &labels{places: choose.Sample(r.Problem.Class, r.Settings.Sample, r.Settings.RNGSeed, 0)}
	t.p = r.Problem.At(t.places)
	t.fold = choose.ToChoose(t.p, r.Settings.RNGSeed).Of
	var err error
	if t.grams, err = r.grams(ctx, r.kernels, t.p.Row, nil, "choose"); err != nil {
		return nil, err
	}
	for _, k := range t.grams {
		t.scales = append(t.scales, r.rescale(k, k.Rows))
	}
	return t, nil
}

// rescale is [choose.Rescale] for a learner that tells how its scores depend on the unit of the kernel. Other learners get the
// kernel as it is, with the factor 1.
func (r *predictor) rescale(k *sparse.Block[float64], items int) float64 {
	if name, _ := choose.UnitParameter(r.Learner); name == "" && !r.Learner.Dual {
		return 1
	}
	return choose.Rescale(k, items)
}

// comparedTolerance is for kernels that are only compared; the chosen kernel is computed again.
const comparedTolerance = 1e-6

// grams returns a block for each kernel, with a column for each of items. Its rows are the kernel values of items, then of
// rows.
func (r *predictor) grams(ctx context.Context, kernels []kernel.Kernel,
	items, rows []int, phase string) ([]*sparse.Block[float64], error) {
	s := r.settings(phase)
	if len(kernels) > 1 && !slices.ContainsFunc(kernels, kernel.IsApart) {
		s.Tolerance = comparedTolerance
	}
	grams, sweeps, err := kernel.Grams(ctx, kernels, items, rows, s)
	r.Out.Work.Sweeps += sweeps
	return grams, err
}

// seenAll returns the values of the chosen kernel between all labels, times r.scale. It drops r.gram.
func (r *predictor) seenAll(ctx context.Context) (*sparse.Block[float64], error) {
	k := r.gram
	if k.Rows < len(r.Problem.Row) {
		grams, err := r.grams(ctx, []kernel.Kernel{r.best}, r.Problem.Row, nil, "walk")
		if err != nil {
			return nil, err
		}
		k = grams[0]
		blocks.Scale(k, r.scale)
	}
	r.gram = nil
	return k, nil
}

// measureAll stores in c the predictions of held-out labels by its setting. It predicts folds with about as many labels as the sample from all
// labels outside the fold. k has the kernel values between all labels.
func (r *predictor) measureAll(ctx context.Context, k *sparse.Block[float64], c *engine.Choice) error {
	folds := choose.ToMeasure(r.Problem, r.Compared, r.Settings.RNGSeed)
	fold := folds.Of
	for i, f := range fold {
		if f >= folds.Measured {
			fold[i] = -1
		}
	}
	var list []choose.Outcome
	err := validateKernels(ctx, r, []*sparse.Block[float64]{k}, []float64{r.scale}, r.Problem.Class, fold, []int{c.Found.Setting}, func(_ int, o *choose.Outcome) {
		list = append(list, o.Clone())
	})
	c.Held = r.Hold(list, r.MajorityClass)
	return err
}

func (r *predictor) learnItems(ctx context.Context, c *engine.Choice) (err error) {
	values := choose.SettingOn(r.Learner, c.Declared.Values, r.scale)
	r.items = r.Problem.Row
	class := slices.Clone(r.Problem.Class)
	classes := len(r.Problem.Names)
	switch {
	case solves(r.Job):
		r.gram = nil
		if r.Measures && c.Found != nil {
			if err := r.measureSolved(ctx, c); err != nil {
				return err
			}
		}
		r.fitted, err = r.solve(ctx, r.Problem, values, solveTolerance)
		return err
	case r.Learner.Whole:
		free := problem.ListUnlabelled(r.Problem, nil)
		r.items = slices.Concat(r.Problem.Row, free)
		class = append(class, slices.Repeat([]int{-1}, len(free))...)
		r.gram = nil
		grams, err := r.grams(ctx, []kernel.Kernel{r.best}, r.items, nil, "walk")
		if err != nil {
			return err
		}
		blocks.Scale(grams[0], r.scale)
		r.full = classify.DenseGram(grams[0])
	default:
		k, err := r.seenAll(ctx)
		if err == nil && r.Measures && c.Found != nil {
			err = r.measureAll(ctx, k, c)
		}
		if err != nil {
			return err
		}
		r.full = classify.DenseGram(k)
	}
	r.fitted, err = r.Learner.Fit(ctx, r.full, class, classes, values)
	if errors.Is(err, classify.ErrIterationLimit) && r.fitted != nil {
		// r.fitted is the best model so far.
		err = nil
		r.Out.Unfinished = engine.LimitMessage(r.Learner)
	}
	if err == nil && r.Learner.Path != nil && choose.TooFew(class) {
		for m := range r.fitted.Machines {
			r.fitted.Machines[m].Rho = 0 // far from all labels the model is undecided
		}
	}
	return err
}

const machinesAtATime = 32

const solveColumns = 64

// score turns decisions on every node into scores.
func (r *predictor) score(ctx context.Context) error {
	n := len(r.Problem.Degrees)
	outputs := r.fitted.Pairs
	if r.Learner.Dual {
		r.full = nil
		r.gram = nil
		isVoted := r.Learner.Path != nil
		width := min(len(outputs), machinesAtATime)
		if outputs[0].Negative == classify.Rest || !isVoted {
			width = len(outputs) // probabilities are normalized over all outputs
		} else {
			r.Counts = system.Make[uint8](n * len(r.Problem.Names))
		}
		if isVoted {
			r.Out.Scores = blocks.NewDense[float32](n, len(r.Problem.Names))
		}
		return r.decide(ctx, r.fitted.Machines, r.Problem.Row, width, func(lo int, decisions *sparse.Block[float64]) error {
			if isVoted {
				return r.AddAllVotes(ctx, outputs, decisions, lo)
			}
			err := r.ShareAll(ctx, outputs, 0,
				func(_ []float64, i int) []float64 { return decisions.Row(i) })
			if r.Out.Raw != nil {
				blocks.Scale(r.Out.Raw, r.formula())
			}
			return err
		})
	}
	if r.Learner.Whole {
		place := make([]int, n)
		for a, i := range r.items {
			place[i] = a
		}
		return r.ShareAll(ctx, outputs, len(r.items), func(row []float64, i int) []float64 {
			r.full.RowTo(row, place[i])
			return r.fitted.ScoresTo(nil, row, row[place[i]])
		})
	}
	values, report, err := kernel.Matrix(ctx, r.best, sched.UpTo(n), r.items,
		r.settings("walk"))
	if err != nil {
		return err
	}
	r.Out.Work.Sweeps += report.Sweeps
	blocks.Scale(values, r.scale)
	return r.ShareAll(ctx, outputs, 0,
		func(_ []float64, i int) []float64 { return r.fitted.ScoresTo(nil, values.Row(i), 0) })
}

// formula returns the factor of decisions that makes them those of the method's formula, for the kernel as it is.
func (r *predictor) formula() float64 {
	if name, _ := choose.UnitParameter(r.Learner); name == "" {
		return 1 / r.scale
	}
	return 1
}

// decide computes the decisions K[:, L]·C = K·(E_L·C) on all nodes from dual coefficients C at the labelled nodes L, for
// width classifiers at a time. It calls visit with the decisions of the classifiers from machines[lo] on.
func (r *predictor) decide(ctx context.Context, machines []classify.Machine, labelled []int, width int,
	visit func(lo int, decisions *sparse.Block[float64]) error) error {
	n := len(r.Problem.Degrees)
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	for lo := 0; lo < len(machines); lo += width {
		batch := machines[lo:min(lo+width, len(machines))]
		coef := x.Columns(0, len(batch))
		decisions := y.Columns(0, len(batch))
		for j := range batch {
			for _, row := range labelled {
				coef.Row(row)[j] = 0
			}
			for s, i := range batch[j].Index {
				coef.Row(labelled[i])[j] = r.scale * batch[j].Coef[s]
			}
		}
		report, err := r.best.ApplyTo(ctx, decisions, coef, r.settings("walk"))
		if err != nil {
			return err
		}
		r.Out.Work.Sweeps += report.Sweeps
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

// solveTolerance is relative to targets of ±1.
const solveTolerance = 1e-7

// countedTolerance is for models that are fitted only to count their right predictions.
const countedTolerance = 1e-4

// solve fits the learner to the labels of p without kernel values: it computes (K + diag(ridge))⁻¹·T for targets T by
// conjugate gradients on E_Lᵀ·K·E_L + diag(ridge). If the relative residual exceeds tolerance, the error wraps
// [kernel.ErrUnsolved].
func (r *predictor) solve(ctx context.Context, p *engine.Problem, values param.Values, tolerance float64) (*classify.Model, error) {
	return r.Learner.Solve(p.Class, len(p.Names), values, func(ridge []float64, t *mat.Dense) (*mat.Dense, error) {
		_, machines := t.Dims()
		operator := kernel.NewAmong(r.best, p.Row, r.scale, ridge, min(machines, solveColumns), r.settings("walk"))
		coef, err := operator.Solve(ctx, sparse.BlockOfDense(t), tolerance, r.Settings.Workers)
		r.Out.Work.Sweeps += operator.Sweeps
		if errors.Is(err, kernel.ErrUnsolved) {
			return nil, fmt.Errorf("method: least squares with a ridge of %v: %w; choose a larger λ, or the support vector machine", slices.Min(ridge)/r.scale, err)
		} else if err != nil {
			return nil, err
		}
		return sparse.DenseOf(coef), nil
	})
}

// measureSolved measures the setting of c as measureAll does, but fits the models by solve, without kernel
// values.
func (r *predictor) measureSolved(ctx context.Context, c *engine.Choice) error {
	folds := choose.ToMeasure(r.Problem, r.Compared, r.Settings.RNGSeed)
	isolated, err := choose.Unreachable(ctx, r.Problem, folds.Of, r.Settings.Workers, &r.Out.Work)
	if err != nil {
		return err
	}
	var list []choose.Outcome
	for f := range folds.Measured {
		hidden := folds.Split(f)
		visible := r.Problem.At(hidden.Train)
		if choose.TooFew(visible.Class) {
			return nil
		}
		model, err := r.solve(ctx, visible, choose.SettingOn(r.Learner, c.Declared.Values, r.scale), countedTolerance)
		if err != nil {
			return err
		}
		largest := choose.Majority(visible.Class)
		err = r.decide(ctx, model.Machines, visible.Row, len(model.Pairs), func(_ int, decisions *sparse.Block[float64]) error {
			for _, i := range hidden.Test {
				o := choose.Outcome{Label: i, Class: r.Problem.Class[i], Unreached: isolated[i], Largest: largest, Pairs: model.Pairs,
					Decisions: decisions.Row(r.Problem.Row[i])}
				if isolated[i] {
					o.Pairs = nil
				}
				list = append(list, o.Clone())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.Held = r.Hold(list, r.MajorityClass)
	return nil
}

func (r *predictor) chooseOnSplits(ctx context.Context, splits *choose.Splits) (*engine.Choice, error) {
	scales := make([]float64, len(r.kernels)) // of the last split
	c, err := r.Choose(ctx, func(ctx context.Context, kernels, settings []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernels)*len(settings),
			make([]choose.FoldLabels, 1))
		for i := range splits.Len {
			if err := countSplit(ctx, r, splits.At(i), kernels, settings, counts, scales); err != nil {
				return nil, err
			}
			r.Settings.Progress("choose", int64(i+1), int64(splits.Len))
		}
		return counts, nil
	})
	if err == nil {
		r.settle(&c.Parameters, scales[c.Found.Kernel])
	}
	return c, err
}

const tuneBytes = 96 << 20

// countSplit adds to counts the right predictions on the test nodes of a split for each pair of kernels and settings;
// settings vary faster. It stores the factors of the kernels in scales.
func countSplit(ctx context.Context, r *predictor, trainTest choose.Split,
	kernels, settings []int, counts *choose.Counts, scales []float64) error {
	train := r.Problem.At(trainTest.Train)
	test := r.Problem.At(trainTest.Test)
	limit := engine.MaxTestedRows
	if r.Learner.Whole {
		limit = r.Settings.Sample
	}
	train = train.At(choose.Sample(train.Class, r.Settings.Sample, r.Settings.RNGSeed, 0))
	test = test.At(choose.Sample(test.Class, limit, r.Settings.RNGSeed, 1))
	items := train.Row
	rows := test.Row
	fold := slices.Repeat([]int{-1}, len(train.Row))
	class := slices.Concat(train.Class, test.Class)
	fold = append(fold, make([]int, len(test.Row))...)
	if r.Learner.Whole {
		items = slices.Concat(items, rows)
		rows = nil
	}
	group := max(1, tuneBytes/(8*len(items)*len(class)))
	for lo := 0; lo < len(kernels); lo += group {
		grams, err := r.grams(ctx,
			problem.Pick(r.kernels, kernels[lo:min(lo+group, len(kernels))]), items,
			rows, "choose")
		if err != nil {
			return err
		}
		compared := make([]float64, len(grams))
		for i, k := range grams {
			compared[i] = r.rescale(k, len(train.Row))
			scales[kernels[lo+i]] = compared[i]
		}
		err = validateKernels(ctx, r, grams, compared, class, fold, settings, func(candidate int, o *choose.Outcome) {
			if o.Voted == o.Class {
				counts.Add(lo*len(settings)+candidate, 0, 0)
			}
		})
		if err != nil {
			return err
		}
	}
	counts.Folds[0].Tested += len(test.Row)
	return nil
}

// keepForm sets the form of decisions that are linear in the kernel, if explanations are asked for. If classifiers decide
// between two classes, the score of a class is the sum of the decisions for the class less the decisions against it. Cost:
// an application of the kernel.
func (r *predictor) keepForm(ctx context.Context) error {
	if !r.Settings.Explain || !r.Learner.Dual {
		return nil
	}
	n := len(r.Problem.Degrees)
	k := len(r.Problem.Names)
	rows := r.Problem.Row
	weights := sparse.NewBlock[float64](len(rows), k)
	bias := make([]float64, k)
	for m, machine := range r.fitted.Machines {
		r.fitted.Pairs[m].AddTo(bias, -r.formula()*machine.Rho)
		for s, i := range machine.Index {
			r.fitted.Pairs[m].AddTo(weights.Row(i), r.formula()*r.scale*machine.Coef[s])
		}
	}
	apply := func(ctx context.Context, x *sparse.Block[float64]) (*sparse.Block[float64], error) {
		y := sparse.NewBlock[float64](n, x.Cols)
		_, err := r.best.ApplyTo(ctx, y, x, r.settings("walk"))
		return y, err
	}
	x := sparse.NewBlock[float64](n, k)
	for i, row := range rows {
		copy(x.Row(row), weights.Row(i))
	}
	scores, err := apply(ctx, x)
	if err != nil {
		return err
	}
	for i := range n {
		for c, value := range bias {
			scores.Row(i)[c] += value
		}
	}
	r.Out.Form = explain.Linear(rows, weights, scores, bias, func(ctx context.Context, nodes []int) (*sparse.Block[float64], error) {
		return apply(ctx, explain.UnitColumns(n, nodes, rows))
	})
	r.Out.Form.Size = func(node int) float64 { return r.Problem.Degrees[node] }
	if set := r.Out.Parameters.Kernel; !kernel.Families().Named(set.Spec.Name).IsNormalized(set.Values) {
		size := kernel.OnDegrees(r.Problem.Degrees).MeanDegree()
		r.Out.Form.Size = func(int) float64 { return size }
	}
	return nil
}
