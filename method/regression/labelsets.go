package regression

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// widths is the number of compared models: with all columns of the embedding, a half, and a quarter.
const widths = 3

func lambdas() []float64 {
	return []float64{0.03, 0.1, 0.3, 1, 3, 10, 30}
}

// Spectral predicts several labels of a node. It learns each label against the rest from eigenvectors of the graph and from
// the attributes of nodes; the probability of a label does not depend on the other labels.
var Spectral = &engine.Engine{Name: "spectral", Target: engine.LabelSets, Fit: predictLabelSets, Workspace: labelSetWorkspace}

// LabelLearner learns from some of the labelled nodes of a problem.
type LabelLearner struct {
	Row  []int   // labelled nodes, each once
	Sets [][]int // labels of each, increasing

	problem *engine.Problem
	set     engine.Settings
	first   []int            // position of the first label of each node in the problem
	fitted  *engine.Problem  // weighed problem of the last model, without directions
	columns *auto.Embedding  // columns of fitted; nil before the first model
	views   *auto.Attributes // attributes of fitted; nil: none
}

// mostWide is the largest number of labelled nodes for a model with more columns than labelled nodes, because the cost grows
// with the cube of this number. Tests lower mostWide.
var mostWide = 1000

// NewLabelLearner returns the learner of p. In p.Row a node occurs once for each of its labels.
func NewLabelLearner(p *engine.Problem, s *engine.Settings) *LabelLearner {
	l := &LabelLearner{problem: p, set: s.WithDefaults()}
	places := map[int]int{}
	for i, v := range p.Row {
		place, isListed := places[v]
		if !isListed {
			place = len(l.Row)
			places[v] = place
			l.Row = append(l.Row, v)
			l.first = append(l.first, i)
			l.Sets = append(l.Sets, nil)
		}
		l.Sets[place] = append(l.Sets[place], p.Class[i])
	}
	for _, set := range l.Sets {
		slices.Sort(set)
	}
	return l
}

// Fit returns the model of the labelled nodes at positions of Row. It ignores the directions of edges. It returns the errors
// of [engine.Engine.Weigh] and [lanczos.Problem.Solve], and an error if weights are too large or too small. Cost: the
// eigenvectors, computed again only if labels choose the weights of edges.
func (l *LabelLearner) Fit(ctx context.Context, positions []int) (*engine.LabelSetModel, error) {
	node := problem.Pick(l.Row, positions)
	sets := problem.Pick(l.Sets, positions)
	training := *l.problem
	training.Row = nil
	training.Class = nil
	for i, v := range node {
		training.Row = append(training.Row, slices.Repeat([]int{v}, len(sets[i]))...)
		training.Class = append(training.Class, sets[i]...)
	}
	if l.columns == nil || new(engine.Engine).Reweighs(&training, &l.set) {
		if err := l.embed(ctx, &training); err != nil {
			return nil, err
		}
	}
	if l.views != nil && min(len(node), auto.EmbeddingColumns+2*l.problem.Attributes.Cols) > mostWide {
		sample := choose.Sample(make([]int, len(node)), mostWide, l.set.RNGSeed, 0)
		node = problem.Pick(node, sample)
		sets = problem.Pick(sets, sample)
		positions = problem.Pick(positions, sample)
	}
	f := &labelFit{Embedding: l.columns, node: node, sets: sets, labels: len(l.problem.Names), workers: l.set.Workers}
	if l.views != nil {
		f.attributes = mat.NewDense(len(node), 2*l.problem.Attributes.Cols, nil)
		if err := l.views.RowsTo(ctx, f.attributes, 0, node); err != nil {
			return nil, err
		}
	}
	var m *engine.LabelSetModel
	var err error
	if kept := l.set.Model; kept != nil {
		m, err = f.restore(ctx, kept.LabelSets)
	} else {
		labelled := l.problem.At(problem.Pick(l.first, positions))
		labelled.Class = nil // a node has several
		m, err = f.choose(ctx, choose.TaskOf(labelled, l.set.RNGSeed, 0))
	}
	if err == nil && l.views != nil {
		parts := sparse.NewBlock[float32](len(l.fitted.Degrees), f.labels) // scores from attributes
		err = l.views.Scores(ctx, f.model.Others(), func(node int, products []float32) { copy(parts.Row(node), products) })
		rest := m.Scores
		m.Scores = func(node int) []float64 {
			scores := rest(node)
			for c, v := range parts.Row(node) {
				scores[c] += float64(v)
			}
			return scores
		}
	}
	return m, err
}

// embed computes the columns of p, with edges weighed by the labels of p.
func (l *LabelLearner) embed(ctx context.Context, p *engine.Problem) (err error) {
	if l.fitted, err = new(engine.Engine).Weigh(ctx, p, &l.set); err != nil {
		return err
	}
	set := l.set
	set.Memory = budget.Subtract(set.Memory, p.ArcsBytes())
	if p.Directed {
		if l.fitted, _, err = l.fitted.WithoutDirections(ctx, set.Workers,
			new(graph.Work)); err != nil {
			return err
		}
	}
	if a := l.fitted.Attributes; a != nil && a.Cols > 0 {
		l.views = auto.NewAttributes(l.fitted, set.Memory, set.Workers)
	}
	l.columns, err = auto.NewEmbedding(ctx, l.fitted, auto.EmbeddingColumns, &lanczos.Settings{Memory: set.Memory, Workers: set.Workers,
		Progress: func(_ string, done, total int64) { set.Progress("features", done, total) }})
	return err
}

// Frequent returns how many nodes at positions have each label, as scores of a baseline that are equal for all nodes. limit
// is the threshold of these scores with the largest micro-F1.
func (l *LabelLearner) Frequent(positions []int) (counts []float64, limit float64) {
	counts = make([]float64, len(l.problem.Names))
	var sets [][]int
	for _, position := range positions {
		for _, c := range l.Sets[position] {
			counts[c]++
		}
		sets = append(sets, l.Sets[position])
	}
	return counts, choose.LabelThreshold(sets, func(int) []float64 { return counts })
}

// F1 returns two pairs of micro-F1 and macro-F1 of scores on the nodes at positions. For the first pair, a node with m
// labels is predicted to have the m labels with the highest scores (Perozzi, Al-Rfou, Skiena 2014). For the second pair, it
// is predicted to have the labels with a score of at least limit.
func (l *LabelLearner) F1(positions []int, limit float64,
	scores func(node int) []float64) (measures [4]float64) {
	var truth [][]int
	list := make([][]float64, len(positions))
	for i, position := range positions {
		truth = append(truth, l.Sets[position])
		list[i] = scores(l.Row[position])
	}
	labels := len(l.problem.Names)
	measures[0], measures[1], _ = choose.LabelF1(truth, labels,
		func(item int) []float64 { return list[item] })
	measures[2], measures[3], _ = choose.SetF1(truth, labels,
		func(item int) []int { return choose.LabelsAbove(list[item], limit) })
	return measures
}

// labelSetWorkspace declares the memory of the search for eigenvectors and of the least squares.
func labelSetWorkspace(p *engine.Problem, _ *engine.Settings) (budget.Workspace, error) {
	n := len(p.Degrees)
	labelled := len(NewLabelLearner(p, nil).Row)
	labels := len(p.Names)
	w := auto.EmbeddingWorkspace(n, labelled).AndHeld(p.ArcsBytes(), budget.Block[float32](n, labels), 40*int64(labelled)*int64(labels+1))
	if p.Attributes != nil {
		w = w.And(auto.AttributeWorkspace(p, 8*labelled, labels))
	}
	return w, nil
}

type labelFit struct {
	*auto.Embedding
	node       []int
	sets       [][]int
	labels     int
	attributes *mat.Dense // nil: none
	workers    int

	model *auto.EmbeddingModel
}

func (f *labelFit) learn(m *engine.LabelSetModel, p *classify.RidgePath) {
	f.model = f.Fit(p, m.Columns, m.Lambda)
	m.Scores = f.model.Scores
}

func (f *labelFit) path(ctx context.Context, width int) (*classify.RidgePath, error) {
	return f.Path(ctx, f.node, width, f.attributes, classify.OneHot(f.sets, f.labels), f.workers)
}

func (f *labelFit) restore(ctx context.Context, k *engine.LabelSetModel) (*engine.LabelSetModel, error) {
	m := &engine.LabelSetModel{Columns: min(k.Columns, f.Cols), Lambda: k.Lambda, Threshold: k.Threshold, Slopes: k.Slopes, Shifts: k.Shifts}
	p, err := f.path(ctx, m.Columns)
	if err == nil {
		f.learn(m, p)
	}
	return m, err
}

// leaveOut returns the scores of each node by a model of all other nodes, or if nodes have groups, of all other folds.
func (f *labelFit) leaveOut(path *classify.RidgePath, lambda float64, task *choose.Task) *mat.Dense {
	if task.Group != nil {
		if list, err := path.LeavePartsOut([]float64{lambda}, task.Fold, task.Folds(), nil); err == nil && list[0] != nil {
			return list[0]
		}
	}
	return path.LeaveOneOut(lambda)
}

// choose returns the model with the number of columns and the λ that predict the labels of left-out nodes best. For a node
// with m labels it predicts m labels, so that micro-F1 is the share of right labels.
func (f *labelFit) choose(ctx context.Context, task *choose.Task) (*engine.LabelSetModel, error) {
	c, err := f.candidates(ctx, task)
	if err != nil {
		return nil, err
	}
	search := &choose.Search{
		Kernel: &choose.Space{Axes: []choose.Axis{{Values: len(c.width),
			Ordered: true}}},
		Learner: &choose.Space{Axes: []choose.Axis{{Values: len(lambdas()),
			Ordered: true, Falling: true}}, Usual: slices.Index(lambdas(), 1)},
		Together: true,
		Measure:  c.countF1,
	}
	result, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	m := &engine.LabelSetModel{Columns: c.width[result.Kernel], Lambda: lambdas()[result.Setting]}
	f.learn(m, c.paths[result.Kernel])
	m.Threshold = calibrate(m, c.leftOut(result.Kernel, result.Setting), f.sets, f.labels, sched.UpTo(len(f.sets)))
	predicted := c.predictOutside(m, result.Outside)
	m.MicroF1, _, m.Stderr = choose.SetF1(f.sets, f.labels, func(i int) []int { return predicted[i] })
	return m, nil
}

// labelCandidates are models with each number of columns and each λ, which are compared by the nodes of a task.
type labelCandidates struct {
	*labelFit
	task   *choose.Task
	width  []int
	paths  []*classify.RidgePath // by width
	scores map[int]*mat.Dense    // of left-out nodes, by width and λ: the chosen models
}

func (f *labelFit) candidates(ctx context.Context, task *choose.Task) (*labelCandidates, error) {
	c := &labelCandidates{labelFit: f, task: task, scores: map[int]*mat.Dense{}}
	for w := f.Cols; len(c.width) < widths && w > 0; w /= 2 {
		p, err := f.path(ctx, w)
		if err != nil {
			return nil, err
		}
		c.width = append(c.width, w)
		c.paths = append(c.paths, p)
		if f.attributes != nil { // most columns are theirs
			break
		}
	}
	return c, nil
}

// countF1 is the Measure of a [choose.Search].
func (c *labelCandidates) countF1(_ context.Context, widths, settings []int) (*choose.Counts, error) {
	instances := make([]choose.FoldLabels, c.task.Folds())
	for i, list := range c.sets {
		instances[c.task.Fold[i]].Tested += len(list)
	}
	counts := choose.NewCounts(len(widths)*len(settings), instances)
	for a, width := range widths {
		for b, setting := range settings {
			left := c.leaveOut(c.paths[width], lambdas()[setting], c.task)
			for fold, list := range instances {
				test := c.task.Split(fold).Test
				micro, _, _ := choose.LabelF1(problem.Pick(c.sets, test), c.labels, func(i int) []float64 { return left.RawRowView(test[i]) })
				counts.Right[fold*counts.Candidates+a*len(settings)+b] = math.Round(micro * float64(list.Tested))
			}
		}
	}
	return counts, nil
}

// leftOut returns the scores of left-out nodes by the model with the width and the λ at the given positions.
func (c *labelCandidates) leftOut(width, setting int) *mat.Dense {
	key := width*len(lambdas()) + setting
	if c.scores[key] == nil {
		c.scores[key] = c.leaveOut(c.paths[width], lambdas()[setting], c.task)
	}
	return c.scores[key]
}

// predictOutside returns the labels of each node, predicted by the candidate that the other folds choose, with sigmoids and a
// threshold of the other folds. outside has the number of this candidate by fold. It stores the scores of true labels in
// m.HeldOut.
func (c *labelCandidates) predictOutside(m *engine.LabelSetModel, outside []int) [][]int {
	predicted := make([][]int, len(c.sets))
	for fold, candidate := range outside {
		left := c.leftOut(candidate/len(lambdas()), candidate%len(lambdas()))
		s := c.task.Split(fold)
		var calibrated engine.LabelSetModel
		limit := calibrate(&calibrated, left, c.sets, c.labels, s.Train)
		for _, i := range s.Test {
			probability := calibrated.Probable(mat.Row(nil, i, left))
			predicted[i] = choose.LabelsAbove(probability, limit)
			score := 0.0
			for _, label := range c.sets[i] {
				score = max(score, 1-probability[label])
			}
			m.HeldOut = append(m.HeldOut, score)
		}
	}
	slices.Sort(m.HeldOut)
	return predicted
}

// calibrate fits the sigmoids of m to the leave-one-out scores of nodes, and returns the threshold of probabilities with the
// largest micro-F1.
func calibrate(m *engine.LabelSetModel, scores *mat.Dense, sets [][]int, labels int, nodes []int) float64 {
	column := make([]float64, len(nodes))
	has := make([]bool, len(nodes))
	for c := range labels {
		yes := 0.0
		for k, i := range nodes {
			column[k] = scores.At(i, c)
			has[k] = slices.Contains(sets[i], c)
			if has[k] {
				yes++
			}
		}
		a, b := classify.Sigmoid(column, has)
		if a >= 0 { // all nodes have the label, none has, or a few say the opposite
			a, b = 0, math.Log((float64(len(nodes))-yes+1)/(yes+1))
		}
		m.Slopes = append(m.Slopes, a)
		m.Shifts = append(m.Shifts, b)
	}
	return choose.LabelThreshold(problem.Pick(sets, nodes), func(k int) []float64 { return m.Probable(mat.Row(nil, nodes[k], scores)) })
}

// predictLabelSets returns a prediction whose Scores are the probabilities of the labels. Its rows need not sum to one.
// Class is the likeliest label of each node.
func predictLabelSets(ctx context.Context, p *engine.Problem, _ *engine.Parameters, s *engine.Settings) (*engine.Prediction, error) {
	l := NewLabelLearner(p, s)
	m, err := l.Fit(ctx, sched.UpTo(len(l.Row)))
	if err != nil {
		return nil, err
	}
	m.Labelled = len(l.Row)
	m.Labels = make(map[int][]int, len(l.Row))
	for i, v := range l.Row {
		m.Labels[v] = l.Sets[i]
	}
	return predictSets(ctx, m, l.fitted, s)
}

func predictSets(ctx context.Context, m *engine.LabelSetModel, p *engine.Problem,
	s *engine.Settings) (*engine.Prediction, error) {
	n := len(p.Degrees)
	labels := len(m.Slopes)
	out := &engine.Prediction{Scores: sparse.NewBlock[float32](n, labels), Class: make([]int, n), LabelSets: m}
	var err error
	if out.Reached, err = p.Reachable(ctx, p.Row, s.Workers, &out.Work); err != nil {
		return nil, err
	}
	const chunk = 1024
	return out, sched.Run(ctx, s.Workers, (n+chunk-1)/chunk, func(_, piece int) error {
		for v := piece * chunk; v < min(n, (piece+1)*chunk); v++ {
			scores := m.Probabilities(v)
			simd.ConvertTo(out.Scores.Row(v), scores)
			out.Class[v] = classify.ArgMax(scores)
		}
		return nil
	})
}
