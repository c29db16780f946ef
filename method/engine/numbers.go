package engine

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// MostCompared is the largest number of values by which an engine on a kernel chooses its setting: decomposing a Gram matrix takes the cube of this number. With 500 values the choice is worse if values have heavy tails.
// Tests lower MostCompared.
var MostCompared = 1000

// foldsAtOnce is the largest number of folds whose further values are predicted together. Two of these folds leave enough of
// 5,000 values to fit, see [choose.ToCompare].
const foldsAtOnce = 4

// SampleOf returns the positions of a sample of at most limit of n values.
func SampleOf(n, limit int, seed uint64) []int {
	return choose.Sample(make([]int, n), limit, seed, 0)
}

type heldNumbers struct {
	groups    []Group
	compared  int // number of groups, the first ones, by which settings are compared
	labels    []choose.FoldLabels
	group     []int // fold of each measured value
	row       []int
	value     []float64
	known     []valueRange // range of each training set
	deviation []float64    // difference from the mean of the training set
	spread    float64      // variance of the measured values, 1 if they are equal
	width     float64
}

// valueRange is the range of known values. Predictions are clipped to it, because models of few values extrapolate far.
type valueRange struct{ least, most float64 }

func rangeOf(values []float64) valueRange { return valueRange{slices.Min(values), slices.Max(values)} }

func (r valueRange) clip(x float64) float64 { return min(max(x, r.least), r.most) }

// newHeldNumbers returns the held-out values to measure errors on, by [choose.ToCompare].
func newHeldNumbers(p *Problem, seed uint64) *heldNumbers {
	folds, compared := choose.ToCompare(p, seed)
	all := rangeOf(p.Value)
	h := &heldNumbers{spread: 1, width: all.most - all.least}
	for f := range folds.Measured {
		split := folds.Split(f)
		if len(split.Train) == 0 {
			continue
		}
		g := Group{p.At(split.Train), p.At(split.Test), split.Test}
		mean := stat.Mean(g.Train.Value, nil)
		for i, y := range g.Test.Value {
			h.group = append(h.group, len(h.groups))
			h.row = append(h.row, g.Test.Row[i])
			h.value = append(h.value, y)
			h.deviation = append(h.deviation, y-mean)
		}
		h.groups = append(h.groups, g)
		if f < compared {
			h.compared++
			h.labels = append(h.labels, choose.FoldLabels{Tested: len(split.Test)})
		}
		h.known = append(h.known, rangeOf(g.Train.Value))
	}
	if variance := stat.PopVariance(h.value, nil); variance > 0 {
		h.spread = variance
	}
	return h
}

// count returns the merits 1 − (y − ŷ)²/σ² of all settings, summed by fold. miss[s] has the errors y − ŷ of setting s at the
// held-out values.
func (h *heldNumbers) count(miss [][]float64) *choose.Counts {
	counts := choose.NewCounts(len(miss), h.labels)
	for s, list := range miss {
		for i, x := range list {
			if h.group[i] < h.compared {
				counts.AddMerit(s, h.group[i], 1-float64(x*x)/h.spread)
			}
		}
	}
	return counts
}

// measureNumbers returns the errors y − ŷ of each setting at the held-out values by which settings are compared. At other
// values errors are NaN.
func (m *GraphMethod) measureNumbers(ctx context.Context, j *Job, h *heldNumbers, settings []param.Values) ([][]float64, error) {
	miss := make([][]float64, len(settings))
	for s := range miss {
		miss[s] = slices.Repeat([]float64{math.NaN()}, len(h.value))
	}
	return miss, m.missTo(ctx, j, miss, h, 0, h.compared, settings)
}

// missTo stores in miss the errors y − ŷ of each setting at the values of the groups lo ≤ g < hi. Models of the other folds
// predict ŷ, clipped to their known values. If equations cannot be solved, errors are infinite.
func (m *GraphMethod) missTo(ctx context.Context, j *Job, miss [][]float64, h *heldNumbers, lo, hi int, settings []param.Values) error {
	set := *j.Settings
	set.Rough = true
	rough := *j
	rough.Settings = &set
	return m.Predictions(ctx, &rough, settings, h.groups[lo:hi], func(setting, group int, predict func(node int) Guess) {
		for i, g := range h.group {
			if g != lo+group {
				continue
			}
			y := predict(h.row[i]).Value
			if !math.IsInf(y, 0) {
				y = h.known[g].clip(y)
			}
			miss[setting][i] = h.value[i] - y
		}
	})
}

// measureFurther stores in c.miss the errors of the chosen setting at the values by which settings were not compared. If
// equations cannot be solved, the errors remain NaN.
func (c *Choice) measureFurther(ctx context.Context, h *heldNumbers) error {
	for lo := h.compared; lo < len(h.groups); lo += foldsAtOnce {
		err := c.further(ctx, c.miss[c.Found.Setting:][:1], lo, min(len(h.groups), lo+foldsAtOnce))
		if err != nil && !isUnsolved(err) {
			return err
		}
	}
	return nil
}

// chooseNumbers chooses a setting by its errors at held-out values. If m.IsSampled is set, a sample of many values chooses
// the setting, and models of all values outside a fold measure it.
func (m *GraphMethod) chooseNumbers(ctx context.Context, j *Job, h *heldNumbers) (*Choice, error) {
	if !m.IsSampled || len(j.Problem.Row) <= MostCompared {
		return m.compareNumbers(ctx, j, h)
	}
	sample := *j
	sample.Problem = j.Problem.At(SampleOf(len(j.Problem.Row), MostCompared, j.Settings.RNGSeed))
	c, err := m.compareNumbers(ctx, &sample, newHeldNumbers(sample.Problem, j.Settings.RNGSeed))
	for err == nil {
		chosen := *j
		chosen.Fix(&c.Parameters)
		var measured *Choice
		if measured, err = m.compareNumbers(ctx, &chosen, h); err == nil {
			measured.Settings = c.Settings
			chosen.unsolved = sample.unsolved
			return measured, nil
		}
		if isUnsolved(err) && c.leaveOut(err) {
			err = nil
		}
	}
	return nil, err
}

// compareNumbers chooses a setting by predictions of each value without its fold.
func (m *GraphMethod) compareNumbers(ctx context.Context, j *Job, h *heldNumbers) (*Choice, error) {
	space := *j.Space
	if axes := space.Axes; m.Widens && len(axes) > 0 && axes[0].Values > 2 {
		space.Axes = slices.Clone(axes)
		space.Axes[0].Values--
		space.Usual = min(space.Usual, space.Len()-1)
	}
	narrow := *j
	narrow.Space = &space
	narrow.Values = j.Values[:space.Len()]
	var miss [][]float64
	measure := func(ctx context.Context, _, values []int) (*choose.Counts, error) {
		more, err := m.measureNumbers(ctx, j, h, problem.Pick(j.Values, values[len(miss):]))
		miss = append(miss, more...)
		return h.count(miss), err
	}
	c, err := narrow.Choose(ctx, measure)
	if widest := len(j.Values) - len(narrow.Values); err == nil && widest > 0 && c.Found.Setting >= len(narrow.Values)-widest {
		c, err = j.Choose(ctx, measure)
	} else if err == nil {
		c.space = &space
	}
	if err == nil {
		c.job = j
		c.Settings = j.Size()
		c.miss = miss
		c.further = func(ctx context.Context, miss [][]float64, lo, hi int) error {
			return m.missTo(ctx, j, miss, h, lo, hi, j.Values[c.Found.Setting:][:1])
		}
	}
	return c, err
}

func isUnsolved(err error) bool { return errors.As(err, new(*problem.Error)) }

// leaveOut omits the chosen setting, whose equations failed with err, and chooses another setting. It reports whether a
// setting is left.
func (c *Choice) leaveOut(err error) bool {
	c.job.unsolved = append(c.job.unsolved, Unsolved{c.job.Declared.Name, c.Parameters, err})
	c.Found.Counts.Loss[c.Found.Setting] = math.Inf(1)
	setting, merit := c.Found.Counts.Best(c.space, -1)
	c.Found.Setting = setting
	c.Parameters = c.job.Parameters(0, setting)
	return !math.IsInf(merit, -1)
}

// clip clips predictions to the range of known numbers. It also sets j.Out.Reached.
func (j *Job) clip() {
	known := rangeOf(j.Problem.Value)
	for i, x := range j.Out.Value {
		j.Out.Value[i] = known.clip(x)
	}
	j.Out.Reached = j.Problem.Components.Reachable(j.Problem.Row)
}

// NumberFit fits a model to each sample and returns for each sample the predicted number of every node of this process. All
// samples must be on one graph.
type NumberFit func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) ([][]float64, error)

// OneByOne returns a NumberFit that calls predict for each sample.
func OneByOne(predict func(ctx context.Context, p *Problem, v param.Values, s *Settings) ([]float64, error)) NumberFit {
	return func(ctx context.Context, samples []*Problem, v param.Values, s *Settings) (list [][]float64, err error) {
		for _, p := range samples {
			values, err := predict(ctx, p, v, s)
			if err != nil {
				return nil, err
			}
			list = append(list, values)
		}
		return list, nil
	}
}

// SamplesAtOnce is the number of groups that are fitted together. Learners that spread labels have two columns for each
// group; the columns of these groups fill a cache line.
const SamplesAtOnce = 4

// Predictions calls visit with the numbers predicted for each setting and group, see [GraphMethod].
func (f NumberFit) Predictions(ctx context.Context, j *Job, settings []param.Values, groups []Group, visit FoldVisitor) error {
	for setting, v := range settings {
		for lo := 0; lo < len(groups); lo += SamplesAtOnce {
			var samples []*Problem
			for _, g := range groups[lo:min(len(groups), lo+SamplesAtOnce)] {
				samples = append(samples, g.Train)
			}
			list, err := f(ctx, samples, v, j.Settings)
			if err != nil {
				return err
			}
			for i, values := range list {
				visit(setting, lo+i, func(node int) Guess { return Guess{Value: values[node], Reached: true} })
			}
		}
		j.Settings.Progress(j.Declared.Name, int64(setting+1), int64(len(settings)))
	}
	return nil
}

// Scores stores the predicted numbers of all nodes in j.Out, see [GraphMethod].
func (f NumberFit) Scores(ctx context.Context, j *Job, v param.Values) error {
	list, err := f(ctx, []*Problem{j.Problem}, v, j.Settings)
	if err == nil {
		j.Out.Value = list[0]
	}
	return err
}

// Numeric returns a method that predicts numbers with fit. spec declares its parameters, and workspace its memory.
func Numeric(spec *param.Spec, fit NumberFit, workspace func(p *Problem) budget.Workspace) GraphMethod {
	return GraphMethod{Spec: spec, Target: Numbers, Predictions: fit.Predictions, Scores: fit.Scores,
		Workspace: func(p *Problem, _ []param.Values, _ *Settings) (budget.Workspace, error) { return workspace(p), nil }}
}

// Ratios is the usual grid for λ, the ratio of the variance of noise to the variance of a function.
var Ratios = param.Grid(1e-4, 1e-3, 0.01, 0.1, 1, 10)
