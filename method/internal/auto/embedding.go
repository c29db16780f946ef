package auto

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// EmbeddingColumns is the largest number of columns of an embedding.
	EmbeddingColumns = 256

	tolerance = 1e-3 // relative tolerance of eigenvectors
)

// ShortRow is ε of [ScaleRow], relative to the root mean square of the lengths of rows.
const ShortRow = 0.01

// EmbeddingWidth returns the largest number of columns of an embedding of n nodes.
func EmbeddingWidth(n int) int { return max(1, min(EmbeddingColumns, n/2)) }

// Embedding holds features of all nodes: the eigenvectors u of the largest eigenvalues λ of
//
//	(D + τI)^-½·A·(D + τI)^-½,  τ the mean degree,
//
// times |λ|. τ prevents small components from having the largest eigenvalues: Qin, Rohe, Regularized spectral clustering
// under the degree-corrected stochastic blockmodel (2013). A model uses some of the first columns, and scales each row x of
// them to x/√(‖x‖² + ε²), about unit length.
type Embedding struct {
	*sparse.Block[float64]
	short []float64 // ε² of the first j columns in short[j]
}

// SearchEmbedding returns at most columns eigenpairs of the matrix of [Embedding]. If there are no eigenpairs, as in a graph
// without edges, it returns nil. If the iteration stops at its limit of steps, SearchEmbedding returns the last vectors and
// no error. Other errors come from [lanczos.Problem.Solve].
func SearchEmbedding(ctx context.Context, p *problem.Problem, l lanczos.Problem, columns int, s *lanczos.Settings) (*lanczos.Pairs, error) {
	s = cmp.Or(s, new(lanczos.Settings))
	n := len(p.Degrees)
	team := p.Team()
	mean := blocks.Total(team, p.Degrees) / float64(team.TotalOf(n))
	if mean == 0 {
		return nil, nil
	}
	shared := make([]float64, n)
	for i, d := range p.Degrees {
		shared[i] = d + mean
	}
	op := sparse.NewOperator[float64](sparse.NormalizedAdjacency, p.A, shared)
	op.Workers = s.Workers
	l.A = op
	pairs, err := l.Solve(ctx, columns, s)
	if err != nil && !errors.Is(err, lanczos.ErrIterationLimit) {
		return nil, err
	}
	if pairs.Vectors == nil {
		return nil, nil
	}
	return pairs, nil
}

// NewEmbedding returns the embedding of an undirected graph, with at most min(columns, [EmbeddingWidth]) columns. It returns
// the errors of [lanczos.Problem.Solve]. Cost: for 256 columns some hundred products of A with four columns.
func NewEmbedding(ctx context.Context, p *problem.Problem, columns int, s *lanczos.Settings) (*Embedding, error) {
	total := p.Nodes()
	set := *cmp.Or(s, new(lanczos.Settings))
	set.Tolerance = tolerance
	pairs, err := SearchEmbedding(ctx, p, lanczos.Problem{Which: lanczos.Largest}, min(columns, EmbeddingWidth(total)), &set)
	switch {
	case err != nil:
		return nil, err
	case pairs == nil:
		return &Embedding{sparse.NewBlock[float64](len(p.Degrees), 1), make([]float64, 2)}, nil
	}
	for v := range pairs.Vectors.Rows {
		row := pairs.Vectors.Row(v)
		for j := range row {
			row[j] *= math.Abs(pairs.Values[j])
		}
	}
	short := make([]float64, 1+len(pairs.Values))
	for j, value := range pairs.Values {
		short[1+j] = short[j] + ShortRow*ShortRow*value*value/float64(total)
	}
	return &Embedding{pairs.Vectors, short}, nil
}

// EmbeddingWorkspace declares the memory of [NewEmbedding] on n nodes, and of [Embedding.Path] for the given number of
// nodes.
func EmbeddingWorkspace(n, nodes int) budget.Workspace {
	width := EmbeddingWidth(n)
	path := 3 * budget.Vector[float64](nodes*(width+1)) // features, A and U, doubled by paths of halved widths
	return budget.Held(budget.Times(3*width+20, budget.Vector[float64](n))).Or(lanczos.Workspace(n, width, 0)).AndHeld(2 * path)
}

// RowTo stores in dst the first len(dst) columns of a node, scaled as [Embedding] says.
func (e *Embedding) RowTo(dst []float64, node int) { ScaleRow(dst, e.Row(node), e.short[len(dst)]) }

// ScaleRow stores x/√(‖x‖² + short) in dst, for the first len(dst) numbers x of row and short = ε². A row of zeros stays 0.
func ScaleRow(dst, row []float64, short float64) {
	squares := short
	for j, x := range row[:len(dst)] {
		dst[j] = x
		squares += float64(x * x)
	}
	if squares == 0 {
		return
	}
	scale := 1 / math.Sqrt(squares)
	for j := range dst {
		dst[j] *= scale
	}
}

// Path returns the ridge path of targets on features of nodes: the first width columns of the embedding, then the rows of
// others, if not nil. It overwrites targets.
func (e *Embedding) Path(ctx context.Context, nodes []int, width int, others *mat.Dense, targets *mat.Dense, workers int) (*classify.RidgePath, error) {
	columns := width
	if others != nil {
		_, k := others.Dims()
		columns += k
	}
	f := sparse.NewBlock[float64](len(nodes), columns)
	for i, v := range nodes {
		e.RowTo(f.Row(i)[:width], v)
		if others != nil {
			copy(f.Row(i)[width:], others.RawRowView(i))
		}
	}
	return classify.NewRidgePath(ctx, f, 1, targets, workers)
}

// EmbeddingModel is a fitted ridge regression of several targets. Means has the mean of each target.
type EmbeddingModel struct {
	Means []float64

	embedding *Embedding
	width     int
	weights   *mat.Dense // (width + other features + 1)×targets
}

// Fit returns the model of path p with λ. width must be the width of p.
func (e *Embedding) Fit(p *classify.RidgePath, width int, lambda float64) *EmbeddingModel {
	weights, means := p.Weights(lambda)
	return &EmbeddingModel{means, e, width, weights}
}

// Scores returns the predicted targets of a node. The contribution of the other features of [Embedding.Path] is missing.
func (m *EmbeddingModel) Scores(node int) []float64 {
	x := make([]float64, m.width)
	m.embedding.RowTo(x, node)
	scores := slices.Clone(m.Means)
	for j, v := range x {
		floats.AddScaled(scores, v, m.weights.RawRowView(j))
	}
	rows, _ := m.weights.Dims()
	floats.Add(scores, m.weights.RawRowView(rows-1))
	return scores
}

// Others returns the weights of the other features of [Embedding.Path]: a row for each feature, a
// column for each target.
func (m *EmbeddingModel) Others() mat.Matrix {
	rows, targets := m.weights.Dims()
	return m.weights.Slice(m.width, rows-1, 0, targets)
}
