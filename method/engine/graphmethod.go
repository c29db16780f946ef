package engine

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// FoldVisitor receives the predictions of a setting for a [Group], both given by position. predict must return the prediction
// of a node of the group's test set.
type FoldVisitor = func(setting, group int, predict func(node int) Guess)

// Guess is the prediction of a node without its label.
type Guess struct {
	Class   int
	Value   float64 // number, if numbers are predicted
	Reached bool    // a label reaches the node

	// Scores has the probability of each class, valid until the next prediction; nil: not computed.
	Scores []float64
}

// GraphMethod predicts all nodes of a graph at once from labels: classes or numbers. Its parameters are chosen by
// predictions of held-out labels.
type GraphMethod struct {
	Spec *param.Spec

	// Prepare stores in j.Shared what all settings share; nil: nothing.
	Prepare func(ctx context.Context, j *Job, settings []param.Values) error

	// Predictions calls visit for each setting and group, in any order.
	Predictions func(ctx context.Context, j *Job, settings []param.Values, groups []Group, visit FoldVisitor) error

	// Scores stores the scores and classes of all nodes in j.Out.
	Scores func(ctx context.Context, j *Job, v param.Values) error

	Highest func(p *Problem, s *Settings) bool // see Engine.Highest

	// Workspace declares the memory of the given settings, or returns an error for settings that it refuses.
	Workspace func(p *Problem, settings []param.Values, s *Settings) (budget.Workspace, error)

	// IsSampled states that settings are compared on a sample of the labels, because each setting needs its own fit.
	IsSampled bool

	HasRaw bool // see [Engine.HasRaw]

	Extension *Extension // see [Engine.Extension]

	Target Target
	Ridge  bool // larger values of the last parameter are simpler

	// Widens states that the largest value of the first parameter costs most: it is tried only if the second largest is
	// better than all smaller values.
	Widens bool
}

// Group is a training set with the labels to predict from it.
type Group struct {
	Train, Test *Problem
	Labels      []int // positions of the test labels in the divided problem
}

func (m GraphMethod) Engine() *Engine {
	d := m.Spec
	e := Engine{Name: d.Name, Target: m.Target, Takes: d.Takes(), Specs: []*param.Spec{d}, HasRaw: m.HasRaw, Highest: m.Highest, Extension: m.Extension,
		Workspace: func(p *Problem, s *Settings) (w budget.Workspace, err error) {
			settings, _, err := s.Grid(d, d.Own(s.Given), kernel.OnDegrees(p.Degrees))
			if err != nil || m.Workspace == nil {
				return w, err
			}
			w, err = m.Workspace(p, settings, s)
			if m.Target == Classes {
				w = w.AndHeld(heldBytes(p, len(settings)))
			}
			return w, err
		}}.InStages(m.begin)
	if len(d.Params) == 0 && m.Target == Classes {
		e.Choose = nil
	}
	return e
}

func (m GraphMethod) begin(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Job, error) {
	d := m.Spec
	if err := problem.ValidateFor(p, d); err != nil {
		return nil, err
	}
	if p.Directed && d.Works&param.Directed == 0 {
		return nil, &problem.Error{Method: d.Name, Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	var err error
	if m.Target == Numbers {
		if p, err = withStructure(ctx, p, &set); err != nil {
			return nil, err
		}
	}
	j := &Job{Problem: p, Settings: &set, Out: new(Prediction), SourceSpace: new(choose.Space), Declared: d}
	if j.Values, j.Space, err = set.Grid(d, d.Own(set.Given), kernel.On(ctx, p.Graph)); err != nil {
		return nil, err
	}
	if last := len(j.Space.Axes) - 1; last >= 0 {
		j.Space.Axes[last].Falling = m.Ridge
	}
	switch {
	case par != nil:
		j.Fix(par)
	case m.Target == Classes && choose.TooFew(p.Class):
		usual, err := d.Resolve(d.Own(set.Given), nil)
		if err != nil {
			return nil, err
		}
		j.Fix(&Parameters{Declared: &Setting{d, usual}})
	}
	j.ByFolds = func(ctx context.Context) (*Choice, error) { return m.chooseByFolds(ctx, j) }
	if m.Target == Numbers {
		j.ByFolds = func(ctx context.Context) (*Choice, error) {
			return m.chooseNumbers(ctx, j, newHeldNumbers(p, set.RNGSeed))
		}
	}
	j.BySplits = func(ctx context.Context, splits *choose.Splits) (*Choice, error) {
		var groups []Group
		for i := range splits.Len {
			s := splits.At(i)
			groups = append(groups, Group{p.At(s.Train), p.At(s.Test), s.Test})
		}
		return j.Choose(ctx, m.evidence(j, groups, nil))
	}
	j.Learn = func(ctx context.Context, c *Choice) error {
		v := j.Values[0]
		if c.Declared != nil {
			v = c.Declared.Values
		} else {
			j.Out.Settings = 0
		}
		start := time.Now()
		err := m.Scores(ctx, j, v)
		if err == nil && m.Target == Numbers {
			j.clip()
		}
		j.Out.Seconds.Walk = time.Since(start).Seconds()
		return err
	}
	if m.Prepare != nil {
		err = m.Prepare(ctx, j, j.Values)
	}
	return j, err
}

// Whole sets j.Graph to the problem's graph with components, and j.Out.Reached to the nodes that labels reach. The graph
// must be undirected.
func (j *Job) Whole(ctx context.Context) (err error) {
	if j.Graph, err = j.Problem.Whole(ctx, j.Settings.Workers, &j.Out.Work); err == nil {
		j.Out.Reached = j.Graph.Components.Reachable(j.Problem.Row)
	}
	return err
}

const mostMeasured = 5000

// heldBytes returns the bytes of the predictions of held-out labels by a number of settings: of all settings for as many labels
// as choose and measure at once, else of one.
func heldBytes(p *Problem, settings int) int64 {
	labels := len(p.Row)
	count, _ := choose.MeasuringFolds(labels, labels)
	if count != choose.FoldCount(labels) {
		settings = 1
	}
	return budget.Times(settings*min(labels, mostMeasured), 4*int64(len(p.Names))+64)
}

// chooseByFolds chooses a setting by held-out folds of the labels, or if m.IsSampled is set, of a sample. It measures the
// setting on folds of all labels.
func (m GraphMethod) chooseByFolds(ctx context.Context, j *Job) (*Choice, error) {
	sample := j.Problem
	tested := mostMeasured
	if m.IsSampled {
		sample = j.Problem.At(choose.Sample(j.Problem.Class, j.Settings.Sample, j.Settings.RNGSeed, 0))
		tested = len(sample.Row)
	}
	measuring := groupsOf(j.Problem, choose.ToMeasure(j.Problem, tested, j.Settings.RNGSeed))
	if j.Size() == 1 {
		return m.chooseHeld(ctx, j, measuring)
	}
	choosing := groupsOf(sample, choose.ToChoose(sample, j.Settings.RNGSeed))
	if sample == j.Problem && len(choosing) == len(measuring) && !j.Settings.Unmeasured {
		return m.chooseHeld(ctx, j, choosing)
	}
	c, err := j.Choose(ctx, m.evidence(j, choosing, nil))
	if err != nil || j.Settings.Unmeasured {
		return c, err
	}
	chosen := *j
	chosen.Fix(&c.Parameters)
	measured, err := m.chooseHeld(ctx, &chosen, measuring)
	if err == nil {
		c.Held = measured.Held
	}
	return c, err
}

// chooseHeld chooses a setting by the test sets of groups. In the Held of the choice, other groups choose the setting
// that predicts a group.
func (m GraphMethod) chooseHeld(ctx context.Context, j *Job, groups []Group) (*Choice, error) {
	held := make([][]choose.Held, j.Size())
	for s := range held {
		held[s] = make([]choose.Held, len(groups))
	}
	c, err := j.Choose(ctx, m.evidence(j, groups, held))
	if err != nil || len(groups) < 2 && j.Size() > 1 { // no other group to choose by
		return c, err
	}
	c.Held = new(choose.Held)
	for g, setting := range c.Found.Outside {
		c.Held.Rows = append(c.Held.Rows, held[setting][g].Rows...)
	}
	return c, nil
}

// groupsOf returns a group for each measured fold of p.
func groupsOf(p *Problem, folds *choose.Folds) (groups []Group) {
	for f := range folds.Measured {
		if s := folds.Split(f); len(s.Train) > 0 && len(s.Test) > 0 {
			groups = append(groups, Group{p.At(s.Train), p.At(s.Test), s.Test})
		}
	}
	return groups
}

// evidence returns a function that counts right predictions of settings for the test sets of groups. If held is not nil, it
// stores the predictions there, by setting and group.
func (m GraphMethod) evidence(j *Job, groups []Group, held [][]choose.Held) func(ctx context.Context, _, values []int) (*choose.Counts, error) {
	weight := choose.WeightsOf(j.Problem)
	return func(ctx context.Context, _, values []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(values), make([]choose.FoldLabels, len(groups)))
		done := int64(0)
		err := m.Predictions(ctx, j, problem.Pick(j.Values, values), groups, func(setting, group int, predict func(node int) Guess) {
			var foldLabels choose.FoldLabels
			test := groups[group].Test
			for i, node := range test.Row {
				guess := predict(node)
				credit := 0.0
				foldLabels.Tested++
				if guess.Reached {
					credit = weight[test.Class[i]]
					foldLabels.Reached++
					foldLabels.Of += credit
				}
				if guess.Class == test.Class[i] {
					counts.Add(setting, group, credit)
				}
				if held != nil {
					held[values[setting]][group].Add(groups[group].Labels[i], guess.Class, guess.Reached, guess.Scores)
				}
			}
			counts.Folds[group] = foldLabels
			done++
			j.Settings.Progress("choose", done, int64(len(values)*len(groups)))
		})
		return counts, err
	}
}

// ClassShares is the prior of methods that do not walk: the shares of the classes among the labels, each class counted once
// more.
var ClassShares = cwk.Prior{Empirical: true, Pseudo: 1}

// SeedsOf returns the labels of p as seeds with columns for the classes lo ≤ c < hi. Labels of other classes have class −1.
func SeedsOf(p *Problem, lo, hi int) cwk.Seeds {
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

// Choosing returns an engine that chooses the parameters of m by cross-validation. m must have one declaration in Specs. The
// returned engine calls the Fit of m with a value for every parameter.
func (m *Engine) Choosing() *Engine {
	f := fit(m.Fit)
	return m.InStages(GraphMethod{Spec: m.Specs[0], Target: m.Target, Predictions: f.predictions, Scores: f.scores}.begin)
}

type fit func(ctx context.Context, p *Problem, par *Parameters, s *Settings) (*Prediction, error)

func (f fit) predictions(ctx context.Context, j *Job, settings []param.Values, groups []Group, visit FoldVisitor) error {
	quiet := *j.Settings
	quiet.Progress = IgnoreProgress
	for setting, v := range settings {
		for i, g := range groups {
			out, err := f(ctx, g.Train, &Parameters{Declared: &Setting{j.Declared, v}}, &quiet)
			if err != nil {
				return err
			}
			j.Out.Work.Sweeps += out.Work.Sweeps
			scores := make([]float64, len(g.Train.Names))
			visit(setting, i, func(node int) Guess {
				if out.Value != nil {
					return Guess{Value: out.Value[node], Reached: true}
				}
				guess := Guess{Class: out.Class[node], Reached: out.Reached.Contains(uint32(node))}
				if out.Scores != nil {
					simd.ConvertTo(scores, out.Scores.Row(node))
					guess.Scores = scores
				}
				return guess
			})
		}
	}
	return nil
}

func (f fit) scores(ctx context.Context, j *Job, v param.Values) error {
	out, err := f(ctx, j.Problem, &Parameters{Declared: &Setting{j.Declared, v}}, j.Settings)
	if err == nil {
		out.Work.Sweeps += j.Out.Work.Sweeps
		out.Parameters = j.Out.Parameters
		out.Settings = j.Out.Settings
		*j.Out = *out
		SetKnown(j.Out, j.Problem)
	}
	return err
}
