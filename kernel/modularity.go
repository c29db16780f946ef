package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// modularity is K = FFᵀ, where F has a column √λ·u for each of the largest positive eigenvalues λ of M = A −
// γ·d·dᵀ/vol, with eigenvector u.
type modularity struct {
	graph      *graph.Graph
	team       *sparse.Team
	nodes      int     // nodes of all processes
	rank       int     // largest number of eigenpairs
	adapts     bool    // fewer than rank pairs are used if the gap between eigenvalues below them is wider
	gamma      float64 // −γ/vol; 0 without edges
	subtracted float64 // norm of the matrix subtracted from A

	features  *sparse.Block[float64] // F, once computed, padded with zero columns
	tolerance float64                // tolerance of features
	foundPairs
}

type foundPairs struct {
	Bound  float64 // bound of ‖FFᵀ − K‖
	Cut    string  // advice if Bound is infinite
	Scale  float64 // scale of rounding errors in M
	Sweeps int
	Method string
}

const (
	// fewPairs is the number of eigenpairs for learners. If no rank is given, it is also the largest number on more than
	// smallNodes nodes.
	fewPairs = 64

	// Without a given rank, a kernel on at most smallNodes nodes has all eigenpairs, which take about a second.
	smallNodes = 1000
)

var modularities = Family{
	Spec: param.Spec{
		Name: "modularity", Title: "Σ λuuᵀ over the positive eigenvalues of M = A − γ·ddᵀ/vol", Works: param.Undirected,
		Source: "Zhang and Mao, A new kernel for classification of networked entities, 2008, section 2",
		Params: []param.Param{
			{
				Name: "rank", Symbol: "rank",
				Meaning: "eigenvalues that count at the most, if they are positive; 0: all up to 1,000 nodes, else 64, or fewer where the gap behind them is wider",
				Kind:    param.Whole,
				Range:   param.From(0), Default: param.Of(0),
				Grid: []param.Value{param.Of(fewPairs)},
				On: func(rank float64, _ param.Values, g param.Graph) (float64, error) {
					if g.Len() <= fewPairs || rank == 0 && g.Len() <= smallNodes {
						return float64(g.Len()), nil
					}
					return rank, nil
				},
			},
			{
				Name: "resolution", Symbol: "γ",
				Meaning: "weight of the subtracted matrix", Range: param.Above(0),
				Default: param.Of(1.0),
			},
		},
	},
	newOn: newModularity,
	Workspace: func(v param.Values, s Shape) budget.Workspace {
		rank, _ := rankOn(v, s.Nodes)
		pairs := pairsOf(s.Nodes, rank)
		return lanczos.Workspace(s.Nodes, pairs, 0).Or(budget.Held(
			budget.Block[float64](s.Nodes, pairs), budget.Block[float64](s.Nodes, featureColumns(rank)))).AndHeld(panelBytes)
	},
}

// rankOn returns the largest number of eigenpairs on n nodes, and whether the number adapts to the gaps between
// eigenvalues.
func rankOn(v param.Values, n int) (rank int, adapts bool) {
	if rank = v.Int("rank"); rank == 0 {
		if n <= smallNodes {
			return n, false
		}
		return fewPairs, true
	}
	return min(rank, n), false
}

// newModularity returns the kernel of A − γ·ddᵀ/vol. It refuses a γ so large that rounding loses A.
func newModularity(_ context.Context, g *matrices, v param.Values) (Kernel, error) {
	team := sparse.TeamOf(g.A)
	n := team.TotalOf(len(g.Degrees))
	resolution := v.Number("resolution")
	if rank := v.Int("rank"); rank > n {
		return nil, refuse("modularity", "rank",
			"%d is out of range; give 1 to %d, the number of nodes, or none for the largest", rank, n)
	}
	vol := blocks.Total(team, g.Degrees)
	squares := blocks.Dot(team, g.Degrees, g.Degrees)
	// The subtracted matrix has norm γ‖d‖²/vol, and A has at least the mean degree as its norm; float64 must represent
	// both.
	bound := math.Inf(1)
	if vol > 0 {
		bound = vol / squares * (vol / float64(n)) / epsilon
	}
	if !(resolution <= bound) {
		return nil, refuse("modularity", "resolution",
			"%v is out of range; modularity takes 0 < γ ≤ %s on this graph: beyond it A is lost in rounding", resolution, param.End(bound, resolution, false, 6))
	}
	m := &modularity{graph: g.Graph, team: team, nodes: n}
	m.rank, m.adapts = rankOn(v, n)
	if vol > 0 {
		m.gamma = -resolution / vol
		m.subtracted = resolution * squares / vol
	}
	return m, nil
}

func (m *modularity) Len() int { return len(m.graph.Degrees) }

// prepare computes F. The tolerance is relative to size(). The first search ignores the tolerance: if one tolerance
// can be met, so can every larger one. If the error is too large, a second search has smaller residuals.
func (m *modularity) prepare(ctx context.Context, s *Settings,
	size func() float64) (Settings, error) {
	set, err := s.complete(nil)
	if err != nil {
		return set, err
	}
	for tolerance := firstResidual; ; tolerance = leastResidual {
		if m.features == nil || tolerance < m.tolerance {
			if err := m.find(ctx, set, tolerance); err != nil {
				return set, err
			}
		}
		miss := m.Bound / (set.Tolerance * size())
		switch {
		case m.Bound == 0, miss*set.Tolerance <= set.limit(), math.IsInf(set.limit(), 1):
			return set, nil
		case math.IsInf(m.Bound, 1):
			return set, refuse("modularity", "rank", "%s", m.Cut)
		case m.tolerance <= leastResidual:
			return set, tooTight(set.limit(), miss*set.Tolerance)
		}
	}
}

// Residuals of the eigenpairs relative to the norm of M: in the first search, and the smallest possible.
const (
	firstResidual = 1e-11
	leastResidual = 1e-13
)

// largest returns the largest absolute value in one column of K: the column with the largest diagonal element among
// nodes. If K is zero, it returns the scale of M.
func (m *modularity) largest(nodes []int) float64 {
	f := m.features
	column := make([]float64, f.Cols)
	for _, i := range nodes {
		if row := f.Row(i); simd.Dot(row, row) > simd.Dot(column, column) {
			column = row
		}
	}
	peak := 0.0
	for i := range f.Rows {
		peak = max(peak, math.Abs(simd.Dot(f.Row(i), column)))
	}
	return cmp.Or(blocks.MaxOver(m.team, peak), m.Scale)
}

// pairsOf returns the number of eigenpairs to compute. One more than the rank is needed, because the gap below the
// last pair decides the error bound.
func pairsOf(n, rank int) int { return min(rank+1, n) }

func (m *modularity) find(ctx context.Context, s Settings,
	tolerance float64) error {
	sweeps := m.Sweeps
	m.features = newFeatures(m.Len(), 0)
	m.tolerance = tolerance
	m.foundPairs = foundPairs{Method: "no eigenpairs"}
	if sparse.EntriesOf(m.graph.A) == 0 {
		return nil
	}
	op := &sparse.Operator[float64]{A: m.graph.A, Gamma: m.gamma,
		U: m.graph.Degrees, V: m.graph.Degrees, Workers: m.graph.Workers}
	problem := lanczos.Problem{A: op, Positive: true}
	settings := &lanczos.Settings{Tolerance: tolerance, Memory: s.Memory,
		Workers: m.graph.Workers}
	if s.Progress != nil {
		settings.Progress = func(_ string, done, _ int64) { s.progress(int(done), 0) }
	}
	pairs, err := problem.Solve(ctx, pairsOf(m.nodes, m.rank), settings)
	if err != nil {
		return err
	}
	m.Sweeps = sweeps + pairs.Products
	m.fill(pairs)
	m.Method = fmt.Sprintf("%s, %d of %d eigenpairs", pairs.Method, m.features.Cols, m.nodes)
	return nil
}

// fill computes F and its error bound from the pairs. Let M' = M − E be the map whose exact eigenpairs are the pairs;
// then ‖E‖ ≤ √2·‖R‖ with the residuals R. A function of a symmetric matrix changes by at most ‖E‖, in the Frobenius
// norm, times its largest divided difference between eigenvalues of M and of M': 1 for all positive eigenvalues, and
// λ_q/(λ_q − λ_q+1) for the q largest. Eigenvalues that may be positive only by rounding errors in A − γ·d·dᵀ/vol are
// left out and count as errors; if none is left, K is 0. Eigenvalues that may be negative by rounding errors alone
// count as errors too.
func (m *modularity) fill(pairs *lanczos.Pairs) {
	count := 0
	rank := m.rank
	if m.adapts && rank < len(pairs.Values) {
		widest := rank
		ratio := 0.0
		for r := rank; r > rank/2; r-- {
			if gap := gapBelow(pairs, r) / pairs.Values[r-1]; gap > ratio {
				widest = r
				ratio = gap
			}
		}
		rank = widest
	}
	limit := min(rank, len(pairs.Values))
	m.Scale = pairs.Norm + m.subtracted
	for count < limit && pairs.Values[count] > 16*epsilon*m.Scale {
		count++
	}
	var squares, dropped float64
	for _, r := range pairs.Residuals[:limit] {
		squares += float64(r * r)
	}
	for _, value := range pairs.Values[count:limit] {
		dropped += float64(max(0, value) * max(0, value))
	}
	hidden := max(pairs.Omitted, 4*epsilon*m.Scale)
	dropped += float64(rank-limit) * hidden * hidden
	slope := 1.0
	if count == rank && count < len(pairs.Values) {
		slope = pairs.Values[count-1] / gapBelow(pairs, count)
	}
	if math.IsInf(slope, 1) {
		m.Cut = cutsCopies(pairs, count)
	}
	top := 0.0
	if count > 0 {
		top = pairs.Values[0]
	}
	// Products with M and with vectors have rounding errors of their own.
	m.Bound = slope*(math.Sqrt2*math.Sqrt(squares)+4*epsilon*m.Scale) +
		math.Sqrt(dropped) + 16*epsilon*math.Sqrt(float64(count))*top
	m.features = newFeatures(m.Len(), count)
	if count == 0 {
		return
	}
	for i := range m.Len() {
		f := m.features.Row(i)
		u := pairs.Vectors.Row(i)
		for j := range count {
			f[j] = math.Sqrt(pairs.Values[j]) * u[j]
		}
	}
}

// gapBelow returns a lower bound of λ_rank − λ_rank+1.
func gapBelow(pairs *lanczos.Pairs, rank int) float64 {
	return max(0, pairs.Values[rank-1]-pairs.Values[rank]-pairs.Residuals[rank-1]-
		pairs.Residuals[rank])
}

// cutsCopies returns an advice with other ranks if the rank separates equal eigenvalues, or "".
func cutsCopies(pairs *lanczos.Pairs, rank int) string {
	text := fmt.Sprintf("%d is between copies of an eigenvalue, %.6g, and no tolerance can be promised; give more", rank, pairs.Values[rank])
	for r := rank - 1; r > 0; r-- {
		if gapBelow(pairs, r) > 0 {
			return fmt.Sprintf("%s, or %d", text, r)
		}
	}
	return text
}

func (m *modularity) report() *Report {
	return &Report{
		Method: m.Method, Sweeps: m.Sweeps, HalfSteps: true, ErrorBound: m.Bound,
		Condition: "no eigenvalue was missed by the iteration",
	}
}

// Block implements [Kernel].
func (m *modularity) Block(ctx context.Context, rows, cols []int, take Sink,
	s *Settings) (*Report, error) {
	columns := cols
	if len(rows) < len(cols) {
		columns = rows
	}
	set, err := m.prepare(ctx, s, func() float64 { return m.largest(columns) })
	if err != nil {
		return nil, err
	}
	report := m.report()
	height := min(len(rows), max(1, panelBytes/8/len(cols)))
	need := budget.AllOf(budget.Block[float64](m.Len(), m.features.Cols), budget.Vector[float64](height*len(cols)))
	if err := budget.Check(set.Memory, need, "the eigenvectors"); err != nil {
		return nil, err
	}
	values := make([]float64, height*len(cols))
	for lo, hi := range blocks.Slabs(len(rows), height) {
		slab := rows[lo:hi]
		panel := sparse.BlockOf(len(slab), len(cols), values[:len(slab)*len(cols)])
		if err := rowProductsTo(ctx, m.graph.Workers, panel, m.features, slab, cols); err != nil {
			return nil, err
		}
		report.Largest = max(report.Largest, blocks.Largest(nil, panel))
		if err := take(lo, 0, panel); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// ApplyTo implements [Kernel].
func (m *modularity) ApplyTo(ctx context.Context, dst, x *sparse.Block[float64],
	s *Settings) (*Report, error) {
	checkBlocks(m.Len(), dst, x)
	sizes := blocks.Norms(m.team, x)
	size := blocks.Norm(sizes)
	if _, err := m.prepare(ctx, s, func() float64 {
		f := m.features
		product := make([]float64, f.Cols*x.Cols)
		inner := sparse.BlockOf(f.Cols, x.Cols, product)
		blocks.ProductTo(m.team, inner, f, x)
		for i := range dst.Rows {
			target := dst.Row(i)
			clear(target)
			for q, v := range f.Row(i) {
				blocks.AddScaled(target, v, inner.Row(q))
			}
		}
		return blocks.Norm(blocks.Norms(m.team, dst)) / size
	}); err != nil {
		return nil, err
	}
	report := m.report()
	report.ColumnBound = sizes
	for j := range report.ColumnBound {
		report.ColumnBound[j] *= m.Bound
	}
	report.ErrorBound, report.Largest = slices.Max(report.ColumnBound),
		blocks.Largest(m.team, dst)
	return report, nil
}

const panelBytes = 8 << 20
