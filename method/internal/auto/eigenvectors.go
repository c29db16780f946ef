package auto

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/lanczos/spectral"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Spectral columns are eigenvectors of S = D^-½AD^-½ at both ends of the spectrum, times |λ|, each
// row of unit length: the position of a node in the graph, whatever the labels. Graphs of
// leastSpectral to mostSpectral nodes in a few components have them, because in smaller ones they
// identify single nodes, in larger ones they take longer than all other features, and each further
// component has an eigenvector that shows nothing else.
const (
	largestPairs       = 48
	smallestPairs      = 16
	spectralColumns    = largestPairs + smallestPairs
	leastSpectral      = 8 * spectralColumns
	mostSpectral       = 20_000
	spectralComponents = 8
	spectralTolerance  = 1e-3
)

// spectralEnds are the problems to solve and the numbers of pairs.
var spectralEnds = []struct {
	which lanczos.Which
	pairs int
}{{lanczos.Largest, largestPairs}, {lanczos.Smallest, smallestPairs}}

// eigenvectorColumns returns the spectral columns, nil for none. Cost: some hundred products
// with four columns.
func eigenvectorColumns(ctx context.Context, in *input) (*sparse.Block[float32], error) {
	if !in.eigenvectors {
		return nil, nil
	}
	parts, err := in.p.FindComponents(ctx, in.set.Workers, in.work)
	if err != nil || len(parts.Sizes) > spectralComponents {
		return nil, err
	}
	n := len(in.p.Degrees)
	g := &graph.Graph{A: in.p.A, Degrees: in.p.Degrees, Components: parts, Workers: in.set.Workers, Memory: in.memory}
	out := chunks.Block[float32](n, spectralColumns)
	column := 0
	for _, end := range spectralEnds {
		p := &spectral.Problem{Matrix: sparse.NormalizedAdjacency, Which: end.which}
		pairs, err := p.Solve(ctx, g, end.pairs, &lanczos.Settings{Tolerance: spectralTolerance, Workers: in.set.Workers, Memory: in.memory})
		if err != nil && !errors.Is(err, lanczos.ErrIterationLimit) {
			return nil, err
		}
		in.work.Add(problem.Work{Sweeps: pairs.Products, EntryColumns: 4 * int64(pairs.Products) * sparse.EntriesOf(in.p.A)})
		for v := range n {
			for j, x := range pairs.Vectors.Row(v)[:end.pairs] {
				out.Row(v)[column+j] = float32(x * math.Abs(pairs.Values[j]))
			}
		}
		column += end.pairs
	}
	for v := range n {
		squares := 0.0
		for _, x := range out.Row(v) {
			squares += float64(x) * float64(x)
		}
		if squares > 0 {
			scale := float32(1 / math.Sqrt(squares))
			for j := range out.Row(v) {
				out.Row(v)[j] *= scale
			}
		}
	}
	return out, nil
}

// eigenvectorBytes returns the largest size of a search for them, within a limit, 0 for none.
func eigenvectorBytes(p *problem.Problem, limit int64) (largest int64) {
	for _, end := range spectralEnds {
		q := &spectral.Problem{Matrix: sparse.NormalizedAdjacency, Which: end.which}
		largest = max(largest, q.Bytes(len(p.Degrees), p.A.NNZ(), spectralComponents, end.pairs))
	}
	return largest
}
