package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

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

// attributeBlock is the features of one ridge on attributes: rows of labels, and the product of those of all nodes with
// weights but for a scale.
type attributeBlock struct {
	rows  *sparse.Block[float32]
	scale float32
	apply func(ctx context.Context, w *sparse.Block[float32]) (nodeScores, error)
	words *sparse.Block[float32] // the weights, once scores were computed
}

// ridge returns the block as ridges to classes learn from it.
func (b *attributeBlock) ridge(workers, classes int) ridgeBlock {
	lambdas := wideLambdas
	if b.rows.Rows > b.rows.Cols+1 {
		lambdas = tallLambdas
	}
	return ridgeBlock{
		lambdas: lambdas,
		path: func(ctx context.Context, targets *mat.Dense) (*ridge.Path, error) {
			return ridge.NewPath(ctx, b.rows, attributeConstant, targets, workers)
		},
		scores: func(ctx context.Context, path *ridge.Path, lambda float64) (nodeScores, error) {
			weights, shares := path.Weights(lambda)
			w := chunks.Block[float32](b.rows.Cols, classes)
			for j := range b.rows.Cols {
				for c := range classes {
					w.Row(j)[c] = b.scale * float32(weights.At(j, c))
				}
			}
			b.words = w
			products, err := b.apply(ctx, w)
			return func(dst *sparse.Block[float32], lo int) {
				products(dst, lo)
				for i := range dst.Rows {
					row := dst.Row(i)
					for c := range row {
						row[c] += float32(attributeConstant*weights.At(b.rows.Cols, c) + shares[c])
					}
				}
			}, err
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
func scoreAttributes(ctx context.Context, in *input, fold []int, hasOthers []bool) (a *ridgeScores, err error) {
	p := in.learned
	l := newLens(in.p, newAttributeTable(sparse.TeamOf(in.p.A), p.Attributes), in.set.Workers, in.work)
	l.memory, l.files = in.memory, in.files
	if learnsWords(in.p, l.a.values) {
		return scoreWords(ctx, in, l, fold)
	}
	items := itemsOf(p, shownLabels(p, l.a.Cols, in.set.RNGSeed))
	if in.manyClasses { // of all labels, because the learned ones are few for each class
		l.steps = leanSteps
		items = in.allItems(shownLabels(in.p, l.a.Cols, in.set.RNGSeed))
	}
	if l.a.Cols <= len(in.p.Names) {
		if l.ranked, err = in.files.newStore(l.a.Cols); err != nil {
			return nil, err
		}
	}
	plain, ranked, err := l.at(ctx, items.p.Row, in.reportProgress)
	if err != nil {
		return nil, err
	}
	views := []*attributeBlock{attributesOf(plain, l.apply), attributesOf(ranked, l.applyRank)}
	if in.counts {
		counts, err := countBlock(ctx, in, l, items.learned, fold)
		if err != nil {
			return nil, err
		}
		views = append(views, counts)
	}
	var list []ridgeBlock
	for _, b := range views {
		list = append(list, b.ridge(in.set.Workers, len(in.p.Names)))
	}
	a, err = newRidgeScores(ctx, in, items, fold, hasOthers, list)
	if err == nil && in.set.Explain {
		a.words, a.blockOf = []*sparse.Block[float32]{views[0].words, views[1].words}, [2]int{0, 1}
		a.rowsAt = func(ctx context.Context, nodes []int) (plain, ranked *sparse.Block[float32], err error) {
			return l.at(ctx, nodes, func(string, int, int) {})
		}
	}
	return a, err
}

// informedNodes returns the nodes that have a label or attributes. Walks from them reach the
// others of which something can be predicted.
func informedNodes(p *problem.Problem) []int {
	rows := slices.Clone(p.Row)
	for v := range p.Degrees {
		if p.Attributes.Has(v) {
			rows = append(rows, v)
		}
	}
	return rows
}

// attributesOf returns the features of labels, scaled to a mean squared length of 1, and their weighted sums.
func attributesOf(seen *sparse.Block[float32], apply func(ctx context.Context, w *sparse.Block[float32]) (nodeScores, error)) *attributeBlock {
	square := 0.0
	for _, x := range seen.Data {
		square += float64(x) * float64(x)
	}
	scale := float32(1)
	if square > 0 {
		scale = float32(math.Sqrt(float64(seen.Rows) / square))
	}
	for i := range seen.Data {
		seen.Data[i] *= scale
	}
	return &attributeBlock{rows: seen, scale: scale, apply: apply}
}
