package items

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Source gives kernel values between items, from which a learner predicts their classes. It is the method
// KERNEL+LEARNER for problems whose items are these, with the parameters of the kernel and then those of the learner.
type Source struct {
	param.Spec

	// Calibrate gives a learner without probabilities those that fit the scores of held-out items ([classify.Calibrate]).
	Calibrate bool

	kernel  *param.Spec
	units   param.Graph // see [Collection.Units]
	learner *classify.Learner
	items   int

	gram func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error) // see [Collection.Gram]
}

// Source returns a kernel between the items with a learner.
func (c *Collection) Source(kernel *param.Spec, l *classify.Learner) *Source {
	s := &Source{Spec: param.Spec{
		Name: kernel.Name + "+" + l.Name, Title: l.Title + ", on " + kernel.Title,
		Works: kernel.Works, Params: slices.Concat(kernel.Params, l.Params),
	}, kernel: kernel, learner: l, items: c.IDs.N}
	if c.Units != nil {
		s.units = c.Units(kernel)
	}
	s.gram = func(ctx context.Context, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
		return c.Gram(ctx, kernel, v, labelled)
	}
	return s
}

// Choice is a setting of the parameters.
type Choice struct {
	Values   param.Values // complete, of kernel and learner
	Settings int          // that were compared by held-out items

	// Accuracy is the share of right predictions of the chosen setting among Tested items,
	// Stderr its binomial standard error.
	Accuracy, Stderr float64
	Tested           int
}

// Classified is the result of a classification.
type Classified struct {
	Choice

	Scores     *sparse.Block[float64] // of each item, as the model gives them
	ScoreNames []string               // names of scores: a class, or the two that a score decides between
	Class      []int                  // of each item, its own if it has a label
	Support    int                    // see [classify.Model.Support]
	Unfinished error                  // of an iteration that came to its limit; scores then are without probabilities

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

// Learn gives the items of k that have a class y ≥ 0 to a learner with complete values v of its parameters, and makes
// room for the scores of n items. The error is a [*problem.Error], or that of ctx. Cost: a fit, or six with calibrate.
func Learn(ctx context.Context, l *classify.Learner, k classify.Gram, y []int,
	names []string, v param.Values, calibrate bool, n int) (*Classified, error) {
	model, err := l.Fit(ctx, k, y, len(names), v)
	if model != nil && model.IsIndefinite {
		model, err = nil, classify.ErrIndefinite
	}
	c := &Classified{Choice: Choice{Values: v}, model: model, probabilities: l.Probabilities}
	if err == nil && calibrate && l.Probabilities == nil {
		c.probabilities, err = classify.Calibrate(ctx, l, model, k, y,
			len(names), v)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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
func (s *Source) Classify(ctx context.Context, p *method.Problem,
	settings *method.Settings) (*Classified, error) {
	set := settings.WithDefaults()
	set.Progress("choosing parameters", 0, 0)
	var choice Choice
	if err := s.choose(ctx, p, &set, &choice); err != nil {
		return nil, err
	}
	k, values, err := s.gram(ctx, s.kernel.Own(choice.Values), p.Row)
	if err != nil {
		return nil, err
	}
	learning, err := s.learner.Resolve(s.learner.Own(choice.Values), nil)
	if err != nil {
		return nil, err
	}
	set.Progress("learning", 0, 0)
	y := slices.Repeat([]int{-1}, s.items)
	for i, item := range p.Row {
		y[item] = p.Class[i]
	}
	c, err := Learn(ctx, s.learner, k, y, p.Names, learning, s.Calibrate, s.items)
	if err != nil {
		return nil, err
	}
	c.Choice = choice
	c.Values = maps.Clone(values)
	maps.Copy(c.Values, learning)
	// the first item that is each distinct one
	row := make([]float64, s.items)
	first := map[int]int{}
	numbers := sched.UpTo(s.items)
	if table, ok := k.(interface{ Alike() []int }); ok {
		numbers = table.Alike()
	}
	for i, class := range y {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if twin, isScored := first[numbers[i]]; isScored {
			copy(c.Scores.Row(i), c.Scores.Row(twin))
			c.decide(i, class)
		} else {
			first[numbers[i]] = i
			k.RowTo(row, i)
			c.Score(i, row, row[i], class)
		}
		set.Progress("scoring", int64(i+1), int64(s.items))
	}
	return c, nil
}

const (
	// folds is the number of folds, because each fold and setting is a fit from nothing.
	folds = 5

	// triedLabels is the number of labels that parameters are chosen by at the most.
	triedLabels = 1000
)

// choose stores in c the given values together with those that held-out items choose: the parameters of the kernel with the
// learner's defaults, and then those of the learner, see package choose. With too few labels it stores the given values.
func (s *Source) choose(ctx context.Context, p *method.Problem,
	set *method.Settings, c *Choice) error {
	c.Values = s.Own(set.Given)
	c.Settings = 1
	if split.TooFew(p.Class) {
		return nil
	}
	kernels, kernelSpace, err := choose.SettingsOf(s.kernel,
		s.kernel.Own(set.Given), s.units)
	if err != nil {
		return err
	}
	learners, learnerSpace, err := choose.SettingsOf(&s.learner.Spec,
		s.learner.Own(set.Given), nil)
	if err != nil {
		return err
	}
	var items, class []int
	for _, i := range split.Sample(p.Class, triedLabels, set.RNGSeed, 0) {
		items = append(items, p.Row[i])
		class = append(class, p.Class[i])
	}
	fold := split.Folds(class, min(folds, len(class)), set.RNGSeed, 0)
	labels := choose.Labels(slices.Repeat([]float64{1}, len(p.Names)), class, fold,
		make([]bool, len(class)))
	search := &choose.Search{Kernel: kernelSpace, Learner: learnerSpace}
	search.Measure = func(ctx context.Context, kernelAt, settingAt []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernelAt)*len(settingAt), labels)
		for a, index := range kernelAt {
			k, _, err := s.gram(ctx, s.kernel.Own(kernels[index]), p.Row)
			if err != nil {
				return nil, err
			}
			values := sparse.NewBlock[float64](len(items), len(items))
			for i, item := range items {
				k.PartTo(values.Row(i), item, items)
			}
			for b, index := range settingAt {
				fit := choose.Each(s.learner, len(p.Names), learners[index:index+1])
				err := choose.CrossValidate(ctx, values, class, fold, fit, func(_ int, o *choose.Outcome) {
					if o.Voted == o.Class {
						counts.Add(a*len(settingAt)+b, o.Fold, 1)
					}
				})
				if err != nil {
					if ctx.Err() == nil {
						err = &problem.Error{Method: s.learner.Name, Err: err}
					}
					return nil, err
				}
			}
		}
		return counts, nil
	}
	result, err := search.Run(ctx)
	if err != nil {
		return err
	}
	maps.Copy(c.Values, kernels[result.Kernel])
	maps.Copy(c.Values, learners[result.Setting])
	c.Settings = max(len(kernels), len(learners))
	if min(len(kernels), len(learners)) > 1 {
		c.Settings = len(kernels) + len(learners)
	}
	c.Accuracy = result.Accuracy
	c.Stderr = result.Stderr
	c.Tested = result.Tested
	return nil
}

// Engine returns the source as an engine, which chooses parameters inside each training set.
func (s *Source) Engine() *method.Engine {
	return &method.Engine{Name: s.Spec.Name, Takes: s.Takes(), Specs: []*param.Spec{&s.Spec}, Fit: s.predict}
}

// predict is the Fit of the engine.
func (s *Source) predict(ctx context.Context, p *method.Problem,
	par *method.Parameters, set *method.Settings) (*method.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	options := set.WithDefaults()
	if par != nil {
		options.Given = par.Declared.Values
	}
	c, err := s.Classify(ctx, p, &options)
	if err != nil {
		return nil, err
	}
	out := &method.Prediction{Class: c.Class,
		Scores:  sparse.NewBlock[float32](s.items, len(p.Names)),
		Reached: roaring.New()}
	out.Reached.AddRange(0, uint64(s.items))
	out.Parameters = method.Parameters{Declared: &method.Setting{Spec: &s.Spec,
		Values: c.Values}}
	out.Settings = c.Settings
	out.Accuracy = c.Accuracy
	out.Stderr = c.Stderr
	out.Tested = c.Tested
	if c.Unfinished != nil {
		out.Unfinished = "the iteration limit came before the tolerance"
	}
	row := make([]float64, len(p.Names))
	for i := range s.items {
		simd.ConvertTo(out.Scores.Row(i), c.SharesTo(row, i))
	}
	return out, nil
}
