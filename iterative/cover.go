package iterative

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// SolvedSize returns the numbers of nodes and entries of the graph whose system [Harmonic] solves:
// g or the double cover of g. bytes is the memory of the double cover, or 0 if the graph is g.
//
// The double cover of a signed graph has two nodes for each node, the node and its opposite. An edge of positive weight joins
// equal copies, an edge of negative weight w joins opposite copies with weight |w|. A solution of the signed system with b is
// a solution of the cover with b and −b. If several processes share the rows, there is no cover.
func SolvedSize(g *graph.Graph) (n int, entries, bytes int64) {
	n = len(g.Degrees)
	entries = g.A.NNZ()
	if !g.Signed || sparse.TeamOf(g.A) != nil {
		return n, entries, 0
	}
	n *= 2
	entries *= 2
	return n, entries, 12*entries + 32*int64(n)
}

// coverOf returns the harmonic system of the double cover of a signed graph.
func coverOf(ctx context.Context, g *graph.Graph, clamped []int) (*System, error) {
	n, entries, _ := SolvedSize(g)
	start := make([]int64, 1, n+1)
	col := make([]uint32, 0, entries)
	val := make([]float64, 0, entries)
	err := sparse.EachRow(ctx, g.A, 1, func(_, _ int, ends []uint32, weights []float64) error {
		for copied := range uint32(2) {
			for e, j := range ends {
				end := 2*j + copied
				if weights[e] < 0 {
					end ^= 1
				}
				col = append(col, end)
				val = append(val, math.Abs(weights[e]))
			}
			start = append(start, int64(len(col)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a, err := sparse.NewCSR(n, n, start, col, val)
	if err != nil {
		return nil, err
	}
	cover, err := graph.New(ctx, a, &graph.Settings{Symmetric: true, Workers: g.Workers})
	if err != nil {
		return nil, err
	}
	rows := make([]int, 0, 2*len(clamped))
	for _, i := range clamped {
		rows = append(rows, 2*i, 2*i+1)
	}
	return Harmonic(ctx, cover, rows)
}

func (s *System) coveredTo(ctx context.Context, x, b *sparse.Block[float64], settings *Settings) (*Result, error) {
	s.cover.Memory = s.Memory
	s.cover.Sampled = s.Sampled
	source := b
	if b == nil {
		source = x
	}
	doubled := func(from *sparse.Block[float64]) *sparse.Block[float64] {
		to := sparse.NewBlock[float64](2*from.Rows, from.Cols)
		for i := range from.Rows {
			blocks.AddScaled(to.Row(2*i), 1, from.Row(i))
			blocks.AddScaled(to.Row(2*i+1), -1, from.Row(i))
		}
		return to
	}
	f := doubled(source)
	var right *sparse.Block[float64]
	if b != nil {
		right = f
		f = sparse.NewBlock[float64](f.Rows, f.Cols)
	}
	out, err := s.cover.SolveTo(ctx, f, right, settings)
	for i := range x.Rows {
		if b == nil && s.free[i] == 0 {
			continue
		}
		opposite := f.Row(2*i + 1)
		for j, v := range f.Row(2 * i) {
			x.Row(i)[j] = (v - opposite[j]) / 2
		}
	}
	return out, err
}
