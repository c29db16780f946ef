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

// attributed are scores of ridge regression on blocks of attributes, as columns whose
// weights all classes share. Block b has class c in column b·classes + c. Rows of labels
// are those of machines that have learned from the others alone.
type attributed struct {
	blocks  int
	best    []int                    // the block whose scores of left out labels point best at their classes, by all labels and then by those outside each part
	full    []*sparse.Block[float32] // of each block: a row for each node and a column for each class
	scale   []float64                // of each block
	whole   [][]float64              // of each label, without it
	part    [][][]float64            // of each part and label, without both; nil: as whole
	shown   []bool                   // of labels: whether a ridge learns from it
	classes int
}

const (
	// attributeConstant stands beside the features of a block, whose mean squared length
	// is 1, for a bias.
	attributeConstant = 0.3

	attributeLimit = 5 // of scores, in units of their root mean square

	// nestedLabels is the number of labels up to which parts of them are left out of
	// ridges. What a ridge has from one of more labels is next to nothing.
	nestedLabels = 1000

	// A ridge learns from a sample of labels if all of them have more than ridgeValues
	// features, or if both labels and features of one are more than ridgeSide.
	ridgeValues = 16 << 20
	ridgeSide   = 2500
)

// The λ of ridges on attributes that are tried: wideLambdas where there are fewer labels
// than features, tallLambdas where there are more.
var (
	wideLambdas = []float64{0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5}
	tallLambdas = []float64{3e-6, 3e-5, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}
)

// attributeBlock is what one ridge learns from.
type attributeBlock struct {
	columns int
	rowsTo  func(dst []float32, item int)                                  // features of a label that is shown
	apply   func(ctx context.Context, dst, w *sparse.Block[float32]) error // features of all nodes times weights
}

// shownLabels returns the positions of the labels that ridges with so many features at the
// most learn from: some of each class, however many classes there are.
func shownLabels(p *problem.Problem, features int, seed uint64) []int {
	most := max(100, ridgeValues/max(1, features))
	if features > ridgeSide {
		most = min(most, ridgeSide)
	}
	return validate.Sample(p.Class, most, seed, 0)
}

// attribute makes the scores.
func (r *weigher) attribute(ctx context.Context) error {
	k := len(r.p.Names)
	table := newAttributeTable(r.p.Attributes)
	l := newLens(r.p, table, slabWidth(r.p, beside(r.p, r.set), r.set.Workers), r.set.Workers, &r.out.Work)
	items := shownLabels(r.p, l.widest(), r.set.RNGSeed)
	a := &attributed{classes: k, shown: make([]bool, len(r.p.Row))}
	nodes, y := make([]int, len(items)), make([]int, len(items))
	for at, i := range items {
		nodes[at], y[at], a.shown[i] = r.p.Row[i], r.p.Class[i], true
	}
	blocks, err := l.blocks(ctx, nodes, func(done float64) { r.tell("features", done) })
	if err != nil {
		return err
	}
	a.blocks = len(blocks)
	a.whole = attributeRows(len(r.p.Row), a.blocks*k)
	if len(r.p.Row) <= min(nestedLabels, len(items)) {
		a.part = make([][][]float64, r.sources.parts)
		for f := range a.part {
			a.part[f] = attributeRows(len(r.p.Row), a.blocks*k)
		}
	}
	// λ and the best block that a part is asked with are chosen by answers to other labels,
	// the block by those of machines that have not learned from the part either: labels that
	// happen to answer for each other would else choose what answers for both.
	takes := make([][]bool, 1+len(a.part))
	for f := range takes {
		for _, i := range items {
			takes[f] = append(takes[f], r.several[i] && (f == 0 || r.sources.part[i] != f-1))
		}
	}
	a.best = make([]int, len(takes))
	var most []float64
	for b, block := range blocks {
		cosines, err := r.attributeBlock(ctx, a, b, &block, items, y, takes)
		if err != nil {
			return err
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
	r.attributed = a
	r.out.Reached, err = r.p.Reached(ctx, known(r.p), r.set.Workers, &r.out.Work)
	return err
}

// known returns the nodes that have a label or attributes. Others know of those that
// walks come to.
func known(p *problem.Problem) []int {
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

// attributeBlock makes the scores of block b, and returns their cosines over lists of the
// items: all of them, and those outside each part by machines without it.
func (r *weigher) attributeBlock(ctx context.Context, a *attributed, b int, block *attributeBlock, items, y []int, takes [][]bool) ([]float64, error) {
	m, k := len(items), a.classes
	f := &sparse.Block[float32]{Rows: m, Cols: block.columns, Stride: block.columns, Data: make([]float32, m*block.columns)}
	classes := make([][]int, m)
	for at := range items {
		classes[at] = y[at : at+1]
		block.rowsTo(f.Row(at), at)
	}
	path, err := ridge.NewPath(ctx, f, attributeConstant, classes, k, r.set.Workers)
	if err != nil {
		return nil, err
	}
	lambdas := wideLambdas
	if m > block.columns+1 {
		lambdas = tallLambdas
	}
	best, cosines := path.Choose(lambdas, takes)
	if err := r.attributeAll(ctx, a, block, path, best[0]); err != nil {
		return nil, err
	}
	left := path.LeaveOneOut(best[0])
	for at, i := range items {
		a.columnsTo(a.whole[i][b*k:][:k], left.RawRowView(at), b)
	}
	for i, row := range r.p.Row {
		if !a.shown[i] {
			a.columnsTo(a.whole[i][b*k:][:k], doubled(a.full[b].Row(row)), b)
		}
	}
	without, apart, err := path.WithoutParts(best[1:], r.sources.part, takes[1:])
	if err != nil {
		return nil, err
	}
	copy(cosines[1:], apart)
	for part, scores := range without {
		for i := range r.p.Row {
			a.columnsTo(a.part[part][i][b*k:][:k], scores.RawRowView(i), b)
		}
	}
	return cosines, nil
}

// attributeAll appends the scores of a block for all nodes, and their unit.
func (r *weigher) attributeAll(ctx context.Context, a *attributed, block *attributeBlock, path *ridge.Path, lambda float64) error {
	n, k := len(r.p.Degrees), a.classes
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
	square, err := piece.Sums(ctx, r.set.Workers, n, 1, func(to []float64, lo, hi int) {
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
func (a *attributed) columnsTo(dst, scores []float64, b int) {
	mean := 0.0
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	for c, s := range scores {
		dst[c] = clip((s-mean)*a.scale[b], attributeLimit)
	}
}

// bestOf returns the best block by the labels outside a part, −1 for none.
func (a *attributed) bestOf(without int) int {
	if a.part == nil {
		without = -1
	}
	return a.best[1+without]
}

// rowOf returns the columns of a label without it and a part, −1 for none.
func (a *attributed) rowOf(label, without int) []float64 {
	if without < 0 || a.part == nil {
		return a.whole[label]
	}
	return a.part[without][label]
}

// nodeTo stores the columns of a node.
func (a *attributed) nodeTo(dst []float64, v int) {
	for b, full := range a.full {
		a.columnsTo(dst[b*a.classes:][:a.classes], doubled(full.Row(v)), b)
	}
}

// blocks returns what ridges learn from: attributes X, P alone, and X with its hops, each
// view of which counts the same; of few real numbers units on all of them too.
func (l *lens) blocks(ctx context.Context, nodes []int, tell func(done float64)) ([]attributeBlock, error) {
	seen, err := l.at(ctx, nodes, tell)
	if err != nil {
		return nil, err
	}
	blocks := []attributeBlock{
		l.block(seen, plainView),
		l.block(seen, rankView),
		l.block(seen, l.hops()...),
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

// hops returns X and its hops.
func (l *lens) hops() (of []view) {
	for v := plainView; int(v) < l.views(); v++ {
		of = append(of, v)
	}
	return of
}

// widest returns the number of features of the largest block.
func (l *lens) widest() int {
	n, d := l.a.Rows, l.a.Cols
	if l.a.few {
		return unitFeatures(n, d)
	}
	return d * len(l.hops())
}

// block joins views, each of the mean squared length 1/len(of) at the nodes that are
// learned from.
func (l *lens) block(seen viewed, of ...view) attributeBlock {
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
