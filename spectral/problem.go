package spectral

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Matrix names a matrix of a graph.
type Matrix string

const (
	Adjacency           Matrix = "adjacency"            // A
	AdjacencyNormalized Matrix = "normalized-adjacency" // S = D^-½·A·D^-½
	Laplacian           Matrix = "laplacian"            // L = D − A
	LaplacianNormalized Matrix = "normalized-laplacian" // L̃ = D^-½·L·D^-½
	Modularity          Matrix = "modularity"           // A − γ·ddᵀ/vol
	Transition          Matrix = "transition"           // T = D⁻¹A, similar to S
)

// Matrices lists them.
var Matrices = []Matrix{Adjacency, AdjacencyNormalized, Laplacian, LaplacianNormalized, Modularity, Transition}

// Problem asks for eigenpairs of a graph's matrix.
type Problem struct {
	Matrix Matrix
	Which  lanczos.Which
	Near   float64 // what interior eigenvalues are nearest to

	// Resolution is γ of the modularity matrix; 0 means 1.
	Resolution float64

	// Beyond leaves out the pairs that follow from the components, and Positive those
	// of the largest eigenvalues that are not positive: there may be fewer than were asked
	// for, or none, without a block of vectors.
	Beyond, Positive bool
}

// Pairs are eigenpairs of a graph's matrix. Vectors are orthonormal, those of the
// transition matrix in the product with D: right eigenvectors w = D^-½v with
// wᵀDw = 1, where a node without edges has d = 1.
type Pairs struct {
	lanczos.Pairs

	// ErrorBounds holds for each value a number within which an eigenvalue lies:
	// the residual with the rounding of its computation.
	ErrorBounds []float64 `json:"error_bounds"`

	// Vague is the place of the first of the smallest eigenvalues of a Laplacian whose first digit
	// is not known, since its error bound is more than a tenth of it, and Finer a tolerance that
	// tells more of it. Without such an eigenvalue both are 0. Residuals are relative to the norm
	// of the matrix, beside which an eigenvalue may be very small.
	Vague int     `json:"-"`
	Finer float64 `json:"-"`
}

// findVague stores Vague and Finer.
func (p *Pairs) findVague() {
	for j := p.Known; j < len(p.Values); j++ {
		v := p.Values[j]
		if v > 0 && p.ErrorBounds[j] > v/10 {
			p.Vague, p.Finer = j, max(lanczos.Tolerances.Least, math.Pow(10, math.Floor(math.Log10(1e-3*v/p.Norm))))
			return
		}
	}
}

// Solve returns k eigenpairs. The result comes with [lanczos.ErrIterationLimit] too;
// other errors are those of [lanczos.Problem.Solve]. The graph is undirected.
func (p *Problem) Solve(ctx context.Context, g *graph.Graph, k int, s *lanczos.Settings) (*Pairs, error) {
	e := p.of(g)
	pairs, err := e.Solve(ctx, k, within(s, vectorBytes(len(g.Degrees))))
	if pairs == nil {
		return nil, err
	}
	out := &Pairs{Pairs: *pairs}
	if err != nil {
		return out, err
	}
	out.ErrorBounds = make([]float64, len(out.Residuals))
	for j, r := range out.Residuals {
		out.ErrorBounds[j] = r + e.rounding
	}
	if p.Which == lanczos.Smallest && p.Splits() {
		out.findVague()
	}
	return out, nil
}

// Memory lists what Solve takes for k pairs beside the matrix, on a graph with n nodes,
// so many entries and, where they count, components, with the memory of the settings.
func (p *Problem) Memory(n int, entries int64, components, k int, s *lanczos.Settings) []spec.Bytes {
	vectors := vectorBytes(n)
	s = within(s, vectors)
	known := 0
	if p.Splits() {
		known = components
	}
	search := lanczos.Memory(n, k, known, p.Which, s)
	bytes, more := spec.Least(search), spec.Sum(search)
	if p.Splits() && known < k {
		// LOBPCG makes the factor in what its own vectors leave.
		iteration := spec.Sum(lanczos.Memory(n, k, known, p.Which, &lanczos.Settings{Patience: -1})) + spec.Sum(iterative.CholeskyMemory(n, entries, 0))
		more = max(more, iteration)
		// Of two ways that take about as much the list has the dearer one.
		if hardly := iteration <= bytes+bytes/3; hardly && (s.Memory == 0 || iteration <= s.Memory) {
			bytes = max(bytes, iteration)
		}
	}
	further := spec.Bytes{What: "a larger basis, or a factor", Bytes: max(0, more-bytes), Optional: true}
	return []spec.Bytes{{What: "vectors of the matrix", Bytes: vectors}, {What: search[0].What, Bytes: bytes, Row: search[0].Row}, further.Upto(s.Memory, bytes)}
}

// within returns settings whose memory is less by so many bytes.
func within(s *lanczos.Settings, bytes int64) *lanczos.Settings {
	var inner lanczos.Settings
	if s != nil {
		inner = *s
	}
	inner.Memory = budget.Remaining(inner.Memory, bytes)
	return &inner
}

// vectorBytes is what the order of the rows, degrees and their roots, components, the
// matrix and known vectors take at the most.
func vectorBytes(n int) int64 {
	return 64 * int64(n)
}

// Splits reports whether each component has an eigenvector that is known, at the
// wanted end.
func (p *Problem) Splits() bool {
	switch p.Matrix {
	case AdjacencyNormalized, Transition:
		return p.Which == lanczos.Largest
	case Laplacian, LaplacianNormalized:
		return p.Which == lanczos.Smallest
	}
	return false
}

// eigenproblem is that of the symmetric matrix with what leads back to the other.
type eigenproblem struct {
	lanczos.Problem
	rounding float64 // what computing a residual may err by
}

// of returns the eigenproblem on a graph.
func (p *Problem) of(g *graph.Graph) *eigenproblem {
	e := &eigenproblem{Problem: lanczos.Problem{Which: p.Which, Near: p.Near, Beyond: p.Beyond, Positive: p.Positive}}
	largest, root := 0.0, make([]float64, len(g.Degrees))
	for i, d := range g.Degrees {
		largest, root[i] = max(largest, d), math.Sqrt(d)
	}
	norm := 1.0 // the largest sum of a row of |A|, or of what is similar to it
	var op *sparse.Operator[float64]
	switch p.Matrix {
	case Adjacency:
		op, norm = &sparse.Operator[float64]{A: g.A}, largest
	case AdjacencyNormalized:
		op = sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees)
		e.know(g, lanczos.Largest, root, 1)
	case Laplacian:
		op, norm = g.Laplacian(), 0
		for _, d := range op.Diag {
			norm = max(norm, 2*d)
		}
		e.know(g, lanczos.Smallest, nil, 0)
	case LaplacianNormalized:
		op, norm = sparse.NewOperator[float64](sparse.NormalizedLaplacian, g.A, g.Degrees), 2
		e.know(g, lanczos.Smallest, tall.Roots(g.Degrees), 0)
	case Modularity:
		gamma := p.Resolution
		if gamma == 0 {
			gamma = 1
		}
		op, norm = &sparse.Operator[float64]{A: g.A}, largest
		if vol := tall.Total(g.Degrees); vol > 0 {
			op.Gamma, op.U, op.V = -gamma/vol, g.Degrees, g.Degrees
			norm += gamma * tall.Dot(g.Degrees, g.Degrees) / vol
		}
	case Transition:
		op = sparse.NewOperator[float64](sparse.NormalizedAdjacency, g.A, g.Degrees)
		op.Diag = make([]float64, len(root))
		for i, r := range root {
			if r == 0 {
				op.Diag[i] = 1
			}
		}
		e.Scale = tall.Roots(g.Degrees)
		e.know(g, lanczos.Largest, e.Scale, 1)
	default:
		panic(badMatrix)
	}
	op.Workers = g.Workers
	e.A = op
	const allowance = 10 * 0x1p-52
	e.rounding = allowance * norm
	return e
}

// know splits off the eigenvectors that each component has of value, if their
// end of the spectrum is wanted. The rest of that end is where a factor of the
// Laplacian helps; nil weights stand for that of L, others for that of L̃.
func (e *eigenproblem) know(g *graph.Graph, end lanczos.Which, weights []float64, value float64) {
	if e.Which != end {
		return
	}
	e.Known = &lanczos.Known{Components: g.Components, Weights: weights, Value: value}
	e.Precondition = func(ctx context.Context, memory int64) (func(ctx context.Context, dst, r *sparse.Block[float64]) error, error) {
		s, err := iterative.ShiftedLaplacian(g, weights != nil, 1, 0)
		if err != nil {
			return nil, err
		}
		s.Memory = memory
		p, _, err := s.Preconditioner(ctx)
		if err != nil {
			return nil, err
		}
		return p.ApplyTo, nil
	}
}

const badMatrix = "spectral: no such matrix"
