package method

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// walkMethod is a learner on walk features.
type walkMethod struct {
	name    string
	learner *classify.Learner
}

// walkMethods returns walks with every learner, first with the one that goes without saying.
func walkMethods() []Method {
	list := []Method{walkMethod{cwk.Spec.Name, learners()[0]}}
	for _, l := range learners() {
		list = append(list, walkMethod{cwk.Spec.Name + "+" + l.Name, l})
	}
	return list
}

// Name implements [Method].
func (m walkMethod) Name() string { return m.name }

// Takes implements [Method]: the parameters of the walk and of the learner.
func (m walkMethod) Takes() []string {
	return slices.Concat(walkSpec.Takes(), []string{cwk.PriorParam.Name}, specOf(m.learner).Takes())
}

// Declarations implements [Method].
func (m walkMethod) Declarations() []*param.Spec { return []*param.Spec{&walkSpec, specOf(m.learner)} }

// Tune implements [Method].
func (m walkMethod) Tune(ctx context.Context, p *Problem, splits *split.Splits, s *Settings) (*Choice, error) {
	set := s.WithDefaults()
	set.learner = m.learner
	return chooseOnSplits(ctx, p, splits, &set)
}

// Predict implements [Method].
func (m walkMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	set := s.WithDefaults()
	set.learner = m.learner
	if err := checkProcesses(m.learner, p); err != nil {
		return nil, err
	}
	if par == nil {
		return classifyWalks(ctx, p, &set)
	}
	return predictWith(ctx, p, *par, &set)
}

// perNode reports whether scores come from the features of every node, since the model is
// no function of features that a walk can apply.
func perNode(l *classify.Learner) bool { return l.Whole || !l.Dual }

// checkProcesses refuses a learner that compares all nodes with each other if several processes share them.
func checkProcesses(l *classify.Learner, p *Problem) error {
	if l.Whole && sparse.TeamOf(p.A) != nil {
		return &problem.Error{Method: l.Name, Err: sparse.ErrDivided}
	}
	return nil
}

// addNodes adds a row for every node, of the walk with all labels: those without a label,
// which a learner may know, come first.
func (r *predictor) addNodes(picks *[]cwk.Pick) {
	n := len(r.p.Degrees)
	labelled := make([]bool, n)
	for _, row := range r.p.Row {
		labelled[row] = true
	}
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

// learn fits the votes out of fold and the learner to all training rows, which are the first
// of the features, scaled; rows of nodes come after them.
func (r *predictor) learn(ctx context.Context) (err error) {
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	f := r.scaled()
	items, y, classes := *f, r.class, len(r.p.Names)
	items.Rows = len(r.train)
	if r.learner.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1}, len(r.p.Degrees)-len(r.p.Row)))
		items.Rows = len(y)
	}
	l, values := r.learner, r.par.Declared.Values
	if l.Path != nil {
		if values, err = r.pathValues(); err != nil {
			return err
		}
	}
	if l.Linear != nil {
		r.model, err = l.Linear(ctx, &items, y, classes, values)
	} else {
		r.fitted, err = l.Fit(ctx, classify.LinearGram(&items), y, classes, values)
		if r.fitted != nil && !perNode(l) {
			r.model = classify.LinearWeights(r.fitted, &items)
		}
	}
	if errors.Is(err, classify.ErrIterationLimit) && (r.model != nil || r.fitted != nil) {
		err, r.out.Unfinished = nil, unfinished(l) // it is the best so far
	}
	if err == nil && l.Path != nil && split.TooFew(r.p.Class) {
		neutral(r.model, r.par.scale()/float64(classes))
	}
	return err
}

// pathValues returns the complete values with which the learner is fitted to the training rows, and
// notes those that were not chosen.
func (r *predictor) pathValues() (param.Values, error) {
	constant, err := constantsOf(r.learner.Path, r.set.Given, len(r.p.Names))
	if err != nil {
		return nil, err
	}
	r.out.Parameters.Constant = constantsOn(r.learner, constant)
	copies := float64(max(1, r.partitions())) // rows of each label
	return choose.Weighed(r.learner.Path, complete(constant, r.par.Declared.Values)[0], copies), nil
}

// scale returns the factor of features, because the kernel is a mean over steps.
func (p *Parameters) scale() float64 { return 1 / math.Sqrt(float64(p.terms())) }

// scaled returns the rows from the first of training on, scaled.
func (r *predictor) scaled() *sparse.Block[float32] {
	f := &sparse.Block[float32]{
		Rows: len(r.train), Cols: r.features.Cols, Stride: r.features.Stride,
		Data: r.features.Data[r.train[0]*r.features.Stride:],
	}
	if perNode(r.learner) {
		f.Rows = r.features.Rows - r.train[0]
		r.trained = f
	}
	for i := range f.Rows {
		row := f.Row(i)
		for j, v := range row {
			row[j] = float32(r.par.scale()) * v
		}
	}
	return f
}

// scoreNodes computes scores from the model and the features of every node.
func (r *predictor) scoreNodes(ctx context.Context) error {
	n := len(r.p.Degrees)
	first, gram := r.train[0], classify.LinearGram(r.trained)
	items := sched.UpTo(len(r.train))
	if r.learner.Whole {
		items = sched.UpTo(len(r.train) + n - len(r.p.Row))
	}
	return r.nodes.shareAll(ctx, r.fitted.Pairs, len(items), func(row []float64, i int) []float64 {
		item, square := r.rowOf[i]-first, make([]float64, 1)
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

// Bytes implements [Sizer]: the largest of the choice of parameters, training, and the scores of all nodes, with the
// longest walks and the kind of features that has more rows.
func (m walkMethod) Bytes(p, tuned *Problem, s *Settings) (int64, error) {
	set, err := s.onWalks(m.learner, len(p.Names))
	if err != nil {
		return 0, err
	}
	set.Memory = p.Remaining(set.Memory)
	g, c, classes := set.grid, chooserOf(p, &set), len(p.Names)
	par := g.at(g.size() - 1)
	steps, folds := par.steps()-par.minSteps()+1, c.dealt()
	c.foldPicks()
	bytes := scoreBytes(p)
	trials := func(rows, tests int) {
		bytes = max(bytes, c.collectBytes(folds+1, rows*min(len(g.alphas), c.together())), featureBytes(rows, classes*steps)+
			int64(sched.Workers(set.Workers))*testerBytes(&set, classes, len(c.seen), tests))
	}
	if g.size() > 1 && !split.TooFew(p.Class) {
		trials(len(c.picks), len(c.seen)/folds+1)
	}
	if tuned != nil {
		tests := min(testedNodes(&set), len(tuned.Row)-len(p.Row)+len(tuned.Names))
		trials(tests+len(g.features)*len(c.seen), tests)
	}
	partitions := max(1, (&predictor{job: job{p: p, learner: m.learner}, par: par}).partitions())
	train := min(partitions*len(p.Row), max(2*classes*partitions, mostRows(m.learner, &par, classes)))
	rows := len(c.picks) + train
	if perNode(m.learner) {
		rows += len(p.Degrees)
	}
	fit := fitBytes(&set, p, train, classes*steps)
	bytes = max(bytes, c.collectBytes(partitions*folds+1, rows), featureBytes(rows, classes*steps)+fit)
	if perNode(m.learner) {
		return max(bytes, featureBytes(rows, classes*steps)+scoreBytes(p)), nil
	}
	machines, isRest := set.machines(classes)
	weights := 8 * int64(classes*steps) * int64(machines)
	walk := scoreWalk(p, &set, par, isRest)
	if isRest {
		machines = 0 // all decisions are in a block of their own
	}
	scores, _, err := walk.ScoresBytes(machines)
	return max(bytes, scores+2*weights+scoreBytes(p)+sumsBytes(p, isRest)), err
}

// featureBytes returns the memory of rows of features.
func featureBytes(rows, columns int) int64 {
	return chunks.Bytes[float32](rows, columns) + 24*int64(rows)
}

// collectBytes bounds the memory of the features of the given number of rows, and of the walk with some variants.
func (c *chooser) collectBytes(variants, rows int) int64 {
	g := c.set.grid
	w := c.walk(nil)
	w.Variants, w.Memory = make([]cwk.Variant, variants), 0
	features := w.CollectBytes(g.minSteps, rows) - w.CollectBytes(g.minSteps, 0)
	narrow(w, g.minSteps, rows)
	walk := w.CollectBytes(g.minSteps, 0)
	if w.Memory > 0 {
		walk = w.Memory - features
	}
	if c.set.Memory > 0 {
		w.Variants, w.Lo, w.Hi = w.Variants[:1], 0, 1
		walk = max(w.CollectBytes(g.minSteps, 0), min(walk, c.set.Memory-features))
	}
	return features + walk
}

// testerBytes bounds the memory of one [choose.Tester] for trials of the given numbers of training and test rows.
func testerBytes(s *Settings, classes, train, tests int) int64 {
	m, n, width := int64(train), int64(tests+4), int64(min(choose.MaxWidth, (s.grid.last()+1)*classes))
	if s.learner.Whole {
		m += n
	}
	return 8*((m+n)*width+2*m*m+m*n+4*m*int64(len(s.grid.settings)*classes)) + s.learner.FitBytes(int(m), classes)
}

// fitBytes bounds the memory of a fit to the given number of rows, in addition to these: the learner's own, and the
// weights of all classifiers twice, as the learner returns them and as the walk needs them.
func fitBytes(s *Settings, p *Problem, rows, features int) int64 {
	l, classes := s.learner, len(p.Names)
	machines, _ := s.machines(classes)
	bytes := 4*8*int64(rows) + 2*8*int64(machines)*int64(features)
	switch {
	case l.LinearBytes != nil:
		return bytes + l.LinearBytes(rows, features, classes)
	case l.Whole: // a row of kernel values for each worker, and vectors
		bytes += 8 * int64(len(p.Degrees)-len(p.Row)) * int64(sched.Workers(0)+4)
	}
	return bytes + l.FitBytes(rows, classes)
}

// machines returns the number of binary classifiers, and whether each separates one class from the rest.
func (s *Settings) machines(classes int) (machines int, isRest bool) {
	if pairwise(s.learner, s.constant) {
		return classes * (classes - 1) / 2, false
	}
	return classes, true
}
