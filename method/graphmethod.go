package method

import (
	"context"
	"time"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// foldVisitor is called with the predictions of a setting for a group of held-out labels: predict returns
// the predicted class of a node in the group's test set, and whether a label reaches it.
type foldVisitor = func(setting, group int, predict func(node int) (class int, isReached bool))

// graphLearner scores all nodes of a graph at once from its labels, with parameters that are
// chosen by its predictions for held-out labels.
type graphLearner interface {
	// declaration has the name and the parameters.
	declaration() *param.Spec

	// prepare computes what all settings have in common.
	prepare(ctx context.Context, r *graphPredictor, settings []param.Values) error

	// predictions calls visit for each setting and group of labels in any order.
	predictions(ctx context.Context, r *graphPredictor, settings []param.Values,
		groups []group, visit foldVisitor) error

	// scores stores the scores and classes of all nodes in r.out.
	scores(ctx context.Context, r *graphPredictor, v param.Values) error

	// highest reports whether scores stores the highest scores of each node in place of those of all classes.
	highest(p *Problem, s *Settings) bool

	// hasRaw reports whether scores are those of a formula.
	hasRaw() bool

	// bytes is the memory of a prediction, and of a choice by the given number of labels. It refuses settings.
	bytes(p *Problem, labels int, settings []param.Values, s *Settings) (int64, error)

	// isSampled reports that a choice compares settings on a sample of many labels, because
	// each setting is a fit of its own.
	isSampled() bool
}

// group is a training set with the labels to predict from it.
type group struct{ train, test *Problem }

// graphMethod is a graphLearner as a method.
type graphMethod struct{ graphLearner }

// graphMethods returns the learners of package propagate, logistic regression on eigenvectors,
// and the methods of [Register].
func graphMethods() (list []*Engine) {
	for _, l := range propagate.Learners() {
		list = append(list, graphMethod{spreading{l}}.engine())
	}
	list = append(list, graphMethod{spectralLogistic{}}.engine())
	for _, d := range declarations {
		list = append(list, graphMethod{declaredMethod{d}}.engine())
	}
	return list
}

// engine returns the learner as an engine.
func (m graphMethod) engine() *Engine {
	d := m.declaration()
	e := &Engine{Name: d.Name, Takes: d.Takes(), Specs: []*param.Spec{d}, Fit: m.predict, Cost: m.cost,
		HasRaw: m.hasRaw()}
	if len(d.Params) > 0 {
		e.Choose = m.tune
	}
	return e
}

// graphPredictor makes one prediction.
type graphPredictor struct {
	p   *Problem
	g   *graph.Graph // nil if the method needs none
	set *Settings
	out *Prediction

	highest   bool                   // whether out has the highest scores in place of those of all classes
	embedding *sparse.Block[float64] // see spectralLogistic
}

// begin checks the problem and returns the state that all settings share.
func (m graphMethod) begin(p *Problem, s *Settings) (*graphPredictor, error) {
	if err := problem.ValidateFor(p, m.declaration()); err != nil {
		return nil, err
	}
	if p.Directed && m.declaration().Works&param.Directed == 0 {
		return nil, &problem.Error{Method: m.declaration().Name, Err: problem.ErrDirected}
	}
	set := s.WithDefaults()
	r := &graphPredictor{p: p, set: &set, out: new(Prediction),
		highest: m.highest(p, &set)}
	set.Memory = p.SubtractComponents(set.Memory)
	return r, nil
}

// whole finds the components of an undirected graph, and the nodes that a label reaches.
func (r *graphPredictor) whole(ctx context.Context) (err error) {
	if r.g, err = r.p.Whole(ctx, r.set.Workers, &r.out.Work); err == nil {
		r.out.Reached = r.g.Components.Reachable(r.p.Row)
	}
	return err
}

// settings returns the settings to choose from on the labels of a problem: all usual ones or,
// with too few labels, the defaults.
func (m graphMethod) settings(p *Problem, s *Settings) ([]param.Values, error) {
	if split.TooFew(p.Class) {
		v, err := m.usual(s)
		return []param.Values{v}, err
	}
	return m.grid(s)
}

// usual returns the given values, with defaults.
func (m graphMethod) usual(s *Settings) (param.Values, error) {
	return m.declaration().Resolve(m.declaration().Own(s.Given), nil)
}

// grid returns the settings to choose from.
func (m graphMethod) grid(s *Settings) ([]param.Values, error) {
	return split.Combinations(s.withGrids(m.declaration()), m.declaration().Own(s.Given), nil)
}

// predict is the Fit of the engine.
func (m graphMethod) predict(ctx context.Context, p *Problem, par *Parameters,
	s *Settings) (*Prediction, error) {
	r, err := m.begin(p, s)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	var v param.Values
	if par != nil {
		v = par.Declared.Values
		r.out.Settings = 1
	}
	settings, err := m.settings(p, r.set)
	if err == nil {
		if v != nil {
			settings = []param.Values{v}
		}
		err = m.prepare(ctx, r, settings)
	}
	if err != nil {
		return nil, err
	}
	if v == nil {
		if v, err = m.choose(ctx, r, settings); err != nil {
			return nil, err
		}
	}
	r.out.Seconds.Choose = time.Since(start).Seconds()
	start = time.Now()
	if err := m.scores(ctx, r, v); err != nil {
		return nil, err
	}
	r.out.Seconds.Walk = time.Since(start).Seconds()
	if d := m.declaration(); len(d.Params) > 0 {
		r.out.Parameters = Parameters{Declared: &Setting{d, v}}
	} else {
		r.out.Settings = 0
	}
	return r.out, nil
}

// choose returns the setting that held-out labels choose; with too few labels it is the only
// one.
func (m graphMethod) choose(ctx context.Context, r *graphPredictor,
	settings []param.Values) (param.Values, error) {
	r.out.Settings = len(settings)
	if split.TooFew(r.p.Class) || r.set.model != nil {
		return settings[0], nil
	}
	p := r.p
	if m.isSampled() {
		p = p.At(split.Sample(p.Class, r.set.sample, r.set.RNGSeed, 0))
	}
	folds := r.set.folds(len(p.Row))
	fold := split.Folds(p.Class, folds, r.set.RNGSeed, 0)
	var groups []group
	for f := range folds {
		if s := split.OfFold(fold, f); len(s.Train) > 0 && len(s.Test) > 0 {
			groups = append(groups, group{p.At(s.Train), p.At(s.Test)})
		}
	}
	choice, err := m.search(ctx, r, settings, groups, choose.WeightsOf(p))
	if err != nil {
		return nil, err
	}
	r.out.Estimate = choice.HeldOut.Estimate(r.p, r.out.Reached)
	return settings[choice.Setting], nil
}

// search chooses one of the settings by the predictions for the test sets of groups.
func (m graphMethod) search(ctx context.Context, r *graphPredictor,
	settings []param.Values, groups []group,
	weight []float64) (*choose.Found, error) {
	usual, _ := m.usual(r.set)
	space := choose.SpaceOf(r.set.withGrids(m.declaration()), settings, usual)
	s := &choose.Search{Kernel: new(choose.Space), Learner: space, Together: true}
	s.Measure = func(ctx context.Context, _, _ []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(settings),
			make([]choose.FoldLabels, len(groups)))
		done := int64(0)
		err := m.predictions(ctx, r, settings, groups, func(setting, group int, predict func(node int) (int, bool)) {
			var foldLabels choose.FoldLabels
			test := groups[group].test
			for i, node := range test.Row {
				class, reached := predict(node)
				credit := 0.0
				foldLabels.Tested++
				if reached {
					credit = weight[test.Class[i]]
					foldLabels.Reached++
					foldLabels.Of += credit
				}
				if class == test.Class[i] {
					counts.Add(setting, group, credit)
				}
			}
			counts.Folds[group] = foldLabels
			done++
			r.set.Progress("choose", done, int64(len(settings)*len(groups)))
		})
		return counts, err
	}
	return s.Run(ctx)
}

// tune is the Choose of the engine.
func (m graphMethod) tune(ctx context.Context, p *Problem, splits *split.Splits,
	s *Settings) (*Choice, error) {
	r, err := m.begin(p, s)
	if err != nil {
		return nil, err
	}
	settings, err := m.grid(r.set)
	if err == nil {
		err = m.prepare(ctx, r, settings)
	}
	if err != nil {
		return nil, err
	}
	var groups []group
	for i := range splits.Len {
		split := splits.At(i)
		groups = append(groups, group{p.At(split.Train), p.At(split.Test)})
	}
	choice, err := m.search(ctx, r, settings, groups, choose.WeightsOf(p))
	if err != nil {
		return nil, err
	}
	return &Choice{
		Parameters: Parameters{Declared: &Setting{m.declaration(),
			settings[choice.Setting]}}, Accuracy: choice.Accuracy, Tested: choice.Tested, Settings: len(settings),
		Work: r.out.Work,
	}, nil
}

// cost is the Cost of the engine.
func (m graphMethod) cost(p, tuned *Problem, s *Settings) (Cost, error) {
	settings, err := m.grid(s)
	if err != nil {
		return Cost{}, err
	}
	labels := len(p.Row)
	if tuned != nil {
		labels = len(tuned.Row)
	}
	bytes, err := m.bytes(p, labels, settings, s)
	return Cost{Bytes: bytes, Scores: outputBytes(p, m.highest(p, s))}, err
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

// Declaration declares a method of another module, for [Register].
type Declaration struct {
	param.Spec

	// Predict scores every node from the labels of p with complete values of the parameters. It
	// returns at least Class, Scores and Reached. The settings have every default.
	Predict func(ctx context.Context, p *Problem, v param.Values, s *Settings) (*Prediction, error)

	// Bytes returns the memory of Predict in addition to the prediction; nil: none.
	Bytes func(p *Problem, v param.Values) int64
}

var declarations param.List[*Declaration]

// Register adds a method, which then works as those of this package do: [Parse] knows its name,
// its parameters have grids and are chosen by cross-validation, and its memory is estimated. Call
// it from an init function. It panics if the name is taken, or if there is no Predict.
func Register(d *Declaration) {
	_, err := findMethod(d.Name)
	declarations.Add(d, d.Predict != nil && err != nil)
}

// declaredMethod is a method of [Register]: a setting is compared by one prediction for each fold.
type declaredMethod struct{ *Declaration }

func (m declaredMethod) declaration() *param.Spec {
	return &m.Spec
}
func (m declaredMethod) isSampled() bool { return false }

func (m declaredMethod) hasRaw() bool { return true }

func (m declaredMethod) highest(*Problem, *Settings) bool { return false }

// prepare finds the nodes that a label reaches.
func (m declaredMethod) prepare(ctx context.Context, r *graphPredictor,
	_ []param.Values) (err error) {
	r.out.Reached, err = r.p.Reachable(ctx, r.p.Row, r.set.Workers, &r.out.Work)
	return err
}

// predictions calls visit with the predictions of every setting for each group of held-out labels,
// by a run of the method for each.
func (m declaredMethod) predictions(ctx context.Context, r *graphPredictor,
	settings []param.Values, groups []group,
	visit foldVisitor) error {
	quiet := *r.set
	quiet.Progress = ignoreProgress
	for setting, v := range settings {
		for i, g := range groups {
			out, err := m.Predict(ctx, g.train, v, &quiet)
			if err != nil {
				return err
			}
			r.out.Work.Sweeps += out.Work.Sweeps
			visit(setting, i, func(node int) (int, bool) { return out.Class[node], out.Reached.Contains(uint32(node)) })
		}
	}
	return nil
}

// scores stores the prediction with the chosen values in r.out.
func (m declaredMethod) scores(ctx context.Context, r *graphPredictor,
	v param.Values) error {
	prediction, err := m.Predict(ctx, r.p, v, r.set)
	if err != nil {
		return err
	}
	r.out.Class = prediction.Class
	r.out.Scores = prediction.Scores
	r.out.Raw = prediction.Raw
	r.out.Reached = prediction.Reached
	r.out.Unfinished = prediction.Unfinished
	r.out.Work.Sweeps += prediction.Work.Sweeps
	setKnown(r.out, r.p)
	return nil
}

// bytes returns the largest memory of the settings, and that of the prediction.
func (m declaredMethod) bytes(p *Problem, _ int, settings []param.Values,
	_ *Settings) (bytes int64, _ error) {
	if m.Declaration.Bytes != nil {
		for _, v := range settings {
			bytes = max(bytes, m.Declaration.Bytes(p, v))
		}
	}
	return bytes + scoreBytes(p), nil
}
