package method

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// spectralRidge is ridge regression on eigenvectors, the model of several labels: see [auto.Embedding].
var spectralRidge = Regression{
	Spec: param.Spec{
		Name: "spectral", Title: "ridge regression on eigenvectors of the graph", Works: param.Undirected,
		Source: "Qin and Rohe, Regularized spectral clustering under the degree-corrected stochastic blockmodel, 2013 (embedding)",
		Params: []param.Param{{
			Name: "dimension", Symbol: "d", Meaning: "eigenvectors, at most half as many as nodes",
			Kind: param.Whole, Range: param.Range{Least: 1, Most: auto.EmbeddingColumns}, Default: param.Of(64), Grid: param.Grid(16, 64, auto.EmbeddingColumns),
		}, {
			Name: "lambda", Symbol: "λ", Meaning: "ridge, relative to the mean squared length of the features of a node",
			Range: param.Above(0), Default: param.Of(0.1), Grid: ratios,
		}},
	},
	Ridge: true, Widens: true,
	Bytes: func(p *Problem, _ []param.Values, _ *Settings) (int64, error) {
		return auto.EmbeddingBytes(len(p.Degrees), len(p.Row), 1), nil
	},
	prepare: func() predictNumbers { return new(spectralNumbers).predict },
}

// spectralNumbers predicts numbers by the embedding of a graph, which has the columns that the settings until now need.
type spectralNumbers struct {
	*auto.Embedding
	columns int
}

// predict is the Predict of the engine.
func (e *spectralNumbers) predict(ctx context.Context, p *Problem, settings []param.Values, s *Settings) (list [][]float64, err error) {
	n := len(p.Degrees)
	if widest := settings[len(settings)-1].Int("dimension"); widest > e.columns || !s.Rough && widest < e.columns { // those that a kept model has, to the bit
		e.columns = widest
		if e.Embedding, err = auto.NewEmbedding(ctx, p, widest, &lanczos.Settings{Memory: s.Memory, Workers: s.Workers}); err != nil {
			return nil, err
		}
	}
	for lo := 0; lo < len(settings); {
		dimension := settings[lo].Int("dimension")
		var lambdas []float64 // with the same dimension
		for ; lo < len(settings) && settings[lo].Int("dimension") == dimension; lo++ {
			lambdas = append(lambdas, settings[lo].Number("lambda"))
		}
		dimension = min(dimension, e.Cols)
		path, err := e.Path(ctx, p.Row, dimension, nil, mat.NewDense(len(p.Row), 1, slices.Clone(p.Value)), s.Workers)
		if err != nil {
			return nil, err
		}
		model := e.Fit(path, dimension, lambdas...)
		values := make([][]float64, len(lambdas))
		for i := range values {
			values[i] = make([]float64, n)
		}
		err = blocks.EachNodeChunk(ctx, s.Workers, n, func(_, lo, hi int) {
			for node := lo; node < hi; node++ {
				for i, v := range model.Scores(node) {
					values[i][node] = v
				}
			}
		})
		if err != nil {
			return nil, err
		}
		list = append(list, values...)
	}
	return list, nil
}
