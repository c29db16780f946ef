package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// walkMethod is a learner on walk features.
type walkMethod struct {
	name string
	by   learner
}

// walkMethods returns walks with every learner, first with the one that goes without saying.
func walkMethods() []Method {
	list := []Method{walkMethod{cwk.Spec.Name, behindWalks(learners[0])}}
	for _, l := range learners {
		list = append(list, walkMethod{cwk.Spec.Name + "+" + l.Name, behindWalks(l)})
	}
	return list
}

// Name implements [Method].
func (m walkMethod) Name() string { return m.name }

// Takes implements [Method]: the parameters of the walk and of the learner.
func (m walkMethod) Takes() []string {
	return slices.Concat(cwk.Spec.Takes(), []string{"features", cwk.PriorParam.Name}, m.by.spec().Takes())
}

// Declarations implements [Method]. What is tried of the parameters of the walk, or
// given, is in the [Grid] of the settings.
func (m walkMethod) Declarations() []*spec.Spec { return []*spec.Spec{&cwk.Spec, m.by.spec()} }

// Tune implements [Method].
func (m walkMethod) Tune(ctx context.Context, p *Problem, splits *validate.Splits, s *Settings) (*Choice, error) {
	set, err := s.of(m.by, len(p.Names))
	if err != nil {
		return nil, err
	}
	return chooseOnSplits(ctx, p, splits, &set)
}

// Predict implements [Method].
func (m walkMethod) Predict(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error) {
	set, err := s.of(m.by, len(p.Names))
	if err != nil {
		return nil, err
	}
	if err := set.checkStrategy(m.by, len(p.Names)); err != nil {
		return nil, err
	}
	if par == nil {
		return classifyWalks(ctx, p, &set)
	}
	return predictWith(ctx, p, *par, &set)
}

// ofUsualWalk returns the grid of all settings of the learner on the walk of g that is
// nearest to the defaults of [cwk.Spec], with all features of g.
func (g *Grid) ofUsualWalk(Parameters) *Grid {
	one := g.ofWalk(g.at(g.usual()))
	one.Features = g.Features
	return one
}

// ofSetting returns the grid of all walks of g with the learner's setting in p.
func (g *Grid) ofSetting(p Parameters) *Grid {
	one := *g
	one.settled = []*Setting{p.Declared}
	return &one
}

// chooseInTurn chooses the learner's setting on a usual walk, the walk with that setting, and then
// the setting on that walk, where each setting is a fit of its own. choose returns the
// best setting of the grid that set has then.
func chooseInTurn(set *Settings, choose func() (*Choice, error)) (choice *Choice, err error) {
	all := set.Grid
	if set.learner.path != nil || len(all.settled) < 2 {
		return choose()
	}
	choice = new(Choice)
	for _, next := range []func(Parameters) *Grid{all.ofUsualWalk, all.ofSetting, all.ofWalk} {
		set.Grid = next(choice.Parameters)
		if choice, err = choose(); err != nil {
			return nil, err
		}
	}
	choice.Settings = all.Size()
	return choice, nil
}

// chooseDeclared chooses a walk and a setting of the learner. What is told of the choice is
// that of the walk, and of the setting on the walk that is chosen from all folds.
func (c *chooser) chooseDeclared(ctx context.Context) (*Choice, error) {
	var grids []*Grid
	var found []*Choice
	choice, err := chooseInTurn(c.set, func() (*Choice, error) {
		choice, err := c.chooseWalk(ctx)
		grids, found = append(grids, c.set.Grid), append(found, choice)
		return choice, err
	})
	if err != nil || len(found) < 2 {
		return choice, err
	}
	walks, settings, tried := grids[1], grids[2], found[1]
	choice.heldOut = heldout.Count{}
	c.holdOut(&choice.heldOut, func(fold, others int) float64 {
		at := c.outside(walks, tried.byFold.Right, fold, others)
		if o := walks.at(at); o.Alpha != choice.Alpha || o.Steps != choice.Steps || o.Features != choice.Features {
			return tried.byFold.Weight[fold*walks.Size()+at] // other settings were not tried there
		}
		return choice.byFold.Weight[fold*settings.Size()+c.outside(settings, choice.byFold.Right, fold, others)]
	})
	return choice, nil
}

// perNode reports whether scores come from the features of every node, since the model is
// no function of features that a walk can apply.
func (r *predictor) perNode() bool { return r.by.perNode() }

func (l learner) perNode() bool { return l.Whole || !l.Dual }

// addNodes adds a row for every node, of the walk with all labels: those without a label,
// which a learner may know, come first.
func (r *predictor) addNodes(picks *[]cwk.Pick) {
	n := len(r.p.Degrees)
	labelled := make([]bool, n)
	for _, row := range r.p.Row {
		labelled[row] = true
	}
	r.nodes = make([]int, n)
	for _, with := range []bool{false, true} {
		for i := range n {
			if labelled[i] == with {
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
	f := r.scaled()
	items, y, classes := *f, r.class, len(r.p.Names)
	items.Rows = len(r.train)
	if r.by.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1}, len(r.p.Degrees)-len(r.p.Row)))
		items.Rows = len(y)
	}
	by := r.by.outgrown(items.Rows, items.Cols)
	if by != r.by && !by.alike(r.by) {
		return fmt.Errorf("%w: %d rows of %d features are too many for %s; take %s, or fewer steps", validate.ErrUsage, items.Rows, items.Cols, r.by.Name, by.Name)
	}
	values := r.par.Declared.Values
	if by.path != nil {
		beside, err := besideOf(by.path, r.set.Given, classes)
		if err != nil {
			return err
		}
		r.out.Parameters.Beside = by.besides(beside)
		copies := float64(max(1, r.partitions())) // rows of each label
		values = trial.Weighed(by.path, complete(beside, values)[0], copies)
	}
	if by.Linear != nil {
		r.model, err = by.Linear(ctx, &items, y, classes, values, r.set.RNGSeed, r.set.Workers)
	} else {
		r.fitted, err = by.Fit(ctx, classify.LinearGram(&items), y, classes, values)
		if r.fitted != nil && !r.perNode() {
			r.model = classify.LinearWeights(r.fitted, &items)
		}
	}
	if errors.Is(err, classify.ErrIterationLimit) && (r.model != nil || r.fitted != nil) {
		err, r.out.Unfinished = nil, by.unfinished() // it is the best so far
	}
	if err == nil && by.path != nil && validate.TooFew(r.p.Class) {
		neutral(r.model, r.scale()/float64(classes))
	}
	return err
}

// scale is what features are multiplied by: the kernel is a mean over steps.
func (r *predictor) scale() float64 { return 1 / math.Sqrt(float64(r.par.Steps-r.par.MinSteps+1)) }

// scaled returns the rows from the first of training on, scaled.
func (r *predictor) scaled() *sparse.Block[float32] {
	f := &sparse.Block[float32]{
		Rows: len(r.train), Cols: r.features.Cols, Stride: r.features.Stride,
		Data: r.features.Data[r.train[0]*r.features.Stride:],
	}
	if r.perNode() {
		f.Rows = r.features.Rows - r.train[0]
		r.trained = f
	}
	for i := range f.Rows {
		row := f.Row(i)
		for j, v := range row {
			row[j] = float32(r.scale()) * v
		}
	}
	return f
}

// scoreNodes turns what the model says of the features of every node into scores.
func (r *predictor) scoreNodes(ctx context.Context) error {
	n := len(r.p.Degrees)
	first, gram := r.train[0], classify.LinearGram(r.trained)
	items := upTo(len(r.train))
	if r.by.Whole {
		items = upTo(len(r.train) + n - len(r.p.Row))
	}
	return r.shareAll(ctx, r.fitted.Pairs, len(items), func(row []float64, i int) []float64 {
		at, own := r.nodes[i]-first, make([]float64, 1)
		gram.PartTo(row[:len(r.train)], at, items[:len(r.train)]) // others say nothing
		gram.PartTo(own, at, []int{at})
		return r.fitted.ScoresTo(nil, row, own[0])
	})
}
