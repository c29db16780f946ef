package regress

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostCompared is the number of values that errors are measured on, and that a model with HeldOut chooses its setting by,
// because a Gram matrix for each setting of a kernel takes its square. Models learn from all values outside a fold.
const mostCompared = 1000

// baselines are the two means that methods are compared with.
var baselines = []Method{{Method: constant.Engine()}, {Method: neighbours.Engine()}}

// Run predicts the value of every node with the best of the methods, and measures the error of each
// method by cross-validation; of equal methods it uses the first. The error wraps
// [problem.ErrConstant] for values that are all equal, or is a [*param.ParameterError], a
// [*problem.Error] of a directed graph or an iteration that does not converge, [sparse.ErrMemory],
// the context's, or that of a sweep.
//
// If several processes share the rows of the graph, all of them have the nodes with a value, as named
// rows, and each predicts its rows.
//
// Cost: for each kernel the columns of its Gram matrix, and an eigendecomposition for each of its
// settings; for harmonic a solve and for hops nine sweeps over 16 columns for each fold.
func Run(ctx context.Context, p *Problem, methods []Method, s *Settings) (*Prediction, error) {
	p, s, err := begin(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	c := newComparison(p, s)
	var list []*evidence
	for _, m := range slices.Concat(baselines, methods) {
		e, err := c.compare(ctx, m)
		switch {
		case err == nil:
			list = append(list, e)
		case !c.leavesOut(m.Method.Numbers, nil, err):
			return nil, err
		default:
			c.omitted++
		}
	}
	out := &Prediction{
		Factors: p.Learned.Factors, Tested: len(c.tested),
		Mean: c.measure(list[:1]), Neighbours: c.measure(list[1:2]),
	}
	mean := list[0]
	list = list[2:]
	for i, e := range list {
		one := list[i : i+1]
		_, setting, _ := choosePair(one, -1)
		out.Methods = append(out.Methods, Compared{
			Method: e.model.Spec.Name, Parameters: parametersOf(e.model, e.settings[setting]),
			Settings: e.compared, Errors: c.measure(one),
		})
	}
	if len(methods) > 1 { // where all of them extrapolate worse
		list = append(list, mean)
		out.Methods = append(out.Methods, Compared{Method: MeanName, Settings: 1, Errors: out.Mean})
	}
	best, setting, predicted, err := c.predict(ctx, p, list, s)
	if err != nil {
		return nil, err
	}
	chosen := list[best]
	out.Unsolved = c.unsolved
	out.Compared = out.Methods[best]
	out.Methods = out.Methods[:len(methods)-c.omitted]
	out.Parameters = parametersOf(chosen.model, chosen.settings[setting])
	out.Errors = c.measure(list)
	for i, miss := range chosen.miss[setting] {
		value := c.Value[c.tested[i]]
		out.HeldOut = append(out.HeldOut, TestedValue{value, value - miss})
	}
	out.Value = predicted
	for i, row := range p.Row {
		out.Value[row] = p.Value[i]
	}
	out.Reached = roaring.New()
	out.Reached.Or(p.Components.Reachable(p.Row))
	return out, nil
}

// Names of the predictions of [Each] that no method makes.
const (
	MeanName       = "mean"               // of the known values
	NeighboursName = "mean of neighbours" // of the known ones among them, or else that of all
)

// Each predicts the value of every node by the two means and then by each of the methods, with the
// parameters that cross-validation of the known values chooses. It calls visit with each prediction,
// by row. Known values are predicted too. Errors and cost are those of [Run], but that every method
// predicts.
func Each(ctx context.Context, p *Problem, methods []Method, s *Settings,
	visit func(name string, v method.Parameters, predicted []float64)) error {
	p, s, err := begin(ctx, p, methods, s)
	if err != nil {
		return err
	}
	c := newComparison(p, s)
	c.choosesSettings = true
	for _, m := range slices.Concat(baselines, methods) {
		e, err := c.compare(ctx, m)
		if err != nil {
			return err
		}
		_, setting, predicted, err := c.predict(ctx, p, []*evidence{e}, s)
		if err != nil {
			return err
		}
		visit(e.model.Spec.Name, parametersOf(e.model, e.settings[setting]), predicted)
	}
	return nil
}

// Bytes returns an upper bound on the memory of [Run] without the graph and the attributes. Of the
// graph it reads the degrees and the number of entries alone. The error is a [*param.ParameterError].
func Bytes(p *Problem, methods []Method, s *Settings) (int64, error) {
	n := int64(len(p.Degrees))
	var retained, largest int64
	for _, m := range slices.Concat(methods, baselines[1:]) {
		model := m.Method.Numbers
		settings, err := split.Combinations(&model.Spec, m.Own, kernel.OnDegrees(p.Degrees))
		if err != nil {
			return 0, err
		}
		retained += 8 * int64(len(settings)*min(len(p.Row), mostCompared))
		bytes := int64(0)
		if model.Bytes != nil {
			if bytes, err = model.Bytes(p, settings, s); err != nil {
				return 0, err
			}
		}
		predicted := len(settings)
		if model.HeldOut != nil {
			predicted = 1
		}
		bytes += 8 * n * int64(predicted)
		largest = max(largest, bytes)
	}
	factorBytes, choice := method.FactorBytes(p, s)
	return retained + max(factorBytes+largest, choice) + 2*8*n + n/8, nil
}

// begin checks a problem, and chooses open factors of kinds and times of edges by its values.
func begin(ctx context.Context, p *Problem, methods []Method,
	s *Settings) (*Problem, *Settings, error) {
	set := s.WithDefaults()
	if p.In != nil {
		return nil, nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	for _, m := range methods {
		if err := param.CheckSigned(&m.Method.Numbers.Spec, p.Signed); err != nil {
			return nil, nil, err
		}
	}
	q, err := baselines[0].Method.Weigh(ctx, p, &set)
	if err != nil || q.Graph == p.Graph || p.Edges.Division != nil {
		return q, &set, err
	}
	q.Graph, err = graph.New(ctx, q.A, &graph.Settings{Nodes: p.Graph.Nodes, Workers: set.Workers})
	if err != nil {
		return nil, nil, err
	}
	q.Memory = p.Memory
	q.TempDir = p.TempDir
	q.Hyperedges = p.Hyperedges
	return q, &set, nil
}

// parametersOf returns a setting as parameters.
func parametersOf(m *Model, v param.Values) method.Parameters {
	return method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: v}}
}

// sampleOf returns the positions of at most limit of n values.
func sampleOf(n, limit int, seed uint64) []int {
	return split.Sample(make([]int, n), limit, seed, 0)
}

// comparison compares methods on some values of its problem, a sample of many, by folds.
type comparison struct {
	*Problem
	set    *Settings
	fold   []int               // of each value
	tested []int               // positions of the values that errors are measured on
	labels []choose.FoldLabels // of these values
	spread float64             // their variance, 1 if they are equal

	choosesSettings bool // but no method, so that nothing is measured with a single setting
	unsolved        []Unsolved
	omitted         int // methods of which no setting is left
}

// newComparison returns the comparison on at most mostCompared values. Of more values they are from two folds or more, as few as
// have as many, because each of these folds takes a model of the other values.
func newComparison(p *Problem, s *Settings) *comparison {
	m := len(p.Row)
	rough := *s
	rough.Rough = true
	folds := split.FoldCount(m)
	c := &comparison{Problem: p, set: &rough, labels: make([]choose.FoldLabels, folds), spread: 1}
	c.fold = split.Folds(make([]int, m), folds, s.RNGSeed, 0)
	count := max(2, (mostCompared*folds+m-1)/m)
	for i, f := range c.fold {
		if f < count {
			c.tested = append(c.tested, i)
		}
	}
	c.tested = problem.Pick(c.tested, sampleOf(len(c.tested), mostCompared, s.RNGSeed))
	for _, i := range c.tested {
		c.labels[c.fold[i]].Tested++
	}
	if variance := stat.PopVariance(problem.Pick(p.Value, c.tested), nil); variance > 0 { // a sample may be constant
		c.spread = variance
	}
	return c
}

// evidence holds the errors of predictions for values by models of the other folds.
type evidence struct {
	model    *Model
	settings []param.Values
	compared int // settings that these are the best of
	space    *choose.Space
	miss     [][]float64 // y − ŷ by setting and tested value
	counts   *choose.Counts
}

// compare predicts each value without its fold, with every setting of a method. The merit of a prediction
// is 1 − (y − ŷ)²/σ²: that of the right or wrong class is 1 or 0.
func (c *comparison) compare(ctx context.Context, m Method) (*evidence, error) {
	e := &evidence{model: m.Method.Numbers}
	var err error
	e.settings, e.space, err = choose.SettingsOf(&e.model.Spec, m.Own, kernel.On(ctx, c.Graph))
	if err != nil {
		return nil, err
	}
	if last := len(e.space.Axes) - 1; last >= 0 {
		e.space.Axes[last].Falling = e.model.Ridge
	}
	e.compared = len(e.settings)
	e.counts = choose.NewCounts(len(e.settings), c.labels)
	if c.choosesSettings && len(e.settings) == 1 {
		return e, nil
	}
	switch {
	case e.model.HeldOut == nil:
		e.miss, err = c.predictFolds(ctx, e)
	case len(c.tested) == len(c.Row):
		e.miss, err = e.model.HeldOut(ctx, c.Problem, c.fold, e.settings, c.set)
	default:
		return c.compareOnSample(ctx, m)
	}
	if err == nil {
		c.count(e)
	}
	return e, err
}

// count adds the merits of the predictions.
func (c *comparison) count(e *evidence) {
	for s, miss := range e.miss {
		for i, x := range miss {
			e.counts.AddMerit(s, c.fold[c.tested[i]], 1-float64(x*x)/c.spread)
		}
	}
}

// compareOnSample returns the evidence for the setting of a method that a sample of the values chooses, by models of all values
// outside a fold. A setting whose equations are not solved is left out, see [evidence.drop].
func (c *comparison) compareOnSample(ctx context.Context, m Method) (*evidence, error) {
	sample := newComparison(c.At(sampleOf(len(c.Row), mostCompared, c.set.RNGSeed)), c.set)
	e, err := sample.compare(ctx, m)
	for err == nil {
		_, setting, merit := choosePair([]*evidence{e}, -1)
		if math.IsInf(merit, -1) && c.unsolved != nil {
			return nil, c.unsolved[len(c.unsolved)-1].err
		}
		chosen := &evidence{model: e.model, settings: e.settings[setting:][:1], compared: len(e.settings),
			space: new(choose.Space), counts: choose.NewCounts(1, c.labels)}
		if chosen.miss, err = c.predictFolds(ctx, chosen); err == nil {
			c.count(chosen)
			return chosen, nil
		}
		if c.leavesOut(e.model, e.settings[setting], err) {
			e.drop(setting)
			err = nil
		}
	}
	return nil, err
}

// drop leaves out a setting and those of a smaller ridge, whose equations are harder.
func (e *evidence) drop(setting int) {
	ridges := 1 // values of the last parameter
	for _, axis := range e.space.Axes {
		ridges = axis.Values
	}
	for i := range e.settings {
		if i%ridges <= setting%ridges {
			e.counts.Loss[i] = math.Inf(1)
		}
	}
}

// predict predicts the value of every node with the method and the setting that the values choose. A setting whose equations
// are not solved is left out as [evidence.drop] does, and the values choose again. If none
// is left, the error is that of the first one.
func (c *comparison) predict(ctx context.Context, p *Problem, list []*evidence,
	s *Settings) (best, setting int, predicted []float64, err error) {
	for {
		best, setting, merit := choosePair(list, -1)
		if math.IsInf(merit, -1) && c.unsolved != nil {
			return 0, 0, nil, c.unsolved[0].err
		}
		e := list[best]
		values, err := e.model.Predict(ctx, p, e.settings[setting:][:1], s)
		if err == nil {
			return best, setting, values[0], nil
		}
		if !c.leavesOut(e.model, e.settings[setting], err) {
			return 0, 0, nil, err
		}
		e.drop(setting)
	}
}

// leavesOut notes a setting whose equations were not solved, nil for all. It reports whether an error says so.
func (c *comparison) leavesOut(m *Model, v param.Values, err error) bool {
	if !errors.As(err, new(*problem.Error)) {
		return false
	}
	c.unsolved = append(c.unsolved, Unsolved{m.Spec.Name, parametersOf(m, v), err})
	return true
}

// predictFolds returns the errors of predictions by models of the other folds, by setting and value.
func (c *comparison) predictFolds(ctx context.Context, e *evidence) ([][]float64, error) {
	miss := make([][]float64, len(e.settings))
	for s := range miss {
		miss[s] = make([]float64, len(c.tested))
	}
	for f, labels := range c.labels {
		if labels.Tested == 0 {
			continue
		}
		fold := split.OfFold(c.fold, f)
		predicted, err := e.model.Predict(ctx, c.Problem.At(fold.Train), e.settings, c.set)
		if err != nil {
			return nil, err
		}
		for s := range miss {
			for t, i := range c.tested {
				if c.fold[i] == f {
					miss[s][t] = c.Value[i] - predicted[s][c.Row[i]]
				}
			}
		}
		c.set.Progress(e.model.Spec.Name, int64(f+1), int64(len(c.labels)))
	}
	return miss, nil
}

// choosePair returns the method with the highest merit outside a fold, the first of equals, its
// setting that the values outside the fold choose, see package choose, and the merit.
func choosePair(list []*evidence, hidden int) (method, setting int, highest float64) {
	highest = math.Inf(-1)
	for i, e := range list {
		candidate, merit := e.counts.Best(e.space, hidden)
		if i == 0 || merit > highest {
			method = i
			setting = candidate
			highest = merit
		}
	}
	return method, setting, highest
}

// measure returns the errors of the method and the setting that the other folds of each value choose.
func (c *comparison) measure(list []*evidence) Errors {
	chosen := make([][]float64, len(c.labels))
	for f := range chosen {
		method, setting, _ := choosePair(list, f)
		chosen[f] = list[method].miss[setting]
	}
	values := problem.Pick(c.Value, c.tested)
	return Measure(values, func(t int) float64 { return values[t] - chosen[c.fold[c.tested[t]]][t] })
}

// Measure returns the errors of predictions of values, given the prediction of the value at a position.
func Measure(values []float64, predicted func(i int) float64) Errors {
	estimates := make([]float64, len(values))
	for i := range values {
		estimates[i] = predicted(i)
	}
	m := float64(len(values))
	e := Errors{RMSE: floats.Distance(values, estimates, 2) / math.Sqrt(m),
		MAE: floats.Distance(values, estimates, 1) / m}
	if variance := stat.PopVariance(values, nil); variance > 0 { // a sample may be constant
		e.R2 = 1 - float64(e.RMSE*e.RMSE)/variance
		floats.Sub(estimates, values)
		floats.Mul(estimates, estimates)
		e.R2Stderr = math.Sqrt(choose.Nearness*stat.PopVariance(estimates, nil)/m) / variance
	}
	return e
}

// transition returns the operator T.
func transition(p *Problem, s *Settings) *sparse.Operator[float64] {
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	return op
}
