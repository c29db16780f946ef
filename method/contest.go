package method

import (
	"context"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Means returns the two engines of numbers that others are compared with: the mean of the known values, and the mean of those
// among neighbours, or else that of all.
func Means() []Entry {
	return []Entry{{Method: constant.Engine()}, {Method: neighbours.Engine()}}
}

// PredictNumbers predicts the value of every node with the best of some engines of numbers, and measures the error of each
// by cross-validation; of equal engines it uses the first. All settings of all engines are compared on the same folds, and the mean
// takes part if there are several engines, see bestOf. The reported error of each fold is that of the engine and the setting that the
// other folds choose.
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
	t := newTestValues(p, s.WithDefaults().RNGSeed)
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
	mean, others := list[0], list[2:]
	out.Mean = t.measure(list[:1])
	out.Neighbours = t.measure(list[1:2])
	if len(others) == 0 {
		return nil, out.Unsolved[0].err
	}
	for i, c := range others {
		out.Methods = append(out.Methods, c.compared(t.measure(others[i:i+1])))
	}
	if len(entries) > 1 { // where all of them extrapolate worse
		others = append(others, mean)
	}
	best, err := learnBest(ctx, others)
	if err != nil {
		return nil, err
	}
	for _, c := range others {
		out.Unsolved = append(out.Unsolved, c.unsolved...)
	}
	out.Compared = best.compared(t.measure(others))
	for i, miss := range best.numbers.miss[best.setting] {
		out.HeldOut = append(out.HeldOut, TestedValue{t.value[i], t.value[i] - miss})
	}
	out.Value = best.out.Value
	for i, row := range p.Row {
		out.Value[row] = p.Value[i]
	}
	out.Reached = roaring.New()
	out.Reached.Or(best.out.Reached)
	return out, nil
}

// compare begins with an engine of numbers, and chooses its setting.
func (e *Entry) compare(ctx context.Context, p *Problem, s *Settings) (*candidate, error) {
	set := s.WithDefaults()
	set.Given = e.Own
	j, err := e.Method.begin(ctx, p, nil, &set)
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

// bestOf is [choose.BestOf] for engines of numbers. The mean, which is the last engine if it takes part, is preferred to one that
// does not exceed it by a standard error of the difference of their merits in folds: of few values others are better by luck.
func bestOf(list []*candidate, hidden int) (best, setting int, merit float64) {
	rivals := make([]choose.Rival, len(list))
	for i, c := range list {
		rivals[i] = c.numbers.Rival
	}
	best, setting, merit = choose.BestOf(rivals, hidden)
	last := len(list) - 1
	if best == last || list[last].declared != &constant.Spec {
		return best, setting, merit
	}
	const rounding = 1e-9
	sum := 0.0
	squares := 0.0
	folds := 0.0
	for f, labels := range rivals[last].Folds {
		if f != hidden && labels.Tested > 0 {
			difference := rivals[best].Right[f*rivals[best].Candidates+setting] - rivals[last].Right[f]
			sum += difference
			squares += float64(difference * difference)
			folds++
		}
	}
	if variance := (squares - float64(sum*sum)/folds) * folds / max(1, folds-1); sum < math.Sqrt(max(0, variance))-rounding {
		setting, merit = rivals[last].Best(rivals[last].Space, hidden)
		best = last
	}
	return best, setting, merit
}

// measure returns the errors of the engine and the setting that the other folds of each value choose.
func (t *testValues) measure(list []*candidate) Errors {
	chosen := make([][]float64, len(t.labels))
	for f := range chosen {
		best, setting, _ := bestOf(list, f)
		chosen[f] = list[best].numbers.miss[setting]
	}
	return MeasureErrors(t.value, func(i int) float64 { return t.value[i] - chosen[t.fold[t.tested[i]]][i] })
}

// NumberBytes returns an upper bound on the memory of [PredictNumbers] without the graph and the attributes. Of the
// graph it reads the degrees and the number of entries alone. The error is a [*param.ParameterError].
func NumberBytes(p *Problem, entries []Entry, s *Settings) (int64, error) {
	n := int64(len(p.Degrees))
	var retained, largest int64
	for _, e := range slices.Concat(entries, Means()[1:]) {
		set := s.WithDefaults()
		set.Given = e.Own
		held, bytes, err := e.Method.Numbers.cost(p, &set)
		if err != nil {
			return 0, err
		}
		retained += held
		largest = max(largest, bytes)
	}
	factorBytes, choice := FactorBytes(p, s)
	return retained + max(factorBytes+largest, choice) + 2*8*n + n/8, nil
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
