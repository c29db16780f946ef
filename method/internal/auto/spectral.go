package auto

import (
	"context"
	"errors"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/spectral"
)

// Spectral columns are eigenvectors of S = D^-½AD^-½ at both ends, times |λ|, each row
// of unit length: where a node stands in the graph, labels or not. They are made of
// graphs of leastSpectral to mostSpectral nodes in a few components: in smaller ones
// they tell nodes apart by name, in larger ones they take longer than all the rest, and
// each component has an eigenvector that tells nothing else.
const (
	largestPairs       = 48
	smallestPairs      = 16
	spectralColumns    = largestPairs + smallestPairs
	leastSpectral      = 8 * spectralColumns
	mostSpectral       = 20_000
	spectralComponents = 8
	spectralTolerance  = 1e-3
)

// maySpread reports whether spectral columns may take part.
func maySpread(p *problem.Problem, set *Settings) bool {
	n := len(p.Degrees)
	return !set.LowEffort && n >= leastSpectral && n <= mostSpectral && (len(p.Row) > fewestLabels || p.Attributes != nil)
}

// spectralEnds are the problems to solve and the numbers of pairs.
var spectralEnds = []struct {
	which lanczos.Which
	pairs int
}{{lanczos.Largest, largestPairs}, {lanczos.Smallest, smallestPairs}}

// spread returns the spectral columns, nil for none. Cost: some hundred products with
// four columns.
func (r *weigher) spread(ctx context.Context) (*sparse.Block[float32], error) {
	if !maySpread(r.p, r.set) {
		return nil, nil
	}
	parts, err := r.p.FindComponents(ctx, r.set.Workers, &r.out.Work)
	if err != nil || len(parts.Sizes) > spectralComponents {
		return nil, err
	}
	n, memory := len(r.p.Degrees), beside(r.p, r.set)
	g := &graph.Graph{A: r.p.A, Degrees: r.p.Degrees, Components: parts, Workers: r.set.Workers, Memory: memory}
	out := piece.Block[float32](n, spectralColumns)
	at := 0
	for _, end := range spectralEnds {
		p := &spectral.Problem{Matrix: spectral.AdjacencyNormalized, Which: end.which}
		pairs, err := p.Solve(ctx, g, end.pairs, &lanczos.Settings{Tolerance: spectralTolerance, Workers: r.set.Workers, Memory: memory})
		if err != nil && !errors.Is(err, lanczos.ErrIterationLimit) {
			return nil, err
		}
		r.out.Work.Add(problem.Work{Sweeps: pairs.Products, EntryColumns: 4 * int64(pairs.Products) * r.p.A.NNZ()})
		for v := range n {
			for j, x := range pairs.Vectors.Row(v)[:end.pairs] {
				out.Row(v)[at+j] = float32(x * math.Abs(pairs.Values[j]))
			}
		}
		at += end.pairs
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

// spreadMemory lists what finding eigenvectors takes within a limit, 0 for none. They may
// not be made.
func spreadMemory(p *problem.Problem, set *Settings, limit int64) []spec.Bytes {
	if !maySpread(p, set) {
		return nil
	}
	var most, least int64
	for _, end := range spectralEnds {
		of := &spectral.Problem{Matrix: spectral.AdjacencyNormalized, Which: end.which}
		list := of.Memory(len(p.Degrees), p.A.NNZ(), spectralComponents, end.pairs, &lanczos.Settings{Memory: limit})
		most, least = max(most, spec.Sum(list)), max(least, spec.Least(list))
	}
	more := spec.Bytes{What: "more of them where progress stalls", Bytes: most - least, Optional: true}
	return []spec.Bytes{{What: "eigenvectors", Bytes: least, Row: 8 * sparse.Stride[float64](4), Optional: true}, more.Upto(limit, least)}
}
