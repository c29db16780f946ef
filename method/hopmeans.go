package method

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Means returns the two engines of numbers that others are compared with: the mean of the known values, and the mean of those
// among neighbours, or else that of all.
func Means() []Entry {
	return []Entry{{Name: constant.spec.Name, Method: constant.engine()}, {Name: neighbours.spec.Name, Method: neighbours.engine()}}
}

// constant predicts the mean of the known values.
var constant = numeric(&param.Spec{Name: "mean", Works: param.Undirected | param.Signed}, oneByOne(predictMean), hopWorkspace)

// predictMean returns the mean for every node.
func predictMean(_ context.Context, p *Problem, _ param.Values, _ *Settings) ([]float64, error) {
	return slices.Repeat([]float64{stat.Mean(p.Value, nil)}, len(p.Degrees)), nil
}

// neighbours predicts the mean of the known values of neighbours, or else that of all, as on graphs with negative weights.
var neighbours = numeric(&param.Spec{Name: "mean of neighbours", Works: param.Undirected | param.Signed},
	oneByOne(func(ctx context.Context, p *Problem, v param.Values, s *Settings) ([]float64, error) {
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
	// mostHops is the number of steps after which means of values are taken.
	mostHops = 3

	// hopColumns is the width of the blocks of hop means.
	hopColumns = 16
)

// walkMeans calls visit after each step with the mean of known values around nodes, Σ_j (T^{hop+1})_ij·y_j / Σ_j (T^{hop+1})_ij, for
// each hidden fold, whose values are left out; −1: none. Where no walk reaches a value it is the mean of all.
// fold is the fold of each value. Cost: a sweep for each of hops.
func walkMeans(ctx context.Context, op *sparse.Operator[float64], p *Problem,
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

// transition returns the operator T.
func transition(p *Problem, s *Settings) *sparse.Operator[float64] {
	op := sparse.NewOperator[float64](sparse.Transition, p.A, p.Degrees)
	op.Workers = s.Workers
	return op
}
