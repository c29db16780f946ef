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

// samplesAtOnce is the number of folds whose models are fitted together: of learners that spread labels their columns, two for each, fill a line of
// the cache.
const samplesAtOnce = 4

// sampleOf returns the positions of at most limit of n values.
func sampleOf(n, limit int, seed uint64) []int {
	return choose.Sample(make([]int, n), limit, seed, 0)
}

// testValues are the values of a problem that errors are measured on, a sample of many.
type testValues struct {
	fold      []int               // of each value of the problem; −1: it is known to all models
	tested    []int               // positions of the values
	labels    []choose.FoldLabels // of these values
	value     []float64           // of these values
	spread    float64             // their variance, 1 if they are equal
	known     []valueRange        // of the values outside each fold
	deviation []float64           // of the tested values from the mean of these
	width     float64             // the largest less the least value
}

// valueRange is the range of some known values, which predictions never leave: models of few values extrapolate far.
type valueRange struct{ least, most float64 }

// rangeOf returns the range of some values.
func rangeOf(values []float64) valueRange { return valueRange{slices.Min(values), slices.Max(values)} }

// clip returns the nearest value in the range.
func (r valueRange) clip(x float64) float64 { return min(max(x, r.least), r.most) }

// newTestValues returns at most mostCompared values. Of more values they are from two folds or more, as few as
// have as many, because each of these folds takes a model of the other values.
func newTestValues(p *Problem, seed uint64) *testValues {
	m := len(p.Row)
	folds := choose.FoldCount(m)
	t := &testValues{fold: choose.Folds(make([]int, m), folds, seed, 0),
		labels: make([]choose.FoldLabels, folds), spread: 1}
	count := max(2, (mostCompared*folds+m-1)/m)
	for i, f := range t.fold {
		if f < count {
			t.tested = append(t.tested, i)
		}
	}
	t.tested = problem.Pick(t.tested, sampleOf(len(t.tested), mostCompared, seed))
	own := problem.Pick(t.fold, t.tested)
	for i := range t.fold {
		t.fold[i] = -1
	}
	for a, i := range t.tested {
		t.fold[i] = own[a]
	}
	all := rangeOf(p.Value)
	t.width = all.most - all.least
	var means []float64
	for f := range folds {
		known := p.At(choose.OfFold(t.fold, f).Train).Value
		t.known = append(t.known, rangeOf(known))
		means = append(means, stat.Mean(known, nil))
	}
	for _, i := range t.tested {
		f := t.fold[i]
		t.labels[f].Tested++
		t.deviation = append(t.deviation, p.Value[i]-means[f])
	}
	t.value = problem.Pick(p.Value, t.tested)
	if variance := stat.PopVariance(t.value, nil); variance > 0 { // a sample may be constant
		t.spread = variance
	}
	return t
}

// numberEvidence has the errors of predictions for values by models of the other folds, for each setting of an engine.
type numberEvidence struct {
	*choose.Counts
	space  *choose.Space
	values []param.Values
	miss   [][]float64 // y − ŷ by setting and tested value
}

// newEvidence returns the evidence of errors, after those of predictions beyond the range of known values are replaced by those within
// it. The merit of a prediction is 1 − (y − ŷ)²/σ²: that of the right or wrong class is 1 or 0.
func (t *testValues) newEvidence(values []param.Values, space *choose.Space, miss [][]float64) *numberEvidence {
	e := &numberEvidence{choose.NewCounts(len(values), t.labels), space, values, miss}
	for s, list := range miss {
		for i, x := range list {
			f := t.fold[t.tested[i]]
			if !math.IsInf(x, 0) { // equations without a solution
				x = t.value[i] - t.known[f].clip(t.value[i]-x)
				list[i] = x
			}
			e.AddMerit(s, f, 1-float64(x*x)/t.spread)
		}
	}
	return e
}

// choose chooses by predictions of each value without its fold. A model on a kernel chooses by a sample of many values, and
// is then measured by models of all values outside a fold. A setting whose equations are not solved is left out.
func (r *Regression) choose(ctx context.Context, j *job, t *testValues) (*Choice, error) {
	rough := *j.set
	rough.Rough = true
	if !r.OnKernel || len(t.fold) <= mostCompared {
		return r.compareSettings(ctx, j, t, &rough)
	}
	sample := *j
	sample.p = j.p.At(sampleOf(len(t.fold), mostCompared, rough.RNGSeed))
	c, err := r.choose(ctx, &sample, newTestValues(sample.p, rough.RNGSeed))
	for err == nil {
		values := []param.Values{c.Declared.Values}
		var miss [][]float64
		if miss, err = r.predictFolds(ctx, j.p, t, values, &rough); err == nil {
			c.numbers = t.newEvidence(values, new(choose.Space), miss)
			c.setting = 0
			return c, nil
		}
		if isUnsolved(err) && j.leaveOut(c, err) {
			err = nil
		}
	}
	return nil, err
}

// compareSettings chooses by predictions of each value without its fold.
func (r *Regression) compareSettings(ctx context.Context, j *job, t *testValues, s *Settings) (*Choice, error) {
	space := *j.space
	if axes := space.Axes; r.Widens && len(axes) > 0 && axes[0].Values > 2 {
		space.Axes = slices.Clone(axes)
		space.Axes[0].Values--
		space.Usual = min(space.Usual, space.Len()-1)
	}
	count := space.Len()
	miss, err := r.predictFolds(ctx, j.p, t, j.values[:count], s)
	if err != nil {
		return nil, err
	}
	c := &Choice{Settings: j.size(), numbers: t.newEvidence(j.values[:count], &space, miss)}
	j.decide(c)
	if widest := j.values[count:]; len(widest) > 0 && c.setting >= count-len(widest) {
		more, err := r.predictFolds(ctx, j.p, t, widest, s)
		if err != nil {
			return nil, err
		}
		c.numbers = t.newEvidence(j.values, j.space, slices.Concat(miss, more))
		j.decide(c)
	}
	return c, nil
}

// decide stores the parameters that the evidence chooses. It reports whether there are some.
func (j *job) decide(c *Choice) bool {
	setting, merit := c.numbers.Best(c.numbers.space, -1)
	c.setting = setting
	c.Parameters = Parameters{}
	if len(j.declared.Params) > 0 {
		c.Declared = &Setting{j.declared, c.numbers.values[setting]}
	}
	return !math.IsInf(merit, -1)
}

// isUnsolved reports whether an error is that of equations which are not solved.
func isUnsolved(err error) bool { return errors.As(err, new(*problem.Error)) }

// leaveOut leaves out a chosen setting whose equations are not solved, and chooses again. It reports whether a setting is left.
func (j *job) leaveOut(c *Choice, err error) bool {
	j.unsolved = append(j.unsolved, Unsolved{j.declared.Name, c.Parameters, err})
	c.numbers.Loss[c.setting] = math.Inf(1)
	return j.decide(c)
}

// predictFolds returns the errors of predictions by models of the other folds, by setting and value.
func (r *Regression) predictFolds(ctx context.Context, p *Problem, t *testValues, settings []param.Values,
	s *Settings) ([][]float64, error) {
	if r.HeldOut != nil && (!r.OnKernel || len(p.Row) <= mostCompared) {
		miss, err := r.HeldOut(ctx, p, t.fold, settings, s)
		for s := range miss {
			miss[s] = problem.Pick(miss[s], t.tested)
		}
		return miss, err
	}
	var folds []int
	for f, labels := range t.labels {
		if labels.Tested > 0 {
			folds = append(folds, f)
		}
	}
	miss := make([][]float64, len(settings))
	for i, v := range settings {
		miss[i] = make([]float64, len(t.tested))
		for batch := range slices.Chunk(folds, samplesAtOnce) {
			var samples []*Problem
			for _, f := range batch {
				samples = append(samples, p.At(choose.OfFold(t.fold, f).Train))
			}
			predicted, err := r.Predict(ctx, samples, v, s)
			if err != nil {
				return nil, err
			}
			for a, value := range t.tested {
				if k := slices.Index(batch, t.fold[value]); k >= 0 {
					miss[i][a] = p.Value[value] - predicted[k][p.Row[value]]
				}
			}
		}
		s.Progress(r.Spec.Name, int64(i+1), int64(len(settings)))
	}
	return miss, nil
}
