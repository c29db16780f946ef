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

	related []*sparse.Block[float64] // scaled values of each kernel between the compared labels; nil: not computed
	scales  []float64                // 1 / mean of the diagonal, by kernel

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

// compare is the [engine.Comparison] of kernels with a learner.
func (r *predictor) compare(ctx context.Context, t *choose.Task, kernels, settings []int, loss []float64,
	visit func(pair int, o *choose.Outcome)) error {
	if t.Learned() < len(t.Row) {
		return r.compareTests(ctx, t, kernels, settings, visit)
	}
	if n := len(r.Values); r.Learner.Path != nil && len(settings) < n { // a path fits all settings together
		return r.compare(ctx, t, kernels, sched.UpTo(n), make([]float64, n*len(kernels)), func(pair int, o *choose.Outcome) {
			if i := slices.Index(settings, pair%n); i >= 0 {
				visit(pair/n*len(settings)+i, o)
			}
		})
	}
	if err := r.relate(ctx, t); err != nil {
		return err
	}
	if t.LeavesOneOut {
		return r.leaveOneOut(ctx, t, kernels, settings, loss, visit)
	}
	return r.validate(ctx, problem.Pick(r.related, kernels), problem.Pick(r.scales, kernels), t, settings, visit)
}

// relate computes r.related and r.scales between the labels of t, unless they are known.
func (r *predictor) relate(ctx context.Context, t *choose.Task) (err error) {
	if r.related != nil {
		return nil
	}
	if r.related, err = r.grams(ctx, r.kernels, t.Row, nil, "choose"); err != nil {
		return err
	}
	for i, k := range r.related {
		r.scales[i] = r.rescale(k, k.Rows)
	}
	return nil
}

// settle sets r.best, r.gram and r.scale to the values of a kernel between the labels of t. It replaces usual values of the
// learner in par by the values for a kernel by its formula.
func (r *predictor) settle(ctx context.Context, t *choose.Task, kernelIndex int, par *engine.Parameters) error {
	if t.Learned() == len(t.Row) {
		if len(r.kernels) > 1 && !kernel.IsApart(r.kernels[kernelIndex]) { // values for several kernels at once differ in the last bits
			r.kernels = r.kernels[kernelIndex:][:1]
			r.related = nil
			kernelIndex = 0
		}
		if err := r.relate(ctx, t); err != nil {
			return err
		}
		r.best = r.kernels[kernelIndex]
		r.gram = r.related[kernelIndex]
		r.related = nil
	}
	r.scale = r.scales[kernelIndex]
	r.settleValues(par, r.scale)
	return nil
}

// settleValues replaces usual values of the learner by the values for a kernel by its formula, whose mean of the diagonal is
// 1/scale. Values are rounded to digits that a user can give again.
func (r *predictor) settleValues(par *engine.Parameters, scale float64) {
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

// learnChosen is the Learn of a job.
func (r *predictor) learnChosen(ctx context.Context, c *engine.Choice) error {
	t := &r.Out.Seconds
	learn := func(ctx context.Context) error { return r.learnItems(ctx, c) }
	err := engine.RunPhases(ctx, []*float64{&t.Classify, &t.Walk, &t.Walk}, learn, r.score, r.keepForm)
	if err == nil {
		engine.FillClasses(r.Out, r.Problem, engine.ClassShares)
		r.Out.Power = r.Votes.Power
	}
	return err
}

// leaveOneOut predicts each label from all other labels, by the closed form of the learner's path. If a kernel does not
// allow a setting, the loss of the pair is +Inf.
func (r *predictor) leaveOneOut(ctx context.Context, t *choose.Task, kernels, settings []int, loss []float64,
	visit func(pair int, o *choose.Outcome)) error {
	n := len(settings)
	return sched.Run(ctx, r.Settings.Workers, len(kernels), func(_, a int) error {
		k := r.related[kernels[a]]
		pairs, decisions, losses, err := r.Learner.Path.LeaveOneOut(ctx, classify.DenseGram(k),
			t.Class, len(r.Problem.Names), r.valuesOn(r.scales[kernels[a]], settings))
		for s := range decisions {
			loss[a*n+s] = losses[s]
			if decisions[s] == nil {
				loss[a*n+s] = math.Inf(1)
			} else {
				choose.LeaveOneOut(k, t.Class, t.Fold, pairs, decisions[s],
					func(o *choose.Outcome) { visit(a*n+s, o) })
			}
		}
		return err
	})
}

// validate calls visit with the outcomes of [choose.CrossValidate] for each pair of a kernel, given by its values in grams
// and their factors in scales, and a setting; settings vary faster.
func (r *predictor) validate(ctx context.Context, grams []*sparse.Block[float64], scales []float64, t *choose.Task, settings []int,
	visit func(pair int, o *choose.Outcome)) error {
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
		return choose.CrossValidate(ctx, grams[i/groups], t.Class, t.Fold, fit,
			func(s int, o *choose.Outcome) { visit(i*group+s, o) })
	})
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

// measure returns the predictions of held-out labels by the setting of c, from k, the kernel values between all labels.
func (r *predictor) measure(ctx context.Context, k *sparse.Block[float64], c *engine.Choice) (*choose.Held, error) {
	var list []choose.Outcome
	err := r.validate(ctx, []*sparse.Block[float64]{k}, []float64{r.scale}, r.MeasuringTask(), []int{c.Found.Setting}, func(_ int, o *choose.Outcome) {
		list = append(list, o.Clone())
	})
	return r.Hold(list, r.MajorityClass), err
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
			if c.Held, err = r.measureSolved(ctx, values); err != nil {
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
			c.Held, err = r.measure(ctx, k, c)
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

// measureSolved returns the predictions of held-out labels by models with the given values, fitted by solve, without kernel
// values. If models know too few labels, it returns nil.
func (r *predictor) measureSolved(ctx context.Context, values param.Values) (*choose.Held, error) {
	t := r.MeasuringTask()
	if err := t.FindIsolated(ctx, r.Settings.Workers, &r.Out.Work); err != nil {
		return nil, err
	}
	var list []choose.Outcome
	for f := range t.Folds() {
		hidden := t.Split(f)
		visible := t.At(hidden.Train)
		if choose.TooFew(visible.Class) {
			return nil, nil
		}
		model, err := r.solve(ctx, visible, values, countedTolerance)
		if err != nil {
			return nil, err
		}
		largest := choose.Majority(visible.Class)
		err = r.decide(ctx, model.Machines, visible.Row, len(model.Pairs), func(_ int, decisions *sparse.Block[float64]) error {
			for _, i := range hidden.Test {
				o := choose.Outcome{Label: i, Class: t.Class[i], Unreached: t.Isolated[i], Largest: largest, Pairs: model.Pairs,
					Decisions: decisions.Row(t.Row[i])}
				if o.Unreached {
					o.Pairs = nil
				}
				list = append(list, o.Clone())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return r.Hold(list, r.MajorityClass), nil
}

const tuneBytes = 96 << 20

// compareTests predicts the test labels of a split, for as many kernels at a time as fit into tuneBytes. It stores the
// factors of the kernels in r.scales.
func (r *predictor) compareTests(ctx context.Context, t *choose.Task, kernels, settings []int, visit func(pair int, o *choose.Outcome)) error {
	learned := t.Learned()
	items := t.Row[:learned]
	rows := t.Row[learned:]
	if r.Learner.Whole {
		items = t.Row
		rows = nil
	}
	group := max(1, tuneBytes/(8*len(items)*len(t.Row)))
	for lo := 0; lo < len(kernels); lo += group {
		some := kernels[lo:min(lo+group, len(kernels))]
		grams, err := r.grams(ctx, problem.Pick(r.kernels, some), items, rows, "choose")
		if err != nil {
			return err
		}
		for i, k := range grams {
			r.scales[some[i]] = r.rescale(k, learned)
		}
		err = r.validate(ctx, grams, problem.Pick(r.scales, some), t, settings, func(pair int, o *choose.Outcome) {
			visit(lo*len(settings)+pair, o)
		})
		if err != nil {
			return err
		}
	}
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
