package trees

import (
	"context"
	"math"
	"slices"
)

const (
	// mostClassColumns is the number of classes with their own columns of labels. Smaller classes share one: they have too
	// few labels for leaves of 20 rows.
	mostClassColumns = 64

	// Shares of labels are shrunk towards the shares of all labels as if shareMass of the mean mass of labels were spread so.
	shareMass = 0.05

	decaySteps  = 8
	decayFactor = 0.85

	// With at most fewOutputs outputs the largest and smallest share of a neighbour are columns too: on tolokers they add 0.3
	// AUC; on flickr, with nine classes, nothing.
	fewOutputs = 3
)

// labelViews are the views of shares of labels, or means of numbers.
var labelViews = []View{Mean1, Mean2, Mean3, Paths, Rare, Decayed}

// decayOf returns the weight of walks of some steps in the view Decayed.
func decayOf(step int) float64 { return math.Pow(decayFactor, float64(step)) }

// labelColumns computes columns of all nodes from labels.
type labelColumns struct {
	g       *graphWalks
	row     []int  // labelled nodes, each once
	target  *block // outputs of each labelled node: one-hot classes, 0 or 1, or numbers; unit variance
	isShare bool   // outputs are shares

	// prior is the share of each output among all labels, or 0 for numbers. It is the same for all folds: a prior without the
	// labels of a fold would tell trees which class they have.
	prior []float32

	list     []Column
	place    []int // column of target of each column of list; −1: all
	columnOf []int // column of target of each label, if targets are one-hot
}

// newLabelColumns describes the columns for the targets of the labelled nodes. output has the class of each column of target.
func newLabelColumns(g *graphWalks, row []int, target *block, output []int, isShare bool) *labelColumns {
	c := &labelColumns{g: g, row: row, target: target, isShare: isShare, prior: make([]float32, target.Cols)}
	if isShare {
		for i := range row {
			for o, y := range target.Row(i) {
				c.prior[o] += y
			}
		}
		for o, sum := range c.prior {
			c.prior[o] = (sum + 1) / float32(len(row)+target.Cols)
		}
	}
	views := labelViews
	if target.Cols <= fewOutputs {
		views = append(views[:len(views):len(views)], Most, Least)
	}
	if isShare {
		views = append(views[:len(views):len(views)], Count)
	}
	for _, view := range views {
		for o, class := range output {
			c.list = append(c.list, Column{-1, class, view})
			c.place = append(c.place, o)
		}
	}
	c.list = append(c.list, Column{-1, -1, Count})
	c.place = append(c.place, -1)
	for i := range row {
		y := target.Row(i)
		c.columnOf = append(c.columnOf, slices.Index(y, slices.Max(y)))
	}
	return c
}

// compute returns the columns of all nodes, from labels outside the hidden folds alone. It needs memory for the columns and for five
// blocks of as many columns as there are outputs. Cost: 12 or 13 sweeps.
func (c *labelColumns) compute(ctx context.Context, fold, hidden []int) (*block, error) {
	g := c.g
	n := len(g.p.Degrees)
	k := c.target.Cols
	dst := newBlock(n, len(c.list))
	y := newBlock(n, k+1) // targets, then the mass of labels
	for i, v := range c.row {
		if !slices.Contains(hidden, fold[i]) {
			copy(y.Row(v), c.target.Row(i))
			y.Row(v)[k] = 1
		}
	}
	sums := newBlock(n, k+1)
	if err := g.stepTo(ctx, g.sums, sums, y); err != nil {
		return nil, err
	}
	first := 0
	store := func(x *block) {
		c.sharesTo(dst, first, x)
		first += k
	}
	// walks
	walk := newBlock(n, k+1)
	next := newBlock(n, k+1)
	decayed := newBlock(n, k+1)
	source := y
	for step := 1; step <= decaySteps; step++ {
		if err := g.stepTo(ctx, g.walk, next, source); err != nil {
			return nil, err
		}
		factor := float32(decayOf(step))
		for v := range n {
			row := decayed.Row(v)
			for o, x := range next.Row(v) {
				row[o] += factor * x
			}
		}
		if step <= 3 {
			store(next)
		}
		walk, next = next, walk
		source = walk
	}
	// paths
	if err := g.stepTo(ctx, g.sums, next, sums); err != nil {
		return nil, err
	}
	store(next)
	for v, d := range g.p.Degrees {
		row := next.Row(v)
		for o, x := range y.Row(v) {
			row[o] = 0
			if d > 0 {
				row[o] = x / float32(d/g.unit)
			}
		}
	}
	if err := g.stepTo(ctx, g.sums, walk, next); err != nil {
		return nil, err
	}
	if err := g.stepTo(ctx, g.sums, next, walk); err != nil {
		return nil, err
	}
	store(next)
	store(decayed)
	if k <= fewOutputs {
		shares := dst.Columns(0, k)
		err := g.eachDistribution(ctx, shares, func(v, output int, d *distribution) {
			row := dst.Row(v)[first:]
			row[output] = d.most
			row[k+output] = d.least
		})
		if err != nil {
			return nil, err
		}
		first += 2 * k
	}
	for v := range n {
		row := dst.Row(v)[first:]
		counts := sums.Row(v)
		if !c.isShare {
			counts = counts[k:]
		}
		for o, x := range counts {
			row[o] = float32(math.Log1p(float64(x)))
		}
	}
	return dst, nil
}

// sharesTo stores in dst, from column first on, the means of targets, whose sums x has before the masses of labels. A node
// without mass has NaN.
func (c *labelColumns) sharesTo(dst *block, first int, x *block) {
	k := len(c.prior)
	mass := 0.0
	nodes := 0.0
	for v := range x.Rows {
		if m := x.Row(v)[k]; m > 0 {
			mass += float64(m)
			nodes++
		}
	}
	epsilon := float32(shareMass * mass / max(1, nodes))
	for v := range x.Rows {
		sums := x.Row(v)
		row := dst.Row(v)[first:][:k]
		m := sums[k]
		for o, q := range c.prior {
			row[o] = missing
			if m > 0 {
				row[o] = (sums[o] + float32(epsilon*q)) / (m + epsilon)
			}
		}
	}
}
