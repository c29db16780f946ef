package regress

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/symmetric"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// hops is ridge regression of values on features of their nodes:
//
//   - the means of the known values 1, 2 and 3 steps of a walk away, and log(1 + d) of the degree d,
//     each with mean 0 and variance 1 over the nodes it learns from;
//   - the attributes X and TX, in columns with mean 0. Up to 64 columns are divided by their standard
//     deviation, of more all by the same number. Each of the two has squared length 1 in the mean.
//
// It minimizes Σ_i (w·φ_i + μ − y_i)² + λm‖w‖² over m values. The features of a known node are made of
// the values outside its fold, so that they never contain its own value. Weights are learned from at
// most 5,000 values; means are those of all.
var hops = Model{
	Spec: param.Spec{
		Name: "hops", Title: "ridge regression on mean values 1 to 3 steps away, degree and attributes", Works: param.Undirected,
		Source: "Hoerl and Kennard, Ridge regression, 1970; on means of neighbours as in Macskassy and Provost, Classification in networked data, 2007",
		Params: []param.Param{{
			Name: "lambda", Symbol: "λ", Meaning: "ridge for each value", Range: param.Above(0), Default: param.Of(0.01), Grid: ratios,
		}},
	},
	Attributes: true,
	compare:    func(ctx context.Context, c *comparison, m *Method) (*evidence, error) { return c.compareHops(ctx, m) },
	predict: func(ctx context.Context, r *run, _ *Method, v Parameters) ([]float64, []float64, error) {
		values, err := r.predictHops(ctx, v.Model.Number("lambda"))
		return values, nil, err
	},
	bytes: func(p *Problem, compared []int, _ *Method, _ *Settings) (int64, error) {
		n, fitted, columns := len(p.Degrees), int64(min(len(p.Row), mostFitted)), int64(1+mostHops)
		bytes := walkBytes(n, len(p.Row), hopColumns) + 6*8*int64(n)
		if p.Attributes != nil {
			columns += 2 * int64(p.Attributes.Cols)
		}
		q := min(columns, fitted)
		return bytes + 8*(4*fitted*columns+5*q*q), nil
	},
}

// mostFitted is the number of values from which weights are learned.
const mostFitted = 5000

// compareHops predicts the values of each fold by weights that were learned from the other folds.
func (c *comparison) compareHops(ctx context.Context, m *Method) (*evidence, error) {
	_, models, pairs, err := m.settings(nil)
	if err != nil {
		return nil, err
	}
	lambdas := make([]float64, len(models))
	for i, v := range models {
		lambdas[i] = v.Number("lambda")
	}
	attributes, err := c.attributeRows(ctx)
	if err != nil {
		return nil, err
	}
	e := newEvidence(pairs, c.folds)
	for f := range c.folds {
		train, test := c.outside(f)
		foldSet := c.hops.without(f)
		x, y := c.features(train, func(i int) *hopSet { return c.hops.pair(f, c.fold[i]) }, attributes)
		fit, err := newLinear(ctx, x, y, lambdas, c.set.Workers)
		if err != nil {
			return nil, err
		}
		tests, _ := c.features(test, func(int) *hopSet { return foldSet }, attributes)
		for a, i := range test {
			for s := range lambdas {
				e.note(s, f, c.Value[i], fit.predict(s, tests.RawRowView(a)))
			}
		}
		c.progress(m, f+1, c.folds)
	}
	return e, nil
}

// features returns the features of the values at the given positions, each with means of a set, and the
// values.
func (r *run) features(positions []int, setOf func(i int) *hopSet, attributes *mat.Dense) (x *mat.Dense, y []float64) {
	columns := mostHops + 1
	if attributes != nil {
		_, d := attributes.Dims()
		columns += d
	}
	x = mat.NewDense(len(positions), columns, nil)
	for a, i := range positions {
		row, set := x.RawRowView(a), setOf(i)
		for h, mean := range set.means[i] {
			row[h] = set.center + mean
		}
		row[mostHops] = math.Log1p(r.Degrees[r.Row[i]])
		if attributes != nil {
			copy(row[mostHops+1:], attributes.RawRowView(i))
		}
		y = append(y, r.Value[i])
	}
	return x, y
}

// predictHops predicts the value of every node.
func (r *run) predictHops(ctx context.Context, lambda float64) ([]float64, error) {
	m := len(r.Row)
	folds := split.FoldCount(m)
	fold := split.Folds(make([]int, m), folds, r.set.RNGSeed, 0)
	sets := make([]*hopSet, 0, folds)
	for f := range folds {
		sets = append(sets, &hopSet{hiddenFolds: [2]int{f, f}})
	}
	for lo := 0; lo < folds; lo += hopColumns / 2 {
		if err := r.walkMeans(ctx, fold, sets[lo:min(folds, lo+hopColumns/2)], nil); err != nil {
			return nil, err
		}
	}
	positions := sampleOf(m, mostFitted, r.set.RNGSeed)
	sub := *r
	sub.Problem = r.Problem.At(positions)
	rows, err := sub.attributeRows(ctx)
	if err != nil {
		return nil, err
	}
	var attributes *mat.Dense
	if rows != nil { // by the position of a value
		_, d := rows.Dims()
		attributes = mat.NewDense(m, d, nil)
		for a, i := range positions {
			attributes.SetRow(i, rows.RawRowView(a))
		}
	}
	x, y := r.features(positions, func(i int) *hopSet { return sets[fold[i]] }, attributes)
	fit, err := newLinear(ctx, x, y, []float64{lambda}, r.set.Workers)
	if err != nil {
		return nil, err
	}
	values, err := r.attributeScores(ctx, fit.weights(0)[mostHops+1:])
	if err != nil {
		return nil, err
	}
	full := &hopSet{hiddenFolds: [2]int{-1, -1}}
	err = r.walkMeans(ctx, fold, []*hopSet{full}, func(hop int, b *sparse.Block[float64]) {
		for i := range values {
			values[i] += float64(fit.weights(0)[hop] * (full.center + ratio(b.Row(i))))
		}
	})
	for i := range values {
		values[i] += fit.constant(0) + float64(fit.weights(0)[mostHops]*math.Log1p(r.Degrees[i]))
	}
	return values, err
}

// linear is ridge regression for several ridges: f(φ) = w·φ + constant.
type linear struct {
	w    *mat.Dense // a row for each ridge
	base []float64
}

// newLinear fits the rows of x to y. The first mostHops + 1 columns get variance 1, all get mean 0; x is
// overwritten. Cost: an eigendecomposition of the smaller of xᵀx and xxᵀ.
func newLinear(ctx context.Context, x *mat.Dense, y, lambdas []float64, workers int) (*linear, error) {
	m, d := x.Dims()
	mean, factor := make([]float64, d), slices.Repeat([]float64{1}, d)
	for j := range d {
		for i := range m {
			mean[j] += x.At(i, j) / float64(m)
		}
		squares := 0.0
		for i := range m {
			v := x.At(i, j) - mean[j]
			squares += float64(v * v)
			x.Set(i, j, v)
		}
		if j > mostHops {
			continue
		}
		if factor[j] = 0; squares > 0 {
			factor[j] = math.Sqrt(float64(m) / squares)
		}
		for i := range m {
			x.Set(i, j, x.At(i, j)*factor[j])
		}
	}
	residuals, center := centered(y)
	var matrix mat.Matrix = x
	if m > d {
		matrix = x.T()
	}
	squares := mat.NewSymDense(min(m, d), nil)
	squares.SymOuterK(1, matrix)
	values, vectors, err := symmetric.Eigen(ctx, squares, nil, workers)
	if err != nil {
		return nil, err
	}
	target := mat.NewVecDense(m, residuals)
	projected := new(mat.VecDense)
	if m > d {
		projected.MulVec(x.T(), target)
		target = projected
		projected = new(mat.VecDense)
	}
	projected.MulVec(vectors.T(), target)
	l := &linear{w: mat.NewDense(len(lambdas), d, nil), base: make([]float64, len(lambdas))}
	for s, lambda := range lambdas {
		scaled := mat.NewVecDense(projected.Len(), nil)
		for q, v := range values {
			scaled.SetVec(q, projected.AtVec(q)/(max(0, v)+float64(lambda*float64(m))))
		}
		w := new(mat.VecDense)
		w.MulVec(vectors, scaled)
		if m <= d {
			dual := w
			w = new(mat.VecDense)
			w.MulVec(x.T(), dual)
		}
		l.base[s] = center
		for j := range d {
			l.w.Set(s, j, w.AtVec(j)*factor[j])
			l.base[s] -= float64(l.w.At(s, j) * mean[j])
		}
	}
	return l, nil
}

// weights returns the weights for a ridge, constant the constant.
func (l *linear) weights(s int) []float64 { return l.w.RawRowView(s) }
func (l *linear) constant(s int) float64  { return l.base[s] }

// predict returns the value of features.
func (l *linear) predict(s int, features []float64) float64 {
	return l.base[s] + blocks.Dot(nil, l.weights(s), features)
}
