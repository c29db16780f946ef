package classify

import (
	"math"
	"slices"
)

// Settings of trees are the usual ones of scikit-learn's HistGradientBoosting and LightGBM, with half of their leaves,
// because the labels of a graph are few.
const (
	treeLeaves    = 16
	treeShrinkage = 0.1
	treeRidge     = 1  // λ, added to second derivatives
	treeRows      = 20 // least number of rows of a leaf

	// Second derivatives that are added to those of a category, when categories are ordered (cat_smooth of LightGBM) and when
	// a split by categories is measured (cat_l2 of LightGBM), because a split has a choice among many sets of categories.
	// Categories of fewer than rareCategory rows of a leaf are not ordered: they stay together.
	categorySmoothing = 10
	categoryRidge     = 10
	rareCategory      = 10
)

// derivatives holds the first derivative of the loss of a row or a sum over rows in fixed point, and the second derivative
// beside the number of rows. Sums of integers do not depend on the order of the rows.
type derivatives struct {
	first  int64
	second uint64 // second derivative · 2^rowBits + number of rows
}

// The bits of the number of rows, of second derivatives, and of first derivatives, whose sums must be exact in float64.
const (
	rowBits    = 24
	secondBits = 64 - rowBits
	firstBits  = 52
)

func (d derivatives) rows() int { return int(d.second & (1<<rowBits - 1)) }

func (d *derivatives) add(e derivatives) {
	d.first += e.first
	d.second += e.second
}

func (d derivatives) minus(e derivatives) derivatives {
	return derivatives{d.first - e.first, d.second - e.second}
}

// fixedPoint converts derivatives to fixed point, with scales that are powers of two.
type fixedPoint struct{ first, second float64 }

// newFixedPoint returns scales for the sums over the given number of rows of derivatives up to the given bounds.
func newFixedPoint(rows int, first, second float64) fixedPoint {
	return fixedPoint{powerBelow(firstBits, float64(rows)*first), powerBelow(secondBits-1, float64(rows)*second)}
}

// powerBelow returns the largest power of two whose product with x is below 2^bits, or 1 if x is not positive.
func powerBelow(bits int, x float64) float64 {
	if !(x > 0) {
		return 1
	}
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, bits-exponent)
}

func (f fixedPoint) of(first, second float64) derivatives {
	return derivatives{int64(math.Round(first * f.first)), uint64(math.Round(second*f.second))<<rowBits | 1}
}

func (f fixedPoint) firstOf(d derivatives) float64  { return float64(d.first) / f.first }
func (f fixedPoint) secondOf(d derivatives) float64 { return float64(d.second>>rowBits) / f.second }

// value returns the score of a leaf, −η·G/(H + λ).
func (f fixedPoint) value(d derivatives) float64 {
	return -treeShrinkage * f.firstOf(d) / (f.secondOf(d) + treeRidge)
}

// grower grows trees. It is the workspace of a worker.
type grower struct {
	bins       *bins
	model      int   // whose codes are used
	columns    []int // positions in bins.columns of the columns that the tree may use
	scale      fixedPoint
	derivative []derivatives // by row
	ordered    []derivatives // of the rows of a leaf, in their order
	rows, held []int32       // rows that are learned and rows that are only predicted, by leaf
	spare      []int32
	histograms [][]derivatives // of leaves, by used column and bin
	unused     []int           // histograms of no leaf
	leaves     []leaf
	order      []orderedCategory
}

// leaf is a leaf of a tree that grows.
type leaf struct {
	node       int32
	sum        derivatives
	rows, held [2]int // first and last position in grower.rows and grower.held
	histogram  int    // −1: none
	split      split
}

// split is the best division of the rows of a leaf.
type split struct {
	gain        float64 // 0: there is none
	column      int     // in bins.columns
	bin         int     // last bin that goes left
	isSet       bool    // bins in set go left
	set         [4]uint64
	missingLeft bool
	left        derivatives
}

// newGrower returns a grower for trees that use columns with at most the given number of bins together.
func newGrower(b *bins, rows, binCount int) *grower {
	g := &grower{bins: b, derivative: make([]derivatives, rows), ordered: make([]derivatives, rows), rows: make([]int32, 0, rows), held: make([]int32, 0, rows),
		spare: make([]int32, rows)}
	for h := range treeLeaves {
		g.histograms = append(g.histograms, make([]derivatives, binCount))
		g.unused = append(g.unused, h)
	}
	return g
}

// grow returns a tree for the derivatives of g.rows, and calls visit with the value and the rows of each leaf.
func (g *grower) grow(visit func(value float64, rows, held []int32)) Tree {
	var t Tree
	root := leaf{rows: [2]int{0, len(g.rows)}, held: [2]int{0, len(g.held)}, histogram: g.take()}
	for _, r := range g.rows {
		root.sum.add(g.derivative[r])
	}
	t.Nodes = append(t.Nodes, TreeNode{Value: g.scale.value(root.sum)})
	g.count(&root)
	g.search(&root)
	g.leaves = append(g.leaves[:0], root)
	for len(g.leaves) < treeLeaves {
		best := 0
		for i := range g.leaves {
			if g.leaves[i].split.gain > g.leaves[best].split.gain {
				best = i
			}
		}
		if g.leaves[best].split.gain <= 0 {
			break
		}
		g.divide(&t, best, len(g.leaves)+1 < treeLeaves)
	}
	for i := range g.leaves {
		l := &g.leaves[i]
		g.release(l)
		visit(t.Nodes[l.node].Value, g.rows[l.rows[0]:l.rows[1]], g.held[l.held[0]:l.held[1]])
	}
	return t
}

func (g *grower) take() int {
	last := len(g.unused) - 1
	h := g.unused[last]
	g.unused = g.unused[:last]
	return h
}

func (g *grower) release(l *leaf) {
	if l.histogram >= 0 {
		g.unused = append(g.unused, l.histogram)
		l.histogram = -1
	}
}

// divide splits leaf i into two. If continues is set, it searches the best splits of both.
func (g *grower) divide(t *Tree, i int, continues bool) {
	parent := g.leaves[i]
	s := &parent.split
	c := &g.bins.columns[s.column]
	first := int32(len(t.Nodes))
	n := &t.Nodes[parent.node]
	n.Left = first
	n.Column = int32(c.column)
	if s.isSet {
		t.Sets = append(t.Sets, s.set)
		n.Set = int32(len(t.Sets))
	} else {
		n.MissingLeft = s.missingLeft
		n.Cut = float32(math.Inf(1)) // only missing values go right
		if s.bin < len(c.cuts) {
			n.Cut = c.cuts[s.bin]
		}
	}
	left := leaf{node: first, sum: s.left, histogram: -1}
	right := leaf{node: first + 1, sum: parent.sum.minus(s.left), histogram: -1}
	t.Nodes = append(t.Nodes, TreeNode{Value: g.scale.value(left.sum)}, TreeNode{Value: g.scale.value(right.sum)})
	left.rows, right.rows = g.partition(g.rows, parent.rows, c, s)
	left.held, right.held = g.partition(g.held, parent.held, c, s)
	if continues {
		smaller, larger := &left, &right
		if right.sum.rows() < left.sum.rows() {
			smaller, larger = &right, &left
		}
		larger.histogram = parent.histogram
		if larger.sum.rows() >= 2*treeRows {
			smaller.histogram = g.take()
			g.count(smaller)
			whole := g.histograms[larger.histogram]
			for b, d := range g.histograms[smaller.histogram][:g.bins.countOf(g.columns)] {
				whole[b] = whole[b].minus(d)
			}
			g.search(larger)
			g.search(smaller)
		}
	} else {
		g.release(&parent)
	}
	for _, l := range []*leaf{&left, &right} {
		if l.split.gain <= 0 {
			g.release(l)
		}
	}
	g.leaves[i] = left
	g.leaves = append(g.leaves, right)
}

// partition moves the rows of bounds that go left before the others. Both keep their order.
func (g *grower) partition(rows []int32, bounds [2]int, c *binColumn, s *split) (left, right [2]int) {
	list := rows[bounds[0]:bounds[1]]
	code := c.codeFor(g.model)
	isLeft := s.goesLeft(c.count)
	count := 0
	others := 0
	spare := g.spare
	for _, r := range list {
		if isLeft[code[r]] {
			list[count] = r
			count++
		} else {
			spare[others] = r
			others++
		}
	}
	copy(list[count:], spare[:others])
	middle := bounds[0] + count
	return [2]int{bounds[0], middle}, [2]int{middle, bounds[1]}
}

// goesLeft returns whether each bin goes left. missing is the bin of missing values.
func (s *split) goesLeft(missing int) (isLeft [256]bool) {
	for b := range missing {
		isLeft[b] = b <= s.bin
		if s.isSet {
			isLeft[b] = s.set[b/64]>>(b%64)&1 != 0
		}
	}
	isLeft[missing] = s.missingLeft
	return isLeft
}

// count stores in the histogram of l the sums of the derivatives of its rows.
func (g *grower) count(l *leaf) {
	rows := g.rows[l.rows[0]:l.rows[1]]
	ordered := g.ordered[:len(rows)]
	for i, r := range rows {
		ordered[i] = g.derivative[r]
	}
	h := g.histograms[l.histogram][:g.bins.countOf(g.columns)]
	clear(h)
	for _, j := range g.columns {
		c := &g.bins.columns[j]
		addDerivatives(h[:c.count+1], c.codeFor(g.model), rows, ordered)
		h = h[c.count+1:]
	}
}

func addDerivatives(sums []derivatives, code []uint8, rows []int32, d []derivatives) {
	d = d[:len(rows)]
	for i, r := range rows {
		s := &sums[code[r]]
		s.first += d[i].first
		s.second += d[i].second
	}
}

// search stores in l.split the best split of l by its histogram. Of equal splits it takes the first column and the first bin.
func (g *grower) search(l *leaf) {
	l.split = split{}
	if l.sum.rows() < 2*treeRows {
		return
	}
	h := g.histograms[l.histogram]
	for _, j := range g.columns {
		c := &g.bins.columns[j]
		sums := h[:c.count+1]
		h = h[c.count+1:]
		if c.categories != nil {
			g.searchCategories(l, j, sums)
			continue
		}
		missing := sums[c.count]
		g.searchCuts(l, j, sums[:c.count], derivatives{}, missing.rows() > 0)
		if missing.rows() > 0 {
			g.searchCuts(l, j, sums[:c.count], missing, false)
		}
	}
}

// leastGain is above the rounding errors of a gain.
const leastGain = 1e-9

// searchCuts compares the cuts after each bin of column j. left has the sums of missing values if these go left.
func (g *grower) searchCuts(l *leaf, j int, sums []derivatives, left derivatives, isLastCut bool) {
	missingLeft := left.rows() > 0
	total := l.sum.rows()
	first := g.scale.firstOf(l.sum)
	second := g.scale.secondOf(l.sum) + treeRidge
	whole := first * first / second
	last := len(sums) - 1
	if isLastCut {
		last++
	}
	best := max(l.split.gain, leastGain) + whole
	inverseFirst := 1 / g.scale.first
	inverseSecond := 1 / g.scale.second
	bin := -1
	var bestLeft derivatives
	for b, d := range sums[:last] {
		if d.second == 0 {
			continue
		}
		left.first += d.first
		left.second += d.second
		rows := left.rows()
		if rows < treeRows {
			continue
		}
		if total-rows < treeRows {
			break
		}
		firstLeft := float64(left.first) * inverseFirst
		firstRight := first - firstLeft
		secondLeft := float64(left.second>>rowBits) * inverseSecond
		secondRight := second - secondLeft
		secondLeft += treeRidge
		if gain := float64(firstLeft*firstLeft)/secondLeft + float64(firstRight*firstRight)/secondRight; gain > best {
			best = gain
			bin = b
			bestLeft = left
		}
	}
	if bin >= 0 {
		l.split = split{gain: best - whole, column: j, bin: bin, missingLeft: missingLeft, left: bestLeft}
		if !missingLeft && !isLastCut { // without missing values, those of other rows go with the majority
			l.split.missingLeft = 2*bestLeft.rows() > total
		}
	}
}

type orderedCategory struct {
	bin   int // −1: rare categories
	sum   derivatives
	share float64
}

// searchCategories compares sets of categories of column j: the categories whose G/(H + categorySmoothing) is below a limit
// (Fisher 1958).
func (g *grower) searchCategories(l *leaf, j int, sums []derivatives) {
	rare := orderedCategory{bin: -1}
	list := g.order[:0]
	for b, d := range sums {
		if d.rows() >= rareCategory && b < len(sums)-1 {
			list = append(list, orderedCategory{bin: b, sum: d})
		} else {
			rare.sum.add(d)
		}
	}
	list = append(list, rare)
	g.order = list
	for i := range list {
		list[i].share = g.scale.firstOf(list[i].sum) / (g.scale.secondOf(list[i].sum) + categorySmoothing)
	}
	slices.SortFunc(list, func(a, b orderedCategory) int {
		switch {
		case a.share < b.share:
			return -1
		case a.share > b.share:
			return 1
		}
		return a.bin - b.bin
	})
	total := l.sum.rows()
	first := g.scale.firstOf(l.sum)
	second := g.scale.secondOf(l.sum)
	whole := first * first / (second + treeRidge)
	best := max(l.split.gain, leastGain) + whole
	last := -1
	var left, bestLeft derivatives
	for i, c := range list {
		left.add(c.sum)
		if left.rows() < treeRows {
			continue
		}
		if total-left.rows() < treeRows {
			break
		}
		firstLeft := g.scale.firstOf(left)
		firstRight := first - firstLeft
		secondLeft := g.scale.secondOf(left)
		secondRight := second - secondLeft
		gain := float64(firstLeft*firstLeft)/(secondLeft+treeRidge+categoryRidge) +
			float64(firstRight*firstRight)/(secondRight+treeRidge+categoryRidge)
		if gain > best {
			best = gain
			last = i
			bestLeft = left
		}
	}
	if last < 0 {
		return
	}
	s := split{gain: best - whole, column: j, isSet: true, left: bestLeft}
	hasRare := false
	for _, c := range list[:last+1] {
		if c.bin < 0 {
			hasRare = true
			continue
		}
		s.set[c.bin/64] |= 1 << (c.bin % 64)
	}
	if hasRare {
		for b, d := range sums {
			if d.rows() < rareCategory || b == len(sums)-1 {
				s.set[b/64] |= 1 << (b % 64)
			}
		}
	}
	s.missingLeft = s.set[(len(sums)-1)/64]>>((len(sums)-1)%64)&1 != 0
	l.split = s
}
