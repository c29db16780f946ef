package classify

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
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
// Boosting fits several models, each without the items of some folds. All models have the same number of rounds. By default
// it is the number with the smallest loss of held-out scores: the score of an item is the mean of the models that have not
// learned from it. The values of all trees are then multiplied by one of [0.4, 1], which decreases this loss again if trees
// are too sure. The fitted model is the mean of these models.
type Boosting struct {
	// X has a row of columns for each item. Missing values are NaN; each split sends them to the side with the larger gain.
	X *sparse.Block[float32]

	// Varied has for each model further columns of the items, which follow those of X; nil: there are none. They hold what
	// must not depend on the targets of hidden items.
	Varied []*sparse.Block[float32]

	// IsCategory states whether the numbers of a column of X are categories without an order; nil: no column. The 255 most
	// frequent categories are distinguished. Other categories are missing.
	IsCategory []bool

	// Output is the class, with [SoftmaxLoss], or the output whose trees alone use a column of X or, after these, of Varied; −1:
	// all trees use the column. nil: all trees use all columns.
	Output []int

	Loss    Loss
	Class   []int                  // class of each item, for [SoftmaxLoss]
	Classes int                    // number of classes, for [SoftmaxLoss]
	Targets *sparse.Block[float64] // row of each item with a column for each output, for other losses

	Fold []int // fold of each item

	// Hidden has the folds that each model does not learn from. Each fold must be hidden from a model.
	Hidden [][]int

	Rounds     int // rounds of boosting; 0: chosen by the loss of held-out scores, at most MostRounds
	MostRounds int // 0: 200
	Workers    int // 0: all processors
}

// HideEach returns the folds to hide from models if each model learns without one fold.
func HideEach(folds int) (hidden [][]int) {
	for f := range folds {
		hidden = append(hidden, []int{f})
	}
	return hidden
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

// Fit returns the model, and a row of held-out scores for each item, see [BoostedTrees.PredictionTo]. Results are the same to the bit for any number of workers. They are the same for any order of
// the items if each item keeps its fold. The error is the error of ctx, or [ErrManyRows]. Cost: for each round, model and
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
	for model, list := range m.Trees {
		m.Trees[model] = slices.Clip(list[:rounds*f.outputs])
	}
	m.scale(factor)
	for i, base := range f.heldBase.Data {
		f.best.Data[i] = base + float64(factor*(f.best.Data[i]-base))
	}
	if f.unit != nil {
		f.restoreUnits()
	}
	return m, f.best, nil
}

// boostingFit is a fit of [Boosting] with models of some rounds.
type boostingFit struct {
	*Boosting
	bins    *bins
	columns [][]int // by output: positions in bins.columns of the columns that its trees use
	model   *BoostedTrees
	outputs int
	target  []float64 // of item and output; nil: class

	// With [SquaredLoss], targets are (y − center)/unit for each output.
	center, unit []float64

	class []int // number of each item's class in model.Class

	isHidden [][]bool                 // by model and item
	score    []*sparse.Block[float64] // scores of all items, by model
	share    []*sparse.Block[float32] // predictions at these scores, by model, for losses other than squared
	largest  []float64                // largest first derivative, by model
	spread   float64                  // largest first derivative before the first round
	held     *sparse.Block[float64]   // held-out scores
	heldBase *sparse.Block[float64]   // held-out scores before the first round
	best     *sparse.Block[float64]   // held of the best round
	growers  []*grower
}

// columnCount returns the number of columns of X and Varied.
func (b *Boosting) columnCount() int {
	if b.Varied == nil {
		return b.X.Cols
	}
	return b.X.Cols + b.Varied[0].Cols
}

func (b *Boosting) begin() (*boostingFit, error) {
	n := b.X.Rows
	if len(b.Fold) != n || b.Output != nil && len(b.Output) != b.columnCount() || b.IsCategory != nil && len(b.IsCategory) != b.X.Cols {
		panic(badLength)
	}
	if n >= 1<<rowBits {
		return nil, ErrManyRows
	}
	f := &boostingFit{Boosting: b, bins: new(bins)}
	m := &BoostedTrees{Loss: b.Loss, Columns: b.columnCount()}
	f.bins.add([]*sparse.Block[float32]{b.X}, 0, b.IsCategory)
	if b.Varied != nil {
		f.bins.add(b.Varied, b.X.Cols, nil)
	}
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
		if b.Loss == SquaredLoss && n > 0 {
			f.standardize()
		}
	}
	if b.IsCategory != nil {
		m.Categories = make([][]float32, m.Columns)
		for _, c := range f.bins.columns {
			m.Categories[c.column] = c.categories
		}
	}
	models := len(b.Hidden)
	f.held = sparse.NewBlock[float64](n, f.outputs)
	f.best = sparse.NewBlock[float64](n, f.outputs)
	f.largest = make([]float64, models)
	m.Base = make([][]float64, models)
	m.Trees = make([][]Tree, models)
	for model, folds := range b.Hidden {
		isHidden := make([]bool, n)
		for i, fold := range b.Fold {
			isHidden[i] = slices.Contains(folds, fold)
		}
		f.isHidden = append(f.isHidden, isHidden)
		m.Base[model] = f.base(model)
		score := sparse.NewBlock[float64](n, f.outputs)
		for i := range n {
			copy(score.Row(i), m.Base[model])
		}
		f.score = append(f.score, score)
		f.share = append(f.share, sparse.NewBlock[float32](n, f.outputs))
	}
	f.holdOut(0, n)
	f.heldBase = sparse.NewBlock[float64](n, f.outputs)
	copy(f.heldBase.Data, f.held.Data)
	f.spread = 1
	if b.Loss == SquaredLoss {
		f.spread = f.largestTarget()
	}
	f.divideColumns()
	most := 0
	for _, list := range f.columns {
		most = max(most, f.bins.countOf(list))
	}
	for range min(sched.Workers(b.Workers), models*f.outputs) {
		f.growers = append(f.growers, newGrower(f.bins, n, most))
	}
	return f, nil
}

// divideColumns lists the columns that the trees of each output use. If two classes have one output, its trees use the columns
// of both.
func (f *boostingFit) divideColumns() {
	f.columns = make([][]int, f.outputs)
	for o := range f.columns {
		user := o
		if f.isSoftmax() {
			user = f.model.Class[o]
		}
		isShared := f.Output == nil || f.Loss == SoftmaxLoss && !f.isSoftmax()
		for j, c := range f.bins.columns {
			if isShared || f.Output[c.column] < 0 || f.Output[c.column] == user {
				f.columns[o] = append(f.columns[o], j)
			}
		}
	}
}

// targetUnit is the rounding of standardized targets: it makes them equal to the bit for y and for a·y + b with a > 0, whose
// standardized values differ by rounding errors. Otherwise these errors decide between splits with equal gains.
const targetUnit = 0x1p-30

// standardize subtracts from the targets of each output their mean and divides them by their mean absolute deviation, which
// becomes 1 if it is 0.
func (f *boostingFit) standardize() {
	n := f.X.Rows
	list := make([]float64, n)
	for o := range f.outputs {
		least := math.Inf(1)
		for i := range n {
			least = min(least, f.target[i*f.outputs+o])
		}
		for i := range list {
			list[i] = f.target[i*f.outputs+o] - least // exact for numbers far from 0
		}
		slices.Sort(list) // sums do not depend on the order of items
		mean := 0.0
		for _, y := range list {
			mean += y / float64(n)
		}
		unit := 0.0
		for _, y := range list {
			unit += math.Abs(y-mean) / float64(n)
		}
		if unit == 0 {
			unit = 1
		}
		for i := range n {
			y := &f.target[i*f.outputs+o]
			*y = math.Round((*y-least-mean)/unit/targetUnit) * targetUnit
		}
		f.center = append(f.center, least+mean)
		f.unit = append(f.unit, unit)
	}
}

// restoreUnits gives the model and the held-out scores the units of the targets.
func (f *boostingFit) restoreUnits() {
	for model, base := range f.model.Base {
		for o := range base {
			base[o] = f.center[o] + float64(base[o]*f.unit[o])
		}
		for r, t := range f.model.Trees[model] {
			for i := range t.Nodes {
				t.Nodes[i].Value *= f.unit[r%f.outputs]
			}
		}
	}
	for i := range f.best.Rows {
		row := f.best.Row(i)
		for o := range row {
			row[o] = f.center[o] + float64(row[o]*f.unit[o])
		}
	}
}

// largestTarget returns the largest difference between a target and its output's scores before the first round, or 1 if all
// are equal.
func (f *boostingFit) largestTarget() (largest float64) {
	for i := range f.X.Rows {
		for o, score := range f.heldBase.Row(i) {
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

// base returns the scores of a model before the first round: the log odds or the logarithms of the shares of
// the classes, each class counted once more; with [SquaredLoss] the means.
func (f *boostingFit) base(model int) []float64 {
	base := make([]float64, f.outputs)
	var targets []float64
	for o := range base {
		targets = targets[:0]
		for i, isHidden := range f.isHidden[model] {
			if !isHidden {
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

// measuredItems is the number of items whose losses are added together.
const measuredItems = 1024

// measure computes predictions at the scores of the last round. It returns the loss of held-out scores with each factor, in
// units of lossUnit.
func (f *boostingFit) measure(ctx context.Context) ([]int64, error) {
	n := f.X.Rows
	err := sched.Run(ctx, f.Workers, len(f.Hidden), func(_, model int) error {
		p := make([]float64, f.outputs)
		f.largest[model] = 0
		for i, isHidden := range f.isHidden[model] {
			if isHidden {
				continue
			}
			z := f.score[model].Row(i)
			if f.Loss == SquaredLoss {
				for o, q := range z {
					f.largest[model] = max(f.largest[model], math.Abs(q-f.targetOf(i, o)))
				}
				continue
			}
			f.predict(p, z)
			simd.ConvertTo(f.share[model].Row(i), p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pieces := (n + measuredItems - 1) / measuredItems
	losses := make([][]int64, pieces)
	err = sched.Run(ctx, f.Workers, pieces, func(_, piece int) error {
		losses[piece] = f.holdOut(piece*measuredItems, min(n, (piece+1)*measuredItems))
		return nil
	})
	total := make([]int64, len(factors))
	for _, list := range losses {
		for l, x := range list {
			total[l] += x
		}
	}
	return total, err
}

// holdOut stores the held-out scores of the items lo ≤ i < hi, and returns their loss with each factor. Before the first round
// it returns nil.
func (f *boostingFit) holdOut(lo, hi int) []int64 {
	losses := make([]int64, len(factors))
	scaled := make([]float64, f.outputs)
	p := make([]float64, f.outputs)
	for i := lo; i < hi; i++ {
		z := f.held.Row(i)
		clear(z)
		count := 0.0
		for model, score := range f.score {
			if f.isHidden[model][i] {
				addScaled(z, 1, score.Row(i))
				count++
			}
		}
		for o := range z {
			z[o] /= max(1, count)
		}
		if f.heldBase == nil || count == 0 {
			continue
		}
		for l, factor := range factors {
			for o, base := range f.heldBase.Row(i) {
				scaled[o] = base + float64(factor*(z[o]-base))
			}
			f.predict(p, scaled)
			losses[l] += int64(math.Round(min(f.lossOf(i, scaled, p), mostLoss) / lossUnit))
		}
	}
	return losses
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

// grow adds a round to all models.
func (f *boostingFit) grow(ctx context.Context) error {
	for model, list := range f.model.Trees {
		f.model.Trees[model] = append(list, make([]Tree, f.outputs)...)
	}
	models := len(f.Hidden)
	return sched.Run(ctx, len(f.growers), models*f.outputs, func(worker, task int) error {
		model := task % models
		output := task / models
		list := f.model.Trees[model]
		list[len(list)-f.outputs+output] = f.growTree(f.growers[worker], model, output)
		return nil
	})
}

func (f *boostingFit) growTree(g *grower, model, output int) Tree {
	g.model = model
	g.columns = f.columns[output]
	g.rows = g.rows[:0]
	g.held = g.held[:0]
	for i, isHidden := range f.isHidden[model] {
		if isHidden {
			g.held = append(g.held, int32(i))
		} else {
			g.rows = append(g.rows, int32(i))
		}
	}
	g.scale = newFixedPoint(len(g.rows), 1, 0.25)
	if f.Loss == SquaredLoss {
		g.scale = newFixedPoint(len(g.rows), f.largest[model], 1)
	}
	score := f.score[model]
	for _, row := range g.rows {
		i := int(row)
		y := f.targetOf(i, output)
		if f.Loss == SquaredLoss {
			g.derivative[i] = g.scale.of(score.Row(i)[output]-y, 1)
			continue
		}
		p := float64(f.share[model].Row(i)[output])
		g.derivative[i] = g.scale.of(p-y, p*(1-p))
	}
	return g.grow(func(value float64, rows, held []int32) {
		for _, list := range [2][]int32{rows, held} {
			for _, i := range list {
				score.Row(int(i))[output] += value
			}
		}
	})
}

// BoostingWorkspace declares the memory of [Boosting.Fit] for the given numbers of items, columns, columns that vary,
// outputs and models, without X, Varied and the model.
func BoostingWorkspace(items, columns, varied, outputs, models int) budget.Workspace {
	workers := min(sched.Workers(0), models*outputs)
	scores := budget.Times(models, budget.Block[float64](items, outputs)+budget.Block[float32](items, outputs)+int64(items)) +
		3*budget.Block[float64](items, outputs)
	codes := budget.Times(columns+varied*models, int64(items)) + budget.Times(models, budget.Vector[float32](2*items))
	grower := budget.Times(treeLeaves, budget.Block[derivatives](columns+varied, mostBins+1)) +
		budget.Vector[derivatives](2*items) + budget.Vector[int32](3*items)
	return budget.Held(scores, codes, budget.Times(workers, grower))
}
