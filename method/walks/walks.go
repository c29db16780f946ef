package walks

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type method struct {
	name    string
	learner *classify.Learner
}

type job struct{ engine.Job }

func Engines() []*engine.Engine {
	list := []*engine.Engine{method{cwk.Spec.Name, classify.Learners()[0]}.engine()}
	for _, l := range classify.Learners() {
		list = append(list, method{cwk.Spec.Name + "+" + l.Name, l}.engine())
	}
	return list
}

func (m method) engine() *engine.Engine {
	return engine.Engine{
		Name: m.name, Specs: []*param.Spec{&Spec, engine.SpecOf(m.learner)},
		Takes: slices.Concat(Spec.Takes(), []string{cwk.PriorParam.Name},
			engine.SpecOf(m.learner).Takes()),
		Workspace: m.workspace, HasRaw: m.learner.Path == nil, Extension: m.extension(),
		Check: func(s *engine.Settings) error {
			_, err := walkSettings(s)
			return err
		},
	}.InStages(m.begin)
}

// begin is an [engine.Stages]. If there are too few labels to hide any, the only setting is the longest walk with the
// default α and features.
func (m method) begin(_ context.Context, p *engine.Problem, par *engine.Parameters, s *engine.Settings) (*engine.Job, error) {
	if err := problem.ValidateFor(p, &Spec); err != nil {
		return nil, err
	}
	if err := engine.CheckProcesses(m.learner, p); err != nil {
		return nil, err
	}
	j, err := m.job(p, s)
	if err != nil {
		return nil, err
	}
	switch {
	case par != nil:
		j.Fix(par)
	case choose.TooFew(p.Class):
		usual := j.Parameters(j.SourceSpace.Usual, j.Space.Usual)
		for _, v := range j.Sources {
			if v.Word("features") == usual.Features() && v.Number("alpha") == usual.Alpha() {
				usual.Kernel = &engine.Setting{Spec: j.Source, Values: v}
			}
		}
		j.Fix(&usual)
	}
	j.ByFolds = j.choose
	j.BySplits = j.chooseOnSplits
	j.Learn = j.learnWalk
	return &j.Job, nil
}

const mostPlainFolds = 10

func (m method) job(p *engine.Problem, s *engine.Settings) (j *job, err error) {
	set := s.WithDefaults()
	j = &job{engine.Job{Problem: p, Settings: &set, Learner: m.learner, Out: new(engine.Prediction),
		Source: &Spec, Declared: engine.SpecOf(m.learner), Compared: set.Sample}}
	if limit := m.learner.ComparedItems; limit > 0 {
		j.Compared = min(j.Compared, limit)
	}
	if j.Sources, err = walkSettings(&set); err != nil {
		return nil, err
	}
	if j.Values, j.Space, err = engine.LearnerSettings(&set, m.learner, len(p.Names)); err != nil {
		return nil, err
	}
	kinds := j.kinds()
	longest := j.Parameters(len(j.Sources)-1, 0)
	if m.learner.Whole && slices.Contains(kinds, Honest) ||
		len(kinds) > 1 && mostPlainFolds*j.Compared > mostRows(m.learner,
			&longest, len(p.Names)) {
		// Trials of such learners have no other nodes, which plain rows would need; and plain rows are as many as labels ×
		// folds.
		j.Sources = slices.DeleteFunc(j.Sources,
			func(v param.Values) bool { return v.Word("features") == Plain })
	}
	j.SourceSpace = walkSpace(&set, j.Sources)
	j.Measures = !perNode(m.learner) && j.Compared < len(p.Row) && !set.Unmeasured
	return j, nil
}

func (j *job) learnWalk(ctx context.Context, c *engine.Choice) error {
	j.Fix(&c.Parameters)
	j.Measures = j.Measures && c.Found != nil
	if err := budget.Check(j.Settings.Memory, j.fitting(c.Parameters, j.Measures).Required(j.Settings.Memory),
		"learning with the chosen setting"); err != nil {
		return err
	}
	r := &predictor{job: j, par: c.Parameters}
	score := r.score
	if perNode(j.Learner) {
		score = r.scoreNodes
	}
	t := &j.Out.Seconds
	err := engine.RunPhases(ctx, []*float64{&t.Walk, &t.Classify, &t.Walk, &t.Walk, &t.Walk}, r.walk, r.learnRows, score, r.form, r.columns)
	if err == nil {
		engine.FillClasses(j.Out, j.Problem, j.Settings.Prior)
		c.Estimate = cmp.Or(r.estimate, c.Estimate)
	}
	return err
}

// perNode reports whether a learner needs the features of every node, because its models are not linear in features.
func perNode(l *classify.Learner) bool {
	return l.Whole || !l.Dual
}

// addNodes adds to picks every node, and stores their positions in r.rowOf. Unlabelled nodes come first, after the training
// rows, because a learner may learn from them too.
func (r *predictor) addNodes(picks *[]cwk.Pick) {
	n := len(r.Problem.Degrees)
	labelled := problem.MarkLabels(r.Problem)
	r.rowOf = make([]int, n)
	for _, isLabelled := range []bool{false, true} {
		for i := range n {
			if labelled[i] == isLabelled {
				r.rowOf[i] = len(*picks)
				*picks = append(*picks, cwk.Pick{Row: i})
			}
		}
	}
}

// learnRows fits the power of the votes, measures the accuracy, and fits the learner to the training rows of r.features.
func (r *predictor) learnRows(ctx context.Context) (err error) {
	var outcomes []choose.Outcome
	candidates := r.candidates(r.Sources, r.Values)
	for i := range r.trials.trials[r.par.Features()] {
		t := &r.trials.trials[r.par.Features()][i]
		err := candidates.Run(ctx, r.features, t,
			func(_, _ int, o *choose.Outcome) { outcomes = append(outcomes, o.Clone()) })
		if err != nil {
			return err
		}
	}
	r.Votes = choose.FitVotes(len(r.Problem.Names), outcomes)
	r.Out.Held = r.Hold(outcomes, func(o *choose.Outcome) int { return o.Voted })
	if err := r.measure(ctx); err != nil {
		return err
	}
	count := len(r.train)
	y := r.class
	if perNode(r.Learner) {
		count = r.features.Rows - r.train[0]
	}
	items := *r.scaleRows(r.train[0], count)
	if perNode(r.Learner) {
		trained := items
		r.trained = &trained
	}
	items.Rows = len(r.train)
	if r.Learner.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1},
			len(r.Problem.Degrees)-len(r.Problem.Row)))
		items.Rows = len(y)
	}
	r.model, r.fitted, err = r.learnFrom(ctx, &items, y)
	if errors.Is(err, classify.ErrIterationLimit) &&
		(r.model != nil || r.fitted != nil) {
		// the model is the best so far
		err = nil
		r.Out.Unfinished = engine.LimitMessage(r.Learner)
	}
	if err == nil && r.Learner.Path != nil && choose.TooFew(r.Problem.Class) {
		neutral(r.model, r.par.Scale()/float64(len(r.Problem.Names)))
	}
	return err
}

// learnFrom fits the learner to items with classes y, −1 for no class. It returns the linear model, or if the learner needs
// the features of every node, the fitted model alone.
func (r *predictor) learnFrom(ctx context.Context, items *sparse.Block[float32],
	y []int) (linear *classify.LinearModel, fitted *classify.Model, err error) {
	l := r.Learner
	values := r.par.Declared.Values
	if l.Path != nil {
		values = choose.ScaleSetting(l.Path, values, float64(max(1, r.partitions())))
	}
	if l.Linear != nil {
		linear, err = l.Linear(ctx, items, y, len(r.Problem.Names), values)
		return linear, nil, err
	}
	fitted, err = l.Fit(ctx, classify.LinearGram(items), y, len(r.Problem.Names), values)
	if fitted != nil && !perNode(l) {
		linear = classify.LinearWeights(fitted, items)
	}
	return linear, fitted, err
}

func (r *predictor) scoreNodes(ctx context.Context) error {
	n := len(r.Problem.Degrees)
	first := r.train[0]
	gram := classify.LinearGram(r.trained)
	items := sched.UpTo(len(r.train))
	if r.Learner.Whole {
		items = sched.UpTo(len(r.train) + n - len(r.Problem.Row))
	}
	return r.ShareAll(ctx, r.fitted.Pairs, len(items), func(row []float64, i int) []float64 {
		item := r.rowOf[i] - first
		square := make([]float64, 1)
		gram.PartTo(row[:len(r.train)], item, items[:len(r.train)]) // other items have no coefficients
		gram.PartTo(square, item, []int{item})
		return r.fitted.ScoresTo(nil, row, square[0])
	})
}

// maxFeatureBytes is the largest memory of the features of training rows. If all rows would take more, the learner learns
// from a sample of the labels. maxFeatureBytes is constant, so that results do not depend on the memory limit.
var maxFeatureBytes int64 = 1 << 30

func mostRows(l *classify.Learner, par *engine.Parameters, classes int) int {
	rows := int(max(2, maxFeatureBytes/(4*int64(par.Terms())*int64(classes))))
	if l.MostItems > 0 {
		rows = min(rows, l.MostItems)
	}
	return rows
}

// workspace declares the memory of choosing a setting and of predicting with the shortest walk. Memory for longer walks is
// optional.
func (m method) workspace(p *engine.Problem, s *engine.Settings) (w budget.Workspace, err error) {
	j, err := m.job(p, s)
	if err != nil {
		return w, err
	}
	last := len(j.Sources) - 1
	w = j.fitting(j.Parameters(0, 0), false)
	most := w.Or(j.fitting(j.Parameters(last, 0), j.Measures))
	if last > 0 || len(j.Values) > 1 {
		w = w.Or(j.choosing(1))
		most = most.Or(j.choosing(sched.Workers(j.Settings.Workers)))
	}
	return w.And(budget.Workspace{Optional: most.Required(0) - w.Required(0)}), nil
}

func (j *job) choosing(workers int) budget.Workspace {
	p := j.Problem
	folds := choose.FoldCount(len(p.Row))
	labels := min(len(p.Row), max(j.Compared, 2*len(p.Names)))
	tests := min(j.testedNodes(), j.Settings.Tested)
	trials := budget.Held(budget.Times(workers, j.trial(labels, max(tests, labels)).Required(0)))
	return j.walk(folds + 1).Or(trials).And(j.rows(labels*folds+tests, longestOf(j)))
}

// fitting declares the memory of learning: rows of features during the walks, then one trial after another, a
// fit, and the decisions on all nodes.
func (j *job) fitting(par engine.Parameters, measures bool) budget.Workspace {
	p := j.Problem
	n := len(p.Degrees)
	k := len(p.Names)
	partitions := max(1, (&predictor{job: j, par: par}).partitions())
	train := min(partitions*len(p.Row), max(2*k*partitions, mostRows(j.Learner, &par, k)))
	folds := choose.FoldCount(len(p.Row))
	labels := min(len(p.Row), max(j.Compared, 2*k))
	machines := j.CountMachines()
	features := k * par.Terms()
	weights := budget.Held(16 * int64(machines) * int64(features)) // twice: for the learner and for the walk
	scores := j.walk(1).AndHeld(budget.Block[float64](n, k), min(decisionBytes, 4*int64(n)*int64(machines)))
	rows := train + labels*folds
	variants := partitions*folds + 1
	switch {
	case perNode(j.Learner):
		rows += n
		scores = budget.Held(8 * int64(n) * int64(sched.Workers(j.Settings.Workers)+4)) // kernel values for each worker, and vectors
	case measures:
		all, count := choose.MeasuringFolds(len(p.Row), j.Compared)
		count = choose.AffordableFolds(p, count)
		rows += count*min(train-train/all, mostMeasuring) + len(p.Row)
		variants += count
	}
	fit := j.Learner.Declare(train, features, k).And(weights)
	return j.walk(variants).Or(j.trial(labels, labels)).Or(fit).Or(scores.And(weights)).And(j.rows(rows, par.Steps())).AndHeld(32 * int64(train))
}

func (j *job) walk(variants int) budget.Workspace {
	n := len(j.Problem.Degrees)
	return budget.Slabs[float32](2, n, min(variants*len(j.Problem.Names), walkColumns(n)))
}

func (j *job) rows(rows, steps int) budget.Workspace {
	return budget.Held(32*int64(len(j.Problem.Degrees)), budget.Block[float32](rows, len(j.Problem.Names)*(steps+1)), 24*int64(rows))
}

// trial declares the memory of a trial with the given numbers of training and test rows.
func (j *job) trial(train, tests int) budget.Workspace {
	classes := len(j.Problem.Names)
	m := int64(train)
	n := int64(tests + 4)
	width := int64(min(choose.MaxWidth, (longestOf(j)+1)*classes))
	if j.Learner.Whole {
		m += n
	}
	return j.Learner.Declare(int(m), 0, classes).AndHeld(8 * ((m+n)*width + 2*m*(m+n) + m*n + 4*m*int64(len(j.Values)*classes)))
}

// predictor fits the chosen setting and predicts all nodes.
type predictor struct {
	*job
	par engine.Parameters

	trials   *chooser
	features *sparse.Block[float32]

	train []int
	label []int
	class []int

	hidden   []hiddenFold
	estimate *problem.Estimate // accuracy on the hidden folds; nil without them
	model    *classify.LinearModel

	fitted *classify.Model
	rowOf  []int // row of each node in features; nil: nodes have no rows

	trained *sparse.Block[float32] // scaled rows of features, from the first training row on; nil: nodes have no rows
}

// walk collects r.features from one walk: the rows of trials, of training, of nodes and of hidden folds, in this order.
// Labels that no label of another fold reaches have no [Honest] training row.
func (r *predictor) walk(ctx context.Context) (err error) {
	r.trials = r.newChooser()
	if err := r.trials.crossTrials(ctx); err != nil {
		return err
	}
	r.Out.Work.Sweeps += r.trials.work.Sweeps
	if r.Out.Reached, err = r.Problem.Reachable(ctx, r.Problem.Row, r.Settings.Workers, &r.Out.Work); err != nil {
		return err
	}
	w := r.trials.walk(r.par.Alpha(), r.par.Steps())
	picks := r.trials.picks
	isHonest := r.par.Features() == Honest
	partitions := max(1, r.partitions())
	fitted := choose.Sample(r.Problem.Class,
		mostRows(r.Learner, &r.par, len(r.Problem.Names))/partitions, r.Settings.RNGSeed, 0)
	for d := range partitions {
		task := r.trials.task
		first := 1
		if d > 0 {
			task = choose.TaskOf(r.Problem, r.Settings.RNGSeed, uint64(d))
			first = len(w.Variants)
			w.Variants = append(w.Variants,
				cwk.FoldVariants(r.par.Alpha(), task.Fold)[1:]...)
			if err = task.FindIsolated(ctx, r.Settings.Workers, &r.Out.Work); err != nil {
				return err
			}
		}
		leavesOut := isHonest && !r.oneClass(task.Isolated)
		for _, i := range fitted {
			pick := cwk.Pick{Row: r.Problem.Row[i]}
			if isHonest {
				pick.Variant = first + task.Fold[i]
			}
			if !leavesOut || !task.Isolated[i] {
				r.train = append(r.train, len(picks))
				r.label = append(r.label, i)
				r.class = append(r.class, r.Problem.Class[i])
				picks = append(picks, pick)
			}
		}
	}
	if perNode(r.Learner) {
		r.addNodes(&picks)
	}
	if r.Measures {
		if picks, err = r.hideFolds(ctx, w, picks); err != nil {
			return err
		}
	}
	r.features, err = collect(ctx, w, r.par.MinSteps(), picks, &r.Out.Work,
		func(done, total int64) { r.Settings.Progress("features", done, total) })
	return err
}

// oneClass reports whether all labels that are not marked in left have one class.
func (r *predictor) oneClass(left []bool) bool {
	only := -1
	for i, class := range r.Problem.Class {
		switch {
		case left[i]:
		case only < 0:
			only = class
		case only != class:
			return false
		}
	}
	return true
}

// With at most fewLabels labels, honest rows come from fewPartitions partitions into folds, because it matters which labels
// share a fold by chance.
const (
	fewLabels     = 1000
	fewPartitions = 3
)

// partitions returns the number of partitions into folds that yield [Honest] training rows. For [Plain] rows it returns 0.
func (r *predictor) partitions() int {
	switch {
	case r.par.Features() == Plain:
		return 0
	case len(r.Problem.Row) <= fewLabels && r.Learner.Path != nil:
		return fewPartitions
	}
	return 1
}

// Decisions may always take decisionBytes. If the walk takes more, they may take as much, because each further slab of
// decisions needs another walk.
const decisionBytes = 64 << 20

// scoreWalk returns the walk that computes the decisions of machines on all nodes, in the memory that the
// sums of votes leave.
func scoreWalk(p *engine.Problem, set *engine.Settings, par engine.Parameters,
	isRest bool) *cwk.Walk[float32] {
	w := walkOf[float32](p, set, par.Steps())
	w.Variants = []cwk.Variant{{Absorb: par.Alpha()}}
	perWalk := w.CollectBytes(par.MinSteps(), 0)
	limit := perWalk + max(decisionBytes, perWalk)
	if isRest {
		limit = 0
	}
	if w.Memory > 0 {
		left := max(1, w.Memory-8*int64(len(p.Degrees))*int64(len(p.Names)))
		if limit == 0 || left < limit {
			limit = left
		}
	}
	w.Memory = limit
	return w
}

// score walks again and turns the decisions on every node into scores. It adds votes classifier after classifier, so that
// results do not depend on the slabs, see decisionBytes.
func (r *predictor) score(ctx context.Context) error {
	n, _ := r.Problem.A.Dims()
	machines := len(r.model.Pairs)
	r.features = nil
	r.trials = nil
	isRest := r.model.Pairs[0].Negative == classify.Rest
	w := scoreWalk(r.Problem, r.Settings, r.par, isRest)
	weights := r.weights()
	sweeps := 0
	w.Progress = func(stage string, done, total int64) {
		sweeps = int(done)
		r.Settings.Progress(stage, done, total)
	}
	r.Out.Scores = blocks.NewDense[float32](n, len(r.Problem.Names))
	visit := func(lo int, decisions *sparse.Block[float64]) error {
		return r.AddAllVotes(ctx, r.model.Pairs, decisions, lo)
	}
	var block *sparse.Block[float64]
	var err error
	if isRest {
		block = blocks.NewDense[float64](n, machines)
		if err = w.Scores(ctx, block, r.par.MinSteps(), weights, r.model.Bias, nil); err == nil {
			err = visit(0, block)
		}
	} else {
		err = w.Scores(ctx, nil, r.par.MinSteps(), weights, r.model.Bias, visit)
	}
	if err != nil {
		return err
	}
	if r.Settings.Raw && r.Learner.Path == nil && machines == len(r.Problem.Names) {
		r.Out.Raw = block
	}
	r.Out.Work.Sweeps += sweeps
	return nil
}

// weights returns the weights of the classifiers, a row for each feature.
func (r *predictor) weights() *sparse.Block[float64] {
	weights := sparse.NewBlock[float64](r.model.Features, len(r.model.Pairs))
	for m := range weights.Cols {
		for j := range weights.Rows {
			weights.Row(j)[m] = r.model.Weights[m*weights.Rows+j]
		}
	}
	return weights
}

// form sets r.Out.Form, which explains decisions, if they are linear in walk features and explanations are asked for. Cost:
// a walk of all classes.
func (r *predictor) form(ctx context.Context) error {
	if !r.Settings.Explain || r.Problem.Directed || r.model == nil ||
		r.Settings.Prior.Given != nil {
		return nil
	}
	n := len(r.Problem.Degrees)
	k := len(r.Problem.Names)
	features := r.model.Features
	weights := sparse.NewBlock[float64](features, k)
	bias := make([]float64, k)
	for m, pair := range r.model.Pairs {
		pair.AddTo(bias, r.model.Bias[m])
		for j := range features {
			pair.AddTo(weights.Row(j), r.model.Weights[m*features+j])
		}
	}
	scores := sparse.NewBlock[float64](n, k)
	w := scoreWalk(r.Problem, r.Settings, r.par, true)
	if err := w.Scores(ctx, scores, r.par.MinSteps(), weights, bias, nil); err != nil {
		return err
	}
	scale := r.par.Scale()
	first := r.par.MinSteps()
	// The bias includes the score of a walk that meets no label, so that shares compare with this walk.
	prior := r.Settings.Prior.Distributions(r.Problem.Seeds())(0)
	for j := 0; j < features; j += k {
		for class := range k {
			mean := 0.0
			for b := range k {
				mean += prior[b] * weights.Row(j + b)[class]
			}
			bias[class] += scale * mean
			for b := range k {
				weights.Row(j + b)[class] -= mean
			}
		}
	}
	a := &explain.Absorbed{
		Walk: explain.Walk{P: r.Problem, Absorb: r.par.Alpha(), Steps: r.par.Steps(),
			Workers: r.Settings.Workers},
		Prior: prior, Bias: bias, Scores: scores.Row,
		Weight: func(t, source, class int) float64 {
			if t < first {
				return 0
			}
			return scale * weights.Row((t-first)*k + source)[class]
		},
	}
	r.Out.Form = a.Form()
	return nil
}
