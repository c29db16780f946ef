package method

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// foldVisitor is called with the predictions of a setting for a group of held-out labels: predict returns
// the predicted class, or number, of a node in the group's test set, and whether a label reaches the node.
type foldVisitor = func(setting, group int, predict func(node int) (y float64, isReached bool))

// graphMethod predicts all nodes of a graph at once from its labels, classes or numbers, with parameters that are
// chosen by its predictions for held-out labels.
type graphMethod struct {
	spec *param.Spec // the name and the parameters

	// prepare stores in job.shared what all settings have in common; nil: nothing.
	prepare func(ctx context.Context, j *job, settings []param.Values) error

	// predictions calls visit for each setting and group of labels in any order.
	predictions func(ctx context.Context, j *job, settings []param.Values, groups []group, visit foldVisitor) error

	// scores stores the scores and classes of all nodes in j.out.
	scores func(ctx context.Context, j *job, v param.Values) error

	highest func(p *Problem, s *Settings) bool // see Engine.Highest

	// workspace declares the memory of the engine for the given settings, some of which it refuses.
	workspace func(p *Problem, settings []param.Values, s *Settings) (budget.Workspace, error)

	// isSampled reports that a choice compares settings on a sample of many labels, because
	// each setting is a fit of its own.
	isSampled bool

	hasRaw bool // see [Engine.HasRaw]

	target Target // of the engine, one of Classes and Numbers
	ridge  bool   // larger values of the last parameter are simpler

	// widens reports that the largest value of the first parameter costs most, and is compared only if the next one is the
	// best of the others.
	widens bool
}

// group is a training set with the labels to predict from it.
type group struct{ train, test *Problem }

// engine returns the learner as an engine.
func (m graphMethod) engine() *Engine {
	d := m.spec
	e := Engine{Name: d.Name, Target: m.target, Takes: d.Takes(), Specs: []*param.Spec{d}, HasRaw: m.hasRaw, Highest: m.highest,
		Workspace: func(p *Problem, s *Settings) (w budget.Workspace, err error) {
			settings, _, err := s.grid(d, d.Own(s.Given), kernel.OnDegrees(p.Degrees))
			if err != nil || m.workspace == nil {
				return w, err
			}
			return m.workspace(p, settings, s)
		}}.inStages(m.begin)
	if len(d.Params) == 0 && m.target == Classes {
		e.Choose = nil
	}
	return e
}

// begin checks the problem and computes what all settings share.
func (m graphMethod) begin(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*job, error) {
	d := m.spec
	if err := problem.ValidateFor(p, d); err != nil {
		return nil, err
	}
	if p.Directed && d.Works&param.Directed == 0 {
		return nil, &problem.Error{Method: d.Name, Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	var err error
	if m.target == Numbers {
		if p, err = withStructure(ctx, p, &set); err != nil {
			return nil, err
		}
	}
	j := &job{p: p, set: &set, out: new(Prediction), sourceSpace: new(choose.Space), declared: d}
	if j.values, j.space, err = set.grid(d, d.Own(set.Given), kernel.On(ctx, p.Graph)); err != nil {
		return nil, err
	}
	if last := len(j.space.Axes) - 1; last >= 0 {
		j.space.Axes[last].Falling = m.ridge
	}
	switch {
	case par != nil:
		j.fix(par)
	case m.target == Classes && choose.TooFew(p.Class):
		usual, err := d.Resolve(d.Own(set.Given), nil)
		if err != nil {
			return nil, err
		}
		j.fix(&Parameters{Declared: &Setting{d, usual}})
	}
	j.byFolds = func(ctx context.Context) (*Choice, error) { return m.chooseByFolds(ctx, j) }
	if m.target == Numbers {
		j.byFolds = func(ctx context.Context) (*Choice, error) {
			return m.chooseNumbers(ctx, j, newHeldNumbers(p, set.RNGSeed))
		}
	}
	j.bySplits = func(ctx context.Context, splits *choose.Splits) (*Choice, error) {
		var groups []group
		for i := range splits.Len {
			groups = append(groups, group{p.At(splits.At(i).Train), p.At(splits.At(i).Test)})
		}
		return j.choose(ctx, m.evidence(j, groups))
	}
	j.learn = func(ctx context.Context, c *Choice) error {
		v := j.values[0]
		if c.Declared != nil {
			v = c.Declared.Values
		} else {
			j.out.Settings = 0
		}
		start := time.Now()
		err := m.scores(ctx, j, v)
		if err == nil && m.target == Numbers {
			j.clip()
		}
		j.out.Seconds.Walk = time.Since(start).Seconds()
		return err
	}
	if m.prepare != nil {
		err = m.prepare(ctx, j, j.values)
	}
	return j, err
}

// whole finds the components of an undirected graph, and the nodes that a label reaches.
func (j *job) whole(ctx context.Context) (err error) {
	if j.g, err = j.p.Whole(ctx, j.set.Workers, &j.out.Work); err == nil {
		j.out.Reached = j.g.Components.Reachable(j.p.Row)
	}
	return err
}

// mostMeasured is the number of labels that a setting which was chosen by all labels is measured on at the most.
const mostMeasured = 5000

// chooseByFolds chooses by few folds of the labels or of a sample of them. Models of more of all labels measure the chosen
// setting.
func (m graphMethod) chooseByFolds(ctx context.Context, j *job) (*Choice, error) {
	sample := j.p
	tested := mostMeasured
	if m.isSampled {
		sample = j.p.At(choose.Sample(j.p.Class, j.set.sample, j.set.RNGSeed, 0))
		tested = len(sample.Row)
	}
	labels := len(j.p.Row)
	folds := j.set.folds(len(sample.Row))
	testFolds := j.set.testFolds(labels)
	if j.size() == 1 {
		return j.choose(ctx, m.evidence(j, j.foldGroups(j.p, testFolds, tested)))
	}
	c, err := j.choose(ctx, m.evidence(j, j.foldGroups(sample, folds, len(sample.Row))))
	if err != nil || len(sample.Row) == labels && folds == testFolds || j.set.Unmeasured {
		return c, err
	}
	chosen := *j
	chosen.fix(&c.Parameters)
	measured, err := chosen.choose(ctx, m.evidence(&chosen, j.foldGroups(j.p, testFolds, tested)))
	if err == nil {
		c.choice.HeldOut = measured.choice.HeldOut
	}
	return c, err
}

// foldGroups returns some of the folds of the labels of a problem, as many as have the given number of labels together.
func (j *job) foldGroups(p *Problem, folds, tested int) (groups []group) {
	fold := choose.Folds(p.Class, folds, j.set.RNGSeed, 0)
	for f := range folds {
		if s := choose.OfFold(fold, f); len(s.Train) > 0 && len(s.Test) > 0 && tested > 0 {
			groups = append(groups, group{p.At(s.Train), p.At(s.Test)})
			tested -= len(s.Test)
		}
	}
	return groups
}

// evidence counts the right predictions of settings for the test sets of groups.
func (m graphMethod) evidence(j *job, groups []group) func(ctx context.Context, _, values []int) (*choose.Counts, error) {
	weight := choose.WeightsOf(j.p)
	return func(ctx context.Context, _, values []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(values), make([]choose.FoldLabels, len(groups)))
		done := int64(0)
		err := m.predictions(ctx, j, problem.Pick(j.values, values), groups, func(setting, group int, predict func(node int) (float64, bool)) {
			var foldLabels choose.FoldLabels
			test := groups[group].test
			for i, node := range test.Row {
				y, reached := predict(node)
				credit := 0.0
				foldLabels.Tested++
				if reached {
					credit = weight[test.Class[i]]
					foldLabels.Reached++
					foldLabels.Of += credit
				}
				if y == float64(test.Class[i]) {
					counts.Add(setting, group, credit)
				}
			}
			counts.Folds[group] = foldLabels
			done++
			j.set.Progress("choose", done, int64(len(values)*len(groups)))
		})
		return counts, err
	}
}

// classShares is the prior of methods that do not walk: the shares of the classes among the
// labels, each class counted once more.
var classShares = cwk.Prior{Empirical: true, Pseudo: 1}

// seedsOf returns the labels of a problem with the classes lo ≤ c < hi as columns; those of
// other classes have class −1.
func seedsOf(p *Problem, lo, hi int) cwk.Seeds {
	s := cwk.Seeds{Row: p.Row, Class: p.Class, Classes: hi - lo}
	if lo > 0 || hi < len(p.Names) {
		s.Class = make([]int, len(p.Class))
		for i, c := range p.Class {
			s.Class[i] = c - lo
			if c < lo || c >= hi {
				s.Class[i] = -1
			}
		}
	}
	return s
}

// choosing returns an engine of one declaration whose parameters are chosen by cross-validation. Fit of m is called with complete values.
func (m *Engine) choosing() *Engine {
	f := fit(m.Fit)
	return m.inStages(graphMethod{spec: m.Specs[0], target: m.Target, predictions: f.predictions, scores: f.scores}.begin)
}

// fit is the Fit of an engine with given parameters.
type fit func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error)

// predictions calls visit for every setting and group by a prediction for each.
func (f fit) predictions(ctx context.Context, j *job, settings []param.Values, groups []group, visit foldVisitor) error {
	quiet := *j.set
	quiet.Progress = ignoreProgress
	for setting, v := range settings {
		for i, g := range groups {
			out, err := f(ctx, g.train, &Parameters{Declared: &Setting{j.declared, v}}, &quiet)
			if err != nil {
				return err
			}
			j.out.Work.Sweeps += out.Work.Sweeps
			visit(setting, i, func(node int) (float64, bool) {
				if out.Value != nil {
					return out.Value[node], true
				}
				return float64(out.Class[node]), out.Reached.Contains(uint32(node))
			})
		}
	}
	return nil
}

// scores predicts all nodes.
func (f fit) scores(ctx context.Context, j *job, v param.Values) error {
	out, err := f(ctx, j.p, &Parameters{Declared: &Setting{j.declared, v}}, j.set)
	if err == nil {
		out.Work.Sweeps += j.out.Work.Sweeps
		out.Parameters = j.out.Parameters
		out.Settings = j.out.Settings
		*j.out = *out
		setKnown(j.out, j.p)
	}
	return err
}
