package sides

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Problem is a store with codes, and labels on some of its nodes.
type Problem struct {
	Store      *shard.Store
	Row, Class []int // of each label
	Classes    int   // number of classes

	Options *Options // valid given weights; kinds without given weights have chosen ones

	Workers int
	Memory  int64  // bytes of the walks; 0: no limit
	Seed    uint64 // of folds
}

// Choice is the result of [Choose].
type Choice struct {
	Kinds    []float64       // weight of each kind, the largest is 1; nil without kinds
	HalfLife float64         // in units of times; +Inf: no decay
	Work     int64           // entries times columns of all walks
	Book     *shard.Codebook // of these weights and the given ones
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

	// halfLives is the number of half-lives of the grid: the range of times divided by powers of 2.
	halfLives = 8
)

// Choose chooses the weights. The error is that of a sweep or of memory.
// Cost: steps sweeps over a block with a column for each class and fold, for some dozen vectors of weights.
func Choose(ctx context.Context, p *Problem) (*Choice, error) {
	c := &chooser{Problem: p}
	c.fold = split.Folds(p.Class, mostFold, p.Seed, 0)
	entries := steps * p.Store.NNZ() * int64(p.Classes)
	if p.Store.Manifest.Directed {
		entries *= 2
	}
	c.folds = int(min(mostFold, max(1, work/max(1, entries))))
	out := &Choice{HalfLife: math.Inf(1)}
	if book := p.Options.Book(p.Store.Manifest); book != nil {
		c.fixed = *book
	}
	out.Kinds = c.fixed.Kinds
	if out.Kinds == nil && len(p.Store.Manifest.Kinds) > 1 {
		if err := c.chooseKinds(ctx, out); err != nil {
			return nil, err
		}
	}
	if p.Options.HalfLife == ChosenHalfLife {
		if err := c.chooseHalfLife(ctx, out); err != nil {
			return nil, err
		}
	}
	out.Work = c.work
	out.Book = c.book(out.Kinds, out.HalfLife)
	return out, nil
}

// chooser is a run of [Choose].
type chooser struct {
	*Problem
	fold  []int          // of each label
	folds int            // that are predicted
	fixed shard.Codebook // of the options
	work  int64
}

// Chooses reports whether labels choose weights of a store.
func (o *Options) Chooses(m *shard.Manifest) bool {
	return o.Kinds == nil && len(m.Kinds) > 1 || o.HalfLife == ChosenHalfLife
}

// book returns the codebook of weights of kinds and a half-life, +Inf for the given one.
func (c *chooser) book(kinds []float64, halfLife float64) *shard.Codebook {
	b := &shard.Codebook{Kinds: kinds, Times: c.fixed.Times}
	if !math.IsInf(halfLife, 1) {
		b.Times = c.Options.factors(c.Store.Manifest.Times, halfLife)
	}
	return b
}

// chooseKinds chooses the weights of kinds by coordinate steps, the most frequent kind first.
func (c *chooser) chooseKinds(ctx context.Context, out *Choice) error {
	kinds := c.Store.Manifest.Kinds
	weights := make([]float64, len(kinds))
	order := make([]int, len(kinds))
	for k := range kinds {
		weights[k] = 1
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(kinds[b].Entries, kinds[a].Entries) })
	order = order[:min(len(order), mostKinds)]
	equal, err := c.qualityOf(ctx, c.book(weights, math.Inf(1)))
	if err != nil {
		return err
	}
	best := equal
	try := func(k int, weight float64) (bool, error) {
		changed := slices.Clone(weights)
		changed[k] = weight
		q, err := c.qualityOf(ctx, c.book(changed, math.Inf(1)))
		if err != nil || !q.isBetter(best, 1) {
			return false, err
		}
		weights = changed
		best = q
		return true, nil
	}
	for _, k := range order {
		for _, step := range []float64{1. / factor, factor} { // a weight that is better lower is not raised
			isBetter := false
			for w := step; leastWeight <= w && w <= mostWeight; w *= step {
				ok, err := try(k, w)
				if err != nil {
					return err
				}
				if !ok {
					break
				}
				isBetter = true
			}
			if isBetter {
				break
			}
		}
	}
	if !best.isUseful(equal) {
		for k := range weights {
			weights[k] = 1
		}
	}
	largest := slices.Max(weights)
	for k := range weights {
		weights[k] /= largest
	}
	out.Kinds = weights
	return nil
}

// chooseHalfLife chooses the half-life from a grid, from the longest on.
func (c *chooser) chooseHalfLife(ctx context.Context, out *Choice) error {
	undecayed, err := c.qualityOf(ctx, c.book(out.Kinds, out.HalfLife))
	if err != nil {
		return err
	}
	best := undecayed
	h := float64(c.Store.Manifest.Times.Last-c.Store.Manifest.Times.First) + 1
	for range halfLives {
		q, err := c.qualityOf(ctx, c.book(out.Kinds, h))
		if err != nil {
			return err
		}
		if q.isUseful(undecayed) && q.isBetter(best, 1) {
			best = q
			out.HalfLife = h
		}
		h /= 2
	}
	return nil
}

// quality holds the logarithm of the predicted probability of the right class for each label of the predicted folds.
type quality []float64

// isBetter reports whether the mean of q exceeds that of reference by a number of standard errors of the difference.
func (q quality) isBetter(reference quality, errors float64) bool {
	n := float64(len(q))
	sum := 0.0
	squares := 0.0
	for i := range q {
		d := q[i] - reference[i]
		sum += d
		squares += float64(d * d)
	}
	variance := squares - sum*sum/n
	return n > 1 && sum > errors*math.Sqrt(max(0, variance))
}

// isUseful reports whether q is better than simple by two standard errors and by leastGain, so that other methods
// gain by it, too.
func (q quality) isUseful(simple quality) bool {
	return q.isBetter(simple, 2) && q.sum() > (1-leastGain)*simple.sum()
}

func (q quality) sum() (sum float64) {
	for _, v := range q {
		sum += v
	}
	return sum
}

// qualityOf returns the quality of weights for the labels of the predicted folds.
func (c *chooser) qualityOf(ctx context.Context, book *shard.Codebook) (quality, error) {
	a, back := shard.Weighed(c.Store, book)
	if c.Store.Manifest.Negative > 0 { // entries of a pair may cancel
		for _, side := range []*sparse.Matrix{&a, &back} {
			joined := &sparse.Joined{Matrix: *side}
			if err := joined.Plan(ctx, c.Workers); err != nil {
				return nil, err
			}
			*side = joined
		}
	}
	degrees, err := sparse.Degrees(ctx, a, c.Workers)
	if err != nil {
		return nil, err
	}
	w := &walk{chooser: c}
	if c.Store.Manifest.Directed {
		in, err := sparse.Degrees(ctx, back, c.Workers)
		if err != nil {
			return nil, err
		}
		for i, d := range in {
			degrees[i] += d
		}
		w.back = sparse.NewOperator[float32](sparse.NormalizedAdjacency, back, degrees)
		w.back.Workers = c.Workers
	}
	w.ahead = sparse.NewOperator[float32](sparse.NormalizedAdjacency, a, degrees)
	w.ahead.Workers = c.Workers
	scores := make([]float64, len(c.Row)*c.Classes) // of each label by class
	columns := c.folds * c.Classes
	const walkBlocks = 3
	width := budget.Widest(columns, c.Memory, func(width int) int64 {
		return walkBlocks * blocks.BlockBytes[float32](len(degrees), width)
	})
	for lo := 0; lo < columns; lo += width {
		if err := w.columns(ctx, scores, lo, min(columns, lo+width)); err != nil {
			return nil, err
		}
	}
	return c.logarithms(scores), nil
}

// walk is the walk of one vector of weights.
type walk struct {
	*chooser
	ahead, back *sparse.Operator[float32] // back is nil without directions
}

// columns adds the scores of the columns lo ≤ j < hi, which are pairs of a fold and a class. Labels of a fold do not
// start walks of its columns.
func (w *walk) columns(ctx context.Context, scores []float64, lo, hi int) error {
	n, _ := w.ahead.Dims()
	x := sparse.NewBlock[float32](n, hi-lo)
	y := sparse.NewBlock[float32](n, hi-lo)
	start := sparse.NewBlock[float32](n, hi-lo)
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j%w.Classes == w.Class[i] && j/w.Classes != w.fold[i] {
				start.Row(row)[j-lo], x.Row(row)[j-lo] = 1-alpha, 1-alpha
			}
		}
	}
	for range steps {
		if err := w.ahead.StepTo(ctx, y, x, sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: start}); err != nil {
			return err
		}
		if w.back != nil {
			if err := w.back.StepTo(ctx, y, x, sparse.Step[float32]{Alpha: alpha, Delta: 1, Prev: y}); err != nil {
				return err
			}
		}
		x, y = y, x
	}
	w.work += steps * w.Store.NNZ() * int64(hi-lo)
	for i, row := range w.Row {
		for j := lo; j < hi; j++ {
			if j/w.Classes == w.fold[i] {
				scores[i*w.Classes+j%w.Classes] = float64(x.Row(row)[j-lo])
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
	shares := make([]float64, c.Classes)
	sharp := make([]float64, c.Classes)
	for _, class := range c.Class {
		shares[class] += 1 / float64(len(c.Class))
	}
	for _, exponent := range sharpnesses {
		var q quality
		for i, class := range c.Class {
			if c.fold[i] >= c.folds {
				continue
			}
			row := scores[i*c.Classes : (i+1)*c.Classes]
			sum := 0.0
			total := 0.0
			for _, v := range row {
				sum += v
			}
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
		if best == nil || q.sum() > best.sum() {
			best = q
		}
	}
	return best
}
