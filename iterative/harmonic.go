package iterative

import (
	"context"
	"errors"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Harmonic is the system of harmonic functions with given values in clamped rows L,
//
//	L_UU·F_U = A_UL·F_L,  F_U = (I − T_UU)⁻¹·T_UL·F_L
//
// where U are the other rows of components that have a clamped row. Its solution is the limit of label propagation, F ← T·F
// with the clamped rows held. [System.SolveTo] takes F as x, with b = nil, and reads the values of the clamped rows. It stores
// the harmonic functions in the rows U, does not change other rows, and ignores Start.
//
// Residuals of D_U^-½·L_UU·D_U^-½ are relative to D^-½·A_UL·F_L in the rows U and √w·F_L in the other rows, where w is about
// the mean weight of an edge. D omits loops that outweigh the other edges of a node.
//
// A forest, or a graph with few edges more, is solved by elimination. So are the parts of a forest between clamped rows.
//
// If the ratio of weights exceeds 1e5, w is so small that it has no effect. A graph with few edges or nodes is then solved by
// elimination. For other graphs SolveTo bounds the error, or returns [ErrIterationLimit].
//
// If several processes share the rows, the clamped rows must be named rows, see [sparse.Team], and Jacobi is the only
// preconditioner. A signed graph is solved by its double cover, see [SolvedSize]. If several processes share a signed graph and
// its weights span many orders of magnitude, Harmonic returns [ErrIterationLimit].
// Cost: one sweep. A solve takes one sweep more than its iterations.
func Harmonic(ctx context.Context, g *graph.Graph, clamped []int) (*System, error) {
	if err := g.CheckSymmetric(ctx); err != nil {
		return nil, err
	}
	n := len(g.Degrees)
	team := sparse.TeamOf(g.A)
	free := make([]float64, n) // 1 in U, 0 in L and rows that L does not reach
	for i := range roaring.Values(g.Components.Reachable(clamped)) {
		if !team.IsPadding(int(i)) {
			free[i] = 1
		}
	}
	marks := sparse.NewBlock[float64](n, 2) // marks of U and of L
	for _, i := range clamped {
		if team != nil && !team.IsNamed(i) {
			panic(badClamp)
		}
		free[i] = 0
		marks.Row(i)[1] = 1
	}
	for i, u := range free {
		marks.Row(i)[0] = u
	}
	g = g.WithoutHeavyLoops() // a heavy loop would hide other weights in rounding errors
	among := &graph.Graph{A: g.A, Symmetric: true, Signed: g.Signed, Components: g.Components,
		Workers: g.Workers, Degrees: make([]float64, n)}
	boundary := &sparse.Operator[float64]{A: g.A, Left: free, Workers: g.Workers}
	sizes, err := graph.AbsoluteWeights(ctx, g)
	if err != nil {
		return nil, err
	}
	sums := sparse.NewBlock[float64](n, 2) // sums of the weights to U and to L; differences of degrees would lose digits
	if err := (&sparse.Operator[float64]{A: sizes.A, Left: free,
		Workers: g.Workers}).ApplyTo(ctx, sums, marks); err != nil {
		return nil, err
	}
	spread, least, err := spreadOf(ctx, g)
	if err != nil {
		return nil, err
	}
	h := &System{
		Graph: among, Edge: 1, Ground: make([]float64, n),
		Scale: make([]float64, n), Memory: g.Memory, free: free,
		boundary: boundary, wide: spread > wideSpread,
	}
	if g.Loops != nil {
		among.Loops = make([]float64, n)
	}
	w := blocks.WeightUnit(g.A, g.Degrees)
	if h.wide {
		w = math.Ldexp(1, max(-300, 2*(math.Ilogb(least/spread)/2)))
	}
	even := make([]float64, n) // the constant on U, scaled
	for i, u := range free {
		h.Ground[i], h.Scale[i] = w, math.Sqrt(w)
		if u == 0 {
			continue
		}
		among.Degrees[i], h.Ground[i] = sums.Row(i)[0], sums.Row(i)[1]
		h.Scale[i] = math.Sqrt(g.Degrees[i])
		even[i] = h.Scale[i]
		if g.Loops != nil {
			among.Loops[i] = g.Loops[i]
		}
	}
	h.startNear(even)
	if g.Signed && team == nil {
		h.cover, err = coverOf(ctx, g, clamped)
		return h, err
	}
	if g.Signed && spread > sharedSpread {
		err = errSpread
	}
	return h, err
}

func (s *System) harmonicTo(ctx context.Context, f *sparse.Block[float64],
	settings *Settings) (*Result, error) {
	if f.Rows != len(s.free) {
		panic(badShape)
	}
	for i, u := range s.free {
		if u != 0 {
			clear(f.Row(i))
		}
	}
	b := sparse.NewBlock[float64](f.Rows, f.Cols)
	if err := s.boundary.StepTo(ctx, b, f, sparse.Step[float64]{Alpha: 1}); err != nil {
		return nil, err
	}
	for i, u := range s.free {
		for j, value := range f.Row(i) {
			if u != 0 {
				b.Row(i)[j] /= s.Scale[i]
			} else {
				b.Row(i)[j] = s.Scale[i] * value
			}
		}
	}
	set := settings.withDefaults()
	set.Start = false
	set.Eliminate = true
	certifies := s.wide && set.Tolerance < roughTolerance
	if certifies {
		set.Tolerance = min(set.Tolerance, wideTolerance)
	}
	lowest, highest := s.givenRange(f)
	res, err := s.SolveTo(ctx, f, b, &set)
	for i, u := range s.free {
		solution := f
		if u == 0 {
			solution = b
		}
		for j, v := range solution.Row(i) {
			f.Row(i)[j] = v / s.Scale[i]
		}
	}
	if certifies && res != nil && res.ErrorBound == nil && (err == nil || errors.Is(err, ErrStagnation)) {
		err = s.certify(ctx, f, b)
	}
	for i, u := range s.free {
		for j, v := range f.Row(i) {
			if u != 0 {
				f.Row(i)[j] = max(lowest[j], min(highest[j], v))
			}
		}
	}
	return res, err
}

// givenRange returns the smallest and the largest value of each column of f in the rows that are not free. If the graph is
// signed, the negated values count too. Harmonic functions lie between these values.
func (s *System) givenRange(f *sparse.Block[float64]) (lows, highs []float64) {
	lows = make([]float64, f.Cols)
	highs = make([]float64, f.Cols)
	for i, u := range s.free {
		for j, v := range f.Row(i) {
			if u == 0 {
				lows[j], highs[j] = max(lows[j], -v), max(highs[j], v)
			}
			if u == 0 && s.Graph.Signed {
				lows[j], highs[j] = max(lows[j], v), max(highs[j], -v)
			}
		}
	}
	s.team().Max(lows)
	s.team().Max(highs)
	for j, v := range lows {
		lows[j] = 0 - v // not −0
	}
	return lows, highs
}

// freePart returns a with zeros in the rows and columns where free is 0. If free is nil, it returns a.
func freePart(ctx context.Context, a sparse.Matrix,
	free []float64) (sparse.Matrix, error) {
	if free == nil {
		return a, nil
	}
	return sparse.MapValues(ctx, a,
		func(i, j int, w float64) float64 { return free[i] * free[j] * w })
}
