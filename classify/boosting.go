package classify

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Loss is the loss that boosted trees minimise.
type Loss int

const (
	SoftmaxLoss  Loss = iota // −log p of the class, with p the softmax of a score for each class
	LogisticLoss             // −y·log p − (1 − y)·log(1 − p), with p = 1/(1 + exp(−score)), for each output
	SquaredLoss              // ½(y − score)², for each output
)

// Boosting fits boosted regression trees: sums of trees, each of which is fitted to the derivatives of the loss at the
// scores of the trees before it (Friedman 2001), with values and gains of second order (Chen & Guestrin 2016). Trees grow
// leaf by leaf on histograms of at most 255 bins of each column (Ke et al. 2017). They have at most 16 leaves of at least 20
// rows; shrinkage is 0.1 and the ridge on the values of leaves is 1.
//
// Boosting fits a model without the items of each fold. All models have the same number of rounds, by default the number
// with the smallest loss at the items of the folds. The values of all trees are then multiplied by one of [0.4, 1], which
// decreases this loss again if trees are too sure. The fitted model is the mean of these models.
type Boosting struct {
	// X has a row of columns for each item. Missing values are NaN; each split sends them to the side with the larger gain.
	X *sparse.Block[float32]

	// IsCategory states whether the numbers of a column are categories without an order; nil: no column. The 255 most
	// frequent categories are distinguished. Other categories are missing.
	IsCategory []bool

	Loss    Loss
	Class   []int                  // class of each item, for [SoftmaxLoss]
	Classes int                    // number of classes, for [SoftmaxLoss]
	Targets *sparse.Block[float64] // row of each item with a column for each output, for other losses

	Fold  []int // fold of each item, 0 ≤ Fold[i] < Folds
	Folds int

	Rounds     int // rounds of boosting; 0: chosen by the loss at the items of the folds, at most MostRounds
	MostRounds int // 0: 200
	Workers    int // 0: all processors
}

const (
	usualRounds = 200

	// patience is the number of rounds without an improvement after which the choice of rounds ends. With 10 rounds, choices
	// on 100 items end at chance minima.
	patience = 20
)

// factors are the factors of all trees to choose from. On flickr and blogcatalog, whose classes are hard to tell apart, 32 and
// 62 rounds with a factor of 0.5 have a smaller loss and 1 and 0.2 % fewer errors than 15 and 23 rounds with a factor of 1.
var factors = []float64{1, 0.8, 0.65, 0.5, 0.4}

// ErrManyRows is returned if there are too many items for the integers that count them.
var ErrManyRows = errors.New("classify: trees learn from fewer than 16,777,216 items")

// Fit returns the model, and a row of scores for each item by the model without the item's fold, see
// [BoostedTrees.PredictionTo]. Results are the same to the bit for any number of workers. They are the same for any order of
// the items if each item keeps its fold. The error is the error of ctx, or [ErrManyRows]. Cost: for each round, fold and
// output about three additions for each value of X, and as many comparisons as 31 leaves have bins.
func (b *Boosting) Fit(ctx context.Context) (*BoostedTrees, *sparse.Block[float64], error) {
	f, err := b.begin()
	if err != nil {
		return nil, nil, err
	}
	limit := b.Rounds
	if limit == 0 {
		if limit = b.MostRounds; limit == 0 {
			limit = usualRounds
		}
	}
	var best int64
	rounds := 0
	factor := 1.0
	for round := 0; ; round++ {
		losses, err := f.measure(ctx)
		if err != nil {
			return nil, nil, err
		}
		for i, loss := range losses {
			isFirst := i == 0 && (round <= 1 || b.Rounds > 0) // models have at least one round
			if isFirst || loss < best {
				best = loss
				rounds = round
				factor = factors[i]
				copy(f.best.Data, f.held.Data)
			}
		}
		if round == limit || b.Rounds == 0 && round-max(rounds, 1) >= patience {
			break
		}
		if err := f.grow(ctx); err != nil {
			return nil, nil, err
		}
	}
	m := f.model
	m.Rounds = rounds
	m.scale(factor)
	for i, fold := range b.Fold {
		for o, base := range m.Base[fold] {
			z := f.best.Row(i)
			z[o] = base + float64(factor*(z[o]-base))
		}
	}
	for fold, list := range m.Trees {
		m.Trees[fold] = slices.Clip(list[:rounds*f.outputs])
	}
	return m, f.best, nil
}

// boostingFit is a fit of [Boosting] with models of some rounds.
type boostingFit struct {
	*Boosting
	bins    *bins
	model   *BoostedTrees
	outputs int
	target  []float64 // of item and output; nil: class
	class   []int     // number of each item's class in model.Class

	score   []*sparse.Block[float64] // scores of all items, by fold
	share   []*sparse.Block[float64] // predictions at these scores, for losses other than squared
	loss    [][]int64                // at the items of each fold, by factor, in units of lossUnit
	largest []float64                // largest first derivative, by fold
	spread  float64                  // largest first derivative before the first round
	held    *sparse.Block[float64]
	best    *sparse.Block[float64] // held of the best round
	growers []*grower
}

func (b *Boosting) begin() (*boostingFit, error) {
	n := b.X.Rows
	if len(b.Fold) != n || b.IsCategory != nil && len(b.IsCategory) != b.X.Cols {
		panic(badLength)
	}
	if n >= 1<<rowBits {
		return nil, ErrManyRows
	}
	f := &boostingFit{Boosting: b, bins: newBins(b.X, b.IsCategory)}
	m := &BoostedTrees{Loss: b.Loss, Columns: b.X.Cols}
	f.model = m
	if b.Loss == SoftmaxLoss {
		f.beginClasses()
	} else {
		if b.Targets.Rows != n {
			panic(badLength)
		}
		f.outputs = b.Targets.Cols
		for i := range n {
			f.target = append(f.target, b.Targets.Row(i)...)
		}
	}
	if b.IsCategory != nil {
		m.Categories = make([][]float32, m.Columns)
		for _, c := range f.bins.columns {
			m.Categories[c.column] = c.categories
		}
	}
	f.held = sparse.NewBlock[float64](n, f.outputs)
	f.best = sparse.NewBlock[float64](n, f.outputs)
	for range b.Folds {
		f.loss = append(f.loss, make([]int64, len(factors)))
	}
	f.largest = make([]float64, b.Folds)
	m.Base = make([][]float64, b.Folds)
	m.Trees = make([][]Tree, b.Folds)
	for fold := range b.Folds {
		m.Base[fold] = f.base(fold)
		score := sparse.NewBlock[float64](n, f.outputs)
		for i := range n {
			copy(score.Row(i), m.Base[fold])
		}
		f.score = append(f.score, score)
		f.share = append(f.share, sparse.NewBlock[float64](n, f.outputs))
	}
	f.spread = 1
	if b.Loss == SquaredLoss {
		f.spread = f.largestTarget()
	}
	for range min(sched.Workers(b.Workers), b.Folds*max(1, f.outputs)) {
		f.growers = append(f.growers, newGrower(f.bins, n))
	}
	return f, nil
}

// largestTarget returns the largest difference between a target and its output's scores before the first round, or 1 if all
// are equal.
func (f *boostingFit) largestTarget() (largest float64) {
	for i := range f.X.Rows {
		for o, score := range f.model.Base[f.Fold[i]] {
			largest = max(largest, math.Abs(score-f.targetOf(i, o)))
		}
	}
	if largest == 0 {
		return 1
	}
	return largest
}

// beginClasses numbers the classes that have items. Two classes have one output, the log odds of the second.
func (f *boostingFit) beginClasses() {
	if len(f.Class) != f.X.Rows {
		panic(badLength)
	}
	m := f.model
	m.Classes = f.Classes
	number := make([]int, f.Classes)
	for _, c := range f.Class {
		if c < 0 || c >= f.Classes {
			panic(badClass)
		}
		number[c] = 1
	}
	for c, has := range number {
		if has > 0 {
			number[c] = len(m.Class)
			m.Class = append(m.Class, c)
		}
	}
	f.class = make([]int, len(f.Class))
	for i, c := range f.Class {
		f.class[i] = number[c]
	}
	f.outputs = len(m.Class)
	if f.outputs <= 2 {
		f.outputs = 1
		f.target = make([]float64, len(f.class))
		for i, c := range f.class {
			f.target[i] = float64(c)
		}
	}
}

// isSoftmax reports whether there is an output for each of several classes.
func (f *boostingFit) isSoftmax() bool { return f.Loss == SoftmaxLoss && f.target == nil }

// base returns the scores before the first round of the model without a fold: the log odds or the logarithms of the shares of
// the classes, each class counted once more; with [SquaredLoss] the means.
func (f *boostingFit) base(fold int) []float64 {
	base := make([]float64, f.outputs)
	var targets []float64
	for o := range base {
		targets = targets[:0]
		for i, other := range f.Fold {
			if other != fold {
				targets = append(targets, f.targetOf(i, o))
			}
		}
		slices.Sort(targets) // sums do not depend on the order of items
		count := float64(len(targets))
		sum := 0.0
		for _, y := range targets {
			sum += y
		}
		switch {
		case f.Loss == SquaredLoss:
			base[o] = sum / max(1, count)
		case f.isSoftmax():
			base[o] = math.Log((sum + 1) / (count + float64(f.outputs)))
		default:
			base[o] = math.Log((sum + 1) / (count - sum + 1))
		}
	}
	return base
}

// targetOf returns the target of an output: 1 or 0 for the class of item i and other classes.
func (f *boostingFit) targetOf(i, output int) float64 {
	if f.target != nil {
		return f.target[i*f.outputs+output]
	}
	if f.class[i] == output {
		return 1
	}
	return 0
}

// Losses are added in integers, so that their sum does not depend on the order of items. mostLoss/lossUnit times the largest
// number of rows is below 2⁶³.
const (
	lossUnit = 1. / (1 << 28)
	mostLoss = 1 << 10
)

// measure computes predictions at the scores of the last round, and returns the loss at the items of all folds.
func (f *boostingFit) measure(ctx context.Context) ([]int64, error) {
	err := sched.Run(ctx, f.Workers, f.Folds, func(_, fold int) error {
		clear(f.loss[fold])
		scaled := make([]float64, f.outputs)
		q := make([]float64, f.outputs)
		f.largest[fold] = 0
		score := f.score[fold]
		for i := range f.X.Rows {
			z := score.Row(i)
			p := f.share[fold].Row(i)
			f.predict(p, z)
			if f.Fold[i] == fold {
				copy(f.held.Row(i), z)
				for l, factor := range factors {
					for o, base := range f.model.Base[fold] {
						scaled[o] = base + float64(factor*(z[o]-base))
					}
					f.predict(q, scaled)
					f.loss[fold][l] += int64(math.Round(min(f.lossOf(i, scaled, q), mostLoss) / lossUnit))
				}
			} else if f.Loss == SquaredLoss {
				for o, q := range p {
					f.largest[fold] = max(f.largest[fold], math.Abs(q-f.targetOf(i, o)))
				}
			}
		}
		return nil
	})
	total := make([]int64, len(factors))
	for _, list := range f.loss {
		for l, x := range list {
			total[l] += x
		}
	}
	return total, err
}

func (f *boostingFit) predict(p, z []float64) {
	switch {
	case f.Loss == SquaredLoss:
		copy(p, z)
	case f.isSoftmax():
		Softmax(p, z)
	default:
		for o, s := range z {
			p[o] = logistic(s)
		}
	}
}

// lossOf returns the loss of item i with the scores z and predictions p, with [SquaredLoss] relative to f.spread².
func (f *boostingFit) lossOf(i int, z, p []float64) (sum float64) {
	switch {
	case f.isSoftmax():
		return -math.Log(max(p[f.class[i]], math.SmallestNonzeroFloat64))
	case f.Loss == SquaredLoss:
		for o, q := range p {
			d := (q - f.targetOf(i, o)) / f.spread
			sum += float64(d * d)
		}
	default:
		for o, s := range z { // log(1 + exp(s)) − y·s
			sum += max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))) - float64(f.targetOf(i, o)*s)
		}
	}
	return sum
}

// grow adds a round to the models of all folds.
func (f *boostingFit) grow(ctx context.Context) error {
	for fold, list := range f.model.Trees {
		f.model.Trees[fold] = append(list, make([]Tree, f.outputs)...)
	}
	return sched.Run(ctx, len(f.growers), f.Folds*f.outputs, func(worker, task int) error {
		fold := task % f.Folds
		output := task / f.Folds
		list := f.model.Trees[fold]
		list[len(list)-f.outputs+output] = f.growTree(f.growers[worker], fold, output)
		return nil
	})
}

func (f *boostingFit) growTree(g *grower, fold, output int) Tree {
	share := f.share[fold]
	g.rows = g.rows[:0]
	g.held = g.held[:0]
	for i, other := range f.Fold {
		if other == fold {
			g.held = append(g.held, int32(i))
		} else {
			g.rows = append(g.rows, int32(i))
		}
	}
	g.scale = newFixedPoint(len(g.rows), 1, 0.25)
	if f.Loss == SquaredLoss {
		g.scale = newFixedPoint(len(g.rows), f.largest[fold], 1)
	}
	for _, i := range g.rows {
		p := share.Row(int(i))[output]
		second := 1.0
		if f.Loss != SquaredLoss {
			second = p * (1 - p)
		}
		g.derivative[i] = g.scale.of(p-f.targetOf(int(i), output), second)
	}
	score := f.score[fold]
	return g.grow(func(value float64, rows, held []int32) {
		for _, list := range [2][]int32{rows, held} {
			for _, i := range list {
				score.Row(int(i))[output] += value
			}
		}
	})
}

// BoostingWorkspace declares the memory of [Boosting.Fit] for the given numbers of items, columns, outputs and folds, without X and
// the model.
func BoostingWorkspace(items, columns, outputs, folds int) budget.Workspace {
	workers := min(sched.Workers(0), folds*outputs)
	scores := budget.Times(2*folds+2, budget.Block[float64](items, outputs))
	grower := budget.Times(treeLeaves, budget.Block[derivatives](columns, mostBins+1)) + budget.Vector[derivatives](2*items) + budget.Vector[int32](3*items)
	return budget.Held(scores, budget.Times(columns, int64(items)), budget.Times(workers, grower))
}
