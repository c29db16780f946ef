package trees

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type block = sparse.Block[float32]

// newBlock returns a block without padding between its rows.
func newBlock(rows, cols int) *block { return blocks.NewDense[float32](rows, cols) }

var missing = float32(math.NaN())

// Column describes a column of a node.
type Column struct {
	Attribute int // attribute that the column comes from; −1: none
	Class     int // class, or output, whose labels the column comes from; −1: none
	View      View
}

// View says how a column is computed from attributes, labels or the graph.
type View int

const (
	Own        View = iota // the value of the node
	Category               // the value of the node as a category without an order
	Mean1                  // mean over the neighbours
	Mean2                  // mean over the ends of walks of two steps
	Mean3                  // mean over the ends of walks of three steps
	Most                   // largest value of a neighbour
	Least                  // smallest value of a neighbour
	Second                 // second largest value of a neighbour
	Spread                 // standard deviation over the neighbours
	Count                  // log(1 + sum of weights of the edges to labelled neighbours)
	Paths                  // mean over the ends of paths of two edges, each path counted once
	Rare                   // the same, each label divided by the degree of its node
	Decayed                // mean over walks of 1 to 8 steps, with factor 0.85 for each step
	Degree                 // log(1 + degree)
	Triangles              // log(1 + triangles)
	Clustering             // share of pairs of neighbours that are neighbours
)

// Attributes of a table with at most mostStepped columns also have columns of walks and neighbours. Of a larger table, each
// node has its own values and means over neighbours, in the mostOwned columns with most values.
const (
	mostStepped = 64
	mostOwned   = 256
)

// nodeColumns are the columns of all nodes that do not depend on labels: logarithms of degrees at zero, one and two steps,
// triangles and clustering coefficients, and attributes. A missing value is NaN.
type nodeColumns struct {
	*block
	list []Column
}

// graphWalks applies the matrices of a graph.
type graphWalks struct {
	p       *problem.Problem
	workers int
	work    *graph.Work
	walk    *sparse.Operator[float32] // T, with rows of zeros for isolated nodes
	sums    *sparse.Operator[float32] // A, in units of the mean weight
	unit    float64
}

func newGraphWalks(p *problem.Problem, workers int, work *graph.Work) *graphWalks {
	g := &graphWalks{p: p, workers: workers, work: work, unit: blocks.WeightUnit(p.A, p.Degrees)}
	g.walk = &sparse.Operator[float32]{A: p.A, Left: blocks.Inverses(p.Degrees), Workers: workers}
	g.sums = &sparse.Operator[float32]{A: p.A, Scale: 1 / g.unit, Workers: workers}
	return g
}

// stepTo stores op·x in dst.
func (g *graphWalks) stepTo(ctx context.Context, op *sparse.Operator[float32], dst, x *block) error {
	g.work.Sweeps++
	return op.StepTo(ctx, dst, x, sparse.Step[float32]{Alpha: 1})
}

// newNodeColumns computes the columns of all nodes. Cost: a sweep for the triangles, two for degrees, and for each 16
// attributes four, or seven if values are missing.
func newNodeColumns(ctx context.Context, g *graphWalks) (*nodeColumns, error) {
	p := g.p
	c := &nodeColumns{}
	var attributes []int
	if p.Attributes != nil {
		attributes = chooseAttributes(p.Attributes)
	}
	for range 3 {
		c.list = append(c.list, Column{-1, -1, Degree})
	}
	c.list = append(c.list, Column{-1, -1, Triangles}, Column{-1, -1, Clustering})
	views := []View{Own, Mean1, Mean2, Mean3, Most, Least, Second, Spread}
	if len(attributes) > mostStepped {
		views = views[:2]
	}
	for _, view := range views {
		for _, j := range attributes {
			c.list = append(c.list, Column{j, -1, view})
		}
	}
	if p.Attributes != nil {
		for _, j := range codesOf(p.Attributes, attributes) {
			c.list = append(c.list, Column{j, -1, Category})
		}
	}
	c.block = newBlock(len(p.Degrees), len(c.list))
	if err := c.addDegrees(ctx, g); err != nil {
		return nil, err
	}
	if err := c.addTriangles(ctx, g); err != nil {
		return nil, err
	}
	for lo := 0; lo < len(attributes); lo += attributeGroup {
		if err := c.addAttributes(ctx, g, attributes, lo, min(len(attributes), lo+attributeGroup), views); err != nil {
			return nil, err
		}
	}
	for k, column := range c.list {
		if column.View == Category {
			own := c.columnOf(column.Attribute)
			for v := range c.Rows {
				c.Row(v)[k] = c.Row(v)[own]
			}
		}
	}
	if p.Attributes != nil {
		return c, p.Attributes.Err()
	}
	return c, nil
}

// own returns the columns of the nodes' own attributes.
func (c *nodeColumns) own() *nodeColumns {
	own := new(nodeColumns)
	var columns []int
	for k, column := range c.list {
		if column.View == Own || column.View == Category {
			columns = append(columns, k)
			own.list = append(own.list, column)
		}
	}
	own.block = newBlock(c.Rows, len(columns))
	for v := range c.Rows {
		for i, k := range columns {
			own.Row(v)[i] = c.Row(v)[k]
		}
	}
	return own
}

// columnOf returns the column of a node's own attribute.
func (c *nodeColumns) columnOf(attribute int) int {
	for k, column := range c.list {
		if column.View == Own && column.Attribute == attribute {
			return k
		}
	}
	return -1
}

// addDegrees stores log(1 + d), for degrees d in units of the mean weight, and its means one and two steps away.
func (c *nodeColumns) addDegrees(ctx context.Context, g *graphWalks) error {
	n := c.Rows
	x := newBlock(n, 1)
	y := newBlock(n, 1)
	for v, d := range g.p.Degrees {
		x.Row(v)[0] = float32(math.Log1p(d / g.unit))
	}
	for k := range 3 {
		for v := range n {
			c.Row(v)[k] = x.Row(v)[0]
		}
		if k == 2 {
			break
		}
		if err := g.stepTo(ctx, g.walk, y, x); err != nil {
			return err
		}
		x, y = y, x
	}
	return nil
}

// chooseAttributes returns the columns of attributes to use: all, or the mostOwned columns with most values other than 0.
func chooseAttributes(t *sparse.Table) []int {
	list := make([]int, 0, t.Cols)
	for j := range t.Cols {
		list = append(list, j)
	}
	if t.Cols <= mostOwned {
		return list
	}
	count := make([]int, t.Cols)
	rows := t.Reader()
	for v := range t.Rows {
		columns, values := rows.Row(v)
		for i, x := range values {
			if x != 0 {
				j := i
				if columns != nil {
					j = int(columns[i])
				}
				count[j]++
			}
		}
	}
	return largest(count, mostOwned)
}

// attributeGroup is the number of attributes whose means are computed together: with their presence they fill two cache
// lines.
const attributeGroup = 16

// addAttributes stores the views of the attributes lo ≤ i < hi of the list.
func (c *nodeColumns) addAttributes(ctx context.Context, g *graphWalks, attributes []int, lo, hi int, views []View) error {
	n := c.Rows
	width := hi - lo
	x := newBlock(n, width)
	t := g.p.Attributes
	rows := t.Reader()
	place := make([]int, t.Cols)
	for i := range place {
		place[i] = -1
	}
	for i, j := range attributes[lo:hi] {
		place[j] = i
	}
	isComplete := true
	for v := range n {
		columns, values := rows.Row(v)
		row := x.Row(v)
		if values == nil {
			isComplete = false
			for i := range row {
				row[i] = missing
			}
			continue
		}
		for i, y := range values {
			j := i
			if columns != nil {
				j = int(columns[i])
			}
			if at := place[j]; at >= 0 {
				row[at] = y
				isComplete = isComplete && y == y
			}
		}
	}
	at := func(view int) int { return c.beforeAttributes() + view*len(attributes) + lo }
	c.storeColumns(at(0), x)
	if len(views) > 4 {
		if err := c.addNeighbours(ctx, g, x, [4]int{at(4), at(5), at(6), at(7)}); err != nil {
			return err
		}
	}
	values := newBlock(n, 2*width)
	for v := range n {
		row := values.Row(v)
		for i, y := range x.Row(v) {
			if y == y {
				row[i] = y
				row[width+i] = 1
			}
		}
	}
	if isComplete {
		values = values.Columns(0, width)
	}
	next := newBlock(n, values.Cols)
	for step := 1; step < min(len(views), 4); step++ {
		if err := g.stepTo(ctx, g.walk, next, values); err != nil {
			return err
		}
		values, next = next, newBlock(n, values.Cols)
		first := at(step)
		for v := range n {
			row := values.Row(v)
			to := c.Row(v)[first:][:width]
			for i := range to {
				switch {
				case g.p.Degrees[v] == 0, !isComplete && row[width+i] == 0:
					to[i] = missing
				case isComplete:
					to[i] = row[i]
				default:
					to[i] = row[i] / row[width+i]
				}
			}
		}
	}
	return nil
}

// beforeAttributes returns the number of columns that come from no attribute.
func (c *nodeColumns) beforeAttributes() (count int) {
	for _, column := range c.list {
		if column.Attribute < 0 {
			count++
		}
	}
	return count
}

func (c *nodeColumns) storeColumns(first int, x *block) {
	for v := range c.Rows {
		copy(c.Row(v)[first:], x.Row(v))
	}
}

// addNeighbours stores in the columns at first, first + 1, … of each column of x how its values are distributed over the
// neighbours of a node: the largest, the smallest and the second largest value, and the standard deviation. Each neighbour
// counts once.
func (c *nodeColumns) addNeighbours(ctx context.Context, g *graphWalks, x *block, first [4]int) error {
	return g.eachDistribution(ctx, x, func(v, column int, d *distribution) {
		row := c.Row(v)
		row[first[0]+column] = d.most
		row[first[1]+column] = d.least
		row[first[2]+column] = d.second
		row[first[3]+column] = d.deviation()
	})
}

// eachDistribution calls visit with the distribution of each column of x over the neighbours of each node, from several
// goroutines. Cost: a sweep.
func (g *graphWalks) eachDistribution(ctx context.Context, x *block, visit func(v, column int, d *distribution)) error {
	lists := make([][]distribution, sched.Workers(g.workers))
	return g.eachNode(ctx, func(worker, v int, neighbours []uint32) {
		if lists[worker] == nil {
			lists[worker] = make([]distribution, x.Cols)
		}
		list := lists[worker]
		for i := range list {
			list[i] = distribution{most: missing, second: missing, least: missing}
		}
		for _, u := range neighbours {
			for i, y := range x.Row(int(u)) {
				list[i].add(y)
			}
		}
		for i := range list {
			visit(v, i, &list[i])
		}
	})
}

// eachNode calls visit with the neighbours of each node, each once and in increasing order, from several goroutines. Edges of
// weight 0 are left out. Cost: a sweep.
func (g *graphWalks) eachNode(ctx context.Context, visit func(worker, v int, neighbours []uint32)) error {
	g.work.Sweeps++
	lists := make([][]uint32, sched.Workers(g.workers))
	return sparse.EachRow(ctx, g.p.A, g.workers, func(worker, v int, col []uint32, val []float64) error {
		list := lists[worker][:0]
		for e, u := range col {
			isRepeated := len(list) > 0 && list[len(list)-1] == u
			if !isRepeated && (val == nil || val[e] != 0) {
				list = append(list, u)
			}
		}
		lists[worker] = list
		visit(worker, v, list)
		return nil
	})
}

// distribution describes values. Without values, most, second and least are NaN.
type distribution struct {
	most, second, least float32
	sum, squares, count float64
}

func (d *distribution) add(y float32) {
	if y != y {
		return
	}
	d.count++
	d.sum += float64(y)
	d.squares += float64(y) * float64(y)
	switch {
	case !(y <= d.most):
		d.second = d.most
		d.most = y
	case !(y <= d.second):
		d.second = y
	}
	if !(y >= d.least) {
		d.least = y
	}
}

func (d *distribution) deviation() float32 {
	if d.count == 0 {
		return missing
	}
	mean := d.sum / d.count
	return float32(math.Sqrt(max(0, d.squares/d.count-float64(mean*mean))))
}

// A column of numbers is a column of codes too if its values are whole numbers, of which there are more than two and at most
// mostCodes, and at least fewestOfCode nodes have each on average. Counts, ages and scores are tried as categories with
// them; the ridge on categories keeps trees from learning chance.
const (
	mostCodes    = 1000
	fewestOfCode = 10
)

// codesOf returns the attributes among list that may be codes.
func codesOf(t *sparse.Table, list []int) (codes []int) {
	values := make([]map[float32]bool, t.Cols)
	count := make([]int, t.Cols)
	for _, j := range list {
		values[j] = map[float32]bool{}
	}
	rows := t.Reader()
	dense := make([]float32, t.Cols)
	for v := range t.Rows {
		columns, row := rows.Row(v)
		if row == nil {
			continue
		}
		if columns != nil {
			clear(dense)
			for i, j := range columns {
				dense[j] = row[i]
			}
			row = dense
		}
		for j, x := range row {
			if values[j] == nil || x != x {
				continue
			}
			count[j]++
			if float64(x) != math.Trunc(float64(x)) || len(values[j]) > mostCodes {
				values[j] = nil
				continue
			}
			values[j][x] = true
		}
	}
	for _, j := range list {
		if n := len(values[j]); n > 2 && n <= mostCodes && count[j] >= fewestOfCode*n {
			codes = append(codes, j)
		}
	}
	return codes
}
