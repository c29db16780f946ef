package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// The spectral features of a node are its row of the eigenvectors with the largest positive eigenvalues λ of
//
//	(D + d̄I)^-½·A·(D + d̄I)^-½,  d̄ the mean degree,
//
// times λ², scaled to unit length. Before scaling, the inner product of two rows is about the number of walks of four steps
// between the nodes. d̄ keeps nodes of few edges from having eigenvectors of their own (Qin and Rohe, Regularized spectral
// clustering under the degree-corrected stochastic blockmodel, 2013).
const (
	spectralPairs     = 32
	spectralTolerance = 1e-2

	// The search takes at most spectralProducts products with spectralWidth columns. If they cost more than spectralWork
	// entries × columns and more than reading and walking, spectral features are omitted. A node costs as much as
	// spectralNode entries.
	spectralProducts = 100
	spectralWidth    = 4
	spectralNode     = 60
	spectralWork     = 1_200_000_000
)

func hasSpectral(p *problem.Problem, set *settings, folds int) bool {
	cost := spectralWidth * spectralProducts * (sparse.EntriesOf(p.A) +
		spectralNode*int64(p.Nodes()))
	return cost <= int64(set.budget())*max(spectralWork, remainingWork(p, folds))
}

func addSpectral(ctx context.Context, f *features) error {
	e := &ridgeExtension{Form: ofEmbedding}
	x, err := e.spectralFeatures(ctx, f.in)
	if err != nil || x == nil {
		return err
	}
	labels := sampleLabels(f.in, labelLimit(x.Cols))
	workers := f.in.set.Workers
	rows := newBlock(len(labels.p.Row), x.Cols)
	for i, v := range labels.p.Row {
		copy(rows.Row(i), x.Row(v))
	}
	e.Weights = newBlock(x.Cols, len(f.in.p.Names))
	block := linearRidge(rows, e, workers, func(_ context.Context, w *featureBlock) (nodeScores, error) {
		return func(dst *featureBlock, lo int) { productTo(dst, blocks.Range(x, lo, lo+dst.Rows), w) }, nil
	})
	return addRidge(ctx, f, labels, block, ofSpectral)
}

// spectralFeatures returns the spectral features of all nodes, or nil if no eigenvalue is positive. It sets e for features of new nodes.
func (e *ridgeExtension) spectralFeatures(ctx context.Context,
	in *input) (*featureBlock, error) {
	p := in.p
	n := len(p.Degrees)
	nodes := float64(p.Nodes())
	// Pairs that have not converged are features too.
	pairs, err := SearchEmbedding(ctx, p, lanczos.Problem{Which: lanczos.Largest, Positive: true, Entries: sparse.EntriesOf(p.A)},
		min(spectralPairs, p.Nodes()), &lanczos.Settings{
			Tolerance: spectralTolerance, MaxProducts: spectralProducts,
			Workers: in.set.Workers, Memory: in.memory,
		})
	if err != nil || pairs == nil {
		return nil, err
	}
	in.work.Sweeps += pairs.Products
	x := newBlock(n, len(pairs.Values))
	lengths := make([]float64, n)
	total := 0.0
	for _, lambda := range pairs.Values {
		total += math.Pow(lambda, 4)
	}
	e.Short = float64(ShortRow*ShortRow) * total / nodes
	if in.set.Columns {
		e.keepVectors(in, pairs)
	}
	for v := range n {
		for j, lambda := range pairs.Values {
			y := pairs.Vectors.Row(v)[j] * lambda * lambda
			x.Row(v)[j] = float32(y)
			lengths[v] += float64(y * y)
		}
	}
	for v, square := range lengths {
		if p.Degrees[v] == 0 {
			clear(x.Row(v)) // rounding errors
			continue
		}
		e.scaleRow(x.Row(v), square)
	}
	return x, nil
}

// keepVectors sets what embeds a new node x. From λ·u(x) = Σ_v w·u(v)/√((d(x) + τ)·(d(v) + τ)), its row λ²u(x) before scaling follows from
// the columns λ·u(v)/√(d(v) + τ) of its neighbours (Nyström).
func (e *ridgeExtension) keepVectors(in *input, pairs *lanczos.Pairs) {
	e.Lambda = pairs.Values
	e.Width = len(pairs.Values)
	e.Loop = blocks.Total(in.p.Team(), in.p.Degrees) / float64(in.p.Nodes())
	x := newBlock(len(in.p.Degrees), e.Width)
	for v, d := range in.p.Degrees {
		for j, lambda := range e.Lambda {
			x.Row(v)[j] = float32(lambda * pairs.Vectors.Row(v)[j] / math.Sqrt(d+e.Loop))
		}
	}
	e.source = scoresIn(x)
}
