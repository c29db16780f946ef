package sides

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	alpha     = 0.9
	steps     = 5
	uncertain = 0.05 // weight of the class shares in predicted probabilities

	// work is the largest number of entries × columns × steps of a walk. It decides how many folds are predicted.
	work = 300_000_000
)

// Folds is the number of folds of labels.
const Folds = 5

// Labels are classes or numbers of some nodes, from which factors are chosen.
type Labels struct {
	Row     []int // rows of the matrices
	Class   []int
	Classes int
	Value   []float64 // numbers; nil: there are classes
	Fold    []int     // fold of each label, below [Folds]
}

// columns returns the number of columns of a fold: one for each class, or for numbers two, their weight and their sum.
func (l *Labels) columns() int {
	if l.Value != nil {
		return 2
	}
	return l.Classes
}

// Evidence compares matrices of the same edges, such as with other weights, by how well walks predict held-out labels.
type Evidence struct {
	*Labels
	memory  int64
	workers int
	folds   int
	mean    float64
}

// NewEvidence returns the evidence of labels l for matrices with the given number of entries. Walks take at most a quarter
// of memory; 0 means no limit.
func NewEvidence(l *Labels, entries, memory int64, workers int) *Evidence {
	c := &Evidence{Labels: l, memory: memory / 4, workers: workers}
	c.folds = int(min(Folds, max(1, work/max(1, steps*entries*int64(l.columns())))))
	for _, v := range l.Value {
		c.mean += v / float64(len(l.Value))
	}
	return c
}

// Quality holds, for each label of the predicted folds, the logarithm of the predicted probability of its class. For numbers
// it holds the negative squared error.
type Quality []float64

// QualityOf returns the quality of walks with the matrix S or T of a, as kind says. In a directed graph back must be the
// transpose of a, for walks against arcs; otherwise nil. Cost: steps sweeps over a column for each fold and class.
func (c *Evidence) QualityOf(ctx context.Context, kind sparse.Kind,
	a, back sparse.Matrix) (Quality, error) {
	degrees, err := sparse.Degrees(ctx, a, c.workers)
	if err != nil {
		return nil, err
	}
	w := &walk{Evidence: c}
	if back != nil {
		in, err := sparse.Degrees(ctx, back, c.workers)
		if err != nil {
			return nil, err
		}
		for i, d := range in {
			degrees[i] += d
		}
		w.back = sparse.NewOperator[float32](kind, back, degrees)
		w.back.Workers = c.workers
	}
	w.ahead = sparse.NewOperator[float32](kind, a, degrees)
	w.ahead.Workers = c.workers
	scores := make([]float64, len(c.Row)*c.columns())
	columns := c.folds * c.columns()
	width := c.Workspace(len(degrees)).Width(c.memory)
	for lo := 0; lo < columns; lo += width {
		if err := w.scoresTo(ctx, scores, lo, min(columns, lo+width)); err != nil {
			return nil, err
		}
	}
	if c.Value != nil {
		return c.squares(scores), nil
	}
	return c.logarithms(scores), nil
}

const sweepColumns = 64

// Workspace declares the memory of [Evidence.QualityOf] on n nodes.
func (c *Evidence) Workspace(n int) budget.Workspace {
	return budget.Slabs[float32](3, n, min(sweepColumns, c.folds*c.columns())).AndHeld(2 * 8 * int64(n))
}

type walk struct {
	*Evidence
	ahead, back *sparse.Operator[float32] // nil without directions
}

func (c *Evidence) mass(label, column int) float32 {
	switch {
	case c.Value == nil && column != c.Class[label]:
		return 0
	case c.Value != nil && column == 1:
		return float32((1 - alpha) * (c.Value[label] - c.mean))
	}
	return 1 - alpha
}

// scoresTo stores the scores of columns lo ≤ j < hi at held-out labels. Walks in the columns of a fold start at the labels
// outside the fold.
func (w *walk) scoresTo(ctx context.Context, scores []float64, lo, hi int) error {
	n, _ := w.ahead.Dims()
	x := sparse.NewBlock[float32](n, hi-lo)
	y := sparse.NewBlock[float32](n, hi-lo)
	start := sparse.NewBlock[float32](n, hi-lo)
	columns := w.Labels.columns()
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j/columns != w.Fold[i] {
				mass := w.mass(i, j%columns)
				start.Row(row)[j-lo] += mass // at most one of several labels of a node has mass
				x.Row(row)[j-lo] += mass
			}
		}
	}
	for range steps {
		if err := w.ahead.StepTo(ctx, y, x,
			sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: start}); err != nil {
			return err
		}
		if w.back != nil {
			if err := w.back.StepTo(ctx, y, x,
				sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: y}); err != nil {
				return err
			}
		}
		x, y = y, x
	}
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j/columns == w.Fold[i] {
				scores[i*columns+j%columns] = float64(x.Row(row)[j-lo])
			}
		}
	}
	return nil
}

var sharpnesses = []float64{0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8}

// logarithms returns the log-probability of the right class for each held-out label. With the normalized scores p_c and the
// class shares s_c, probabilities are proportional to s_c·(p_c/s_c)^q. The exponent q is the best for all nodes; it is
// needed because p_c is too cautious where a node has many neighbours.
func (c *Evidence) logarithms(scores []float64) (best Quality) {
	shares := make([]float64, c.Classes)
	sharp := make([]float64, c.Classes)
	for _, class := range c.Class {
		shares[class] += 1 / float64(len(c.Class))
	}
	for _, exponent := range sharpnesses {
		var q Quality
		for i, class := range c.Class {
			if c.Fold[i] >= c.folds {
				continue
			}
			row := scores[i*c.Classes : (i+1)*c.Classes]
			sum := floats.Sum(row)
			total := 0.0
			for k, v := range row {
				sharp[k] = 0
				if v > 0 {
					sharp[k] = shares[k] * math.Pow(v/(sum*shares[k]), exponent)
				}
				total += sharp[k]
			}
			p := shares[class]
			if total > 0 {
				p = (1-uncertain)*sharp[class]/total + uncertain*p
			}
			q = append(q, math.Log(p))
		}
		if best == nil || floats.Sum(q) > floats.Sum(best) {
			best = q
		}
	}
	return best
}

// squares returns the negative squared error for each held-out number, predicted by m + q·r. m is the mean of all numbers. r
// is the mean difference of other numbers from m, weighted by the walks that reach the node. q is the best factor for all
// nodes.
func (c *Evidence) squares(scores []float64) (list Quality) {
	farthest := 0.0
	for _, v := range c.Value {
		farthest = max(farthest, math.Abs(v-c.mean))
	}
	predicted := func(i int) float64 {
		weight, sum := scores[2*i], scores[2*i+1]
		if weight <= 0 {
			return 0
		}
		return max(-farthest, min(farthest, sum/weight))
	}
	product := 0.0
	square := 0.0
	for i, v := range c.Value {
		if c.Fold[i] < c.folds {
			r := predicted(i)
			product += float64(r * (v - c.mean))
			square += float64(r * r)
		}
	}
	factor := product / max(square, math.SmallestNonzeroFloat64)
	for i, v := range c.Value {
		if c.Fold[i] < c.folds {
			miss := v - c.mean - float64(factor*predicted(i))
			list = append(list, -float64(miss*miss))
		}
	}
	return list
}
