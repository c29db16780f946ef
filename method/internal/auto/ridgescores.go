package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// ridgeScores are scores of ridge regressions on blocks of features, as columns with one
// weight for all classes. Block b has class c in column b·classes + c. Rows of labels
// are those of ridges that have learned from the other labels alone.
type ridgeScores struct {
	blocks  int
	best    []int         // the block with the largest cosine between left-out scores and classes, by all labels and then by those outside each fold
	full    []nodeScores  // of each block
	scale   []float64     // of each block
	leftOut [][]float64   // of each label, without it
	inFold  [][][]float64 // of each fold and label, without both; nil: as whole
	shown   []bool        // of labels: whether a ridge learns from it
	classes int

	// Of attributes: two rows of features of some nodes, their weights, and the block that each takes part in.
	rowsAt  func(ctx context.Context, nodes []int) (plain, propagated *sparse.Block[float32], err error)
	words   []*sparse.Block[float32]
	blockOf [2]int
}

const (
	ridgeLimit = 5 // scores are clipped to ±5 times their root mean square

	// nestedLabels is the number of labels up to which folds of them are left out of
	// ridges. Of more labels a single one hardly changes a ridge.
	nestedLabels = 1000
)

// ridgeBlock is the features of one ridge.
type ridgeBlock struct {
	lambdas []float64

	// path returns the ridge on the features of the items that it learns from, with the targets of classes.
	path func(ctx context.Context, targets *mat.Dense) (*ridge.Path, error)

	// scores returns the scores of nodes.
	scores func(ctx context.Context, path *ridge.Path, lambda float64) (nodeScores, error)
}

// nodeScores stores the scores of the nodes from lo on, a row for each and a column for each class.
type nodeScores func(dst *sparse.Block[float32], lo int)

// scoresIn returns the scores in a block.
func scoresIn(full *sparse.Block[float32]) nodeScores {
	return func(dst *sparse.Block[float32], lo int) { copyRows(dst, rowRange(full, lo, lo+dst.Rows)) }
}

// ridgeItems are the labels that ridges learn from.
type ridgeItems struct {
	p       *problem.Problem // with these labels alone
	learned []int            // of each the position among the learned labels, −1: it is not one
}

// itemsOf returns some of the learned labels as items.
func itemsOf(learned *problem.Problem, positions []int) *ridgeItems {
	return &ridgeItems{learned.At(positions), positions}
}

// allItems returns some of all labels as items.
func (in *input) allItems(positions []int) *ridgeItems {
	items := &ridgeItems{in.p.At(positions), make([]int, len(positions))}
	for item, label := range positions {
		learned, isLearned := slices.BinarySearch(in.places, label)
		if items.learned[item] = learned; !isLearned {
			items.learned[item] = -1
		}
	}
	return items
}

// newRidgeScores computes the scores of blocks. The folds are those of the learned labels.
func newRidgeScores(ctx context.Context, in *input, items *ridgeItems, fold []int, hasOthers []bool, blocks []ridgeBlock) (*ridgeScores, error) {
	p, k := in.learned, len(in.p.Names)
	a := &ridgeScores{classes: k, blocks: len(blocks), shown: make([]bool, len(p.Row)), leftOut: rowsOf(len(p.Row), len(blocks)*k)}
	y := make([][]int, len(items.learned))
	for item, i := range items.learned {
		if y[item] = items.p.Class[item : item+1]; i >= 0 {
			a.shown[i] = true
		}
	}
	if len(y) == len(p.Row) && len(y) <= nestedLabels {
		a.inFold = make([][][]float64, in.folds)
		for f := range a.inFold {
			a.inFold[f] = rowsOf(len(p.Row), a.blocks*k)
		}
	}
	// λ and the best block for a fold are chosen by the predictions of other labels, the block by
	// those of ridges that have not learned from the fold either. Otherwise labels that happen to
	// predict each other would choose the block that predicts both.
	takes := make([][]bool, 1+len(a.inFold))
	for f := range takes {
		for _, i := range items.learned {
			takes[f] = append(takes[f], i >= 0 && hasOthers[i] && (f == 0 || fold[i] != f-1))
		}
	}
	a.best = make([]int, len(takes))
	r := &ridgeRegression{in: in, scores: a, fold: fold, items: items, y: y, takes: takes}
	var highest []float64
	for b, block := range blocks {
		cosines, err := r.add(ctx, b, &block)
		if err != nil {
			return nil, err
		}
		if b == 0 {
			highest = cosines
		}
		for f, cosine := range cosines {
			if cosine > highest[f] {
				highest[f], a.best[f] = cosine, b
			}
		}
	}
	return a, nil
}

// rowsOf returns rows of zeros.
func rowsOf(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

// ridgeRegression fits a ridge to one block after the other.
type ridgeRegression struct {
	in     *input
	scores *ridgeScores
	fold   []int // of labels
	items  *ridgeItems
	y      [][]int
	takes  [][]bool // the items that choose λ: of all labels, and for each fold
}

// add computes the scores of block b, and returns the cosines between left-out scores and
// classes: over all items, and over those outside each fold by ridges without it.
func (r *ridgeRegression) add(ctx context.Context, b int, block *ridgeBlock) ([]float64, error) {
	a, p := r.scores, r.in.learned
	k := a.classes
	path, err := block.path(ctx, ridge.OneHot(r.y, k))
	if err != nil {
		return nil, err
	}
	best, cosines := path.Choose(block.lambdas, r.takes)
	full, err := block.scores(ctx, path, best[0])
	if err == nil {
		err = a.addNodes(ctx, r.in, full)
	}
	if err != nil {
		return nil, err
	}
	left := path.LeaveOneOut(best[0])
	for item, i := range r.items.learned {
		if i >= 0 {
			a.columnsTo(a.leftOut[i][b*k:][:k], left.RawRowView(item), b)
		}
	}
	one := chunks.Block[float32](1, k)
	for i, row := range p.Row {
		if !a.shown[i] {
			a.full[b](one, row)
			a.columnsTo(a.leftOut[i][b*k:][:k], doubled(one.Row(0)), b)
		}
	}
	foldScores, foldCosines, err := path.WithoutParts(best[1:], r.fold, r.takes[1:])
	if err != nil {
		return nil, err
	}
	copy(cosines[1:], foldCosines)
	for f, scores := range foldScores {
		for i := range p.Row {
			a.columnsTo(a.inFold[f][i][b*k:][:k], scores.RawRowView(i), b)
		}
	}
	return cosines, nil
}

// addNodes appends the scores of a block for all nodes, and their unit.
func (a *ridgeScores) addNodes(ctx context.Context, in *input, full nodeScores) error {
	n, k := len(in.p.Degrees), a.classes
	square, err := chunks.Sums(ctx, sparse.TeamOf(in.p.A), in.set.Workers, n, 2, func(sums []float64, lo, hi int) {
		one := chunks.Block[float32](1, k)
		for v := lo; v < hi; v++ {
			if !isMeasured(in.p, v) {
				continue
			}
			full(one, v)
			row, mean := one.Row(0), 0.0
			sums[1]++
			for _, s := range row {
				mean += float64(s) / float64(k)
			}
			for _, s := range row {
				sums[0] += math.Pow(float64(s)-mean, 2)
			}
		}
	})
	a.full = append(a.full, full)
	a.scale = append(a.scale, 1/(math.Sqrt(square[0]/max(1, square[1]*float64(k)))+1e-9))
	return err
}

// columnsTo stores the columns of block b for its scores: less their mean, in units of
// their root mean square.
func (a *ridgeScores) columnsTo(dst, scores []float64, b int) {
	mean := 0.0
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	for c, s := range scores {
		dst[c] = clip((s-mean)*a.scale[b], ridgeLimit)
	}
}

// bestOf returns the best block by the labels outside a fold, −1 for none.
func (a *ridgeScores) bestOf(hidden int) int {
	if a.inFold == nil {
		hidden = -1
	}
	return a.best[1+hidden]
}

// rowOf returns the columns of a label without it and a fold, −1 for none; nil if there are none.
func (a *ridgeScores) rowOf(label, hidden int) []float64 {
	if a == nil {
		return nil
	}
	if hidden < 0 || a.inFold == nil {
		return a.leftOut[label]
	}
	return a.inFold[hidden][label]
}

// row returns memory for the columns of a node; nil if there are none.
func (a *ridgeScores) row() []float64 {
	if a == nil {
		return nil
	}
	return make([]float64, a.blocks*a.classes)
}

// scoresOf returns the scores of all blocks at a node; nil if there are none.
func (a *ridgeScores) scoresOf(v int) (scores []float64) {
	if a != nil {
		one := chunks.Block[float32](1, a.classes)
		for _, full := range a.full {
			full(one, v)
			scores = append(scores, doubled(one.Row(0))...)
		}
	}
	return scores
}

// columnsOf stores the columns of scores of all blocks.
func (a *ridgeScores) columnsOf(dst, scores []float64) {
	for lo := 0; lo < len(scores); lo += a.classes {
		a.columnsTo(dst[lo:lo+a.classes], scores[lo:lo+a.classes], lo/a.classes)
	}
}

// addContributions adds the contributions of the attributes of nodes, with a weight for the score of each block and class,
// to their terms. Those of the second block are of means over near nodes; a third block is not divided.
func (a *ridgeScores) addContributions(ctx context.Context, nodes []int, weights []inputs, terms []explain.Terms) error {
	plain, propagated, err := a.rowsAt(ctx, nodes)
	if err != nil {
		return err
	}
	for j := range nodes {
		for column := range plain.Cols {
			sum := 0.0
			for i, values := range []*sparse.Block[float32]{plain, propagated} {
				if x := values.Row(j)[column]; x != 0 {
					for c, w := range a.words[i].Row(column) {
						sum += float64(x*w) * weights[j].attributes[a.blockOf[i]*a.classes+c]
					}
				}
			}
			if sum != 0 {
				terms[j].Attributes = append(terms[j].Attributes, explain.Attribute{Column: column, Share: sum})
			}
		}
		for i, w := range weights[j].attributes { // intercepts, and blocks that are not divided
			terms[j].Rest += w * a.scoresOf(nodes[j])[i]
		}
		for _, word := range terms[j].Attributes {
			terms[j].Rest -= word.Share
		}
	}
	return nil
}

// rowsTo stores the scores of the nodes lo ≤ v < hi of all blocks.
func (a *ridgeScores) rowsTo(dst *sparse.Block[float32], lo, hi int) {
	if a == nil {
		return
	}
	for b, full := range a.full {
		full(rowRange(dst.Columns(b*a.classes, (b+1)*a.classes), 0, hi-lo), lo)
	}
}

// room returns memory for the scores of a number of nodes.
func (a *ridgeScores) room(rows int) *sparse.Block[float32] {
	if a == nil {
		return &sparse.Block[float32]{Rows: rows}
	}
	return chunks.Block[float32](rows, a.blocks*a.classes)
}
