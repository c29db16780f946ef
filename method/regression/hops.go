package regression

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Hops is ridge regression of values on features of their nodes, see featureRidge:
//
//   - the means of the known values 1, 2 and 3 steps of a walk away, and log(1 + d) of the degree d,
//     each with variance 1 over the nodes it learns from;
//   - the attributes of the node, and means of them at the node and its neighbours, see [auto.Attributes].
//
// At a known node the means exclude the values of its fold.
var Hops = featureRidge{fixed: attributeFeatures, moving: hopFeatures}.method(&param.Spec{
	Name: "hops", Title: "ridge regression on mean values 1 to 3 steps away, degree and attributes", Works: param.Undirected,
	Source: "Hoerl and Kennard, Ridge regression, 1970; on means of neighbours as in Macskassy and Provost, Classification in networked data, 2007",
	Params: []param.Param{{
		Name: "lambda", Symbol: "λ", Meaning: "ridge for each value",
		Range: param.Above(0), Default: param.Of(0.01), Grid: engine.Ratios,
	}},
}, hopWorkspace)

// hopWorkspace declares the memory of hop means, of attributes, and of a ridge on them.
func hopWorkspace(p *engine.Problem) budget.Workspace {
	const labelBytes = 1600 // bytes of a known value in folds and decompositions: 1,100 were measured with 64 attributes
	n := len(p.Degrees)
	fitted := min(len(p.Row), mostFitted)
	w := budget.Held(2*budget.Block[float64](n, hopColumns), 12*budget.Vector[float64](n), labelBytes*int64(fitted))
	if p.Attributes != nil {
		w = w.And(auto.AttributeWorkspace(p, 8*fitted, 1))
	}
	return w
}

// attributeFeatures returns the attributes of known nodes, and the means of attributes over each node and its
// neighbours.
func attributeFeatures(ctx context.Context, j *engine.Job, p *engine.Problem, positions []int, _ param.Values) (*features, error) {
	if p.Attributes == nil || p.Attributes.Cols == 0 {
		return &features{Block: &sparse.Block[float64]{Rows: len(positions)}}, nil
	}
	views := auto.NewAttributes(p, j.Settings.Memory, j.Settings.Workers)
	x := sparse.NewBlock[float64](len(positions), 2*p.Attributes.Cols)
	add := func(ctx context.Context, w, values []float64) error {
		unit := floats.Norm(w, math.Inf(1)) // weights are rounded to float32, alike in all units of the values
		if unit == 0 {
			return nil
		}
		scaled := slices.Clone(w)
		for i := range scaled {
			scaled[i] /= unit
		}
		return views.Scores(ctx, mat.NewDense(len(w), 1, scaled), func(node int, products []float32) {
			values[node] += float64(unit * float64(products[0]))
		})
	}
	return &features{x, add}, views.RowsTo(ctx, sparse.DenseOf(x), 0, problem.Pick(p.Row, positions))
}

// hopFeatures returns for each known node the means of the values at train some steps away, and the logarithm of the
// degree, each with variance 1 over train. The means at a node of train exclude its fold.
func hopFeatures(ctx context.Context, p *engine.Problem, positions, train []int, s *engine.Settings) (*features, error) {
	op := transition(p, s)
	x := sparse.NewBlock[float64](len(positions), 1+mostHops)
	place := make([]int, len(p.Row)) // position in train + 1; 0: not in train
	for a, i := range train {
		place[i] = 1 + a
	}
	shown := p.At(train)
	means, err := meansOutside(ctx, op, shown, choose.TaskOf(shown, s.RNGSeed, 0).Fold)
	if err != nil {
		return nil, err
	}
	var learned []int
	for a, i := range positions {
		if place[i] > 0 {
			learned = append(learned, a)
			copy(x.Row(a), means.Row(place[i]-1))
		}
		x.Row(a)[mostHops] = math.Log1p(p.Degrees[p.Row[i]])
	}
	around := func(visit func(hop, hidden int, mean func(node int) float64)) error {
		return walkMeans(ctx, op, shown, make([]int, len(train)), []int{-1}, mostHops, visit)
	}
	if len(learned) < len(positions) {
		err := around(func(hop, _ int, mean func(node int) float64) {
			for a, i := range positions {
				if place[i] == 0 {
					x.Row(a)[hop] = mean(p.Row[i])
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var factor [1 + mostHops]float64
	for j := range factor {
		column := problem.Pick(mat.Col(nil, j, sparse.DenseOf(x)), learned)
		largest := floats.Norm(column, math.Inf(1))
		if j < mostHops { // means of values that cancel are rounding errors of the values
			largest = floats.Norm(shown.Value, math.Inf(1))
		}
		if deviation := stat.PopStdDev(column, nil); deviation > rounding*largest {
			factor[j] = 1 / deviation
		}
		for a := range x.Rows {
			x.Row(a)[j] *= factor[j]
		}
	}
	add := func(_ context.Context, w, values []float64) error {
		for node, d := range p.Degrees {
			values[node] += float64(w[mostHops] * factor[mostHops] * math.Log1p(d))
		}
		return around(func(hop, _ int, mean func(node int) float64) {
			for node := range values {
				values[node] += float64(w[hop] * factor[hop] * mean(node))
			}
		})
	}
	return &features{x, add}, nil
}

// meansOutside returns, for each known node, the means of the known values around the node that are outside its fold: a
// column for each number of steps up to mostHops. If the fold of a node is below 0, its row is zero. Cost: sweeps over
// hopColumns columns.
func meansOutside(ctx context.Context, op *sparse.Operator[float64], p *engine.Problem, fold []int) (*sparse.Block[float64], error) {
	means := sparse.NewBlock[float64](len(p.Row), mostHops)
	members := map[int][]int{}
	var folds []int
	for i, f := range fold {
		if f >= 0 && members[f] == nil {
			folds = append(folds, f)
		}
		members[f] = append(members[f], i)
	}
	for lo := 0; lo < len(folds); lo += hopColumns / 2 {
		hidden := folds[lo:min(len(folds), lo+hopColumns/2)]
		err := walkMeans(ctx, op, p, fold, hidden, mostHops, func(hop, f int, mean func(node int) float64) {
			for _, i := range members[f] {
				means.Row(i)[hop] = mean(p.Row[i])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return means, nil
}

// Means returns the two baselines of numbers. The first predicts the mean of all known values, the second the mean of the
// known values of neighbours. If no neighbour has a known value, the second predicts the mean of all known values.
func Means() []engine.Entry {
	return []engine.Entry{{Name: constant.Spec.Name, Method: constant.Engine()}, {Name: neighbours.Spec.Name, Method: neighbours.Engine()}}
}

var constant = engine.Numeric(&param.Spec{Name: "mean", Works: param.Undirected | param.Signed}, engine.OneByOne(predictMean), hopWorkspace)

func predictMean(_ context.Context, p *engine.Problem, _ param.Values, _ *engine.Settings) ([]float64, error) {
	return slices.Repeat([]float64{stat.Mean(p.Value, nil)}, len(p.Degrees)), nil
}

// neighbours predicts the mean of the known values of neighbours. If there are none, or the graph has negative weights, it
// predicts the mean of all known values.
var neighbours = engine.Numeric(&param.Spec{Name: "mean of neighbours", Works: param.Undirected | param.Signed},
	engine.OneByOne(func(ctx context.Context, p *engine.Problem, v param.Values, s *engine.Settings) ([]float64, error) {
		if p.Signed { // means over weights of both signs
			return predictMean(ctx, p, v, s)
		}
		values := make([]float64, len(p.Degrees))
		err := walkMeans(ctx, transition(p, s), p, make([]int, len(p.Row)), []int{-1}, 1, func(_, _ int, mean func(node int) float64) {
			for i := range values {
				values[i] = mean(i)
			}
		})
		return values, err
	}), hopWorkspace)

const (
	mostHops = 3

	hopColumns = 16

	rounding = 1e-12 // relative deviation of equal means: four digits more than the rounding of sums
)

// walkMeans calls visit for each step and each hidden fold. mean(i) is the mean of the values y outside the fold around
// node i, Σ_j (T^{hop+1})_ij·y_j / Σ_j (T^{hop+1})_ij. Fold −1 hides no value. If no walk from i reaches a value, mean(i)
// is the mean of all. Cost: a sweep for each of hops.
func walkMeans(ctx context.Context, op *sparse.Operator[float64], p *engine.Problem,
	fold, hidden []int, hops int, visit func(hop, hidden int, mean func(node int) float64)) error {
	n := len(p.Degrees)
	x, y := sparse.NewBlock[float64](n, 2*len(hidden)),
		sparse.NewBlock[float64](n, 2*len(hidden))
	centers := make([]float64, len(hidden))
	for s, f := range hidden {
		shown := p.At(choose.OfFold(fold, f).Train)
		if len(shown.Row) > 0 { // a fold may hold all values
			centers[s] = stat.Mean(shown.Value, nil)
		}
		for i, row := range shown.Row {
			x.Row(row)[2*s], x.Row(row)[2*s+1] = shown.Value[i]-centers[s], 1
		}
	}
	for hop := range hops {
		if err := op.StepTo(ctx, y, x, sparse.Step[float64]{Alpha: 1}); err != nil {
			return err
		}
		for s, f := range hidden {
			visit(hop, f, func(node int) float64 {
				if pair := y.Row(node)[2*s:]; pair[1] != 0 {
					return centers[s] + pair[0]/pair[1]
				}
				return centers[s]
			})
		}
		x, y = y, x
	}
	return nil
}

func transition(p *engine.Problem, s *engine.Settings) *sparse.Operator[float64] {
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	return op
}
