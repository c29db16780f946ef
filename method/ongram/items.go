// Package ongram learns from kernel values between labelled items, with parameters of kernel and
// learner that are chosen by held-out items: [Records] does the whole job for the records of a
// table, [Files] for values in files, and a [Collection] of graphs makes methods of it.
package ongram

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Choice is a choice of parameters by held-out items.
type Choice struct {
	Values   param.Values // of the kernel and the learner
	Settings int          // settings that were compared

	// Accuracy is the share of right predictions of the chosen setting among Tested items,
	// Stderr its binomial standard error.
	Accuracy, Stderr float64
	Tested           int
}

// source gives kernel values between items, from which a learner predicts their classes.
type source struct {
	kernel  *param.Spec
	graph   param.Graph // what units of the kernel's parameters depend on, see [param.Spec.Resolve]
	learner *classify.Learner
	items   int

	// calibrate gives a learner without probabilities those that fit the scores of held-out items ([classify.Calibrate]).
	calibrate bool

	// gram returns the kernel between some items, nil for all, with the given values of its parameters and its defaults in
	// place of the others, and all of its values.
	gram func(ctx context.Context, v param.Values, items []int) (classify.Gram, param.Values, error)
}

// job is one classification of the items of a source.
type job struct {
	*source
	row, class []int // of the labelled items
	names      []string
	fixed      param.Values // parameters that are not to be chosen
	rngSeed    uint64       // of the folds
	report     func(stage string, done, total int64)
}

// Classified is the result of a classification, see [Records.Classify].
type Classified struct {
	Choice          *Choice
	Kernel, Learner param.Values           // complete
	Scores          *sparse.Block[float64] // of each item, as the model gives them
	ScoreNames      []string               // names of scores: a class, or the two that a score decides between
	Class           []int                  // of each item, its own if it has a label
	Support         int                    // see [classify.Model.Support]

	machine    *machine
	unfinished error // of an iteration that came to its limit; scores then are without probabilities
}

// SharesTo stores in dst the share of each class that follows from the scores of item i:
// probabilities, or else soft votes, which sum to one too. A nil dst allocates.
func (c *Classified) SharesTo(dst []float64, i int) []float64 {
	return c.machine.sharesTo(dst, c.Scores.Row(i))
}

// run chooses the parameters, learns from all labelled items and scores every item. Cost: a fit for each fold and
// setting, and a row of kernel values for each distinct item.
func (j *job) run(ctx context.Context) (*Classified, error) {
	j.report("choosing parameters", 0, 0)
	out := new(Classified)
	var err error
	if out.Choice, err = j.choose(ctx); err != nil {
		return nil, err
	}
	var k classify.Gram
	if k, out.Kernel, err = j.gram(ctx, j.kernel.Own(out.Choice.Values), nil); err != nil {
		return nil, err
	}
	if out.Learner, err = j.learner.Resolve(j.learner.Own(out.Choice.Values), nil); err != nil {
		return nil, err
	}
	j.report("learning", 0, 0)
	y := slices.Repeat([]int{-1}, j.items)
	for i, item := range j.row {
		y[item] = j.class[i]
	}
	if out.machine, err = learn(ctx, j.learner, k, y, len(j.names), out.Learner, j.calibrate); err != nil && (out.machine == nil || !errors.Is(err, classify.ErrIterationLimit)) {
		return nil, err
	}
	out.unfinished, out.ScoreNames, out.Support = err, out.machine.scoreNames(j.names), out.machine.Support()
	return out, out.score(ctx, k, y, func(done int) { j.report("scoring", int64(done), int64(j.items)) })
}

// score scores every item, those that are alike once, and gives those without a class the likeliest.
func (c *Classified) score(ctx context.Context, k classify.Gram, y []int, done func(items int)) error {
	c.Scores, c.Class = sparse.NewBlock[float64](k.Len(), len(c.machine.Pairs)), y
	row, first := make([]float64, k.Len()), map[int]int{} // the first item that is each distinct one
	distinct := func(i int) int { return i }
	if table, ok := k.(interface{ Alike() []int }); ok {
		numbers := table.Alike()
		distinct = func(i int) int { return numbers[i] }
	}
	for i := range y {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if twin, isScored := first[distinct(i)]; isScored {
			copy(c.Scores.Row(i), c.Scores.Row(twin))
		} else {
			first[distinct(i)] = i
			k.RowTo(row, i)
			c.machine.ScoresTo(c.Scores.Row(i), row, row[i])
		}
		if y[i] < 0 {
			c.Class[i] = c.machine.Pairs.Predict(c.Scores.Row(i))
		}
		done(i + 1)
	}
	return nil
}

const (
	// folds is the number of folds, because each fold and setting is a fit from nothing.
	folds = 5

	// triedLabels is the number of labels that parameters are chosen by at the most.
	triedLabels = 1000
)

// choose returns the given values together with those that held-out items choose: the parameters of the kernel with the
// learner's defaults, and then those of the learner, see package choose. With too few labels it returns the given values.
func (j *job) choose(ctx context.Context) (*Choice, error) {
	c := &Choice{Values: j.kernel.Own(j.fixed), Settings: 1}
	maps.Copy(c.Values, j.learner.Own(j.fixed))
	if split.TooFew(j.class) {
		return c, nil
	}
	kernels, kernelSpace, err := candidates(j.kernel, j.fixed, j.graph)
	if err != nil {
		return nil, err
	}
	learners, learnerSpace, err := candidates(&j.learner.Spec, j.fixed, nil)
	if err != nil {
		return nil, err
	}
	var items, class []int
	for _, i := range split.Sample(j.class, triedLabels, j.rngSeed, 0) {
		items, class = append(items, j.row[i]), append(class, j.class[i])
	}
	fold := split.Folds(class, min(folds, len(class)), j.rngSeed, 0)
	equal := slices.Repeat([]float64{1}, len(j.names))
	search := &choose.Search{Kernel: kernelSpace, Learner: learnerSpace}
	search.Measure = func(ctx context.Context, kernelAt, settingAt []int) (*choose.Counts, error) {
		counts := choose.NewCounts(len(kernelAt)*len(settingAt), make([]choose.FoldLabels, slices.Max(fold)+1))
		for a, index := range kernelAt {
			k, _, err := j.gram(ctx, j.kernel.Own(kernels[index]), items)
			if err != nil {
				return nil, err
			}
			values := sparse.BlockOf(len(items), len(items), make([]float64, len(items)*len(items)))
			for i := range items {
				k.RowTo(values.Row(i), i)
			}
			for b, index := range settingAt {
				list := make([][]choose.Outcome, 1)
				fit := choose.Each(j.learner, len(j.names), learners[index:index+1])
				if err := choose.CrossValidate(ctx, values, class, fold, fit, list); err != nil {
					if ctx.Err() == nil {
						err = &problem.Error{Method: j.learner.Name, Err: err}
					}
					return nil, err
				}
				counts.Note(a*len(settingAt)+b, list[0], 0, equal, (*choose.Outcome).Voted)
			}
		}
		return counts, nil
	}
	result, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(c.Values, kernels[result.Kernel])
	maps.Copy(c.Values, learners[result.Setting])
	for _, n := range []int{len(kernels), len(learners)} {
		if n > 1 {
			c.Settings += n
		}
	}
	c.Settings = max(1, c.Settings-1)
	c.Accuracy, c.Stderr, c.Tested = result.Accuracy, result.Stderr, result.Tested
	return c, nil
}

// candidates returns the settings to choose from, and their grid.
func candidates(spec *param.Spec, values param.Values, g param.Graph) ([]param.Values, *choose.Space, error) {
	settings, err := split.Settings(spec, spec.Own(values), g)
	if err != nil {
		return nil, nil, err
	}
	usual, err := spec.Resolve(spec.Own(values), g)
	return settings, choose.SpaceOf(spec, settings, usual), err
}

// itemMethod is a learner on a kernel between items. Its parameters are those of the kernel, and then those of the learner.
type itemMethod struct {
	param.Spec
	source func() *source
}

// newMethod returns the method of a learner on a kernel between items of a kind; source returns their values for a
// prediction.
func newMethod(works uint, kernel *param.Spec, l *classify.Learner, source func() *source) *itemMethod {
	return &itemMethod{param.Spec{
		Name: kernel.Name + "+" + l.Name, Title: l.Title + ", on " + kernel.Title, Works: works, Params: slices.Concat(kernel.Params, l.Params),
	}, source}
}

// Name implements [method.Method].
func (m *itemMethod) Name() string { return m.Spec.Name }

// Declarations implements [method.Method].
func (m *itemMethod) Declarations() []*param.Spec { return []*param.Spec{&m.Spec} }

// Tune implements [method.Method]: parameters are chosen inside each training set.
func (*itemMethod) Tune(context.Context, *method.Problem, *split.Splits, *method.Settings) (*method.Choice, error) {
	return nil, nil
}

// Predict implements [method.Method].
func (m *itemMethod) Predict(ctx context.Context, p *method.Problem, par *method.Parameters, s *method.Settings) (*method.Prediction, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	fixed := set.Given
	if par != nil {
		fixed = par.Declared.Values
	}
	j := &job{
		source: m.source(), row: p.Row, class: p.Class, names: p.Names, fixed: fixed, rngSeed: set.RNGSeed,
		report: func(string, int64, int64) {},
	}
	result, err := j.run(ctx)
	if err != nil {
		return nil, err
	}
	values, c := maps.Clone(result.Kernel), result.Choice
	maps.Copy(values, result.Learner)
	out := &method.Prediction{Class: result.Class, Scores: sparse.NewBlock[float32](j.items, len(p.Names)), Reached: roaring.New()}
	out.Reached.AddRange(0, uint64(j.items))
	out.Parameters = method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: values}}
	out.Settings, out.Accuracy, out.Stderr, out.Tested = c.Settings, c.Accuracy, c.Stderr, c.Tested
	if result.unfinished != nil {
		out.Unfinished = "the iteration limit came before the tolerance"
	}
	row := make([]float64, len(p.Names))
	for i := range j.items {
		simd.ConvertTo(out.Scores.Row(i), result.SharesTo(row, i))
	}
	return out, nil
}
