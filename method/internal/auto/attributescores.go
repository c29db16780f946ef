package auto

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	// attributeConstant is a further feature of each block, for the bias. The mean squared
	// length of the others is 1.
	attributeConstant = 0.3

	// A ridge learns from a sample of labels if all of them have more than ridgeValues
	// features, or if both labels and features of one are more than ridgeSide.
	ridgeValues = 16 << 20
	ridgeSide   = 2500
)

// The λ of ridges on attributes are searched: wideLambdas where there are fewer labels
// than features, tallLambdas where there are more.
var (
	wideLambdas = []float64{0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5}
	tallLambdas = []float64{3e-6, 3e-5, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}
)

// attributeBlock is the features of one ridge on attributes.
type attributeBlock struct {
	columns int
	rowsTo  func(dst []float32, item int)                                  // features of a label that the ridge learns from
	apply   func(ctx context.Context, dst, w *sparse.Block[float32]) error // features of all nodes times weights
}

// ridge returns the block as ridges from a number of items to classes learn from it.
func (b *attributeBlock) ridge(items, classes, workers int) ridgeBlock {
	lambdas := wideLambdas
	if items > b.columns+1 {
		lambdas = tallLambdas
	}
	return ridgeBlock{
		lambdas: lambdas,
		path: func(ctx context.Context, y [][]int) (*ridge.Path, error) {
			f := sparse.BlockOf(items, b.columns, make([]float32, items*b.columns))
			for item := range items {
				b.rowsTo(f.Row(item), item)
			}
			return ridge.NewPath(ctx, f, attributeConstant, y, classes, workers)
		},
		scoresTo: func(ctx context.Context, dst *sparse.Block[float32], path *ridge.Path, lambda float64) error {
			weights, shares := path.Weights(lambda)
			w := chunks.Block[float32](b.columns, classes)
			for j := range b.columns {
				for c := range classes {
					w.Row(j)[c] = float32(weights.At(j, c))
				}
			}
			if err := b.apply(ctx, dst, w); err != nil {
				return err
			}
			bias := make([]float32, classes)
			for c, share := range shares {
				bias[c] = float32(attributeConstant*weights.At(b.columns, c) + share)
			}
			return chunks.Run(ctx, workers, dst.Rows, func(_, lo, hi int) {
				for v := lo; v < hi; v++ {
					row := dst.Row(v)
					for c := range row {
						row[c] += bias[c]
					}
				}
			})
		},
	}
}

// shownLabels returns the positions of the labels that ridges learn from with at most this number
// of features: some of each class, however many classes there are.
func shownLabels(p *problem.Problem, features int, seed uint64) []int {
	limit := max(100, ridgeValues/max(1, features))
	if features > ridgeSide {
		limit = min(limit, ridgeSide)
	}
	return split.Sample(p.Class, limit, seed, 0)
}

// scoreAttributes computes the scores. The folds are those of the learned labels.
func scoreAttributes(ctx context.Context, in *input, fold []int, hasOthers []bool) (*ridgeScores, error) {
	p := in.learned
	table := newAttributeTable(sparse.TeamOf(in.p.A), p.Attributes)
	l := newLens(in.p, table, in.set.Workers, in.work)
	items := shownLabels(p, widestBlock(l), in.set.RNGSeed)
	blocks, err := blocksOf(ctx, l, p.At(items).Row, in.reportProgress)
	if err != nil {
		return nil, err
	}
	var list []ridgeBlock
	for _, b := range blocks {
		list = append(list, b.ridge(len(items), len(in.p.Names), in.set.Workers))
	}
	return newRidgeScores(ctx, in, items, fold, hasOthers, list)
}

// informedNodes returns the nodes that have a label or attributes. Walks from them reach the
// others of which something can be predicted.
func informedNodes(p *problem.Problem) []int {
	rows := slices.Clone(p.Row)
	for v := range p.Degrees {
		if _, values := p.Attributes.Row(v); values != nil {
			rows = append(rows, v)
		}
	}
	return rows
}

// blocksOf returns the features of the ridges: attributes X, P alone, and X with its hops, each
// view of which has the same weight; with few real numbers random features of all of them too.
func blocksOf(ctx context.Context, l *lens, nodes []int, report func(stage string, done, total int)) ([]attributeBlock, error) {
	seen, err := l.at(ctx, nodes, report)
	if err != nil {
		return nil, err
	}
	blocks := []attributeBlock{
		joined(l, seen, plainView),
		joined(l, seen, rankView),
		joined(l, seen, hopsOf(l)...),
	}
	if l.a.isNarrow {
		u, err := newUnits(ctx, l)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, u.block(nodes))
	}
	return blocks, nil
}

// hopsOf returns X and its hops.
func hopsOf(l *lens) (list []view) {
	for v := plainView; int(v) < l.views(); v++ {
		list = append(list, v)
	}
	return list
}

// widestBlock returns the number of features of the largest block.
func widestBlock(l *lens) int {
	n, d := l.p.Nodes(), l.a.Cols
	if l.a.isNarrow {
		return unitFeatures(n, d)
	}
	return d * len(hopsOf(l))
}

// joined joins views, each of the mean squared length 1/len(views) at the nodes that are
// learned from.
func joined(l *lens, seen viewBlocks, views ...view) attributeBlock {
	d := l.a.Cols
	scale := make([]float32, len(views))
	for i, v := range views {
		square := 0.0
		for _, x := range seen[v].Data {
			square += float64(x) * float64(x)
		}
		if scale[i] = 1; square > 0 {
			scale[i] = float32(math.Sqrt(float64(seen[v].Rows) / (square * float64(len(views)))))
		}
	}
	return attributeBlock{
		columns: d * len(views),
		rowsTo: func(dst []float32, item int) {
			for i, v := range views {
				for j, x := range seen[v].Row(item) {
					dst[i*d+j] = scale[i] * x
				}
			}
		},
		apply: func(ctx context.Context, dst, w *sparse.Block[float32]) error {
			parts := make([]*sparse.Block[float32], len(views))
			for i := range views {
				parts[i] = sparse.BlockOf(d, w.Cols, w.Data[i*d*w.Cols:][:d*w.Cols])
				for j := range parts[i].Data {
					parts[i].Data[j] *= scale[i]
				}
			}
			if views[0] == rankView {
				return l.rankTo(ctx, dst, parts[0])
			}
			return l.hopsTo(ctx, dst, parts)
		},
	}
}
