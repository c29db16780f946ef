package method

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// hops is ridge regression of values on features of their nodes:
//
//   - the means of the known values 1, 2 and 3 steps of a walk away, and log(1 + d) of the degree d,
//     each with mean 0 and variance 1 over the nodes it learns from;
//   - the attributes of the node, and means of them at the node and its neighbours, see [auto.Attributes], in columns with mean 0.
//
// It minimizes Σ_i (w·φ_i + μ − y_i)² + λm‖w‖² over m values. The features of a known node are made of
// the values outside its fold, so that they never contain its own value. Weights are learned from at
// most 5,000 values; means are those of all.
var hops = Regression{
	Spec: param.Spec{
		Name: "hops", Title: "ridge regression on mean values 1 to 3 steps away, degree and attributes", Works: param.Undirected,
		Source: "Hoerl and Kennard, Ridge regression, 1970; on means of neighbours as in Macskassy and Provost, Classification in networked data, 2007",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge for each value",
			Range: param.Above(0), Default: param.Of(0.01), Grid: ratios,
		}},
	},
	Attributes: true, Ridge: true,
	Predict: predictHops,
	Bytes: func(p *Problem, settings []param.Values, s *Settings) (int64, error) {
		fitted, columns := min(len(p.Row), mostFitted), 1+mostHops
		scores := budget.Block[float64](len(p.Degrees), len(settings))
		views := int64(0)
		if p.Attributes != nil {
			columns += 2 * p.Attributes.Cols
			views = auto.AttributeWorkspace(p, fitted, len(settings)).Required(s.Memory)
		}
		return walkBytes(len(p.Degrees)) + int64(scores) + views +
			8*int64(fitted)*int64(columns) +
			classify.RidgeBytes(fitted, columns, len(settings), 0), nil
	},
}

// mostFitted is the number of values from which weights are learned.
const mostFitted = 5000

// predictHops predicts the value of every node.
func predictHops(ctx context.Context, p *Problem, settings []param.Values,
	s *Settings) ([][]float64, error) {
	op := transition(p, s)
	m := len(p.Row)
	folds := choose.FoldCount(m)
	fold := choose.Folds(make([]int, m), folds, s.RNGSeed, 0)
	positions := sampleOf(m, mostFitted, s.RNGSeed)
	fitted := p.At(positions)
	var views *auto.Attributes
	columns := 1 + mostHops
	if p.Attributes != nil && p.Attributes.Cols > 0 {
		views = auto.NewAttributes(p, s.Memory, s.Workers)
		columns += 2 * p.Attributes.Cols
	}
	x := sparse.NewBlock[float64](len(positions), columns)
	if views != nil {
		if err := views.RowsTo(ctx, sparse.DenseOf(x), 1+mostHops, fitted.Row); err != nil {
			return nil, err
		}
	}
	for lo := 0; lo < folds; lo += hopColumns / 2 {
		hidden := sched.UpTo(folds)[lo:min(folds, lo+hopColumns/2)]
		err := walkMeans(ctx, op, p, fold, hidden, func(hop, f int, mean func(node int) float64) {
			for a, i := range positions {
				if fold[i] == f {
					x.Row(a)[hop] = mean(p.Row[i])
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for a, row := range fitted.Row {
		x.Row(a)[mostHops] = math.Log1p(p.Degrees[row])
	}
	mean, factor := standardize(x)
	path, err := classify.NewRidgePath(ctx, x, 0,
		mat.NewDense(x.Rows, 1, slices.Clone(fitted.Value)), s.Workers)
	if err != nil {
		return nil, err
	}
	weights := mat.NewDense(x.Cols, len(settings), nil)
	list := make([][]float64, len(settings))
	for i, v := range settings {
		ridge := v.Number("lambda")
		if path.Mean > 0 {
			ridge *= float64(x.Rows) / path.Mean
		}
		w, shares := path.Weights(ridge)
		constant := shares[0]
		for j := range mean {
			weights.Set(j, i, w.At(j, 0)*factor[j])
			constant -= float64(weights.At(j, i) * mean[j])
		}
		list[i] = make([]float64, len(p.Degrees))
		for node, d := range p.Degrees {
			list[i][node] = constant + float64(weights.At(mostHops, i)*math.Log1p(d))
		}
	}
	if views != nil {
		spread := cmp.Or(stat.StdDev(fitted.Value, nil), 1) // so that float32 holds the weights
		scaled := mat.DenseCopyOf(weights.Slice(1+mostHops, x.Cols, 0, len(settings)))
		scaled.Scale(1/spread, scaled)
		err := views.Scores(ctx, scaled, func(node int, products []float32) {
			for i, v := range products {
				list[i][node] += spread * float64(v)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	err = walkMeans(ctx, op, p, fold, []int{-1}, func(hop, _ int, mean func(node int) float64) {
		for i := range list {
			for node := range list[i] {
				list[i][node] += float64(weights.At(hop, i) * mean(node))
			}
		}
	})
	return list, err
}

// standardize subtracts the mean of each column, and divides those of hops and of the degree by their standard
// deviation. It returns the means and the factors.
func standardize(x *sparse.Block[float64]) (mean, factor []float64) {
	mean = make([]float64, x.Cols)
	factor = make([]float64, x.Cols)
	for j := range x.Cols {
		deviation := 0.0
		mean[j], deviation = stat.PopMeanStdDev(mat.Col(nil, j, sparse.DenseOf(x)), nil)
		factor[j] = 1
		if j <= mostHops {
			factor[j] = 0
			if deviation > 0 {
				factor[j] = 1 / deviation
			}
		}
		for i := range x.Rows {
			x.Row(i)[j] = (x.Row(i)[j] - mean[j]) * factor[j]
		}
	}
	return mean, factor
}
