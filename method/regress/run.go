package regress

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostCompared is the number of values that methods are compared on. Of more a sample is used,
// because a Gram matrix for each setting of a kernel takes its square.
const mostCompared = 1000

// run is one call of [Run]. Most of its methods are those of the graph of its problem.
type run struct {
	*Problem
	set *Settings
	op  *sparse.Operator[float64] // T
}

// comparison is the part of a run that compares methods: its Problem has the values to compare
// on, whose folds are fold. Most of its methods are those of the run and its graph.
type comparison struct {
	*run
	fold  []int
	folds int
	hops  *hopMeans
}

// Run predicts the value of every node with the best of the methods, and measures the error of each
// method by cross-validation; of equal methods it uses the first. The error wraps [ErrConstant] for values that
// are all equal, or is [ErrRange], [ErrDirected], a [*TooManyError], a [*problem.Error] of an iteration that does not converge,
// [sparse.ErrMemory], the context's, or that of a sweep.
//
// If several processes share the rows of the graph, all of them have the nodes with a value, as named rows, and each
// predicts its rows. Gaussian processes return [sparse.ErrDivided] then.
//
// Cost: for each kernel the columns of its Gram matrix, and an eigendecomposition for each of its
// settings; for harmonic a solve for each fold; for hops three sweeps over 112 columns.
func Run(ctx context.Context, p *Problem, methods []*Method, s *Settings) (*Prediction, error) {
	r, err := newRun(p, s)
	if err != nil {
		return nil, err
	}
	c, err := r.compared(ctx)
	if err != nil {
		return nil, err
	}
	var list []*evidence
	for _, m := range methods {
		e, err := m.Model.compare(ctx, c, m)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	out := &Prediction{Tested: len(c.Row), Mean: Measure(c.Value, c.meanOf), Neighbours: Measure(c.Value, c.neighboursOf)}
	best := c.choose(methods, list, out)
	m := methods[best]
	e := list[best]
	v := e.settings[e.best(-1)]
	if out.Value, out.Stddev, err = m.Model.predict(ctx, r, m, v); err != nil {
		return nil, err
	}
	for i, row := range r.Row {
		if out.Value[row] = r.Value[i]; out.Stddev != nil {
			out.Stddev[row] = 0
		}
	}
	out.Reached = roaring.New()
	out.Reached.Or(r.Components.Reached(r.Row))
	return out, nil
}

// newRun checks a problem and sorts its values by node, so that folds do not depend on their order.
func newRun(p *Problem, s *Settings) (*run, error) {
	if s == nil {
		s = new(Settings)
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	order := upTo(len(p.Row))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.Row[a], p.Row[b]) })
	r := &run{Problem: p.At(order), set: s, op: sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)}
	r.op.Workers = s.Workers
	return r, nil
}

// compared draws the values to compare methods on, and their folds.
func (r *run) compared(ctx context.Context) (*comparison, error) {
	sample := *r
	sample.Problem = r.Problem.At(sampleOf(len(r.Row), mostCompared, r.set.RNGSeed))
	m := len(sample.Row)
	c := &comparison{run: &sample, folds: split.FoldCount(m)}
	c.fold = split.Folds(make([]int, m), c.folds, r.set.RNGSeed, 0)
	var err error
	c.hops, err = c.newHopMeans(ctx)
	return c, err
}

// sampleOf returns the positions of at most limit of n values.
func sampleOf(n, limit int, seed uint64) []int { return split.Sample(make([]int, n), limit, seed, 0) }

// progress reports the finished parts of a method.
func (r *run) progress(m *Method, done, total int) {
	if r.set.Progress != nil {
		r.set.Progress(m.Name(), int64(done), int64(total))
	}
}

// kernelSettings returns the settings of a computation with a kernel.
func (r *run) kernelSettings() *kernel.Settings {
	return &kernel.Settings{Tolerance: 1e-11, Lenient: true, Memory: r.set.Memory}
}

// evidence holds the errors of held-out values by setting and fold.
type evidence struct {
	settings []Parameters
	total    []float64   // loss of all values, by which a setting is chosen
	loss     [][]float64 // loss of a fold given the others
	squares  [][]float64 // Σ(y − ŷ)²
	absolute [][]float64 // Σ|y − ŷ|
	scale    float64     // see less; 0 for squared errors
}

// newEvidence returns evidence without errors.
func newEvidence(settings []Parameters, folds int) *evidence {
	e := &evidence{settings: settings, total: make([]float64, len(settings))}
	for range settings {
		e.loss = append(e.loss, make([]float64, folds))
		e.squares = append(e.squares, make([]float64, folds))
		e.absolute = append(e.absolute, make([]float64, folds))
	}
	return e
}

// note adds the prediction for a value, whose loss is the squared error.
func (e *evidence) note(setting, fold int, value, predicted float64) {
	d := value - predicted
	e.addLoss(setting, fold, float64(d*d))
	e.noteErrors(setting, fold, value, predicted)
}

// addLoss adds to the loss of a fold and of all values.
func (e *evidence) addLoss(setting, fold int, loss float64) {
	e.total[setting] += loss
	e.loss[setting][fold] += loss
}

// noteErrors adds the errors of a prediction whose loss is another.
func (e *evidence) noteErrors(setting, fold int, value, predicted float64) {
	d := value - predicted
	e.squares[setting][fold] += float64(d * d)
	e.absolute[setting][fold] += math.Abs(d)
}

// sumWithout returns the sum of the folds except one; −1: of all.
func sumWithout(sums []float64, fold int) (sum float64) {
	for f, x := range sums {
		if f != fold {
			sum += x
		}
	}
	return sum
}

// tie is the relative difference of losses below which they are equal: that of two known values is the
// same for all settings of all methods but for rounding.
const tie = 1e-9

// less reports whether a loss is below another one by more than rounding. scale is added to the size of
// losses that may be 0 without being small, as logarithms.
func less(loss, reference, scale float64) bool {
	return loss < reference && (math.IsInf(reference, 1) || reference-loss > tie*(math.Abs(reference)+scale))
}

// best returns the setting with the least loss of the values outside a fold, −1: of all, the first
// of equals.
func (e *evidence) best(hidden int) int {
	best, lowest := 0, math.Inf(1)
	for s, sum := range e.total {
		if hidden >= 0 {
			sum -= e.loss[s][hidden]
		}
		if less(sum, lowest, e.scale) {
			best, lowest = s, sum
		}
	}
	return best
}

// choose returns the method with the least squared error and stores the errors of all in out. In each
// fold a method has the setting that the other folds choose, and the run the method that they choose.
func (c *comparison) choose(methods []*Method, list []*evidence, out *Prediction) int {
	bestWithout := func(fold int) (best int) {
		lowest := math.Inf(1)
		for i, e := range list {
			if sum := sumWithout(e.squares[e.best(fold)], fold); less(sum, lowest, 0) {
				best, lowest = i, sum
			}
		}
		return best
	}
	measure := func(pick func(fold int) *evidence) Errors {
		var squares, absolute float64
		for f := range c.folds {
			e := pick(f)
			s := e.best(f)
			squares += e.squares[s][f]
			absolute += e.absolute[s][f]
		}
		return errorsOf(c.Value, squares, absolute)
	}
	for i, m := range methods {
		e := list[i]
		out.Methods = append(out.Methods, Compared{
			Method: m.Name(), Parameters: e.settings[e.best(-1)], Settings: len(e.settings), Errors: measure(func(int) *evidence { return e }),
		})
	}
	best := bestWithout(-1)
	out.Compared = out.Methods[best]
	out.Errors = measure(func(f int) *evidence { return list[bestWithout(f)] })
	return best
}

// errorsOf returns the measures of sums over values.
func errorsOf(values []float64, squares, absolute float64) Errors {
	m := float64(len(values))
	mean, spread := meanOf(values), 0.0
	for _, v := range values {
		spread += float64((v - mean) * (v - mean))
	}
	e := Errors{RMSE: math.Sqrt(squares / m), MAE: absolute / m}
	if spread > 0 { // a sample may be constant
		e.R2 = 1 - squares/spread
	}
	return e
}

// Measure returns the errors of predictions of values, given the prediction of the value at a position.
func Measure(values []float64, predicted func(i int) float64) Errors {
	var squares, absolute float64
	for i, v := range values {
		d := v - predicted(i)
		squares += float64(d * d)
		absolute += math.Abs(d)
	}
	return errorsOf(values, squares, absolute)
}

// meanOf predicts the mean of the values outside the fold of value i.
func (c *comparison) meanOf(i int) float64 { return c.hops.without(c.fold[i]).center }

// neighboursOf predicts the mean of the neighbours' values outside the fold of value i.
func (c *comparison) neighboursOf(i int) float64 {
	set := c.hops.without(c.fold[i])
	return set.center + set.means[i][0]
}

// outside returns the positions of the values outside a fold, and those inside.
func (c *comparison) outside(fold int) (train, test []int) {
	for i, f := range c.fold {
		if f == fold {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test
}

// meanOf returns the mean of values.
func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// centered returns values minus their mean, and the mean.
func centered(values []float64) (residuals []float64, mean float64) {
	residuals, mean = slices.Clone(values), meanOf(values)
	for i := range residuals {
		residuals[i] -= mean
	}
	return residuals, mean
}
