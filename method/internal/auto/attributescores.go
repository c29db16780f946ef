package auto

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/validate"
)

// attributeScores are scores of ridge regression on blocks of attributes, as columns with one
// weight for all classes. Block b has class c in column b·classes + c. Rows of labels
// are those of ridges that have learned from the other labels alone.
type attributeScores struct {
	blocks  int
	best    []int                    // the block with the largest cosine between left-out scores and classes, by all labels and then by those outside each fold
	full    []*sparse.Block[float32] // of each block: a row for each node and a column for each class
	scale   []float64                // of each block
	whole   [][]float64              // of each label, without it
	inFold  [][][]float64            // of each fold and label, without both; nil: as whole
	shown   []bool                   // of labels: whether a ridge learns from it
	classes int
}

const (
	// attributeConstant is a further feature of each block, for the bias. The mean squared
	// length of the others is 1.
	attributeConstant = 0.3

	attributeLimit = 5 // of scores, in units of their root mean square

	// nestedLabels is the number of labels up to which folds of them are left out of
	// ridges. Of more labels a single one hardly changes a ridge.
	nestedLabels = 1000

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

// attributeBlock is the features of one ridge.
type attributeBlock struct {
	columns int
	rowsTo  func(dst []float32, item int)                                  // features of a label that the ridge learns from
	apply   func(ctx context.Context, dst, w *sparse.Block[float32]) error // features of all nodes times weights
}

// shownLabels returns the positions of the labels that ridges learn from with at most this number
// of features: some of each class, however many classes there are.
func shownLabels(p *problem.Problem, features int, seed uint64) []int {
	most := max(100, ridgeValues/max(1, features))
	if features > ridgeSide {
		most = min(most, ridgeSide)
	}
	return validate.Sample(p.Class, most, seed, 0)
}

// scoreAttributes computes the scores. The folds are those of the learned labels.
func scoreAttributes(ctx context.Context, in *input, fold []int, hasOthers []bool) (*attributeScores, error) {
	p, k := in.learned, len(in.p.Names)
	table := newAttributeTable(p.Attributes)
	l := newLens(in.p, table, slabWidth(in.p, in.memory, in.set.Workers), in.set.Workers, in.work)
	items := shownLabels(p, widestBlock(l), in.set.RNGSeed)
	a := &attributeScores{classes: k, shown: make([]bool, len(p.Row))}
	nodes, y := make([]int, len(items)), make([]int, len(items))
	for at, i := range items {
		nodes[at], y[at], a.shown[i] = p.Row[i], p.Class[i], true
	}
	blocks, err := blocksOf(ctx, l, nodes, in.reportProgress)
	if err != nil {
		return nil, err
	}
	a.blocks = len(blocks)
	a.whole = attributeRows(len(p.Row), a.blocks*k)
	if len(p.Row) <= min(nestedLabels, len(items)) {
		a.inFold = make([][][]float64, in.folds)
		for f := range a.inFold {
			a.inFold[f] = attributeRows(len(p.Row), a.blocks*k)
		}
	}
	// λ and the best block for a fold are chosen by the predictions of other labels, the block by
	// those of ridges that have not learned from the fold either. Otherwise labels that happen to
	// predict each other would choose the block that predicts both.
	takes := make([][]bool, 1+len(a.inFold))
	for f := range takes {
		for _, i := range items {
			takes[f] = append(takes[f], hasOthers[i] && (f == 0 || fold[i] != f-1))
		}
	}
	a.best = make([]int, len(takes))
	r := &attributeRidges{in: in, scores: a, fold: fold, items: items, y: y, takes: takes}
	var most []float64
	for b, block := range blocks {
		cosines, err := r.add(ctx, b, &block)
		if err != nil {
			return nil, err
		}
		if b == 0 {
			most = cosines
		}
		for f, cosine := range cosines {
			if cosine > most[f] {
				most[f], a.best[f] = cosine, b
			}
		}
	}
	return a, nil
}

// attributeRidges fits a ridge to one block after the other.
type attributeRidges struct {
	in       *input
	scores   *attributeScores
	fold     []int    // of labels
	items, y []int    // labels to learn from, and their classes
	takes    [][]bool // the items that choose λ: of all labels, and for each fold
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

func attributeRows(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

// add computes the scores of block b, and returns the cosines between left-out scores and
// classes: over all items, and over those outside each fold by ridges without it.
func (r *attributeRidges) add(ctx context.Context, b int, block *attributeBlock) ([]float64, error) {
	a, p := r.scores, r.in.learned
	m, k := len(r.items), a.classes
	f := &sparse.Block[float32]{Rows: m, Cols: block.columns, Stride: block.columns, Data: make([]float32, m*block.columns)}
	classes := make([][]int, m)
	for at := range r.items {
		classes[at] = r.y[at : at+1]
		block.rowsTo(f.Row(at), at)
	}
	path, err := ridge.NewPath(ctx, f, attributeConstant, classes, k, r.in.set.Workers)
	if err != nil {
		return nil, err
	}
	lambdas := wideLambdas
	if m > block.columns+1 {
		lambdas = tallLambdas
	}
	best, cosines := path.Choose(lambdas, r.takes)
	if err := r.addNodes(ctx, block, path, best[0]); err != nil {
		return nil, err
	}
	left := path.LeaveOneOut(best[0])
	for at, i := range r.items {
		a.columnsTo(a.whole[i][b*k:][:k], left.RawRowView(at), b)
	}
	for i, row := range p.Row {
		if !a.shown[i] {
			a.columnsTo(a.whole[i][b*k:][:k], doubled(a.full[b].Row(row)), b)
		}
	}
	without, apart, err := path.WithoutParts(best[1:], r.fold, r.takes[1:])
	if err != nil {
		return nil, err
	}
	copy(cosines[1:], apart)
	for f, scores := range without {
		for i := range p.Row {
			a.columnsTo(a.inFold[f][i][b*k:][:k], scores.RawRowView(i), b)
		}
	}
	return cosines, nil
}

// addNodes appends the scores of a block for all nodes, and their unit.
func (r *attributeRidges) addNodes(ctx context.Context, block *attributeBlock, path *ridge.Path, lambda float64) error {
	a := r.scores
	n, k := len(r.in.p.Degrees), a.classes
	weights, shares := path.Weights(lambda)
	w, full := piece.Block[float32](block.columns, k), piece.Block[float32](n, k)
	for j := range block.columns {
		for c := range k {
			w.Row(j)[c] = float32(weights.At(j, c))
		}
	}
	if err := block.apply(ctx, full, w); err != nil {
		return err
	}
	square, err := piece.Sums(ctx, r.in.set.Workers, n, 1, func(to []float64, lo, hi int) {
		for v := lo; v < hi; v++ {
			row, mean := full.Row(v), 0.0
			for c := range row {
				row[c] += float32(attributeConstant*weights.At(block.columns, c) + shares[c])
				mean += float64(row[c]) / float64(k)
			}
			for _, s := range row {
				to[0] += math.Pow(float64(s)-mean, 2)
			}
		}
	})
	a.full = append(a.full, full)
	a.scale = append(a.scale, 1/(math.Sqrt(square[0]/float64(n*k))+1e-9))
	return err
}

// columnsTo stores the columns of block b for its scores: less their mean, in units of
// their root mean square.
func (a *attributeScores) columnsTo(dst, scores []float64, b int) {
	mean := 0.0
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	for c, s := range scores {
		dst[c] = clip((s-mean)*a.scale[b], attributeLimit)
	}
}

// bestOf returns the best block by the labels outside a fold, −1 for none.
func (a *attributeScores) bestOf(without int) int {
	if a.inFold == nil {
		without = -1
	}
	return a.best[1+without]
}

// rowOf returns the columns of a label without it and a fold, −1 for none; nil if there are none.
func (a *attributeScores) rowOf(label, without int) []float64 {
	if a == nil {
		return nil
	}
	if without < 0 || a.inFold == nil {
		return a.whole[label]
	}
	return a.inFold[without][label]
}

// nodeTo stores the columns of a node.
func (a *attributeScores) nodeTo(dst []float64, v int) {
	for b, full := range a.full {
		a.columnsTo(dst[b*a.classes:][:a.classes], doubled(full.Row(v)), b)
	}
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
	if l.a.few {
		u, err := newUnits(ctx, l)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, u.block(nodes))
	}
	return blocks, nil
}

// hopsOf returns X and its hops.
func hopsOf(l *lens) (of []view) {
	for v := plainView; int(v) < l.views(); v++ {
		of = append(of, v)
	}
	return of
}

// widestBlock returns the number of features of the largest block.
func widestBlock(l *lens) int {
	n, d := l.a.Rows, l.a.Cols
	if l.a.few {
		return unitFeatures(n, d)
	}
	return d * len(hopsOf(l))
}

// joined joins views, each of the mean squared length 1/len(of) at the nodes that are
// learned from.
func joined(l *lens, seen viewBlocks, of ...view) attributeBlock {
	d := l.a.Cols
	scale := make([]float32, len(of))
	for i, v := range of {
		square := 0.0
		for _, x := range seen[v].Data {
			square += float64(x) * float64(x)
		}
		if scale[i] = 1; square > 0 {
			scale[i] = float32(math.Sqrt(float64(seen[v].Rows) / (square * float64(len(of)))))
		}
	}
	return attributeBlock{
		columns: d * len(of),
		rowsTo: func(dst []float32, item int) {
			for i, v := range of {
				for j, x := range seen[v].Row(item) {
					dst[i*d+j] = scale[i] * x
				}
			}
		},
		apply: func(ctx context.Context, dst, w *sparse.Block[float32]) error {
			parts := make([]*sparse.Block[float32], len(of))
			for i := range of {
				parts[i] = sparse.BlockOf(d, w.Cols, w.Data[i*d*w.Cols:][:d*w.Cols])
				for j := range parts[i].Data {
					parts[i].Data[j] *= scale[i]
				}
			}
			if of[0] == rankView {
				return l.rankTo(ctx, dst, parts[0])
			}
			return l.hopsTo(ctx, dst, parts)
		},
	}
}
