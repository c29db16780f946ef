package method

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/heldout"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// walkLearners returns walks with every declared learner but those that have ways of
// their own to choose and to learn.
func walkLearners() (list []Method) {
	for _, l := range classify.Learners() {
		if name := learner(l.Name); name.declared() != nil {
			list = append(list, walkMethod{name: cwk.Spec.Name + "+" + l.Name, learner: name})
		}
	}
	return list
}

// declared returns the declaration of the learner, nil for those that choose and learn in a
// way of their own: kernelSVM, linearSVM and rls.
func (l learner) declared() *classify.Learner {
	if machines[l] != nil {
		return nil
	}
	return classify.Learners().Named(string(l))
}

// spec returns what the learner behind a kernel is given.
func (l learner) spec() *spec.Spec {
	if by := l.declared(); by != nil {
		return &by.Spec
	}
	return machines[l]
}

// settings returns those of the learner: of one with a declaration what is tried of it,
// the defaults first, or the defaults alone where nothing can be tried.
func (m walkMethod) settings(s *Settings) (Settings, error) {
	set := s.WithDefaults()
	set.learner = m.learner
	by := m.learner.declared()
	if by == nil {
		return set, nil
	}
	all, usual, err := set.settled(by)
	if err != nil {
		return set, err
	}
	all[0], all[usual] = all[usual], all[0]
	grid := *set.Grid
	grid.Cost, grid.Lambda, grid.Declared = nil, nil, nil
	if by.Whole && slices.Contains(grid.Features, Honest) {
		grid.Features = []Features{Honest} // trials know no other nodes, which plain rows are unlike
	}
	for _, v := range all {
		grid.Declared = append(grid.Declared, &Setting{&by.Spec, v})
	}
	set.Grid = &grid
	return set, nil
}

// settled returns the settings of a learner that are tried, and the place of its defaults among
// them, the first if they are not there.
func (s *Settings) settled(by *classify.Learner) (all []spec.Values, usual int, err error) {
	given := by.Spec.Own(s.Given)
	v, err := by.Resolve(given, nil)
	if err != nil {
		return nil, 0, err
	}
	all, err = validate.Settings(s.trying(&by.Spec), given, nil)
	return all, max(0, slices.IndexFunc(all, func(o spec.Values) bool { return by.Text(o) == by.Text(v) })), err
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
	one.Declared = []*Setting{p.Declared}
	return &one
}

// ofWalk returns the grid of all settings of the learner with the walk and the features of
// p alone.
func (g *Grid) ofWalk(p Parameters) *Grid {
	one := *g
	one.Alpha, one.Steps, one.Features = []float64{p.Alpha}, []int{p.Steps}, []Features{p.Features}
	return &one
}

// chooseInTurn chooses the learner's setting on a usual walk, the walk with that setting, and then
// the setting on that walk, where each setting is a fit of its own. choose returns the
// best setting of the grid that set has then.
func chooseInTurn(set *Settings, choose func() (*Choice, error)) (choice *Choice, err error) {
	all := set.Grid
	if len(all.Declared) < 2 {
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
func (r *predictor) perNode() bool { return r.by != nil && (r.by.Whole || !r.by.Dual) }

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

// learnDeclared fits the learner to the training rows, which are the first of f; rows of
// nodes come after them.
func (r *predictor) learnDeclared(ctx context.Context, f *sparse.Block[float32]) (err error) {
	r.trained = f
	items, y, values := *f, r.class, r.par.Declared.Values
	items.Rows = len(r.train)
	classes := len(r.p.Names)
	if r.by.Whole {
		y = slices.Concat(y, slices.Repeat([]int{-1}, len(r.p.Degrees)-len(r.p.Row)))
		items.Rows = len(y)
	}
	if r.by.Linear != nil {
		r.model, err = r.by.Linear(ctx, widened(&items), y, classes, values)
	} else {
		r.fitted, err = r.by.Fit(ctx, classify.LinearGram(&items), y, classes, values)
		if r.fitted != nil && !r.perNode() {
			r.model = classify.LinearWeights(r.fitted, &items)
		}
	}
	if errors.Is(err, classify.ErrIterationLimit) && (r.model != nil || r.fitted != nil) {
		err, r.out.Unfinished = nil, unfinishedLearner
	}
	return err
}

// unfinishedLearner is what a prediction says of a learner that ended at its limit.
const unfinishedLearner = "learning ended at the limit of its steps, before its tolerance"

// widened returns a copy in double precision.
func widened(f *sparse.Block[float32]) *sparse.Block[float64] {
	w := sparse.BlockOf(f.Rows, f.Cols, make([]float64, f.Rows*f.Cols))
	for i := range f.Rows {
		simd.ConvertTo(w.Row(i), f.Row(i))
	}
	return w
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
