package method

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Means returns the two engines of numbers that others are compared with: the mean of the known values, and the mean of those
// among neighbours, or else that of all.
func Means() []Entry {
	return []Entry{{Method: constant.Engine()}, {Method: neighbours.Engine()}}
}

// PredictNumbers predicts the value of every node with the best of some engines of numbers, and measures the error of each
// by cross-validation; of equal engines it uses the first. All settings of all engines are compared on the same folds. Predictions of
// the best of several engines are drawn towards the mean, see shrinkage. The reported error of each fold is that of the engine, the
// setting and the shrinkage that the other folds choose.
//
// The error wraps [problem.ErrConstant] for values that are all equal, or is a [*param.ParameterError], a
// [*problem.Error] of a directed graph or an iteration that does not converge, [sparse.ErrMemory],
// the context's, or that of a sweep.
//
// If several processes share the rows of the graph, all of them have the nodes with a value, as named
// rows, and each predicts its rows.
//
// Cost: for each kernel the columns of its Gram matrix, and an eigendecomposition for each of its
// settings; for harmonic a solve and for hops nine sweeps over 16 columns for each fold.
func PredictNumbers(ctx context.Context, p *Problem, entries []Entry, s *Settings) (*NumberPrediction, error) {
	p, err := weighNumbers(ctx, p, s)
	if err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	t := newTestValues(p, set.RNGSeed)
	out := &NumberPrediction{Factors: p.Learned.Factors, Tested: len(t.tested)}
	var list []*candidate
	for _, e := range slices.Concat(Means(), entries) {
		c, err := e.compare(ctx, p, s)
		switch {
		case err == nil:
			list = append(list, c)
		case isUnsolved(err) && len(list) > 1:
			out.Unsolved = append(out.Unsolved, Unsolved{Method: e.Method.Name, err: err})
		default:
			return nil, err
		}
	}
	others := list[2:]
	out.Mean, _ = t.measure(list[:1], 1)
	out.Neighbours, _ = t.measure(list[1:2], 1)
	if len(others) == 0 {
		return nil, out.Unsolved[0].err
	}
	for i, c := range others {
		e, _ := t.measure(others[i:i+1], 1)
		out.Methods = append(out.Methods, c.compared(e))
	}
	best, err := learnBest(ctx, others)
	if err != nil {
		return nil, err
	}
	for _, c := range others {
		out.Unsolved = append(out.Unsolved, c.unsolved...)
	}
	given := 1.0
	if m := set.model; m != nil && m.Shrinkage > 0 {
		given = m.Shrinkage
	} else if len(entries) > 1 {
		given = 0
	}
	errors, predicted := t.measure(others, given)
	for i, value := range t.value {
		out.HeldOut = append(out.HeldOut, TestedValue{value, predicted[i]})
	}
	out.Value = best.out.Value
	out.Shrinkage = given
	center := stat.Mean(p.Value, nil)
	if given == 0 {
		for _, row := range p.Row {
			out.Value[row] = center // adds nothing to the spread
		}
		spread := meanSquareElsewhere(p, out.Value, center)
		out.Shrinkage = t.shrinkage(best.numbers.miss[best.setting], -1, spread)
	}
	for i, v := range out.Value {
		out.Value[i] = float64(out.Shrinkage*v) + float64((1-out.Shrinkage)*center)
	}
	for i, row := range p.Row {
		out.Value[row] = p.Value[i]
	}
	out.Reached = roaring.New()
	out.Reached.Or(best.out.Reached)
	if out.Shrinkage == 0 {
		best = list[0]
	}
	out.Compared = best.compared(errors)
	return out, nil
}

// meanSquareElsewhere returns the mean square, over nodes without a value, of the differences of predictions from a number, which
// are 0 at nodes with a value.
func meanSquareElsewhere(p *Problem, predicted []float64, center float64) float64 {
	squares := []float64{0}
	for lo, hi := range p.Team().CountingRows(0, p.Rows()) {
		for _, v := range predicted[lo:hi] {
			squares[0] += float64((v - center) * (v - center))
		}
	}
	p.Team().Sum(squares)
	return squares[0] / float64(max(1, p.Nodes()-len(p.Row)))
}

// compare begins with an engine of numbers, and chooses its setting.
func (e *Entry) compare(ctx context.Context, p *Problem, s *Settings) (*candidate, error) {
	set := s.WithDefaults()
	set.Given = e.Own
	j, err := e.Method.Numbers.begin(ctx, p, nil, &set)
	if err != nil {
		return nil, err
	}
	c, err := j.byFolds(ctx)
	return &candidate{j, c}, err
}

// compared returns the result of a candidate with its errors.
func (c *candidate) compared(e Errors) Compared {
	return Compared{Method: c.declared.Name, Parameters: c.Parameters, Settings: c.Choice.Settings, Errors: e}
}

// bestOf returns the engine with the highest merit that the values outside a fold choose, the first of equals, its setting, and the
// merit, see [choose.Counts.Best].
func bestOf(list []*candidate, hidden int) (best *candidate, setting int, merit float64) {
	for _, c := range list {
		s, m := c.numbers.Best(c.numbers.space, hidden)
		if best == nil || m > merit {
			best = c
			setting = s
			merit = m
		}
	}
	return best, setting, merit
}

// shrinkage returns the factor of the differences a of predictions from the mean, by their errors b − a at the values outside a fold, and
// given the mean of a² at nodes without a value; 0: unknown. With the correlation r of a and b and their residuals q = b − s₀·a it is
//
//	s = min(1, Σab/(Σa² + (1 − r²)²·e))·max(0, 1 − 3·Σa²q²/(Σab)²)
//
// where s₀ is this factor for q = b, so that (Σab)²/Σa²b² tests whether predictions say anything: the best of many settings is better
// than the mean of few values by luck. If Σa² of as many other nodes is larger by e, as around an outlier, nothing is known of these
// differences. As Breiman, Better subset regression using the nonnegative garrote (1995).
func (t *testValues) shrinkage(miss []float64, hidden int, spread float64) (factor float64) {
	for range 2 {
		squares, values, product, variance := 0.0, 0.0, 0.0, 0.0
		excess := 0.0
		for i, b := range t.deviation {
			if t.fold[t.tested[i]] != hidden {
				b /= t.width // so that powers are finite
				a := b - miss[i]/t.width
				weighted := a * (b - float64(factor*a))
				squares += float64(a * a)
				values += float64(b * b)
				product += float64(a * b)
				variance += float64(weighted * weighted)
				excess += spread/t.width/t.width - float64(a*a)
			}
		}
		if !(product > 0) { // or without a solution
			return 0
		}
		unexplained := 1 - float64(product*product)/(squares*values)
		slope := product / (squares + float64(unexplained*unexplained*max(0, excess)))
		factor = min(1, slope) * max(0, 1-3*variance/(product*product))
	}
	return factor
}

// measure returns the errors and the predictions of the engine and the setting that the other folds of each value choose, with the
// given shrinkage; 0: chosen too.
func (t *testValues) measure(list []*candidate, given float64) (Errors, []float64) {
	predicted := make([]float64, len(t.value))
	for f := range t.labels {
		best, setting, _ := bestOf(list, f)
		misses := best.numbers.miss[setting]
		factor := given
		if factor == 0 {
			factor = t.shrinkage(misses, f, 0)
		}
		for i, miss := range misses {
			if t.fold[t.tested[i]] == f {
				predicted[i] = t.value[i] - float64(factor*miss) - float64((1-factor)*t.deviation[i])
			}
		}
	}
	e := MeasureErrors(t.value, predicted)
	unbiased := 1 - 1/float64(len(t.value)) // of the variance of a sample
	e.R2 = 1 - (1-e.R2)*unbiased
	e.R2Stderr *= unbiased
	return e, predicted
}

// NumberWorkspace declares the memory of [PredictNumbers] without the graph and the attributes. The error is a
// [*param.ParameterError].
func NumberWorkspace(p *Problem, entries []Entry, s *Settings) (w budget.Workspace, err error) {
	set := s.WithDefaults()
	for _, e := range entries {
		r := e.Method.Numbers
		if _, _, err := set.grid(&r.Spec, r.Own(e.Own), kernel.OnDegrees(p.Degrees)); err != nil {
			return w, err
		}
		if r.Workspace != nil {
			w = w.Or(r.Workspace(p, &set))
		}
	}
	values := budget.Held((2+samplesAtOnce)*8*int64(len(p.Degrees)), 400*int64(min(len(p.Row), mostCompared)*len(entries)))
	return new(Engine).Declare(p, &set, w.Or(hopWorkspace(p, &set)).And(values))
}

// weighNumbers returns the problem with the factors of kinds and times of edges that its values choose, and with everything
// that [graph.New] finds. It does nothing if they have been chosen.
func weighNumbers(ctx context.Context, p *Problem, s *Settings) (*Problem, error) {
	if p.Directed || p.In != nil {
		return nil, &problem.Error{Method: "regress", Err: problem.ErrDirected}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	set := s.WithDefaults()
	p, err := new(Engine).Weigh(ctx, p, &set)
	if err != nil {
		return nil, err
	}
	return withStructure(ctx, p, &set)
}

// withStructure returns a problem whose graph has everything that [graph.New] finds.
func withStructure(ctx context.Context, p *Problem, s *Settings) (*Problem, error) {
	if p.Radius != nil {
		return p, nil
	}
	g, err := graph.New(ctx, p.A, &graph.Settings{Components: p.Components, Symmetric: p.Symmetric, Nodes: p.Graph.Nodes, Workers: s.Workers})
	if err != nil {
		return nil, err
	}
	g.Memory = p.Memory
	g.TempDir = p.TempDir
	g.Hyperedges = p.Hyperedges
	q := *p
	q.Graph = g
	return &q, nil
}

// transition returns the operator T.
func transition(p *Problem, s *Settings) *sparse.Operator[float64] {
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	return op
}
