package regression

import (
	"context"
	"errors"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

var spectralLogisticSpec = param.Spec{
	Name:   "spectral+logistic",
	Title:  "multinomial logistic regression on eigenvectors of S",
	Works:  param.Undirected | param.Signed,
	Source: "Ng, Jordan and Weiss, On spectral clustering, NIPS 14, 2002 (embedding)",
	Params: append([]param.Param{{
		Name: "dimension", Symbol: "d", Meaning: "eigenvectors of S",
		Kind: param.Whole, Range: param.Range{Least: 1, Most: 1024},
		Default: param.Of(32),
		Grid:    param.Grid(8, 16, 32, 64, 128),
	}}, classify.Learners().Named("logistic").Params...),
}

const embeddingTolerance = 1e-6

// SpectralLogistic is multinomial logistic regression on a spectral embedding. Node i has the features x/√(‖x‖² + ε²), of
// about unit length, where x is row i of the eigenvectors of S = D^-½AD^-½ with the d largest positive eigenvalues (Ng,
// Jordan and Weiss 2002). The eigenvectors of components, with eigenvalue 1, are left out. ε is a hundredth of the root mean
// square of ‖x‖; shorter rows hold only rounding errors.
var SpectralLogistic = engine.GraphMethod{
	Spec: &spectralLogisticSpec, Prepare: prepareSpectral, Predictions: predictSpectral, Scores: scoreSpectral,
	Highest: func(*engine.Problem, *engine.Settings) bool { return true }, Workspace: spectralWorkspace, IsSampled: true,
}

// prepareSpectral computes the eigenvectors that the largest dimension needs.
func prepareSpectral(ctx context.Context, j *engine.Job,
	settings []param.Values) error {
	if err := j.Whole(ctx); err != nil {
		return err
	}
	largest := 0
	for _, v := range settings {
		largest = max(largest, v.Int("dimension"))
	}
	e := &spectralJob{Job: j}
	j.Shared = e
	return e.embed(ctx, largest)
}

// spectralJob is a job of logistic regression on eigenvectors. On a graph without edges embedding is nil.
type spectralJob struct {
	*engine.Job
	embedding *sparse.Block[float64]
}

var embeddingProblem = lanczos.GraphProblem{Matrix: sparse.NormalizedAdjacency,
	Which: lanczos.Largest, Beyond: true, Positive: true}

// embed computes as many eigenvectors as the largest dimension needs.
func (j *spectralJob) embed(ctx context.Context, dimension int) error {
	n := j.Graph.Team().TotalOf(len(j.Problem.Degrees))
	if len(j.Graph.Components.Sizes) == n { // no edges
		return nil
	}
	pairs, err := embeddingProblem.Solve(ctx, j.Graph, min(dimension, n),
		&lanczos.Settings{Tolerance: embeddingTolerance, Workers: j.Settings.Workers,
			Memory: j.Settings.Memory})
	if errors.Is(err, lanczos.ErrIterationLimit) {
		err = nil
		j.Out.Unfinished = "a search for eigenvectors ended at the limit of its products, before its tolerance"
	}
	if err != nil {
		return err
	}
	j.Out.Work.Sweeps += pairs.Products
	j.embedding = pairs.Vectors
	return nil
}

func (j *spectralJob) columns(v param.Values) int {
	if j.embedding == nil {
		return 0
	}
	return min(v.Int("dimension"), j.embedding.Cols)
}

func (j *spectralJob) rowTo(dst []float64, v int) {
	if len(dst) == 0 {
		return
	}
	n := float64(j.Graph.Team().TotalOf(j.embedding.Rows))
	auto.ScaleRow(dst, j.embedding.Row(v), auto.ShortRow*auto.ShortRow*float64(len(dst))/n)
}

// fit returns a model for each setting at the beginning of settings, as long as the dimension is the same. If the labels
// have one class, the models are nil.
func (j *spectralJob) fit(ctx context.Context, train *engine.Problem,
	settings []param.Values) ([]*classify.LinearModel, error) {
	d := settings[0].Int("dimension")
	var falling []float64 // falling λ need the fewest steps
	for _, v := range settings {
		if v.Int("dimension") == d {
			falling = append(falling, v.Number("lambda"))
		}
	}
	slices.Reverse(falling)
	cols := j.columns(settings[0])
	f := &sparse.Block[float64]{Rows: len(train.Row), Cols: cols, Stride: cols,
		Data: make([]float64, len(train.Row)*cols)}
	for i, row := range train.Row {
		j.rowTo(f.Row(i), row)
	}
	models, err := classify.LogisticPath(ctx, nil, f, train.Class,
		len(train.Names), falling)
	switch {
	case errors.Is(err, classify.ErrOneClass):
		return make([]*classify.LinearModel, len(falling)), nil
	case errors.Is(err, classify.ErrIterationLimit):
		err = nil
		j.Out.Unfinished = "a logistic regression ended at the limit of its steps, before its tolerance"
	}
	slices.Reverse(models)
	return models, err
}

// predictSpectral fits a model of each setting to each group and calls visit with its predictions. The prediction for a node
// that no label reaches is the largest class.
func predictSpectral(ctx context.Context, of *engine.Job,
	settings []param.Values, groups []engine.Group,
	visit engine.FoldVisitor) error {
	j := of.Shared.(*spectralJob)
	for i, g := range groups {
		reached := j.Graph.Components.Reachable(g.Train.Row)
		largest := choose.Majority(g.Train.Class)
		for setting := 0; setting < len(settings); {
			models, err := j.fit(ctx, g.Train, settings[setting:])
			if err != nil {
				return err
			}
			x := make([]float64, j.columns(settings[setting]))
			for _, m := range models {
				prior := engine.ClassShares.Distributions(g.Train.Seeds())(0)
				shares := make([]float64, len(g.Train.Names))
				var z []float64
				visit(setting, i, func(node int) engine.Guess {
					isReached := reached.Contains(uint32(node))
					if !isReached || m == nil {
						return engine.Guess{Class: largest, Reached: isReached, Scores: prior}
					}
					j.rowTo(x, node)
					z = m.ScoresTo(z, x, nil)
					guess := engine.Guess{Class: m.Pairs[classify.ArgMax(z)].Positive, Reached: true, Scores: shares}
					clear(shares)
					for a, q := range classify.Softmax(z, z) {
						shares[m.Pairs[a].Positive] = q
					}
					return guess
				})
				setting++
			}
		}
	}
	return nil
}

func scoreSpectral(ctx context.Context, of *engine.Job,
	v param.Values) error {
	j := of.Shared.(*spectralJob)
	n := len(j.Problem.Degrees)
	k := len(j.Problem.Names)
	if d := v.Int("dimension"); j.columns(v) == d && d < j.embedding.Cols { // eigenvectors of a kept model, to the bit
		j.embedding = nil
		if err := j.embed(ctx, d); err != nil {
			return err
		}
	}
	models, err := j.fit(ctx, j.Problem, []param.Values{v})
	if err != nil {
		return err
	}
	model := models[0]
	cols := j.columns(v)
	j.Out.Class = make([]int, n)
	if j.Settings.Top > 0 {
		j.Out.Highest = problem.NewHighest(n, j.Problem.Row, j.Problem.Class)
	} else {
		j.Out.Scores = blocks.NewDense[float32](n, k)
	}
	err = blocks.EachNodeChunk(ctx, j.Settings.Workers, n, func(_, lo, hi int) {
		x := make([]float64, cols)
		z := []float64(nil)
		shares := make([]float32, k)
		for v := lo; v < hi; v++ {
			if !j.Out.Reached.Contains(uint32(v)) {
				continue
			}
			if j.Settings.Top > 0 {
				clear(shares)
			} else {
				shares = j.Out.Scores.Row(v)
			}
			j.rowTo(x, v)
			z = model.ScoresTo(z, x, nil)
			j.Out.Class[v] = model.Pairs[classify.ArgMax(z)].Positive
			for a, q := range classify.Softmax(z, z) {
				shares[model.Pairs[a].Positive] = float32(q)
			}
			if j.Settings.Top > 0 {
				j.Out.Highest.Set(v, shares)
			}
		}
	})
	engine.FillClasses(j.Out, j.Problem, engine.ClassShares)
	return err
}

func spectralWorkspace(p *engine.Problem, settings []param.Values, s *engine.Settings) (w budget.Workspace, err error) {
	n := len(p.Degrees)
	dimension := 0
	for _, v := range settings {
		dimension = max(dimension, min(n, v.Int("dimension")))
	}
	labels := int64(max(len(p.Row), s.Tested))
	return budget.Held(budget.Times(6*dimension+68, 8*int64(n)), 96*labels*int64(dimension)), nil
}

// SpectralRidge is ridge regression on eigenvectors, see [auto.Embedding].
var SpectralRidge = featureRidge{fixed: spectralFeatures, widens: true}.method(&param.Spec{
	Name: "spectral", Title: "ridge regression on eigenvectors of the graph", Works: param.Undirected,
	Source: "Qin and Rohe, Regularized spectral clustering under the degree-corrected stochastic blockmodel, 2013 (embedding)",
	Params: []param.Param{{
		Name: "dimension", Symbol: "d", Meaning: "eigenvectors, at most half as many as nodes",
		Kind: param.Whole, Range: param.Range{Least: 1, Most: auto.EmbeddingColumns}, Default: param.Of(64), Grid: param.Grid(16, 64, auto.EmbeddingColumns),
	}, {
		Name: "lambda", Symbol: "λ", Meaning: "ridge, relative to the mean squared length of the features of a node",
		Range: param.Above(0), Default: param.Of(0.1), Grid: engine.Ratios,
	}},
}, func(p *engine.Problem) budget.Workspace {
	return auto.EmbeddingWorkspace(len(p.Degrees), min(len(p.Row), mostFitted))
})

func spectralFeatures(ctx context.Context, j *engine.Job, p *engine.Problem, positions []int, v param.Values) (*features, error) {
	dimension := v.Int("dimension")
	f := j.Shared.(*ridgeFit)
	if dimension > f.columns || !j.Settings.Rough && dimension < f.columns { // eigenvectors of a kept model, to the bit
		f.columns = dimension
		var err error
		if f.embedding, err = auto.NewEmbedding(ctx, p, dimension, &lanczos.Settings{Memory: j.Settings.Memory, Workers: j.Settings.Workers}); err != nil {
			return nil, err
		}
	}
	e := f.embedding
	dimension = min(dimension, e.Cols)
	x := sparse.NewBlock[float64](len(positions), dimension)
	for a, i := range positions {
		e.RowTo(x.Row(a), p.Row[i])
	}
	add := func(ctx context.Context, w, values []float64) error {
		return blocks.EachNodeChunk(ctx, j.Settings.Workers, len(p.Degrees), func(_, lo, hi int) {
			row := make([]float64, dimension)
			for node := lo; node < hi; node++ {
				e.RowTo(row, node)
				for k, x := range row {
					values[node] += float64(x * w[k])
				}
			}
		})
	}
	return &features{x, add}, nil
}
