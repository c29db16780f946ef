package items

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Source is a kernel between items with a learner that predicts their classes, or boosted trees on columns of items. The engine
// of a kernel has the name KERNEL+LEARNER and the parameters of both.
type Source struct {
	param.Spec

	// Calibrate fits probabilities of a learner without probabilities to scores of held-out items, see [classify.Calibrate].
	Calibrate bool

	Kernel  *param.Spec
	Units   param.Graph // graph for the kernel's grids; nil: none
	Learner *classify.Learner
	Items   int

	// Gram returns the kernel values between items, and all values of the kernel's parameters.
	Gram func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error)

	// Rows calls visit for each item i to score. item is its number among the items of Gram, or −1; values are its kernel
	// values with these items. If Rows is nil, the items of Gram are scored.
	Rows func(ctx context.Context, visit func(i, item int, values []float64)) error

	columns func() *Columns // nil: there is a kernel
}

// Source returns the source of c for a kernel and a learner.
func (c *Collection) Source(kernel *param.Spec, l *classify.Learner) *Source {
	s := &Source{Spec: param.Spec{
		Name: kernel.Name + "+" + l.Name, Title: l.Title + ", on " + kernel.Title,
		Works: kernel.Works, Params: slices.Concat(kernel.Params, l.Params),
	}, Kernel: kernel, Learner: l, Items: c.IDs.N}
	if c.Units != nil {
		s.Units = c.Units(kernel)
	}
	s.Gram = func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
		return c.Gram(ctx, kernel, v, labelled)
	}
	return s
}

// Classified is the result of a classification.
type Classified struct {
	Values   param.Values // complete values
	Settings int
	problem.Estimate

	Scores     *sparse.Block[float64]
	ScoreNames []string // by column of Scores: its class, or the two classes that it decides between
	Class      []int    // label of each item, or else its predicted class
	Support    int      // see [classify.Model.Support]
	Unfinished error    // error of an iteration at its limit; scores are then without probabilities

	Held *choose.Held // predictions of held-out labels; nil: none

	model         *classify.Model
	probabilities func(dst, scores []float64) []float64 // nil: the learner has none
}

// SharesTo stores the probability of each class for item i in dst and returns dst. If the learner has no probabilities, it
// stores soft votes, which sum to one too. If dst is nil, SharesTo allocates it.
func (c *Classified) SharesTo(dst []float64, i int) []float64 {
	return c.shares(dst, c.Scores.Row(i))
}

func (c *Classified) shares(dst, scores []float64) []float64 {
	if c.probabilities != nil {
		return c.probabilities(dst, scores)
	}
	return classify.SoftVotes(dst, c.model.Pairs, scores, 1)
}

// Classify chooses the parameters that are not given by cross-validation on at most 1000 labelled items, learns from all
// labelled items and scores every item. Cost: a fit for each fold and setting, and a row of kernel values for each distinct
// item. The error is a [*problem.Error], or comes from the source or ctx.
func (s *Source) Classify(ctx context.Context, p *engine.Problem, set *engine.Settings) (*Classified, error) {
	if p.Validate() != nil {
		name := s.Spec.Name
		if s.Learner != nil {
			name = s.Learner.Name
		}
		return nil, &problem.Error{Method: name, Err: classify.ErrOneClass}
	}
	c := new(Classified)
	out, err := s.engine(c).Predict(ctx, p, nil, set)
	if err != nil {
		return nil, err
	}
	c.Settings = out.Settings
	return c, nil
}

// Engine returns s as an engine, which chooses parameters anew for each training set.
func (s *Source) Engine() *engine.Engine { return s.engine(nil) }

// engine returns s as an engine. If result is not nil, the engine stores the result of its last prediction there.
func (s *Source) engine(result *Classified) *engine.Engine {
	if s.columns != nil {
		return s.treesEngine(result)
	}
	e := engine.Engine{Name: s.Spec.Name, Takes: s.Takes(), Specs: []*param.Spec{&s.Spec}}
	m := e.InStages(func(ctx context.Context, p *engine.Problem, par *engine.Parameters, settings *engine.Settings) (*engine.Job, error) {
		return s.begin(p, par, settings, result)
	})
	m.Choose = nil
	return m
}

// triedLabels is the largest number of labels by which parameters are chosen.
const triedLabels = 1000

// begin returns a job that compares the settings of the kernel with the learner's defaults, and then the settings of the
// learner. If there are too few labels, parameters that are not given have defaults. result, if not nil, receives the
// result.
func (s *Source) begin(p *engine.Problem, par *engine.Parameters, settings *engine.Settings, result *Classified) (*engine.Job, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := settings.WithDefaults()
	isMeasured := par == nil && !set.Unmeasured && !choose.TooFew(p.Class)
	set.Unmeasured = true // the choice already measures
	if par != nil {
		set.Given = par.Declared.Values
	}
	if par != nil || choose.TooFew(p.Class) {
		set.Fixed = true
		set.Lists = nil
	}
	j := &engine.Job{Problem: p, Settings: &set, Out: new(engine.Prediction), Learner: s.Learner, Source: s.Kernel, Declared: &s.Learner.Spec,
		Compared: triedLabels, Separate: true}
	var err error
	if j.Sources, j.SourceSpace, err = set.Grid(s.Kernel, s.Kernel.Own(set.Given), s.Units); err != nil {
		return nil, err
	}
	if j.Values, j.Space, err = set.Grid(&s.Learner.Spec, s.Learner.Own(set.Given), nil); err != nil {
		return nil, err
	}
	j.Compare = func(ctx context.Context, t *choose.Task, sources, values []int, _ []float64, visit func(pair int, o *choose.Outcome)) error {
		return s.compare(ctx, j, t, sources, values, visit)
	}
	j.Learn = func(ctx context.Context, choice *engine.Choice) error {
		c, err := s.learn(ctx, j, choice, isMeasured)
		if err == nil && result != nil {
			*result = *c
		}
		return err
	}
	return j, nil
}

// compare is an [engine.Comparison].
func (s *Source) compare(ctx context.Context, j *engine.Job, t *choose.Task, sources, values []int, visit func(pair int, o *choose.Outcome)) error {
	j.Settings.Progress("choosing parameters", 0, 0)
	for a, source := range sources {
		k, _, err := s.Gram(ctx, s.Kernel.Own(j.Sources[source]), j.Problem.Row)
		if err != nil {
			return err
		}
		block := sparse.NewBlock[float64](len(t.Row), len(t.Row))
		for i, item := range t.Row {
			k.PartTo(block.Row(i), item, t.Row)
		}
		fit := choose.Each(s.Learner, len(t.Names), problem.Pick(j.Values, values))
		err = choose.CrossValidate(ctx, block, t.Class, t.Fold, fit, func(b int, o *choose.Outcome) { visit(a*len(values)+b, o) })
		if err != nil && ctx.Err() == nil {
			err = &problem.Error{Method: s.Learner.Name, Err: err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fit fits the learner with values v to the items of k that have a class y ≥ 0. If calibrate is set, it fits probabilities
// too. The error is a [*problem.Error], or the error of ctx. Cost: a fit, or six with calibrate.
func (s *Source) fit(ctx context.Context, k classify.Gram, y []int, classes int, v param.Values, calibrate bool) (*Classified, error) {
	l := s.Learner
	model, err := l.Fit(ctx, k, y, classes, v)
	if model != nil && model.IsIndefinite {
		model, err = nil, classify.ErrIndefinite
	}
	c := &Classified{model: model, probabilities: l.Probabilities}
	if err == nil && calibrate && l.Probabilities == nil {
		c.probabilities, err = classify.Calibrate(ctx, l, model, k, y, classes, v)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, sched.Cause(ctx)
		}
		c.Unfinished = &problem.Error{Method: l.Name, Err: err}
		if model == nil || !errors.Is(err, classify.ErrIterationLimit) {
			return nil, c.Unfinished
		}
	}
	return c, nil
}

// holdOut stores in c the accuracy and the predictions of held-out labels, predicted without their fold. y has the classes of
// the items of k; holdOut changes it and restores it.
func (s *Source) holdOut(ctx context.Context, c *Classified, k classify.Gram, y []int, j *engine.Job, v param.Values) error {
	t := j.MeasuringTask()
	c.Held = new(choose.Held)
	row := make([]float64, k.Len())
	shares := make([]float64, len(t.Names))
	for f := range t.Folds() {
		tests := t.Split(f).Test
		for _, i := range tests {
			y[t.Row[i]] = -1
		}
		held, err := s.fit(ctx, k, y, len(t.Names), v, false)
		if err != nil {
			return err
		}
		if len(held.model.Pairs) == len(c.model.Pairs) { // the models have the same outputs
			held.probabilities = c.probabilities
		}
		for _, i := range tests {
			item := t.Row[i]
			k.RowTo(row, item)
			scores := held.model.ScoresTo(nil, row, row[item])
			c.Held.Add(i, held.model.Pairs.Predict(scores), true, held.shares(shares, scores))
		}
		for _, i := range tests {
			y[t.Row[i]] = t.Class[i]
		}
	}
	c.Estimate = estimateOf(j.Problem, c.Held.Rows)
	return nil
}

// learn learns from all labels, and scores all items.
func (s *Source) learn(ctx context.Context, j *engine.Job, choice *engine.Choice, isMeasured bool) (*Classified, error) {
	k, values, err := s.Gram(ctx, choice.Kernel.Values, j.Problem.Row)
	if err != nil {
		return nil, err
	}
	j.Settings.Progress("learning", 0, 0)
	y := slices.Repeat([]int{-1}, k.Len())
	for i, item := range j.Problem.Row {
		y[item] = j.Problem.Class[i]
	}
	names := j.Problem.Names
	c, err := s.fit(ctx, k, y, len(names), choice.Declared.Values, s.Calibrate)
	if err != nil {
		return nil, err
	}
	if isMeasured {
		if err := s.holdOut(ctx, c, k, y, j, choice.Declared.Values); err != nil {
			return nil, err
		}
		choice.Estimate = &c.Estimate
		choice.Held = c.Held
	}
	c.Values = maps.Clone(values)
	maps.Copy(c.Values, choice.Declared.Values)
	c.Support = c.model.Support()
	for _, p := range c.model.Pairs {
		name := names[p.Positive]
		if p.Negative != classify.Rest {
			name += " vs " + names[p.Negative]
		}
		c.ScoreNames = append(c.ScoreNames, name)
	}
	c.Scores = sparse.NewBlock[float64](s.Items, len(c.model.Pairs))
	if err := s.score(ctx, j, c, k, y); err != nil {
		return nil, err
	}
	out := j.Out
	out.Class = c.Class
	out.Scores = sparse.NewBlock[float32](s.Items, len(names))
	out.Reached = roaring.New()
	out.Reached.AddRange(0, uint64(s.Items))
	out.Parameters = engine.Parameters{Declared: &engine.Setting{Spec: &s.Spec, Values: c.Values}}
	if c.Unfinished != nil {
		out.Unfinished = "the iteration limit came before the tolerance"
	}
	shares := make([]float64, len(names))
	for i := range s.Items {
		simd.ConvertTo(out.Scores.Row(i), c.SharesTo(shares, i))
	}
	return c, nil
}

func (s *Source) score(ctx context.Context, j *engine.Job, c *Classified, k classify.Gram, y []int) error {
	c.Class = make([]int, s.Items)
	if s.Rows != nil {
		return s.Rows(ctx, func(i, item int, values []float64) {
			// a learner on some columns does not need K(x, x)
			selfValue := math.NaN()
			class := -1
			if item >= 0 {
				selfValue = values[item]
				class = y[item]
			}
			c.model.ScoresTo(c.Scores.Row(i), values, selfValue)
			c.decide(i, class)
		})
	}
	row := make([]float64, s.Items)
	first := map[int]int{}
	numbers := sched.UpTo(s.Items)
	if table, ok := k.(interface{ Alike() []int }); ok {
		numbers = table.Alike()
	}
	for i, class := range y {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if twin, isScored := first[numbers[i]]; isScored {
			copy(c.Scores.Row(i), c.Scores.Row(twin))
		} else {
			first[numbers[i]] = i
			k.RowTo(row, i)
			c.model.ScoresTo(c.Scores.Row(i), row, row[i])
		}
		c.decide(i, class)
		j.Settings.Progress("scoring", int64(i+1), int64(s.Items))
	}
	return nil
}

// decide sets c.Class[i] to class. If class is −1, it sets the class with the highest score.
func (c *Classified) decide(i, class int) {
	c.Class[i] = class
	if class < 0 {
		c.Class[i] = c.model.Pairs.Predict(c.Scores.Row(i))
	}
}
