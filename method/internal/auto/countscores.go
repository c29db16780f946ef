package auto

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

const (
	// fewestCountLabels was 500, which cost 16 to 19 points of AUC on minesweeper boards with 100 labels.
	fewestCountLabels = 50
	mostCountColumns  = 256

	countParts = 5
	countRidge = 1e-9 // relative to the mean of the diagonal
	countSlack = 0.1  // weight of the prior, in neighbours
)

// counts computes features for graphs where attributes say how many neighbours have each class, as on a minesweeper board.
// Least squares on the attributes of a node, its degree and 1 fit the number of its neighbours of each class. The share of
// class c among the unlabelled neighbours of u is then
//
//	q_uc = (max(0, fit_uc − labelled_uc) + s·π_c)/(unlabelled_u + s)
//
// for the class shares π of the labels and s = countSlack. The columns of a node are the means over its neighbours u of
// log(q_uc/π_c), and of log(q_uc/π_c) times each attribute of u, which may say that nothing is known.
type counts struct {
	in   *input
	fold []int                     // fold of each label, of those too that models do not learn from
	walk *sparse.Operator[float32] // T
	x    *featureBlock
}

// countBlock returns a ridge on the columns of [counts] for the given labels. fold[i] is the fold of label i of in.p. Folds
// form countParts parts; the columns of a label are computed without its part.
func countBlock(ctx context.Context, in *input, l *lens,
	labels *ridgeLabels, fold []int) (*ridgeBlock, error) {
	n := l.a.Rows
	c := newCounts(in, l, fold)
	var rows, nodes, messages *featureBlock
	for hidden := range countParts + 1 {
		var err error
		if nodes, messages, err = c.columns(ctx, hidden); err != nil {
			return nil, err
		}
		if rows == nil {
			rows = newBlock(len(labels.positions), nodes.Cols)
		}
		for item, i := range labels.positions {
			if fold[i]%countParts == hidden {
				copy(rows.Row(item), nodes.Row(in.p.Row[i]))
			}
		}
	}
	e := &ridgeExtension{Form: ofMeans, Weights: newBlock(rows.Cols, len(in.p.Names)), Width: len(in.p.Names)}
	if in.set.Columns {
		weights := e.Weights
		e.source = func(dst *featureBlock, lo int) { productTo(dst, blocks.Range(messages, lo, lo+dst.Rows), weights) }
	}
	return linearRidge(rows, e, in.set.Workers, func(ctx context.Context, w *featureBlock) (nodeScores, error) {
		dst := newBlock(n, w.Cols)
		return scoresIn(dst),
			blocks.EachNodeChunk(ctx, in.set.Workers, n, func(_, lo, hi int) {
				productTo(blocks.Range(dst, lo, hi), blocks.Range(nodes, lo, hi), w)
			})
	}), nil
}

func newCounts(in *input, l *lens, fold []int) *counts {
	n := l.a.Rows
	d := l.a.Cols
	c := &counts{in: in, fold: fold, x: newBlock(n, d)}
	attributes := readerOf(l.a)
	for v := range n {
		attributes.rowTo(c.x.Row(v), v, 0, d)
	}
	c.walk = sparse.NewOperator[float32](sparse.Transition, in.p.A, in.p.Degrees)
	c.walk.Workers = in.set.Workers
	return c
}

// columns returns the columns of all nodes, means of messages, computed without the labels of part hidden.
func (c *counts) columns(ctx context.Context,
	hidden int) (means, messages *featureBlock, err error) {
	n := c.x.Rows
	d := c.x.Cols
	k := len(c.in.p.Names)
	labels := sparse.NewBlock[float32](n, k)
	shares := sparse.NewBlock[float32](n, k)
	prior := make([]float64, k)
	sum := 0.0
	for i, v := range c.in.p.Row {
		if class := c.in.p.Class[i]; c.fold[i]%countParts != hidden {
			labels.Row(v)[class] = 1
			prior[class]++
			sum++
		}
	}
	for class := range prior {
		prior[class] = (prior[class] + countSlack) / (sum + countSlack*float64(k))
	}
	if err := c.step(ctx, shares, labels); err != nil {
		return nil, nil, err
	}
	weights, err := c.fit(shares)
	if err != nil {
		return nil, nil, err
	}
	messages = sparse.NewBlock[float32](n, countColumns(c.in.p))
	z := make([]float64, d+2)
	for v := range n {
		degree := c.rowTo(z, v)
		x := c.x.Row(v)
		row := messages.Row(v)
		unlabelled := degree
		for _, q := range shares.Row(v) {
			unlabelled -= float64(degree * float64(q))
		}
		for class, q := range shares.Row(v) {
			count := -degree * float64(q)
			for j, y := range z {
				count += float64(y * weights.At(j, class))
			}
			share := (max(0, count) +
				float64(countSlack*prior[class])) / (max(0, unlabelled) +
				countSlack)
			message := float32(math.Log(share / prior[class]))
			row[class] = message
			for j, y := range x {
				row[(1+j)*k+class] = y * message
			}
		}
	}
	means = sparse.NewBlock[float32](n, messages.Cols)
	return means, messages, c.step(ctx, means, messages)
}

func (c *counts) step(ctx context.Context, dst, x *featureBlock) error {
	c.in.work.Sweeps++
	return c.walk.StepTo(ctx, dst, x, sparse.Step[float32]{Alpha: 1})
}

// rowTo stores in z the attributes of node v, its degree and 1, and returns the degree.
func (c *counts) rowTo(z []float64, v int) float64 {
	d := c.x.Cols
	for j, x := range c.x.Row(v) {
		z[j] = float64(x)
	}
	degree := c.in.p.Degrees[v]
	z[d] = degree
	z[d+1] = 1
	return degree
}

// fit returns the weights of attributes, degree and 1 that predict how many neighbours have each class. shares has the
// shares of neighbours labelled with each class. Each node is weighted by its share of labelled neighbours.
func (c *counts) fit(shares *featureBlock) (*mat.Dense, error) {
	d := c.x.Cols + 2
	k := shares.Cols
	squares := mat.NewSymDense(d, nil)
	right := mat.NewDense(d, k, nil)
	z := mat.NewVecDense(d, nil)
	team := c.in.p.Team()
	for lo, hi := range team.CountingRows(0, c.x.Rows) {
		for v := lo; v < hi; v++ {
			degree := c.rowTo(z.RawVector().Data, v)
			seen := 0.0
			for _, q := range shares.Row(v) {
				seen += float64(q)
			}
			squares.SymRankOne(squares, seen, z)
			for class, q := range shares.Row(v) {
				for j := range d {
					right.RawRowView(j)[class] += float64(z.AtVec(j) * degree * float64(q))
				}
			}
		}
	}
	team.Sum(squares.RawSymmetric().Data)
	team.Sum(right.RawMatrix().Data)
	shift := countRidge * (mat.Trace(squares) + 1) / float64(d)
	for j := range d {
		squares.SetSym(j, j, squares.At(j, j)+shift)
	}
	return right, classify.SolveDefinite(squares, right)
}

func countColumns(p *problem.Problem) int {
	return (p.Attributes.Cols + 1) * len(p.Names)
}
