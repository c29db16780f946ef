package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// walkMethod is a learner on walk features.
type walkMethod struct {
	name    string
	learner *classify.Learner
}

// walkJob is a job of a learner on walks.
type walkJob struct{ job }

// walkMethods returns walks with every learner, first with the one that goes without saying.
func walkMethods() []*Engine {
	list := []*Engine{walkMethod{cwk.Spec.Name, classify.Learners()[0]}.engine()}
	for _, l := range classify.Learners() {
		list = append(list, walkMethod{cwk.Spec.Name + "+" + l.Name, l}.engine())
	}
	return list
}

// engine returns the learner on walks as an engine.
func (m walkMethod) engine() *Engine {
	return Engine{
		Name: m.name, Specs: []*param.Spec{&walkSpec, specOf(m.learner)},
		Takes: slices.Concat(walkSpec.Takes(), []string{cwk.PriorParam.Name},
			specOf(m.learner).Takes()),
		Workspace: m.workspace, HasRaw: m.learner.Path == nil,
		Check: func(s *Settings) error {
			_, err := walkSettings(s)
			return err
		},
	}.inStages(m.begin)
}

// begin returns the settings and the stages. With too few labels, where
// nothing can be learned from hiding one, the setting is the longest walk that is otherwise nearest to the defaults.
//
// Training rows are the walk features of the labelled nodes, plain or honest, the latter of a few labels from several
// partitions into folds. Classifiers that are linear functions of features predict all nodes in a second walk, so that
// the features of nodes are never stored.
func (m walkMethod) begin(_ context.Context, p *Problem, par *Parameters, s *Settings) (*job, error) {
	if err := problem.ValidateFor(p, &walkSpec); err != nil {
		return nil, err
	}
	if err := checkProcesses(m.learner, p); err != nil {
		return nil, err
	}
	j, err := m.job(p, s)
	if err != nil {
		return nil, err
	}
	switch {
	case par != nil:
		j.fix(par)
	case choose.TooFew(p.Class):
		usual := j.parameters(j.sourceSpace.Usual, j.space.Usual)
		for _, v := range j.sources {
			if v.Word("features") == usual.features() && v.Number("alpha") == usual.alpha() {
				usual.Kernel = &Setting{j.source, v}
			}
		}
		j.fix(&usual)
	}
	j.byFolds = j.chooseWalk
	j.bySplits = j.chooseOnSplits
	j.learn = j.learnWalk
	return &j.job, nil
}

// mostPlainFolds is the largest number of folds by default.
const mostPlainFolds = 10

// job returns what there is to choose from.
func (m walkMethod) job(p *Problem, s *Settings) (j *walkJob, err error) {
	set := s.WithDefaults()
	j = &walkJob{job{p: p, set: &set, learner: m.learner, out: new(Prediction),
		source: &walkSpec, declared: specOf(m.learner), compared: set.sample}}
	if limit := m.learner.ComparedItems; limit > 0 {
		j.compared = min(j.compared, limit)
	}
	if j.sources, err = walkSettings(&set); err != nil {
		return nil, err
	}
	if j.values, j.space, err = learnerSettings(&set, m.learner, len(p.Names)); err != nil {
		return nil, err
	}
	kinds := j.kinds()
	longest := j.parameters(len(j.sources)-1, 0)
	if m.learner.Whole && slices.Contains(kinds, Honest) ||
		len(kinds) > 1 && mostPlainFolds*j.compared > mostRows(m.learner,
			&longest, len(p.Names)) {
		// Trials know no other nodes, which plain rows are unlike; and plain rows are as many as labels and folds.
		j.sources = slices.DeleteFunc(j.sources,
			func(v param.Values) bool { return v.Word("features") == Plain })
	}
	j.sourceSpace = walkSpace(&set, j.sources)
	j.measures = !perNode(m.learner) && j.compared < len(p.Row) && !set.Unmeasured
	return j, nil
}

// learnWalk is the last stage of an engine on walks.
func (j *walkJob) learnWalk(ctx context.Context, c *Choice) error {
	j.fix(&c.Parameters)
	j.measures = j.measures && c.choice != nil
	r := &predictor{walkJob: j, par: c.Parameters}
	score := r.score
	if perNode(j.learner) {
		score = r.scoreNodes
	}
	t := &j.out.Seconds
	err := runPhases(ctx, []*float64{&t.Walk, &t.Classify, &t.Walk, &t.Walk}, r.walk, r.learnRows, score, r.form)
	if err == nil {
		fillClasses(j.out, j.p, j.set.Prior)
		c.estimate = r.estimate
	}
	return err
}

// perNode reports whether scores come from the features of every node, since the model is
// no function of features that a walk can apply.
func perNode(l *classify.Learner) bool {
	return l.Whole || !l.Dual
}

// addNodes adds a row for every node, of the walk with all labels: those without a label,
// which a learner may know, come first.
func (r *predictor) addNodes(picks *[]cwk.Pick) {
	n := len(r.p.Degrees)
	labelled := problem.MarkLabels(r.p)
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

// learnRows fits the votes out of fold and the learner to all training rows, which are the first
// of the features, scaled; rows of nodes come after them.
func (r *predictor) learnRows(ctx context.Context) (err error) {
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	if err := r.measure(ctx); err != nil {
		return err
	}
	count := len(r.train)
	y := r.class
	if perNode(r.learner) {
		count = r.features.Rows - r.train[0]
	}
	items := *r.scaleRows(r.train[0], count)
	if perNode(r.learner) {
		trained := items
		r.trained = &trained
	}
	items.Rows = len(r.train)
	if r.learner.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1},
			len(r.p.Degrees)-len(r.p.Row)))
		items.Rows = len(y)
	}
	r.model, r.fitted, err = r.learnFrom(ctx, &items, y)
	if errors.Is(err, classify.ErrIterationLimit) &&
		(r.model != nil || r.fitted != nil) {
		// it is the best so far
		err = nil
		r.out.Unfinished = limitMessage(r.learner)
	}
	if err == nil && r.learner.Path != nil && choose.TooFew(r.p.Class) {
		neutral(r.model, r.par.scale()/float64(len(r.p.Names)))
	}
	return err
}

// learnFrom learns from items of the classes y, −1 of none. The model is linear unless it scores the features of every node.
func (r *predictor) learnFrom(ctx context.Context, items *sparse.Block[float32],
	y []int) (linear *classify.LinearModel, fitted *classify.Model, err error) {
	l := r.learner
	values := r.par.Declared.Values
	if l.Path != nil {
		values = choose.ScaleSetting(l.Path, values, float64(max(1, r.partitions()))) // rows of each label
	}
	if l.Linear != nil {
		linear, err = l.Linear(ctx, items, y, len(r.p.Names), values)
		return linear, nil, err
	}
	fitted, err = l.Fit(ctx, classify.LinearGram(items), y, len(r.p.Names), values)
	if fitted != nil && !perNode(l) {
		linear = classify.LinearWeights(fitted, items)
	}
	return linear, fitted, err
}

// scoreNodes computes scores from the model and the features of every node.
func (r *predictor) scoreNodes(ctx context.Context) error {
	n := len(r.p.Degrees)
	first := r.train[0]
	gram := classify.LinearGram(r.trained)
	items := sched.UpTo(len(r.train))
	if r.learner.Whole {
		items = sched.UpTo(len(r.train) + n - len(r.p.Row))
	}
	return r.shareAll(ctx, r.fitted.Pairs, len(items), func(row []float64, i int) []float64 {
		item := r.rowOf[i] - first
		square := make([]float64, 1)
		gram.PartTo(row[:len(r.train)], item, items[:len(r.train)]) // others say nothing
		gram.PartTo(square, item, []int{item})
		return r.fitted.ScoresTo(nil, row, square[0])
	})
}

// maxFeatureBytes bounds the walk features of training rows: of many classes and steps the learner learns from a sample of
// the labels. It does not depend on the memory limit, so that no limit changes a result.
var maxFeatureBytes int64 = 1 << 30

// mostRows returns the number of rows of features that take maxFeatureBytes, or the number that the learner takes.
func mostRows(l *classify.Learner, par *Parameters, classes int) int {
	rows := int(max(2, maxFeatureBytes/(4*int64(par.terms())*int64(classes))))
	if l.MostItems > 0 {
		rows = min(rows, l.MostItems)
	}
	return rows
}

// workspace declares the memory of rows of features, walks, trials and a fit, and of the decisions on all nodes, with the longest
// walks and the kind of features that has more rows.
func (m walkMethod) workspace(p *Problem, s *Settings) (w budget.Workspace, err error) {
	j, err := m.job(p, s)
	if err != nil {
		return w, err
	}
	n := len(p.Degrees)
	k := len(p.Names)
	labels := min(len(p.Row), max(j.compared, 2*k))
	tests := min(j.testedNodes(), s.tested)
	par := j.parameters(len(j.sources)-1, 0)
	partitions := max(1, (&predictor{walkJob: j, par: par}).partitions())
	train := min(partitions*len(p.Row), max(2*k*partitions, mostRows(m.learner, &par, k)))
	machines, _ := j.countMachines()
	features := k * par.terms()
	workers := sched.Workers(j.set.Workers)
	trials := budget.Times(workers, j.trial(labels, max(tests, labels)).Required(0))
	decisions := min(decisionBytes, 4*int64(n)*int64(machines))
	weights := 16 * int64(machines) * int64(features) // twice, as the learner returns them and as the walk needs them
	held := budget.Held(budget.Block[float64](n, k), trials, decisions, weights, 32*int64(train))
	rows := train + labels*j.set.folds(labels) + tests
	variants := partitions*j.set.folds(len(p.Row)) + 1
	switch {
	case perNode(m.learner):
		rows += n
		held = held.And(budget.Held(8 * int64(n) * int64(workers+4))) // a row of kernel values for each worker, and vectors
	case j.measures:
		_, count := j.set.foldsLike(p, j.compared)
		count = apartFolds(p, count)
		rows += count*min(train, mostMeasuring) + len(p.Row)
		variants += count
	}
	return j.walks(rows, variants).And(held).And(m.learner.Declare(train, features, k)), nil
}

// walks declares the memory of rows of features, and of the walks of some variants.
func (j *walkJob) walks(rows, variants int) budget.Workspace {
	n := len(j.p.Degrees)
	k := len(j.p.Names)
	return budget.Slabs[float32](2, n, min(variants*k, walkColumns(n))).And(
		budget.Held(32*int64(n), budget.Block[float32](rows, k*(longestOf(j)+1)), 24*int64(rows)))
}

// trial declares the memory of a trial with the given numbers of training and test rows.
func (j *walkJob) trial(train, tests int) budget.Workspace {
	classes := len(j.p.Names)
	m := int64(train)
	n := int64(tests + 4)
	width := int64(min(choose.MaxWidth, (longestOf(j)+1)*classes))
	if j.learner.Whole {
		m += n
	}
	return j.learner.Declare(int(m), 0, classes).And(budget.Held(8 * ((m+n)*width + 2*m*(m+n) + m*n + 4*m*int64(len(j.values)*classes))))
}

// predictor holds what passes from one phase of a prediction to the next.
type predictor struct {
	*walkJob
	par Parameters

	trials   *chooser // out-of-fold trials
	features *sparse.Block[float32]

	train []int // rows of features, those of the trials before them
	label []int // of each training row
	class []int

	hidden   []hiddenFold
	estimate *problem.Estimate // of the accuracy by the hidden folds; nil without them
	model    *classify.LinearModel

	fitted *classify.Model // of by, where it is no linear function of features
	rowOf  []int           // rows of features by node, where all have one

	trained *sparse.Block[float32] // where all nodes have a row: those from the first of training on, scaled
}

// walk collects the rows that trials, training and nodes pick, in this order, from one walk. The features of the training
// rows take at most [maxFeatureBytes]: of more labels it takes a sample. Honest features leave out the labels that no
// label of another fold reaches.
func (r *predictor) walk(ctx context.Context) (err error) {
	r.trials = r.newChooser()
	if err := r.trials.crossTrials(ctx); err != nil {
		return err
	}
	r.out.Work.Sweeps += r.trials.work.Sweeps
	if r.out.Reached, err = r.p.Reachable(ctx, r.p.Row, r.set.Workers, &r.out.Work); err != nil {
		return err
	}
	w := r.trials.walk(r.par.alpha(), r.par.steps())
	picks := r.trials.picks
	isHonest := r.par.features() == Honest
	partitions := max(1, r.partitions())
	fitted := choose.Sample(r.p.Class,
		mostRows(r.learner, &r.par, len(r.p.Names))/partitions, r.set.RNGSeed, 0)
	for d := range partitions {
		fold := r.trials.fold
		isolated := r.trials.isolated
		first := 1
		if d > 0 {
			fold = choose.Folds(r.p.Class, r.trials.dealt(),
				r.set.RNGSeed, uint64(d))
			first = len(w.Variants)
			w.Variants = append(w.Variants,
				cwk.FoldVariants(r.par.alpha(), fold)[1:]...)
			if isolated, err = choose.Unreachable(ctx, r.p, fold, r.set.Workers,
				&r.out.Work); err != nil {
				return err
			}
		}
		leavesOut := isHonest && !r.oneClass(isolated)
		for _, i := range fitted {
			pick := cwk.Pick{Row: r.p.Row[i]}
			if isHonest {
				pick.Variant = first + fold[i]
			}
			if !leavesOut || !isolated[i] {
				r.train = append(r.train, len(picks))
				r.label = append(r.label, i)
				r.class = append(r.class, r.p.Class[i])
				picks = append(picks, pick)
			}
		}
	}
	if perNode(r.learner) {
		r.addNodes(&picks)
	}
	if r.measures {
		if picks, err = r.hideFolds(ctx, w, picks); err != nil {
			return err
		}
	}
	narrow(w, r.par.minSteps(), len(picks))
	r.features, err = collect(ctx, w, r.par.minSteps(), picks, &r.out.Work,
		func(done, total int64) { r.set.Progress("features", done, total) })
	return err
}

// oneClass reports whether the labels that are not left out have one class.
func (r *predictor) oneClass(left []bool) bool {
	only := -1
	for i, class := range r.p.Class {
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

// Which labels share a fold is luck, and with few labels it shows. Up to
// fewLabels of them, honest rows come from fewPartitions partitions into folds, each
// row at its share of the cost.
const (
	fewLabels     = 1000
	fewPartitions = 3
)

// partitions returns the number of partitions into folds that training rows come
// from.
func (r *predictor) partitions() int {
	switch {
	case r.par.features() == Plain:
		return 0
	case len(r.p.Row) <= fewLabels && r.learner.Path != nil:
		return fewPartitions
	}
	return 1
}

// calibrate fits the votes to out-of-fold decisions.
func (r *predictor) calibrate(ctx context.Context) error {
	var outcomes []choose.Outcome
	candidates := r.candidates(r.sources, r.values)
	for i := range r.trials.trials[r.par.features()] {
		t := &r.trials.trials[r.par.features()][i]
		err := candidates.Run(ctx, r.features, t,
			func(_, _ int, o *choose.Outcome) { outcomes = append(outcomes, o.Clone()) })
		if err != nil {
			return err
		}
	}
	r.votes = choose.FitVotes(len(r.p.Names), outcomes)
	return nil
}

// decisionBytes is the memory of decisions that is always granted. Beyond it they
// have no more than the walk they come from, because every further slab of them walks
// again.
const decisionBytes = 64 << 20

// scoreWalk returns the walk that gives machines' decisions on all nodes, with what
// memory the sums of their votes leave.
func scoreWalk(p *Problem, set *Settings, par Parameters,
	isRest bool) *cwk.Walk[float32] {
	w := walkOf[float32](p, set, par.steps())
	w.Variants = []cwk.Variant{{Absorb: par.alpha()}}
	perWalk := w.CollectBytes(par.minSteps(), 0)
	limit := perWalk + max(decisionBytes, perWalk)
	if isRest {
		limit = 0
	}
	if w.Memory > 0 {
		left := max(1, w.Memory-blocks64(len(p.Degrees), len(p.Names)))
		if limit == 0 || left < limit {
			limit = left
		}
	}
	w.Memory = limit
	return w
}

// score walks again and turns the decisions on every node into scores. Pairs
// of classes come in slabs; their votes are added one pair after the other, so
// that the slabs leave no trace. Of one against the rest all decisions are
// needed together.
func (r *predictor) score(ctx context.Context) error {
	n, _ := r.p.A.Dims()
	machines := len(r.model.Pairs)
	r.features = nil
	r.trials = nil
	isRest := r.model.Pairs[0].Negative == classify.Rest
	w := scoreWalk(r.p, r.set, r.par, isRest)
	weights := sparse.NewBlock[float64](r.model.Features, machines)
	for m := range machines {
		for j := range r.model.Features {
			weights.Row(j)[m] = r.model.Weights[m*r.model.Features+j]
		}
	}
	sweeps := 0
	w.Progress = func(stage string, done, total int64) {
		sweeps = int(done)
		r.set.Progress(stage, done, total)
	}
	r.out.Scores = blocks.NewDense[float32](n, len(r.p.Names))
	visit := func(lo int, decisions *sparse.Block[float64]) error {
		return r.addAllVotes(ctx, r.model.Pairs, decisions, lo)
	}
	var block *sparse.Block[float64]
	var err error
	if isRest {
		block = blocks.NewDense[float64](n, machines)
		if err = w.Scores(ctx, block, r.par.minSteps(), weights, r.model.Bias, nil); err == nil {
			err = visit(0, block)
		}
	} else {
		err = w.Scores(ctx, nil, r.par.minSteps(), weights, r.model.Bias, visit)
	}
	if err != nil {
		return err
	}
	if r.set.Raw && r.learner.Path == nil && machines == len(r.p.Names) {
		r.out.Raw = block
	}
	r.out.Work.Sweeps += sweeps
	return nil
}

// form keeps the form of decisions that are linear in the features of walks. Cost: a walk of all classes.
func (r *predictor) form(ctx context.Context) error {
	if !r.set.Explain || r.p.Directed || r.model == nil ||
		r.set.Prior.Given != nil {
		return nil
	}
	n := len(r.p.Degrees)
	k := len(r.p.Names)
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
	w := scoreWalk(r.p, r.set, r.par, true)
	if err := w.Scores(ctx, scores, r.par.minSteps(), weights, bias, nil); err != nil {
		return err
	}
	scale := r.par.scale()
	first := r.par.minSteps()
	// Shares are compared with a walk that meets no label: the score of that walk is part of the bias.
	prior := r.set.Prior.Distributions(r.p.Seeds())(0)
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
		Walk: explain.Walk{P: r.p, Absorb: r.par.alpha(), Steps: r.par.steps(),
			Workers: r.set.Workers},
		Prior: prior, Bias: bias, Scores: scores.Row,
		Weight: func(t, source, class int) float64 {
			if t < first {
				return 0
			}
			return scale * weights.Row((t-first)*k + source)[class]
		},
	}
	r.out.Form = a.Form()
	return nil
}
