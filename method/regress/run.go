package regress

import (
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostCompared is the number of values that methods are compared on. Of more a sample is used,
// because a Gram matrix for each setting of a kernel takes its square.
const mostCompared = 1000

// Run predicts the value of every node with the best of the methods, and measures the error of each
// method by cross-validation; of equal methods it uses the first. The error wraps [ErrConstant] for values that
// are all equal, or is [ErrDirected], a [*param.ParameterError], a [*problem.Error] of an iteration that does not converge,
// [sparse.ErrMemory], the context's, or that of a sweep.
//
// If several processes share the rows of the graph, all of them have the nodes with a value, as named rows, and each
// predicts its rows.
//
// Cost: for each kernel the columns of its Gram matrix, and an eigendecomposition for each of its
// settings; for harmonic a solve and for hops nine sweeps over 16 columns for each fold.
func Run(ctx context.Context, p *Problem, methods []*Method,
	s *Settings) (*Prediction, error) {
	p, factors, s, err := begin(ctx, p, methods, s)
	if err != nil {
		return nil, err
	}
	c := newComparison(p, s)
	var baselines, list []*evidence
	for _, m := range slices.Concat([]*Method{{Model: &constant},
		{Model: &neighbours}}, methods) {
		e, err := c.compare(ctx, m)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	baselines = list[:2]
	list = list[2:]
	out := &Prediction{Factors: factors, Tested: len(c.Row),
		Mean: c.measure(baselines[:1]), Neighbours: c.measure(baselines[1:])}
	for i, e := range list {
		best := e.settings[c.best(e, -1)]
		out.Methods = append(out.Methods, Compared{
			Method: e.method.Name, Parameters: parametersOf(e.method, best),
			Settings: len(e.settings), Errors: c.measure(list[i : i+1]),
		})
	}
	best := c.bestMethod(list, -1)
	out.Compared = out.Methods[best]
	out.Errors = c.measure(list)
	setting := c.best(list[best], -1)
	for i, miss := range list[best].miss[setting] {
		out.HeldOut = append(out.HeldOut,
			TestedValue{c.Value[i], c.Value[i] - miss})
	}
	predicted, err := list[best].method.Predict(ctx, p,
		[]param.Values{list[best].settings[setting]}, s)
	if err != nil {
		return nil, err
	}
	out.Value = predicted[0]
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

// Each predicts the value of every node by the two means and then by each of the methods, with the parameters
// that cross-validation of the known values chooses. It calls visit with each prediction, by row. Known values
// are predicted too. Errors and cost are those of [Run], but that every method predicts.
func Each(ctx context.Context, p *Problem, methods []*Method, s *Settings,
	visit func(name string, v method.Parameters, predicted []float64)) error {
	p, _, s, err := begin(ctx, p, methods, s)
	if err != nil {
		return err
	}
	c := newComparison(p, s)
	for _, m := range slices.Concat([]*Method{{Model: &constant},
		{Model: &neighbours}}, methods) {
		settings, err := split.Settings(&m.Spec, m.Given, kernel.On(ctx, p.Graph))
		if err != nil {
			return err
		}
		if len(settings) > 1 {
			e, err := c.compare(ctx, m)
			if err != nil {
				return err
			}
			settings = settings[c.best(e, -1):][:1]
		}
		predicted, err := m.Predict(ctx, p, settings[:1], s)
		if err != nil {
			return err
		}
		visit(m.Name, parametersOf(m, settings[0]), predicted[0])
	}
	return nil
}

// Bytes returns an upper bound on the memory of [Run] without the graph and the attributes. Of the
// graph it reads the degrees and the number of entries alone. The error is a [*param.ParameterError].
func Bytes(p *Problem, methods []*Method, s *Settings) (int64, error) {
	n := int64(len(p.Degrees))
	var retained, largest int64
	for _, m := range append([]*Method{{Model: &neighbours}}, methods...) {
		settings, err := split.Settings(&m.Spec, m.Given,
			kernel.OnDegrees(p.Degrees))
		if err != nil {
			return 0, err
		}
		retained += 8 * int64(len(settings)*min(len(p.Row), mostCompared))
		bytes := int64(0)
		if m.Bytes != nil {
			if bytes, err = m.Bytes(p, settings, s); err != nil {
				return 0, err
			}
		}
		if m.heldOut == nil {
			bytes += 8 * n * int64(len(settings))
		}
		largest = max(largest, bytes)
	}
	if choosesFactors(p) {
		factors := problem.FactorBytes(p.Graph, p.Edges, s.Memory, s.Workers)
		largest = factors + max(largest, p.Edges.Bytes(edgeLabels(p, s), s.Memory))
	}
	return retained + largest + 2*8*n + n/8, nil
}

// begin checks a problem, and chooses open factors of kinds and times of edges by its values.
func begin(ctx context.Context, p *Problem, methods []*Method,
	s *Settings) (*Problem, *sides.Choice, *Settings, error) {
	if s == nil {
		s = new(Settings)
	}
	if err := p.validate(); err != nil {
		return nil, nil, nil, err
	}
	for _, m := range methods {
		if err := param.CheckSigned(&m.Spec, p.Signed); err != nil {
			return nil, nil, nil, err
		}
	}
	if !choosesFactors(p) {
		return p, nil, s, nil
	}
	factors, err := p.Edges.Choose(ctx, edgeLabels(p, s), s.Memory, s.Workers)
	if err != nil {
		return nil, nil, nil, err
	}
	q := *p
	if q.Graph, err = problem.WithFactors(ctx, p.Graph, p.Edges, factors, s.Memory,
		s.Workers); err != nil {
		return nil, nil, nil, err
	}
	if p.Edges.Division == nil {
		if q.Graph, err = graph.New(ctx, q.A,
			&graph.Settings{Nodes: p.Nodes, Workers: s.Workers}); err != nil {
			return nil, nil, nil, err
		}
		q.Memory = p.Memory
		q.TempDir = p.TempDir
		q.Hyperedges = p.Hyperedges
	}
	return &q, factors, s, nil
}

// leastValues is the number of values from which on they choose factors of edges.
const leastValues = 2 * sides.Folds

// choosesFactors reports whether values choose factors of kinds and times.
func choosesFactors(p *Problem) bool {
	return p.Edges != nil && p.Edges.IsOpen() && len(p.Row) >= leastValues
}

// edgeLabels returns the values as evidence of factors of edges, with rows of the whole graph.
func edgeLabels(p *Problem, s *Settings) *sides.Labels {
	l := &sides.Labels{Value: p.Value,
		Fold: split.Folds(make([]int, len(p.Row)), sides.Folds, s.RNGSeed, 0)}
	team := sparse.TeamOf(p.A)
	for _, row := range p.Row {
		l.Row = append(l.Row, team.Row(row))
	}
	return l
}

// parametersOf returns a setting as parameters.
func parametersOf(m *Method, v param.Values) method.Parameters {
	return method.Parameters{Declared: &method.Setting{Spec: &m.Spec, Values: v}}
}

// sampleOf returns the positions of at most limit of n values.
func sampleOf(n, limit int, seed uint64) []int {
	return split.Sample(make([]int, n), limit, seed, 0)
}

// comparison compares methods on the values of its problem, a sample of many, by folds.
type comparison struct {
	*Problem
	set    *Settings
	fold   []int
	folds  int
	spread float64 // variance of the values, 1 if they are equal
}

func newComparison(p *Problem, s *Settings) *comparison {
	p = p.At(sampleOf(len(p.Row), mostCompared, s.RNGSeed))
	m := len(p.Row)
	rough := *s
	rough.rough = true
	c := &comparison{Problem: p, set: &rough, folds: split.FoldCount(m), spread: 1}
	c.fold = split.Folds(make([]int, m), c.folds, s.RNGSeed, 0)
	mean := meanOf(p.Value)
	squares := 0.0
	for _, v := range p.Value {
		squares += float64((v - mean) * (v - mean))
	}
	if squares > 0 { // a sample may be constant
		c.spread = squares / float64(m)
	}
	return c
}

// evidence holds the errors of predictions for values by models of the other folds.
type evidence struct {
	method   *Method
	settings []param.Values
	space    *choose.Space
	miss     [][]float64 // y − ŷ by setting and value
}

// compare predicts each value without its fold, with every setting of a method.
func (c *comparison) compare(ctx context.Context, m *Method) (*evidence, error) {
	e := &evidence{method: m}
	var err error
	if e.settings, e.space, err = choose.SettingsOf(&m.Spec, m.Given,
		kernel.On(ctx, c.Graph)); err != nil {
		return nil, err
	}
	if last := len(e.space.Axes) - 1; last >= 0 {
		e.space.Axes[last].Falling = m.Ridge
	}
	if m.heldOut != nil {
		e.miss, err = m.heldOut(ctx, c.Problem, c.fold, e.settings, c.set)
		return e, err
	}
	for range e.settings {
		e.miss = append(e.miss, make([]float64, len(c.Row)))
	}
	for f := range c.folds {
		fold := split.OfFold(c.fold, f)
		predicted, err := m.Predict(ctx, c.Problem.At(fold.Train),
			e.settings, c.set)
		if err != nil {
			return nil, err
		}
		for s := range e.settings {
			for _, i := range fold.Test {
				e.miss[s][i] = c.Value[i] - predicted[s][c.Row[i]]
			}
		}
		if c.set.Progress != nil {
			c.set.Progress(m.Name, int64(f+1), int64(c.folds))
		}
	}
	return e, nil
}

// tie is the difference of merits below which they are equal but for rounding.
const tie = 1e-9

// merit returns the sum of 1 − (y − ŷ)²/σ² over the values outside a fold, −1 for none, and its standard error.
// The share of right predictions of a class is the same sum, of ones and zeros.
func (c *comparison) merit(miss []float64, hidden int) (sum, stderr float64) {
	squares := 0.0
	count := 0.0
	for i, x := range miss {
		if c.fold[i] != hidden {
			m := 1 - float64(x*x)/c.spread
			sum += m
			squares += float64(m * m)
			count++
		}
	}
	return math.Round(sum/tie) * tie,
		math.Sqrt(max(0, squares-sum*sum/max(1, count)))
}

// best returns the setting that the values outside a fold choose, see package choose.
func (c *comparison) best(e *evidence, hidden int) int {
	merits := make([]float64, len(e.miss))
	highest := math.Inf(-1)
	stderr := 0.0
	for s, miss := range e.miss {
		var deviation float64
		merits[s], deviation = c.merit(miss, hidden)
		if merits[s] > highest {
			highest = merits[s]
			stderr = deviation
		}
	}
	return e.space.BestWithin(merits, stderr)
}

// bestMethod returns the method with the highest merit outside a fold, the first of equals.
func (c *comparison) bestMethod(list []*evidence, hidden int) (best int) {
	highest := math.Inf(-1)
	for i, e := range list {
		if merit, _ := c.merit(e.miss[c.best(e, hidden)], hidden); merit > highest {
			best = i
			highest = merit
		}
	}
	return best
}

// measure returns the errors of the method and the setting that the other folds of each value choose.
func (c *comparison) measure(list []*evidence) Errors {
	chosen := make([][]float64, c.folds)
	for f := range chosen {
		e := list[c.bestMethod(list, f)]
		chosen[f] = e.miss[c.best(e, f)]
	}
	return Measure(c.Value,
		func(i int) float64 { return c.Value[i] - chosen[c.fold[i]][i] })
}

// Measure returns the errors of predictions of values, given the prediction of the value at a position.
func Measure(values []float64, predicted func(i int) float64) Errors {
	var squares, absolute, spread float64
	mean := meanOf(values)
	for i, v := range values {
		d := v - predicted(i)
		squares += float64(d * d)
		absolute += math.Abs(d)
		spread += float64((v - mean) * (v - mean))
	}
	m := float64(len(values))
	e := Errors{RMSE: math.Sqrt(squares / m), MAE: absolute / m}
	if spread > 0 { // a sample may be constant
		e.R2 = 1 - squares/spread
	}
	return e
}

// meanOf returns the mean of values.
func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// transition returns the operator T.
func transition(p *Problem, s *Settings) *sparse.Operator[float64] {
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	return op
}
