package method

import (
	"context"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// spectralRidge is ridge regression on eigenvectors, see [auto.Embedding] and featureRidge.
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
	Workspace: func(p *Problem, _ *Settings) budget.Workspace {
		return auto.EmbeddingWorkspace(len(p.Degrees), len(p.Row))
	},
	prepare: func(r *Regression) {
		f := &featureRidge{name: r.Spec.Name, fixed: new(spectralNumbers).features}
		r.Predict = oneByOne(f.predict)
		r.HeldOut = f.heldOut
	},
}

// spectralNumbers has the embedding of a graph with the columns that the settings until now need.
type spectralNumbers struct {
	*auto.Embedding
	columns int
}

// features returns the rows of the embedding.
func (e *spectralNumbers) features(ctx context.Context, p *Problem, positions []int, v param.Values, s *Settings) (*features, error) {
	dimension := v.Int("dimension")
	if dimension > e.columns || !s.Rough && dimension < e.columns { // those that a kept model has, to the bit
		e.columns = dimension
		var err error
		if e.Embedding, err = auto.NewEmbedding(ctx, p, dimension, &lanczos.Settings{Memory: s.Memory, Workers: s.Workers}); err != nil {
			return nil, err
		}
	}
	dimension = min(dimension, e.Cols)
	x := sparse.NewBlock[float64](len(positions), dimension)
	for a, i := range positions {
		e.RowTo(x.Row(a), p.Row[i])
	}
	add := func(ctx context.Context, w, values []float64) error {
		return blocks.EachNodeChunk(ctx, s.Workers, len(p.Degrees), func(_, lo, hi int) {
			row := make([]float64, dimension)
			for node := lo; node < hi; node++ {
				e.RowTo(row, node)
				for j, x := range row {
					values[node] += float64(x * w[j])
				}
			}
		})
	}
	return &features{x, add}, nil
}
