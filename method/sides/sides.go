package sides

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Problem is a store with codes, and labels on some of its nodes.
type Problem struct {
	Store      *shard.Store
	Row, Class []int // of each label
	Classes    int   // number of classes

	Options *Options // valid, without weights of kinds

	Workers int
	Memory  int64  // bytes of the walks; 0: no limit
	Seed    uint64 // of folds
}

// Choice is the result of [Choose].
type Choice struct {
	Kinds []float64       // weight of each kind, the largest is 1
	Work  int64           // entries times columns of all walks
	Book  *shard.Codebook // of these weights and the given ones
}

const (
	alpha     = 0.9
	steps     = 5
	uncertain = 0.05 // share of the class shares in predicted probabilities

	// work bounds entries × columns × steps of a walk; it decides how many folds are predicted.
	work     = 300_000_000
	mostFold = 5

	// mostKinds is the number of kinds, the most frequent ones, whose weights are chosen. Others have the weight 1.
	mostKinds = 16
	factor    = 8
	// leastWeight is above 0 so that labels reach nodes whose edges are of one kind.
	leastWeight = 1. / 64
	mostWeight  = 64

	// leastGain is the least relative decrease of the mean negative logarithm by other weights of kinds. Methods such as
	// auto compensate for smaller differences by themselves, and can be worse with weights that suit these walks.
	leastGain = 0.05
)

// Choose chooses the weights of kinds by coordinate steps, the most frequent kind first. The error is that of a sweep or of memory.
// Cost: steps sweeps over a block with a column for each class and fold, for some dozen vectors of weights.
func Choose(ctx context.Context, p *Problem) (*Choice, error) {
	c := &chooser{Problem: p}
	c.fold = split.Folds(p.Class, mostFold, p.Seed, 0)
	entries := steps * p.Store.NNZ() * int64(p.Classes)
	if p.Store.Manifest.Directed {
		entries *= 2
	}
	c.folds = int(min(mostFold, max(1, work/max(1, entries))))
	if book := p.Options.Book(p.Store.Manifest); book != nil {
		c.times = book.Times
	}
	kinds := p.Store.Manifest.Kinds
	weights, order := slices.Repeat([]float64{1}, len(kinds)), sched.UpTo(len(kinds))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(kinds[b].Entries, kinds[a].Entries) })
	equal, err := c.qualityOf(ctx, weights)
	best := equal
	for _, k := range order[:min(len(order), mostKinds)] {
		start := weights[k]
		for _, step := range []float64{1. / factor, factor} { // a weight that is better lower is not raised
			for w := step; err == nil && leastWeight <= w && w <= mostWeight; w *= step {
				changed, q := slices.Clone(weights), quality(nil)
				changed[k] = w
				if q, err = c.qualityOf(ctx, changed); err != nil || !q.isBetter(best, 1) {
					break
				}
				weights, best = changed, q
			}
			if weights[k] != start {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if !best.isUseful(equal) {
		weights = slices.Repeat([]float64{1}, len(kinds))
	}
	floats.Scale(1/slices.Max(weights), weights)
	return &Choice{Kinds: weights, Work: c.work, Book: &shard.Codebook{Kinds: weights, Times: c.times}}, nil
}

// chooser is a run of [Choose].
type chooser struct {
	*Problem
	fold  []int     // of each label
	folds int       // that are predicted
	times []float64 // factors of the options
	work  int64
}

// Chooses reports whether labels choose weights of a store.
func (o *Options) Chooses(m *shard.Manifest) bool { return o.Kinds == nil && len(m.Kinds) > 1 }

// quality holds the logarithm of the predicted probability of the right class for each label of the predicted folds.
type quality []float64

// isBetter reports whether the mean of q exceeds that of reference by a number of standard errors of the difference.
func (q quality) isBetter(reference quality, errors float64) bool {
	n, d := float64(len(q)), floats.SubTo(make([]float64, len(q)), q, reference)
	sum := floats.Sum(d)
	return n > 1 && sum > errors*math.Sqrt(max(0, floats.Dot(d, d)-sum*sum/n))
}

// isUseful reports whether q is better than simple by two standard errors and by leastGain, so that other methods
// gain by it, too.
func (q quality) isUseful(simple quality) bool {
	return q.isBetter(simple, 2) && floats.Sum(q) > (1-leastGain)*floats.Sum(simple)
}

// qualityOf returns the quality of weights of kinds for the labels of the predicted folds.
func (c *chooser) qualityOf(ctx context.Context, kinds []float64) (quality, error) {
	a, back := shard.Weighed(c.Store, &shard.Codebook{Kinds: kinds, Times: c.times})
	matrices := []sparse.Matrix{a}
	if c.Store.Manifest.Directed {
		matrices = append(matrices, back)
	}
	n, _ := a.Dims()
	degrees := make([]float64, n)
	for _, m := range matrices {
		list, err := sparse.Degrees(ctx, m, c.Workers)
		if err != nil {
			return nil, err
		}
		floats.Add(degrees, list)
	}
	var operators []*sparse.Operator[float32]
	for i, m := range matrices {
		operators = append(operators, sparse.NewOperator[float32](sparse.NormalizedAdjacency, m, degrees))
		operators[i].Workers = c.Workers
	}
	scores := make([]float64, len(c.Row)*c.Classes) // of each label by class
	columns := c.folds * c.Classes
	const walkBlocks = 3
	width := budget.Widest(columns, c.Memory, func(width int) int64 { return walkBlocks * blocks.BlockBytes[float32](n, width) })
	for lo := 0; lo < columns; lo += width {
		if err := c.walk(ctx, operators, scores, lo, min(columns, lo+width)); err != nil {
			return nil, err
		}
	}
	return c.logarithms(scores), nil
}

// walk stores the scores of the columns lo ≤ j < hi, which are pairs of a fold and a class. Labels of a fold do not
// start walks of its columns. S is the sum of the operators.
func (c *chooser) walk(ctx context.Context, operators []*sparse.Operator[float32], scores []float64, lo, hi int) error {
	n, _ := operators[0].Dims()
	x, y, start := sparse.NewBlock[float32](n, hi-lo), sparse.NewBlock[float32](n, hi-lo), sparse.NewBlock[float32](n, hi-lo)
	for i, row := range c.Row {
		for j := lo; j < hi; j++ {
			if j%c.Classes == c.Class[i] && j/c.Classes != c.fold[i] {
				start.Row(row)[j-lo], x.Row(row)[j-lo] = 1-alpha, 1-alpha
			}
		}
	}
	for range steps {
		prev := start
		for _, s := range operators {
			if err := s.StepTo(ctx, y, x, sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: prev}); err != nil {
				return err
			}
			prev = y
		}
		x, y = y, x
	}
	c.work += steps * c.Store.NNZ() * int64(hi-lo)
	for i, row := range c.Row {
		for j := lo; j < hi; j++ {
			if j/c.Classes == c.fold[i] {
				scores[i*c.Classes+j%c.Classes] = float64(x.Row(row)[j-lo])
			}
		}
	}
	return nil
}

// sharpnesses are the exponents among which logarithms chooses.
var sharpnesses = []float64{0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8}

// logarithms returns the logarithms of the probabilities of the right classes. The scores of a node, divided by their
// sum, are p_c. Its probabilities are proportional to s_c·(p_c/s_c)^q with the shares s_c of the classes among the
// labels and the exponent q that is best for all nodes, because p_c are too cautious where a node has many neighbours.
func (c *chooser) logarithms(scores []float64) (best quality) {
	shares, sharp := make([]float64, c.Classes), make([]float64, c.Classes)
	for _, class := range c.Class {
		shares[class] += 1 / float64(len(c.Class))
	}
	for _, exponent := range sharpnesses {
		var q quality
		for i, class := range c.Class {
			if c.fold[i] >= c.folds {
				continue
			}
			row, total := scores[i*c.Classes:(i+1)*c.Classes], 0.0
			sum := floats.Sum(row)
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
