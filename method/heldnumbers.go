package method

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

// mostCompared is the number of values that errors are measured on, and that an engine on a kernel chooses its setting by,
// because the decomposition of the Gram matrix of each setting of a kernel takes its cube. Of 500 values the choice is worse where
// values have heavy tails. Models learn from all values outside a fold. Tests lower it.
var mostCompared = 1000

// sampleOf returns the positions of at most limit of n values.
func sampleOf(n, limit int, seed uint64) []int {
	return choose.Sample(make([]int, n), limit, seed, 0)
}

// heldNumbers are the values of a problem that errors are measured on, a sample of many.
type heldNumbers struct {
	groups    []group             // the values outside each fold, and the values of the fold that errors are measured on
	labels    []choose.FoldLabels // of the groups
	group     []int               // of each value that errors are measured on
	row       []int
	value     []float64
	known     []valueRange // of the training sets
	deviation []float64    // of values from the mean of the training set
	spread    float64      // the variance of values, 1 if they are equal
	width     float64      // the largest less the least value of the problem
}

// valueRange is the range of some known values, which predictions never leave: models of few values extrapolate far.
type valueRange struct{ least, most float64 }

// rangeOf returns the range of some values.
func rangeOf(values []float64) valueRange { return valueRange{slices.Min(values), slices.Max(values)} }

// clip returns the nearest value in the range.
func (r valueRange) clip(x float64) float64 { return min(max(x, r.least), r.most) }

// newHeldNumbers returns at most mostCompared values, on a large graph half as many. Of more values they are from two folds or more, as few as
// have as many, because each of these folds takes a model of the other values.
func newHeldNumbers(p *Problem, seed uint64) *heldNumbers {
	m := len(p.Row)
	folds := choose.FoldCount(m)
	fold := choose.Folds(make([]int, m), folds, seed, 0)
	limit := mostCompared
	if p.Nodes() > mostSpectralNodes { // where each fold takes sweeps for every setting
		limit /= 2
	}
	count := max(2, (limit*folds+m-1)/m)
	var tested []int
	for i, f := range fold {
		if f < count {
			tested = append(tested, i)
		}
	}
	tested = problem.Pick(tested, sampleOf(len(tested), limit, seed))
	measured := slices.Repeat([]int{-1}, m) // the fold; −1: the value is known to all models
	for _, i := range tested {
		measured[i] = fold[i]
	}
	all := rangeOf(p.Value)
	h := &heldNumbers{spread: 1, width: all.most - all.least}
	for f := range folds {
		split := choose.OfFold(measured, f)
		if len(split.Test) == 0 {
			continue
		}
		g := group{p.At(split.Train), p.At(split.Test)}
		mean := stat.Mean(g.train.Value, nil)
		for i, y := range g.test.Value {
			h.group = append(h.group, len(h.groups))
			h.row = append(h.row, g.test.Row[i])
			h.value = append(h.value, y)
			h.deviation = append(h.deviation, y-mean)
		}
		h.groups = append(h.groups, g)
		h.labels = append(h.labels, choose.FoldLabels{Tested: len(split.Test)})
		h.known = append(h.known, rangeOf(g.train.Value))
	}
	if variance := stat.PopVariance(h.value, nil); variance > 0 { // a sample may be constant
		h.spread = variance
	}
	return h
}

// numberEvidence has the errors of predictions for values by models of the other folds, for each setting of an engine.
type numberEvidence struct {
	*choose.Counts
	space  *choose.Space
	values []param.Values
	miss   [][]float64 // y − ŷ by setting and value
}

// newEvidence returns the evidence of errors. The merit of a prediction is 1 − (y − ŷ)²/σ²: that of the right or wrong class
// is 1 or 0.
func (h *heldNumbers) newEvidence(values []param.Values, space *choose.Space, miss [][]float64) *numberEvidence {
	e := &numberEvidence{choose.NewCounts(len(values), h.labels), space, values, miss}
	for s, list := range miss {
		for i, x := range list {
			e.AddMerit(s, h.group[i], 1-float64(x*x)/h.spread)
		}
	}
	return e
}

// measureNumbers returns the errors of predictions by models of the other folds, by setting and value. Predictions beyond the range of
// known values are replaced by the nearest within it; the error of equations without a solution is infinite.
func (m *graphMethod) measureNumbers(ctx context.Context, j *job, h *heldNumbers, settings []param.Values) ([][]float64, error) {
	set := *j.set
	set.Rough = true
	rough := *j
	rough.set = &set
	miss := make([][]float64, len(settings))
	for s := range miss {
		miss[s] = make([]float64, len(h.value))
	}
	err := m.predictions(ctx, &rough, settings, h.groups, func(setting, group int, predict func(node int) (float64, bool)) {
		for i, g := range h.group {
			if g != group {
				continue
			}
			y, _ := predict(h.row[i])
			if !math.IsInf(y, 0) {
				y = h.known[g].clip(y)
			}
			miss[setting][i] = h.value[i] - y
		}
	})
	return miss, err
}

// chooseNumbers chooses by predictions of each value without its fold. A model on a kernel chooses by a sample of many values, and
// is then measured by models of all values outside a fold. A setting whose equations are not solved is left out.
func (m *graphMethod) chooseNumbers(ctx context.Context, j *job, h *heldNumbers) (*Choice, error) {
	if !m.isSampled || len(j.p.Row) <= mostCompared {
		return m.compareNumbers(ctx, j, h)
	}
	sample := *j
	sample.p = j.p.At(sampleOf(len(j.p.Row), mostCompared, j.set.RNGSeed))
	c, err := m.compareNumbers(ctx, &sample, newHeldNumbers(sample.p, j.set.RNGSeed))
	for err == nil {
		c.job = j
		values := []param.Values{c.Declared.Values}
		var miss [][]float64
		if miss, err = m.measureNumbers(ctx, j, h, values); err == nil {
			c.numbers = h.newEvidence(values, new(choose.Space), miss)
			c.setting = 0
			return c, nil
		}
		if isUnsolved(err) && c.leaveOut(err) {
			err = nil
		}
	}
	return nil, err
}

// compareNumbers chooses by predictions of each value without its fold.
func (m *graphMethod) compareNumbers(ctx context.Context, j *job, h *heldNumbers) (*Choice, error) {
	space := *j.space
	if axes := space.Axes; m.widens && len(axes) > 0 && axes[0].Values > 2 {
		space.Axes = slices.Clone(axes)
		space.Axes[0].Values--
		space.Usual = min(space.Usual, space.Len()-1)
	}
	count := space.Len()
	miss, err := m.measureNumbers(ctx, j, h, j.values[:count])
	if err != nil {
		return nil, err
	}
	c := &Choice{Settings: j.size(), job: j, numbers: h.newEvidence(j.values[:count], &space, miss)}
	c.decide()
	if widest := j.values[count:]; len(widest) > 0 && c.setting >= count-len(widest) {
		more, err := m.measureNumbers(ctx, j, h, widest)
		if err != nil {
			return nil, err
		}
		c.numbers = h.newEvidence(j.values, j.space, slices.Concat(miss, more))
		c.decide()
	}
	return c, nil
}

// decide stores the parameters that the evidence chooses. It reports whether there are some.
func (c *Choice) decide() bool {
	setting, merit := c.numbers.Best(c.numbers.space, -1)
	c.setting = setting
	c.Parameters = Parameters{}
	if len(c.job.declared.Params) > 0 {
		c.Declared = &Setting{c.job.declared, c.numbers.values[setting]}
	}
	return !math.IsInf(merit, -1)
}

// isUnsolved reports whether an error is that of equations which are not solved.
func isUnsolved(err error) bool { return errors.As(err, new(*problem.Error)) }

// leaveOut leaves out a chosen setting whose equations are not solved, and chooses again. It reports whether a setting is left.
func (c *Choice) leaveOut(err error) bool {
	c.job.unsolved = append(c.job.unsolved, Unsolved{c.job.declared.Name, c.Parameters, err})
	c.numbers.Loss[c.setting] = math.Inf(1)
	return c.decide()
}

// clip replaces predicted numbers beyond the range of known ones by the nearest within it, and finds the nodes that are reached.
func (j *job) clip() {
	known := rangeOf(j.p.Value)
	for i, x := range j.out.Value {
		j.out.Value[i] = known.clip(x)
	}
	j.out.Reached = j.p.Components.Reachable(j.p.Row)
}
