package auto

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// leanSteps is the number of steps of walks and of attributes where there are many classes, on large graphs. Few steps
// reach most nodes there.
const leanSteps = 6

// stepsOf returns the number of steps of walks, before they are lengthened.
func stepsOf(in *input) int {
	if in.manyClasses {
		return leanSteps
	}
	return walkSteps
}

// slabWidth returns the number of columns that are swept together: 64, or fewer within a limit for the given bytes of
// each. The results are the same.
func slabWidth(limit, bytes int64) int {
	if limit <= 0 {
		return slabColumns
	}
	return int(max(leastWidth, min(slabColumns, limit/max(1, bytes)/leastWidth*leastWidth)))
}

// leastWidth is a cache line of float32.
const leastWidth = 16

// walkClasses is walk for many classes. The columns are the groups of some classes at a time; the sum of the groups of a
// class is the walk from all its labels.
func (s *seeds) walkClasses(ctx context.Context, w *walkFeatures) (err error) {
	in := s.in
	n, k, filters := len(in.p.Degrees), len(in.p.Names), len(in.filters)
	if w.stored, err = in.files.newStore(n, filters*k); err != nil {
		return err
	}
	width := slabWidth(in.memory, walkBytes(n, 1, filters))
	op, group := s.walks()[0].op, 0
	for first := 0; first < k; {
		last, end := first, group
		for last < k && last-first < width {
			next := end
			for next < len(s.groups) && s.groups[next].class == last {
				next++
			}
			if last > first && next-group > width {
				break
			}
			last, end = last+1, next
		}
		c := &classSlab{seeds: s, first: first, group: group, sum: chunks.Block[float32](n, filters*(last-first))}
		for _, g := range s.groups[group:end] {
			c.class = append(c.class, g.class-first)
		}
		if err := c.walk(ctx, w, op); err != nil {
			return err
		}
		for f := range filters {
			if err := w.stored.put(f*k+first, c.sum.Columns(f*(last-first), (f+1)*(last-first))); err != nil {
				return err
			}
		}
		in.work.Add(problem.Work{Sweeps: s.steps, EntryColumns: int64(s.steps) * sparse.EntriesOf(in.p.A) * int64(end-group)})
		in.reportProgress(stageWalk, last, k)
		first, group = last, end
	}
	return nil
}

// walkBytes returns the size of the blocks of a slab of walks from the labels of the given number of groups.
func walkBytes(n, groups, filters int) int64 {
	return int64(n) * 4 * int64(2*groups+filters*groups)
}

// classSlab is walks from the labels of some classes.
type classSlab struct {
	*seeds
	first, group int                    // the first class, the first group
	class        []int                  // of each group, less the first one
	sum          *sparse.Block[float32] // filters × classes
}

// walk adds all steps to the sums of classes, and to the rows of learned labels.
func (c *classSlab) walk(ctx context.Context, w *walkFeatures, op *sparse.Operator[float32]) error {
	n, groups := c.sum.Rows, len(c.class)
	if groups == 0 {
		return nil
	}
	x, y := sparse.NewBlock[float32](n, groups), sparse.NewBlock[float32](n, groups)
	for i, row := range c.in.p.Row {
		if column := c.seeds.group[i] - c.group; column >= 0 && column < groups {
			x.Row(row)[column] = c.startAt(row)
		}
	}
	for _, row := range c.in.p.Row {
		c.add(w, x, sparse.Rows{Lo: row, Hi: row + 1}, stepWeights(0))
	}
	for j := 1; j <= c.steps; j++ {
		weight := stepWeights(j)
		err := op.StepTo(ctx, y, x, sparse.Step[float32]{Alpha: 1, Visit: func(rows sparse.Rows) { c.add(w, y, rows, weight) }})
		if err != nil {
			return err
		}
		x, y = y, x
	}
	return nil
}

// add adds a step at some rows.
func (c *classSlab) add(w *walkFeatures, x *sparse.Block[float32], rows sparse.Rows, weight weights) {
	start, scale := c.scaleOf(weight)
	if len(scale) == 0 {
		return
	}
	classes := c.sum.Cols / len(c.in.filters)
	mass := make([]float32, classes)
	for v := rows.Lo; v < rows.Hi; v++ {
		row := x.Row(v)
		if !slices.ContainsFunc(row, func(y float32) bool { return y != 0 }) {
			continue
		}
		clear(mass)
		for g, y := range row {
			mass[c.class[g]] += y
		}
		sums := simd.Rows[float32]{Data: c.sum.Row(v)[start*classes:], Stride: classes}
		simd.AddRows(sums, len(scale), classes, sums, scale, simd.Rows[float32]{Data: mass})
	}
	c.addHonest(w, x, 0, c.group, rows, start, scale)
}

// rows returns the rows lo ≤ v < hi of walks from all labels, in dst unless they are in one block.
func (w *walkFeatures) rows(dst *sparse.Block[float32], lo, hi int) *sparse.Block[float32] {
	if w.full != nil {
		return rowRange(w.full, lo, hi)
	}
	dst = rowRange(dst, 0, hi-lo)
	w.stored.rowsTo(dst, lo)
	return dst
}

// room returns memory for a number of rows of walks; nil where they are in one block.
func (w *walkFeatures) room(rows int) *sparse.Block[float32] {
	if w.full != nil {
		return nil
	}
	return chunks.Block[float32](rows, w.cols())
}

// row returns the row of node v.
func (w *walkFeatures) row(v int) []float32 { return w.rows(w.room(1), v, v+1).Row(0) }

// cols returns the number of columns of a row.
func (w *walkFeatures) cols() int {
	if w.full != nil {
		return w.full.Cols
	}
	return w.stored.cols
}

// manyClasses makes the views keep nothing of the size of nodes × classes, and returns the labels that ridges learn
// from: of all labels, because the learned ones are few for each class.
func (l *lens) manyClasses(in *input) (*ridgeItems, error) {
	l.many, l.steps, l.memory = in, leanSteps, in.memory
	positions := shownLabels(in.p, l.a.Cols, in.set.RNGSeed)
	items := &ridgeItems{in.p.At(positions), make([]int, len(positions))}
	for item, label := range positions {
		learned, isLearned := slices.BinarySearch(in.places, label)
		if items.learned[item] = learned; !isLearned {
			items.learned[item] = -1
		}
	}
	var err error
	if l.a.Cols <= len(in.p.Names) {
		l.ranked, err = in.files.newStore(l.a.Rows, l.a.Cols)
	}
	return items, err
}

// rankBytes returns the size of a column of the three blocks in which attributes are swept.
func rankBytes(n int) int64 { return 12 * int64(n) }

// rankedProduct returns PW, from stored rows of P.
func (l *lens) rankedProduct(w *sparse.Block[float32]) nodeScores {
	k, one, weights := w.Cols, []float32{1}, simd.Rows[float32]{Data: w.Data, Stride: w.Stride}
	return func(dst *sparse.Block[float32], lo int) {
		rows := chunks.Block[float32](dst.Rows, l.a.Cols)
		l.ranked.rowsTo(rows, lo)
		for i := range dst.Rows {
			clear(dst.Row(i))
			simd.Gather(simd.Rows[float32]{Data: dst.Row(i), Stride: k}, k, one, weights, []int64{0, int64(l.a.Cols)}, l.a.columns, rows.Row(i))
		}
	}
}

// rankedClasses returns PW, which is stored by slabs of classes. Cost: as many sweeps as steps for each slab.
func (l *lens) rankedClasses(ctx context.Context, w *sparse.Block[float32]) (nodeScores, error) {
	store, err := l.many.files.newStore(l.a.Rows, w.Cols)
	width := slabWidth(l.memory, 2*rankBytes(l.a.Rows))
	for lo := 0; lo < w.Cols && err == nil; lo += width {
		hi := min(w.Cols, lo+width)
		z := chunks.Block[float32](l.a.Rows, hi-lo)
		if err = l.rankTo(ctx, z, w.Columns(lo, hi)); err == nil {
			err = store.put(lo, z)
		}
	}
	return store.rowsTo, err
}
