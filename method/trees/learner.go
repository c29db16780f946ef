package trees

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Sample is what trees learn from: nodes of an undirected graph with known targets, in folds.
type Sample struct {
	Problem *problem.Problem // its labels are not read
	Row     []int            // known nodes, each once

	Loss    classify.Loss
	Class   []int                  // class of each node of Row, for [classify.SoftmaxLoss]
	Targets *sparse.Block[float64] // row of each node of Row, for other losses

	Fold  []int // fold of each node of Row, 0 ≤ Fold[i] < Folds
	Folds int

	Rounds  int    // 0: chosen, at most MostRounds
	Columns string // one of EitherColumns, AllColumns and OwnColumns; "": EitherColumns
	Workers int
	Work    *graph.Work

	// MostSeconds limits the time of the fit on one processor, about: there are fewer rounds, at least leastRounds.
	// 0 means usualSeconds.
	MostSeconds float64
	MostRounds  int // 0: 200
}

const (
	usualSeconds = 10
	leastRounds  = 5
	mostRounds   = 200
)

// With more than mostSharing classes, the trees of a class see no columns of labels of other classes. On debian, with 58
// classes, a round then takes a twentieth of the time, and 20 rounds are right for 75.1 % of the nodes; 5 rounds that see all
// columns are right for 74.8 %.
const mostSharing = 16

// treeRows is the number of nodes that pass through a tree together.
const treeRows = 128

// Values of the parameter columns.
const (
	EitherColumns = "either" // all or own, chosen by the loss of held-out scores
	AllColumns    = "all"
	OwnColumns    = "own" // attributes of the node
)

// Model is a model of trees with what it needs to predict all nodes.
type Model struct {
	*classify.BoostedTrees

	// IsLimited states that the chosen number of rounds is the largest that the limits allow.
	IsLimited bool

	// Held has a row of held-out scores for each known node, see [classify.BoostedTrees.PredictionTo].
	Held *sparse.Block[float64]

	List []Column // columns of a node

	// Gain is how much more accurate the mean of the models is expected to be than Held, see sharpen. [Model.Predict]
	// sets it.
	Gain float64

	sample *Sample
	hidden [][]int // folds hidden from each model
	spread spread  // of the predictions that Held is the mean of
	factor float64 // of sharpen
	fixed  *nodeColumns
	labels *labelColumns
}

// Learn fits trees to a sample. There is a model for each fold, which it does not learn from. If nodes have attributes, there are also trees on a node's own attributes alone, which predict if their
// held-out scores have the smaller loss: what is around a node may be noise. It needs memory for the columns of all nodes, see
// [Workspace]. Cost: 13 sweeps of a column for each output and model, and [classify.Boosting.Fit].
func Learn(ctx context.Context, s *Sample) (*Model, error) {
	g := newGraphWalks(s.Problem, s.Workers, s.Work)
	fixed, err := newNodeColumns(ctx, g)
	if err != nil {
		return nil, err
	}
	var own, all *Model
	if s.Problem.Attributes != nil && s.Columns != AllColumns {
		own = &Model{sample: s, fixed: fixed.own()}
		if err := own.learn(ctx); err != nil || s.Columns == OwnColumns {
			return own, err
		}
	}
	all = &Model{sample: s, fixed: fixed}
	target, output := s.outputs()
	all.labels = newLabelColumns(g, s.Row, target, output, s.Loss != classify.SquaredLoss)
	if err := all.learn(ctx); err != nil {
		return nil, err
	}
	if own != nil && own.loss() < (1-sameLoss)*all.loss() {
		return own, nil
	}
	return all, nil
}

// sameLoss is the relative difference up to which losses are equal. Trees without a split, as of fewer labels than two leaves
// have, predict alike from all columns but for rounding, which depends on the unit of the numbers.
const sameLoss = 1e-9

// Columns returns the value of the parameter columns with which m was learned.
func (m *Model) Columns() string {
	if m.labels == nil {
		return OwnColumns
	}
	return AllColumns
}

// loss returns the mean loss of held-out scores.
func (m *Model) loss() (sum float64) {
	s := m.sample
	for i := range s.Row {
		p := m.PredictionTo(nil, m.Held.Row(i))
		switch s.Loss {
		case classify.SoftmaxLoss:
			sum -= math.Log(max(p[s.Class[i]], math.SmallestNonzeroFloat64))
		case classify.LogisticLoss:
			for o, y := range s.Targets.Row(i) {
				sum -= math.Log(max(float64(y*p[o])+float64((1-y)*(1-p[o])), math.SmallestNonzeroFloat64))
			}
		default:
			for o, y := range s.Targets.Row(i) {
				sum += float64((y - p[o]) * (y - p[o]))
			}
		}
	}
	return sum
}

// learn fits the trees of m on its columns.
func (m *Model) learn(ctx context.Context) error {
	s := m.sample
	m.List = m.fixed.list
	if m.labels != nil {
		m.List = slices.Concat(m.fixed.list, m.labels.list)
	}
	m.hidden = classify.HideEach(s.Folds)
	if m.labels == nil {
		m.hidden = append(m.hidden, []int{}) // the model that predicts, because no column depends on labels
	}
	x := newBlock(len(s.Row), m.fixed.Cols)
	for i, v := range s.Row {
		copy(x.Row(i), m.fixed.Row(v))
	}
	b := &classify.Boosting{X: x, Loss: s.Loss, Class: s.Class, Classes: len(s.Problem.Names), Targets: s.Targets,
		Fold: s.Fold, Hidden: m.hidden, Rounds: s.Rounds, Workers: s.Workers}
	var held []*block
	var err error
	if m.labels != nil {
		if b.Varied, held, err = m.varied(ctx); err != nil {
			return err
		}
	}
	for _, c := range m.fixed.list {
		b.IsCategory = append(b.IsCategory, c.View == Category)
	}
	if s.outputCount() > mostSharing {
		for _, c := range m.List {
			b.Output = append(b.Output, c.Class)
		}
	}
	if b.Rounds == 0 {
		r := roundSize{nodes: m.fixed.Rows, known: len(s.Row), outputs: s.outputCount(), models: len(m.hidden)}
		r.columns = seenColumns(len(m.List), r.outputs)
		b.MostRounds = int(min(float64(cmp.Or(s.MostRounds, mostRounds)), max(leastRounds, s.limit()/r.seconds())))
	}
	if m.BoostedTrees, m.Held, err = b.Fit(ctx); err != nil {
		return err
	}
	m.IsLimited = m.Rounds == b.MostRounds
	if m.labels == nil {
		return nil
	}
	m.predictHeld(x, held)
	return nil
}

// predictHeld stores in Held the mean scores of each known node by the model without its fold, over the columns without
// another fold too. A single set of columns lacks labels that the sets of the models together do not: on flickr-words,
// where columns tell much, one model is right for 60.3 % of other nodes with one set, for 65.0 % with the mean of four, and
// five models with a set each for 66.6 %.
func (m *Model) predictHeld(fixed *block, held []*block) {
	s := m.sample
	for fold := range s.Folds {
		var members []int
		for i := range s.Row {
			if s.Fold[i] == fold {
				members = append(members, i)
			}
		}
		for list := range slices.Chunk(members, treeRows) {
			x := newBlock(len(list), len(m.List))
			scores := make([][][]float64, len(list))
			for other, labels := range held {
				if other == fold {
					continue
				}
				for j, i := range list {
					copy(x.Row(j), fixed.Row(i))
					copy(x.Row(j)[fixed.Cols:], labels.Row(i))
				}
				z := blocks.NewDense[float64](len(list), m.Outputs())
				m.AddModelRowsTo(z, x, fold, 1)
				for j := range list {
					scores[j] = append(scores[j], z.Row(j))
				}
			}
			for j, i := range list {
				if len(scores[j]) > 0 {
					copy(m.Held.Row(i), m.spread.add(m, scores[j]))
				}
			}
		}
	}
	m.sharpenHeld()
}

// limit returns the limit of the time of the fit in seconds.
func (s *Sample) limit() float64 {
	if s.MostSeconds == 0 {
		return usualSeconds
	}
	return s.MostSeconds
}

// varied returns for each model the columns of labels of the known nodes. held has for each fold the columns without the
// node's fold and this one.
func (m *Model) varied(ctx context.Context) (list, held []*block, err error) {
	s := m.sample
	for range m.hidden {
		list = append(list, newBlock(len(s.Row), len(m.labels.list)))
		held = append(held, newBlock(len(s.Row), len(m.labels.list)))
	}
	for f := range s.Folds {
		for g := range f {
			labels, err := m.labels.compute(ctx, s.Fold, []int{f, g})
			if err != nil {
				return nil, nil, err
			}
			for _, model := range []int{f, g} {
				for i, v := range s.Row {
					if m.unseenFold(model, s.Fold[i]) == f+g-model {
						copy(list[model].Row(i), labels.Row(v))
					}
					if s.Fold[i] == f+g-model {
						copy(held[model].Row(i), labels.Row(v))
					}
				}
			}
		}
	}
	return list, held, nil
}

// unseenFold returns the fold, beside the fold of the model, whose labels the columns of a node in a fold do not depend on. A
// model never sees labels of its fold, and a node that it learns from not those of the node's fold. So that other nodes see
// equally many labels, their columns lack the next fold. The fold of a node without a label is −1.
func (m *Model) unseenFold(model, fold int) int {
	if fold < 0 || fold == model {
		return (model + 1) % m.sample.Folds
	}
	return fold
}

// Nanoseconds of a fit for each learned item of a tree, for each value of the item that the tree sees and for each bin of a
// node of the tree; of a choice of rounds for each score and model; and of a node that passes through a tree. Measured on tolokers,
// flickr and debian.
const (
	itemTime  = 15
	valueTime = 4
	binTime   = 3
	scoreTime = 20
	pathTime  = 30
)

// roundSize is what the time of a round of all models depends on.
type roundSize struct {
	nodes, known, outputs, models int

	columns int // that a tree sees
}

// seconds estimates the time of a round of all models on one processor, with the predictions of all nodes.
func (r roundSize) seconds() float64 {
	const nodes = 31 // of a tree
	known := float64(r.known)
	bins := float64(min(255, r.known))
	models := float64(r.models)
	tree := known*(itemTime+float64(r.columns)*valueTime) + binTime*nodes*bins*float64(r.columns)
	return 1e-9 * float64(r.outputs) * (models*tree + scoreTime*known*models +
		pathTime*models*(float64(r.nodes)+known))
}

// LeastSeconds estimates the time of the least number of rounds on one processor, with the given numbers of known nodes and
// folds. With many classes it is more than [Sample.MostSeconds] may be.
func LeastSeconds(p *problem.Problem, known, folds int) float64 {
	outputs := classOutputs(p)
	fixed, varied := columnCounts(p, outputs)
	return leastRounds * roundSize{nodes: len(p.Degrees), known: known, outputs: outputs, models: folds,
		columns: seenColumns(fixed+varied, outputs)}.seconds()
}

// seenColumns estimates how many of the columns a tree sees.
func seenColumns(columns, outputs int) int {
	if outputs <= mostSharing {
		return columns
	}
	ofClasses := (len(labelViews) + 1) * min(outputs, mostClassColumns)
	return columns - ofClasses + len(labelViews) + 1
}

// outputCount returns the number of scores of an item.
func (s *Sample) outputCount() int {
	if s.Loss != classify.SoftmaxLoss {
		return s.Targets.Cols
	}
	return classOutputs(s.Problem)
}

// classOutputs returns the number of scores of classes: two classes have one.
func classOutputs(p *problem.Problem) int {
	if len(p.Names) > 2 {
		return len(p.Names)
	}
	return 1
}

// columnCounts returns the largest numbers of columns of a node that do not and that do depend on labels.
func columnCounts(p *problem.Problem, outputs int) (fixed, varied int) {
	fixed = 5
	if p.Attributes != nil {
		fixed += 9 * p.Attributes.Cols
		if p.Attributes.Cols > mostStepped {
			fixed = 5 + 3*min(p.Attributes.Cols, mostOwned)
		}
	}
	labels := min(outputs, mostClassColumns+1)
	return fixed, (len(labelViews)+3)*labels + 1
}

// outputs returns the targets of columns of labels, and the class or output of each column.
func (s *Sample) outputs() (target *block, output []int) {
	if s.Loss != classify.SoftmaxLoss {
		target = newBlock(len(s.Row), s.Targets.Cols)
		for o := range s.Targets.Cols {
			output = append(output, o)
			list := make([]float64, len(s.Row))
			for i := range list {
				list[i] = s.Targets.Row(i)[o]
			}
			unit := 1.0
			mean := 0.0
			if s.Loss == classify.SquaredLoss {
				mean = stat.Mean(list, nil)
				unit = stat.PopStdDev(list, nil)
				if unit == 0 {
					unit = 1
				}
			}
			for i, y := range list {
				target.Row(i)[o] = float32((y - mean) / unit)
			}
		}
		return target, output
	}
	count := make([]int, len(s.Problem.Names))
	for _, c := range s.Class {
		count[c]++
	}
	place := make([]int, len(count)) // column of each class
	output = largest(count, mostClassColumns)
	for c := range place {
		place[c] = len(output)
	}
	for o, c := range output {
		place[c] = o
	}
	target = newBlock(len(s.Row), min(len(count), len(output)+1))
	if target.Cols > len(output) {
		output = append(output, -1)
	}
	for i, c := range s.Class {
		target.Row(i)[place[c]] = 1
	}
	return target, output
}

// rowTo stores the columns of node v.
func (m *Model) rowTo(dst []float32, labels *block, v int) {
	copy(dst, m.fixed.Row(v))
	if labels != nil {
		copy(dst[m.fixed.Cols:], labels.Row(v))
	}
}

// Predict calls visit with every node and its scores, from several goroutines; scores may be changed. The scores are the mean
// over folds of the scores by the model without the fold, from columns without the labels of the fold, times the factor of
// sharpen. Cost: 11 sweeps of a column for each output and fold, and a path through each tree.
func (m *Model) Predict(ctx context.Context, visit func(node int, scores []float64)) error {
	n := m.fixed.Rows
	outputs := m.Outputs()
	sums := blocks.NewDense[float64](n, outputs)
	scale := 1 / float64(m.Models())
	if m.labels == nil {
		scale = 1
	}
	probes := m.probes()
	err := m.eachModel(ctx, func(model int, labels *block) error {
		err := blocks.EachNodeChunk(ctx, m.sample.Workers, n, func(_, lo, hi int) {
			for ; lo < hi; lo += treeRows {
				x := newBlock(min(treeRows, hi-lo), len(m.List))
				for i := range x.Rows {
					m.rowTo(x.Row(i), labels, lo+i)
				}
				z := &sparse.Block[float64]{Rows: x.Rows, Cols: outputs, Stride: sums.Stride, Data: sums.Data[lo*sums.Stride:]}
				m.AddModelRowsTo(z, x, model, scale)
			}
		})
		if err != nil {
			return err
		}
		x := make([]float32, len(m.List))
		for i := range probes {
			p := &probes[i]
			z := make([]float64, outputs)
			m.rowTo(x, labels, p.node)
			m.AddModelTo(z, x, model, 1)
			p.scores = append(p.scores, z)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sharpen := m.sharpen(probes)
	return blocks.EachNodeChunk(ctx, m.sample.Workers, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			sharpen(sums.Row(v))
			visit(v, sums.Row(v))
		}
	})
}

// eachModel calls visit with each model that predicts, and with the columns of labels of all nodes that it sees; nil: none.
func (m *Model) eachModel(ctx context.Context, visit func(model int, labels *block) error) error {
	for model, hidden := range m.hidden {
		var labels *block
		var err error
		switch {
		case m.labels != nil:
			labels, err = m.labels.compute(ctx, m.sample.Fold, append(hidden[:len(hidden):len(hidden)], m.unseenFold(model, -1)))
		case len(hidden) > 0: // it serves held-out scores alone
			continue
		}
		if err != nil {
			return err
		}
		if err := visit(model, labels); err != nil {
			return err
		}
	}
	return nil
}

// Workspace declares the memory of [Learn] and [Model.Predict] for the given numbers of known nodes, outputs and folds.
func Workspace(p *problem.Problem, known, outputs, folds int) budget.Workspace {
	n := len(p.Degrees)
	fixed, varied := columnCounts(p, outputs)
	labels := min(outputs, mostClassColumns+1)
	models := folds * folds / 2
	entries := int64(0)
	if p.A != nil {
		entries = sparse.EntriesOf(p.A)
	}
	return budget.Held(budget.Block[float32](n, fixed+varied+5*(labels+1)+6*attributeGroup), budget.Block[float64](n, outputs+12), 4*entries,
		budget.Block[float32](known, fixed), budget.Times(models, budget.Block[float32](known, varied))).And(
		classify.BoostingWorkspace(known, fixed, varied, outputs, models))
}
