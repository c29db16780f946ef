package method

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// GramSource gives kernel values between items, from which a learner predicts their classes. Its engine is called
// KERNEL+LEARNER, and has the parameters of the kernel and then those of the learner.
type GramSource struct {
	param.Spec // of the kernel with the learner

	// Calibrate gives a learner without probabilities those that fit the scores of held-out items ([classify.Calibrate]).
	Calibrate bool

	HoldOut bool // predict labels by models without their fold, for [Classified.Places]

	Kernel  *param.Spec
	Units   param.Graph // of the grids of the kernel; nil: none
	Learner *classify.Learner
	Items   int

	// Gram returns the kernel values between items for some values of the kernel's parameters, and the values that were used.
	Gram func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error)
}

// Classified is the result of a classification.
type Classified struct {
	Values   param.Values // complete, of kernel and learner
	Settings int          // that were compared by held-out items
	problem.Estimate

	Scores     *sparse.Block[float64] // of each item, as the model gives them
	ScoreNames []string               // names of scores: a class, or the two that a score decides between
	Class      []int                  // of each item, its own if it has a label
	Support    int                    // see [classify.Model.Support]
	Unfinished error                  // of an iteration that came to its limit; scores then are without probabilities

	Places []choose.Place // of the classes of held-out labels, for sets of classes; nil: none

	model         *classify.Model
	probabilities func(dst, scores []float64) []float64 // nil: the learner has none
}

// SharesTo stores in dst the share of each class that follows from the scores of item i:
// probabilities, or else soft votes, which sum to one too. A nil dst allocates.
func (c *Classified) SharesTo(dst []float64, i int) []float64 {
	if c.probabilities != nil {
		return c.probabilities(dst, c.Scores.Row(i))
	}
	return classify.SoftVotes(dst, c.model.Pairs, c.Scores.Row(i), 1)
}

// HoldOut predicts the labels of p, whose rows are items of k, by models without their fold: all labels, or folds with 1000 of
// them. It stores the accuracy and the places. y has the classes of the items of k, and is changed meanwhile. There is neither
// with too few labels, see [choose.TooFew]. Cost: a fit for each fold.
func (c *Classified) HoldOut(ctx context.Context, l *classify.Learner, k classify.Gram, y []int, p *Problem, v param.Values,
	s *Settings) error {
	if choose.TooFew(p.Class) {
		return nil
	}
	set := s.WithDefaults()
	set.foldCount = 0
	fold, count := set.foldsLike(p, triedLabels)
	places := choose.NewPlaces(p)
	row := make([]float64, k.Len())
	shares := make([]float64, len(p.Names))
	right, tested := 0, 0
	for f := range count {
		tests := choose.OfFold(fold, f).Test
		for _, i := range tests {
			y[p.Row[i]] = -1
		}
		held, err := LearnItems(ctx, l, k, y, p.Names, v, false, 1)
		if err != nil {
			return err
		}
		if len(held.model.Pairs) == len(c.model.Pairs) { // else no probabilities of a class without a label
			held.probabilities = c.probabilities
		}
		for _, i := range tests {
			item := p.Row[i]
			k.RowTo(row, item)
			held.Score(0, row, row[item], -1)
			places.Note(i, held.SharesTo(shares, 0))
			tested++
			if held.Class[0] == p.Class[i] {
				right++
			}
		}
		for _, i := range tests {
			y[p.Row[i]] = p.Class[i]
		}
	}
	c.Places = places.List
	c.Estimate = problem.EstimateShare(float64(right), tested)
	return nil
}

// LearnItems gives the items of k that have a class y ≥ 0 to a learner with complete values v of its parameters, and makes
// room for the scores of n items. The error is a [*problem.Error], or that of ctx. Cost: a fit, or six with calibrate.
func LearnItems(ctx context.Context, l *classify.Learner, k classify.Gram, y []int,
	names []string, v param.Values, calibrate bool, n int) (*Classified, error) {
	model, err := l.Fit(ctx, k, y, len(names), v)
	if model != nil && model.IsIndefinite {
		model, err = nil, classify.ErrIndefinite
	}
	c := &Classified{Values: v, model: model, probabilities: l.Probabilities}
	if err == nil && calibrate && l.Probabilities == nil {
		c.probabilities, err = classify.Calibrate(ctx, l, model, k, y,
			len(names), v)
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
	c.Support = model.Support()
	for _, p := range model.Pairs {
		name := names[p.Positive]
		if p.Negative != classify.Rest {
			name += " vs " + names[p.Negative]
		}
		c.ScoreNames = append(c.ScoreNames, name)
	}
	c.Scores = sparse.NewBlock[float64](n, len(c.model.Pairs))
	c.Class = make([]int, n)
	return c, nil
}

// Score stores the scores of item i, given its kernel values and its class, −1 for none.
func (c *Classified) Score(i int, row []float64, selfValue float64, class int) {
	c.model.ScoresTo(c.Scores.Row(i), row, selfValue)
	c.decide(i, class)
}

// decide stores the class of item i, or that of its scores if it is −1.
func (c *Classified) decide(i, class int) {
	c.Class[i] = class
	if class < 0 {
		c.Class[i] = c.model.Pairs.Predict(c.Scores.Row(i))
	}
}

// Classify chooses the parameters that the settings do not give by cross-validation on at most 1000 labelled items, learns from
// all of them and scores every item. Cost: a fit for each fold and setting, and a row of kernel values for each distinct
// item. The error is a [*problem.Error], that of the source, or that of ctx.
func (s *GramSource) Classify(ctx context.Context, p *Problem, set *Settings) (c *Classified, err error) {
	if p.Validate() != nil {
		return nil, &problem.Error{Method: s.Learner.Name, Err: classify.ErrOneClass}
	}
	out, err := s.engine(func(learned *Classified) { c = learned }).Predict(ctx, p, nil, set)
	if err != nil {
		return nil, err
	}
	c.Settings = out.Settings
	c.Estimate = out.Estimate
	return c, nil
}

// Engine returns the engine, which chooses parameters inside each training set.
func (s *GramSource) Engine() *Engine { return s.engine(func(*Classified) {}) }

// engine returns the engine, which calls visit with its result.
func (s *GramSource) engine(visit func(c *Classified)) *Engine {
	e := Engine{Name: s.Spec.Name, Takes: s.Takes(), Specs: []*param.Spec{&s.Spec}}
	m := e.inStages(func(_ context.Context, p *Problem, par *Parameters, set *Settings) (*job, error) {
		return s.begin(p, par, set, visit)
	})
	m.Choose = nil
	return m
}

const (
	// gramFolds is the number of folds, because each fold and setting is a fit from nothing.
	gramFolds = 5

	// triedLabels is the number of labels that parameters are chosen by at the most.
	triedLabels = 1000
)

// begin returns the settings and the stages. The parameters of the kernel are compared with the
// learner's defaults, and then those of the learner. With too few labels they are the given ones.
func (s *GramSource) begin(p *Problem, par *Parameters, settings *Settings, visit func(c *Classified)) (*job, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := settings.WithDefaults()
	set.foldCount = gramFolds
	if par != nil {
		set.Given = par.Declared.Values
	}
	kernel := s.Kernel.Own(set.Given)
	learner := s.Learner.Own(set.Given)
	j := &job{p: p, set: &set, out: new(Prediction), learner: s.Learner, source: s.Kernel, declared: &s.Learner.Spec,
		sources: []param.Values{kernel}, sourceSpace: new(choose.Space), values: []param.Values{learner}, space: new(choose.Space),
		compared: triedLabels, measures: true, separate: true}
	var err error
	switch {
	case par != nil:
		if j.sources[0], err = s.Kernel.Resolve(kernel, s.Units); err != nil {
			return nil, err
		}
	case !choose.TooFew(p.Class):
		if j.sources, j.sourceSpace, err = set.grid(s.Kernel, kernel, s.Units); err != nil {
			return nil, err
		}
		if j.values, j.space, err = set.grid(&s.Learner.Spec, learner, nil); err != nil {
			return nil, err
		}
	}
	j.byFolds = func(ctx context.Context) (*Choice, error) { return s.choose(ctx, j) }
	j.learn = func(ctx context.Context, choice *Choice) error {
		c, err := s.learn(ctx, j, choice)
		if err == nil {
			visit(c)
		}
		return err
	}
	return j, nil
}

// choose chooses by folds of the labels or of a sample of them.
func (s *GramSource) choose(ctx context.Context, j *job) (*Choice, error) {
	j.set.Progress("choosing parameters", 0, 0)
	p := j.p.At(choose.Sample(j.p.Class, j.compared, j.set.RNGSeed, 0))
	fold := choose.Folds(p.Class, j.set.folds(len(p.Row)), j.set.RNGSeed, 0)
	labels := choose.Labels(slices.Repeat([]float64{1}, len(p.Names)), p.Class, fold,
		make([]bool, len(p.Class)))
	c, err := j.choose(ctx, func(ctx context.Context, sources, values []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(sources)*len(values), labels)
		for a, source := range sources {
			k, _, err := s.Gram(ctx, s.Kernel.Own(j.sources[source]), j.p.Row)
			if err != nil {
				return nil, err
			}
			block := sparse.NewBlock[float64](len(p.Row), len(p.Row))
			for i, item := range p.Row {
				k.PartTo(block.Row(i), item, p.Row)
			}
			fit := choose.Each(s.Learner, len(p.Names), problem.Pick(j.values, values))
			err = choose.CrossValidate(ctx, block, p.Class, fold, fit, func(b int, o *choose.Outcome) {
				if o.Voted == o.Class {
					counts.Add(a*len(values)+b, o.Fold, 1)
				}
			})
			if err != nil {
				if ctx.Err() == nil {
					err = &problem.Error{Method: s.Learner.Name, Err: err}
				}
				return nil, err
			}
		}
		return counts, nil
	})
	if err != nil {
		return nil, err
	}
	c.Settings = max(len(j.sources), len(j.values))
	if min(len(j.sources), len(j.values)) > 1 {
		c.Settings = len(j.sources) + len(j.values)
	}
	c.estimate = &problem.Estimate{Accuracy: c.Accuracy, Stderr: c.choice.Stderr, Tested: c.Tested}
	return c, nil
}

// learn learns from all labels, and scores all items.
func (s *GramSource) learn(ctx context.Context, j *job, choice *Choice) (*Classified, error) {
	k, values, err := s.Gram(ctx, choice.Kernel.Values, j.p.Row)
	if err != nil {
		return nil, err
	}
	learning, err := s.Learner.Resolve(choice.Declared.Values, nil)
	if err != nil {
		return nil, err
	}
	j.set.Progress("learning", 0, 0)
	y := slices.Repeat([]int{-1}, s.Items)
	for i, item := range j.p.Row {
		y[item] = j.p.Class[i]
	}
	c, err := LearnItems(ctx, s.Learner, k, y, j.p.Names, learning, s.Calibrate, s.Items)
	if err != nil {
		return nil, err
	}
	isMeasured := choice.choice != nil && !j.set.Unmeasured
	if isMeasured || s.HoldOut {
		if err := c.HoldOut(ctx, s.Learner, k, y, j.p, learning, j.set); err != nil {
			return nil, err
		}
	}
	if isMeasured {
		choice.estimate = &c.Estimate
	}
	c.Values = maps.Clone(values)
	maps.Copy(c.Values, learning)
	// the first item that is each distinct one
	row := make([]float64, s.Items)
	first := map[int]int{}
	numbers := sched.UpTo(s.Items)
	if table, ok := k.(interface{ Alike() []int }); ok {
		numbers = table.Alike()
	}
	for i, class := range y {
		if ctx.Err() != nil {
			return nil, sched.Cause(ctx)
		}
		if twin, isScored := first[numbers[i]]; isScored {
			copy(c.Scores.Row(i), c.Scores.Row(twin))
			c.decide(i, class)
		} else {
			first[numbers[i]] = i
			k.RowTo(row, i)
			c.Score(i, row, row[i], class)
		}
		j.set.Progress("scoring", int64(i+1), int64(s.Items))
	}
	out := j.out
	out.Class = c.Class
	out.Scores = sparse.NewBlock[float32](s.Items, len(j.p.Names))
	out.Reached = roaring.New()
	out.Reached.AddRange(0, uint64(s.Items))
	out.Parameters = Parameters{Declared: &Setting{Spec: &s.Spec, Values: c.Values}}
	if c.Unfinished != nil {
		out.Unfinished = "the iteration limit came before the tolerance"
	}
	shares := make([]float64, len(j.p.Names))
	for i := range s.Items {
		simd.ConvertTo(out.Scores.Row(i), c.SharesTo(shares, i))
	}
	return c, nil
}
