package method

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// walkMethod is a learner on walk features.
type walkMethod struct {
	name    string
	learner learner
}

// walkMethods returns walks with every learner, first with the one that goes without saying.
func walkMethods() []Method {
	list := []Method{walkMethod{cwk.Spec.Name, behindWalks(learners()[0])}}
	for _, l := range learners() {
		list = append(list, walkMethod{cwk.Spec.Name + "+" + l.Name, behindWalks(l)})
	}
	return list
}

// Name implements [Method].
func (m walkMethod) Name() string { return m.name }

// Takes implements [Method]: the parameters of the walk and of the learner.
func (m walkMethod) Takes() []string {
	return slices.Concat(cwk.Spec.Takes(), []string{"features", cwk.PriorParam.Name}, m.learner.spec().Takes())
}

// Declarations implements [Method]. The values of the walk's parameters are in the [Grid] of the
// settings.
func (m walkMethod) Declarations() []*param.Spec { return []*param.Spec{&cwk.Spec, m.learner.spec()} }

// Tune implements [Method].
func (m walkMethod) Tune(ctx context.Context, p *Problem, splits *split.Splits, s *Settings) (*Choice, error) {
	set, err := s.of(m.learner, len(p.Names))
	if err != nil {
		return nil, err
	}
	return chooseOnSplits(ctx, p, splits, &set)
}

// Predict implements [Method].
func (m walkMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	set, err := s.of(m.learner, len(p.Names))
	if err != nil {
		return nil, err
	}
	if err := m.learner.checkProcesses(p); err != nil {
		return nil, err
	}
	if err := m.learner.checkStrategy(set.Given, len(p.Names)); err != nil {
		return nil, err
	}
	switch {
	case par != nil:
	case set.model != nil:
		return predictKeptWalk(ctx, p, &set)
	default:
		return classifyWalks(ctx, p, &set)
	}
	return predictWith(ctx, p, *par, &set)
}

// perNode reports whether scores come from the features of every node, since the model is
// no function of features that a walk can apply.
func (l learner) perNode() bool { return l.Whole || !l.Dual }

// checkProcesses refuses a learner that compares all nodes with each other if several processes share them.
func (l learner) checkProcesses(p *Problem) error {
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
	r.nodes = make([]int, n)
	for _, isLabelled := range []bool{false, true} {
		for i := range n {
			if labelled[i] == isLabelled {
				r.nodes[i] = len(*picks)
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
	if r.groups != nil {
		return r.learnOnGram(ctx)
	}
	f := r.scaled()
	items, y, classes := *f, r.class, len(r.p.Names)
	items.Rows = len(r.train)
	if r.learner.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1}, len(r.p.Degrees)-len(r.p.Row)))
		items.Rows = len(y)
	}
	l := r.learner.replacement(items.Rows, items.Cols)
	if l != r.learner && !l.alike(r.learner) {
		return split.Usage("%d rows of %d features are too many for %s; take %s, or fewer steps", items.Rows, items.Cols, r.learner.Name, l.Name)
	}
	values := r.par.Declared.Values
	if l.path != nil {
		if values, err = r.pathValues(l); err != nil {
			return err
		}
	}
	if l.Linear != nil {
		r.model, err = l.Linear(ctx, &items, y, classes, values, r.set.RNGSeed, r.set.Workers)
	} else {
		r.fitted, err = l.Fit(ctx, classify.LinearGram(&items), y, classes, values)
		if r.fitted != nil && !r.learner.perNode() {
			r.model = classify.LinearWeights(r.fitted, &items)
		}
	}
	if errors.Is(err, classify.ErrIterationLimit) && (r.model != nil || r.fitted != nil) {
		err, r.out.Unfinished = nil, l.unfinished() // it is the best so far
	}
	if err == nil && l.path != nil && split.TooFew(r.p.Class) {
		neutral(r.model, r.par.scale()/float64(classes))
	}
	return err
}

// pathValues returns the complete values with which a learner is fitted to the training rows, and
// notes those that were not chosen.
func (r *predictor) pathValues(l learner) (param.Values, error) {
	constant, err := constantsOf(l.path, r.set.Given, len(r.p.Names))
	if err != nil {
		return nil, err
	}
	r.out.Parameters.Constant = l.constants(constant)
	copies := float64(max(1, r.partitions())) // rows of each label
	return choose.Weighed(l.path, complete(constant, r.par.Declared.Values)[0], copies), nil
}

// scale returns the factor of features, because the kernel is a mean over steps.
func (p *Parameters) scale() float64 { return 1 / math.Sqrt(float64(p.Steps-p.MinSteps+1)) }

// scaled returns the rows from the first of training on, scaled.
func (r *predictor) scaled() *sparse.Block[float32] {
	f := &sparse.Block[float32]{
		Rows: len(r.train), Cols: r.features.Cols, Stride: r.features.Stride,
		Data: r.features.Data[r.train[0]*r.features.Stride:],
	}
	if r.learner.perNode() {
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
	if r.groups != nil {
		return r.groups.score(ctx, &r.nodeVotes, &r.par, r.fitted)
	}
	n := len(r.p.Degrees)
	first, gram := r.train[0], classify.LinearGram(r.trained)
	items := upTo(len(r.train))
	if r.learner.Whole {
		items = upTo(len(r.train) + n - len(r.p.Row))
	}
	return r.shareAll(ctx, r.fitted.Pairs, len(items), func(row []float64, i int) []float64 {
		item, square := r.nodes[i]-first, make([]float64, 1)
		gram.PartTo(row[:len(r.train)], item, items[:len(r.train)]) // others say nothing
		gram.PartTo(square, item, []int{item})
		return r.fitted.ScoresTo(nil, row, square[0])
	})
}
