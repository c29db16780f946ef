package spread

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

type spreading struct{ rule *propagate.Learner }

const (
	// choiceTolerance suffices if only the largest score of a row matters.
	choiceTolerance = 1e-6

	// slabColumns is the largest number of columns, of classes or folds, that are solved together.
	slabColumns = 64
)

// Of returns an engine that predicts classes by a learner that spreads labels.
func Of(rule *propagate.Learner) *engine.Engine {
	m := spreading{rule}
	return engine.GraphMethod{Spec: &rule.Spec, Prepare: func(ctx context.Context, j *engine.Job, _ []param.Values) error { return j.Whole(ctx) },
		Predictions: m.predictions, Scores: m.scores,
		Highest: m.highest, Workspace: m.workspace, HasRaw: true, Extension: m.extension()}.Engine()
}

// NumbersOf returns an engine that predicts numbers by a learner that spreads labels, see [propagate.Learner.MeansTo].
func NumbersOf(rule *propagate.Learner) *engine.Engine {
	fit := func(ctx context.Context, samples []*engine.Problem, v param.Values, s *engine.Settings) ([][]float64, error) {
		p := samples[0]
		var known []propagate.Sample
		for _, q := range samples {
			known = append(known, propagate.Sample{Row: q.Row, Value: q.Value})
		}
		set := propagate.Settings{Memory: budget.Subtract(s.Memory, 8*int64((8+5*len(samples))*len(p.Degrees)))}
		if s.Rough {
			set.Tolerance = 1e-5
		}
		dst := sparse.NewBlock[float64](len(p.Degrees), len(samples))
		err := rule.MeansTo(ctx, dst, p.Graph, known, v, &set)
		if errors.Is(err, iterative.ErrIterationLimit) {
			err = &problem.Error{Method: rule.Name, Err: err}
		}
		list := make([][]float64, len(samples))
		for i := range list {
			list[i] = mat.Col(nil, i, sparse.DenseOf(dst))
		}
		return list, err
	}
	spec := rule.Spec
	spec.Works &^= param.Signed
	steps := engine.Numeric(&spec, fit, func(p *engine.Problem) budget.Workspace {
		n := len(p.Degrees)
		return budget.Slabs[float64](5, n, 2*engine.SamplesAtOnce).AndHeld((20 + 5*engine.SamplesAtOnce) * 8 * int64(n))
	})
	steps.Widens = true
	return steps.Engine()
}

// highest reports whether the highest scores of each node can replace all scores. For this, probabilities must be scores
// divided by their sum.
func (m spreading) highest(*engine.Problem, *engine.Settings) bool {
	return m.rule.Probabilities == nil && !m.rule.Coupled
}

type slab struct {
	classes, folds int
	left           int64
}

// slabWithin returns the slab of at most the given number of folds within the memory limit.
func (m spreading) slabWithin(j *engine.Job, folds int, v param.Values) slab {
	w := m.spread(j.Problem, v)
	k := len(j.Problem.Names)
	columns := w.Width(j.Settings.Memory)
	out := slab{classes: k, folds: 1}
	switch {
	case !m.rule.Coupled && columns < k:
		out.classes = columns
	case m.rule.Spread == nil: // it takes one fold after another
		out.folds = min(folds, max(1, columns/k))
	}
	out.left = budget.Subtract(j.Settings.Memory, budget.Block[float64](len(j.Problem.Degrees), out.classes*out.folds))
	return out
}

// solve computes the scores that spread from the labels of each of problems, one slab of classes after the other. It calls
// take with the scores f of the classes from lo on, first of the first problem, then of the second, and so on.
func (m spreading) solve(ctx context.Context, j *engine.Job,
	problems []*engine.Problem, width slab, v param.Values, s *propagate.Settings,
	take func(lo int, f *sparse.Block[float64]) error) error {
	k := len(j.Problem.Names)
	for lo := 0; lo < k; lo += width.classes {
		hi := min(lo+width.classes, k)
		set := *s
		var seeds []cwk.Seeds
		for _, p := range problems {
			seeds = append(seeds, engine.SeedsOf(p, lo, hi))
		}
		set.Memory = width.left
		if s.Progress != nil {
			set.Progress = func(_ string, done, total int64) {
				s.Progress("walk", int64(lo)*total+int64(hi-lo)*done,
					int64(k)*total)
			}
		}
		f := sparse.NewBlock[float64](len(j.Problem.Degrees), (hi-lo)*len(problems))
		work, err := m.rule.ScoresTo(ctx, f, j.Graph, seeds, v, &set)
		if err == nil {
			err = take(lo, f)
		}
		if err != nil {
			return err
		}
		j.Out.Work.Sweeps += work.Sweeps
	}
	return nil
}

// predictions solves for several groups at a time.
func (m spreading) predictions(ctx context.Context, j *engine.Job,
	settings []param.Values, groups []engine.Group,
	visit engine.FoldVisitor) error {
	k := len(j.Problem.Names)
	for setting, v := range settings {
		width := m.slabWithin(j, len(groups), v)
		for lo := 0; lo < len(groups); lo += width.folds {
			batch := groups[lo:min(lo+width.folds, len(groups))]
			scores := make([]map[int][]float64, len(batch))
			scales := make([][]float64, len(batch)) // by group and component, for rules with probabilities
			assigned := make([][]int, len(batch))
			var problems []*engine.Problem
			for i, g := range batch {
				problems = append(problems, g.Train)
				scores[i] = map[int][]float64{}
				for _, node := range g.Test.Row {
					scores[i][node] = make([]float64, k)
				}
			}
			err := m.solve(ctx, j, problems, width, v, &propagate.Settings{Tolerance: cmp.Or(m.rule.ChoiceTolerance, choiceTolerance)}, func(first int, f *sparse.Block[float64]) (err error) {
				classes := f.Cols / len(batch)
				for i, g := range batch {
					columns := f.Columns(i*classes, (i+1)*classes)
					offset := []float64(nil)
					if m.rule.Coupled {
						if offset, assigned[i], err = m.rule.Decide(j.Graph.Team(), columns, g.Train.Seeds(), v); err != nil {
							return err
						}
					}
					scales[i] = m.addSquares(scales[i], j, columns)
					for node, row := range scores[i] {
						copy(row[first:], columns.Row(node))
						addTo(row, offset)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			for i, g := range batch {
				reached := j.Graph.Components.Reachable(g.Train.Row)
				largest := choose.Majority(g.Train.Class)
				prior := engine.ClassShares.Distributions(g.Train.Seeds())(0)
				shares := make([]float64, k)
				visit(setting, lo+i, func(node int) engine.Guess {
					guess := engine.Guess{Class: largest, Reached: reached.Contains(uint32(node)), Scores: prior}
					switch {
					case assigned[i] != nil:
						guess.Class = assigned[i][node]
					case guess.Reached:
						guess.Class = classify.ArgMax(scores[i][node])
					}
					switch {
					case !guess.Reached:
					case m.sharesScores(j):
						if shareTo(scores[i][node]) {
							guess.Scores = scores[i][node]
						}
					case scales[i] == nil:
						guess.Scores = nil // they depend on nodes of other processes
					default:
						m.probabilitiesTo(shares, j.Graph.Signed, scores[i][node], prior, scales[i][j.Graph.Components.Of[node]])
						guess.Scores = shares
					}
					return guess
				})
			}
		}
	}
	return nil
}

func addTo(scores, offset []float64) {
	for c, x := range offset {
		scores[c] += x
	}
}

// scores computes the scores of all nodes, some classes at a time if there are many, and the classes that
// follow from the scores.
func (m spreading) scores(ctx context.Context, j *engine.Job,
	v param.Values) error {
	n := len(j.Problem.Degrees)
	k := len(j.Problem.Names)
	isShare := m.sharesScores(j)
	if j.Settings.Top > 0 {
		j.Out.Highest = problem.NewHighest(n, j.Problem.Row, j.Problem.Class)
	} else {
		j.Out.Scores = sparse.NewBlock[float32](n, k)
	}
	if !isShare || j.Settings.Raw || j.Settings.Explain || j.Settings.Columns {
		j.Out.Raw = sparse.NewBlock[float64](n, k)
	}
	row := make([]float32, k)
	take := func(lo int, f *sparse.Block[float64]) error {
		row = row[:f.Cols]
		for i := range n {
			if j.Out.Raw != nil {
				copy(j.Out.Raw.Row(i)[lo:], f.Row(i))
			}
			for c, x := range f.Row(i) {
				row[c] = float32(max(x, 0)) // rounding may give small negative scores
			}
			if j.Settings.Top > 0 {
				j.Out.Highest.Add(i, lo, row)
			} else {
				copy(j.Out.Scores.Row(i)[lo:], row)
			}
		}
		return nil
	}
	if err := m.solve(ctx, j, []*engine.Problem{j.Problem}, m.slabWithin(j, 1, v), v,
		&propagate.Settings{Progress: j.Settings.Progress}, take); err != nil {
		return err
	}
	j.Out.Form = m.form(j, v, j.Out.Raw)
	prior := engine.ClassShares.Distributions(j.Problem.Seeds())(0)
	if !isShare {
		return m.probabilities(j, v, prior)
	}
	m.columns(j, v, prior, nil, nil)
	row = row[:k]
	simd.ConvertTo(row, prior)
	for i := range n {
		switch {
		case j.Settings.Top > 0 && !j.Out.Highest.Normalize(i, 0):
			j.Out.Highest.Set(i, row)
		case j.Settings.Top == 0 && !share(j.Out.Scores.Row(i)):
			copy(j.Out.Scores.Row(i), row)
		}
	}
	engine.FillClasses(j.Out, j.Problem, engine.ClassShares)
	return nil
}

// addSquares adds to sums, by component, the squares of scores, divided by the number of scores of the component. It returns
// nil if probabilities are shares of scores, or if several processes have the nodes.
func (m spreading) addSquares(sums []float64, j *engine.Job, f *sparse.Block[float64]) []float64 {
	parts := j.Graph.Components
	if m.sharesScores(j) || j.Graph.Team() != nil {
		return nil
	}
	if sums == nil {
		sums = make([]float64, len(parts.Sizes))
	}
	k := float64(len(j.Problem.Names))
	for i := range f.Rows {
		square := 0.0
		for _, x := range f.Row(i) {
			square += float64(x * x)
		}
		component := parts.Of[i]
		sums[component] += square / (float64(parts.Sizes[component]) * k)
	}
	return sums
}

// probabilitiesTo stores the probabilities of the classes of a node with the given scores. square is the mean square of the
// scores of its component.
func (m spreading) probabilitiesTo(dst []float64, isSigned bool, scores, prior []float64, square float64) {
	if isSigned {
		propagate.SignedShares(dst, scores)
		return
	}
	m.rule.Probabilities(dst, scores, prior, math.Sqrt(square))
}

// sharesScores reports whether probabilities are scores divided by their sum.
func (m spreading) sharesScores(j *engine.Job) bool {
	return m.rule.Probabilities == nil && !j.Graph.Signed
}

// shareTo divides scores by their sum; negative scores become 0. It reports whether the sum is above 0.
func shareTo(scores []float64) bool {
	sum := 0.0
	for c, x := range scores {
		scores[c] = max(x, 0) // rounding may give small negative scores
		sum += scores[c]
	}
	for c, x := range scores {
		if sum > 0 {
			scores[c] = x / sum
		}
	}
	return sum > 0
}

// share divides scores by their sum, and reports whether the sum is above 0.
func share(scores []float32) bool {
	sum := 0.0
	for _, x := range scores {
		sum += float64(x)
	}
	for c, x := range scores {
		if sum > 0 {
			scores[c] = float32(float64(x) / sum)
		}
	}
	return sum > 0
}

// probabilities computes from the scores j.Out.Raw the probabilities j.Out.Scores and the classes j.Out.Class. It divides
// the scores of each connected component by their root mean square, because the scores of two components may have
// different units.
func (m spreading) probabilities(j *engine.Job, v param.Values,
	prior []float64) error {
	f := j.Out.Raw
	team := j.Graph.Team()
	n, k := f.Dims()
	squares := make([]float64, n)
	for i := range n {
		for _, x := range f.Row(i) {
			squares[i] += x * x
		}
	}
	scales := blocks.ByPart(team, j.Graph.Components, squares)
	for component, size := range j.Graph.Components.Sizes {
		scales[component] /= float64(size) * float64(k)
	}
	offset, assigned, err := m.rule.Decide(team, f, j.Problem.Seeds(), v)
	if err != nil {
		return err
	}
	square := func(node int) float64 { return scales[j.Graph.Components.Of[node]] }
	m.columns(j, v, prior, offset, square)
	row := make([]float64, k)
	scores := make([]float64, k)
	j.Out.Class = make([]int, n)
	for i := range n {
		copy(scores, f.Row(i))
		addTo(scores, offset)
		m.probabilitiesTo(row, j.Graph.Signed, scores, prior, square(i))
		j.Out.Class[i] = classify.ArgMax(row)
		simd.ConvertTo(j.Out.Scores.Row(i), row)
	}
	engine.FillClasses(j.Out, j.Problem, engine.ClassShares)
	if assigned != nil {
		copy(j.Out.Class, assigned)
	}
	return nil
}

// spread declares the memory of a solve, with its scores.
func (m spreading) spread(p *engine.Problem, v param.Values) budget.Workspace {
	n := len(p.Degrees)
	k := len(p.Names)
	if m.rule.Spread != nil {
		held := budget.Block[float64](n, k)
		w := budget.Slabs[float64](1, n, slabColumns).AndHeld(held)
		if m.rule.Workspace != nil {
			w = w.And(m.rule.Workspace(n, k, v))
		}
		if m.rule.Coupled {
			w.Columns = max(k, w.Columns)
		}
		return w
	}
	return budget.Slabs[float64](6, n, slabColumns).AndHeld(22 * 8 * int64(n)).And(
		iterative.FactorWorkspace(n, p.A.NNZ(), false))
}

// workspace declares the memory of predicting all nodes, folds or splits. If probabilities are not scores divided by their
// sum, the scores of all nodes are kept too.
func (m spreading) workspace(p *engine.Problem, settings []param.Values, s *engine.Settings) (w budget.Workspace, err error) {
	for _, v := range settings {
		if err := m.rule.Check(len(p.Names), v); err != nil {
			return w, err
		}
	}
	k := len(p.Names)
	w = m.spread(p, settings[0])
	w.Columns = min(w.Columns, k*choose.FoldCount(len(p.Row)))
	if !s.Raw && (m.rule.Probabilities != nil || p.Signed) {
		w = w.AndHeld(budget.Block[float64](len(p.Degrees), k))
	}
	return w.AndHeld(int64(max(len(p.Row), s.Tested)) * int64(8*k+64)), nil
}

// form returns the form of the scores. If they are no sums over labelled nodes, or no explanations are asked for, it
// returns nil.
func (m spreading) form(j *engine.Job, v param.Values,
	scores *sparse.Block[float64]) *explain.Form {
	if !j.Settings.Explain || !propagate.IsLinear(m.rule) {
		return nil
	}
	k := len(j.Problem.Names)
	respond := func(ctx context.Context, nodes []int) (*sparse.Block[float64], error) {
		return propagate.Response(ctx, m.rule, j.Graph, j.Problem.Seeds(), nodes, v)
	}
	weights := sparse.NewBlock[float64](len(j.Problem.Row), k)
	for i, c := range j.Problem.Class {
		weights.Row(i)[c] = 1
	}
	f := explain.Linear(j.Problem.Row, weights, scores, make([]float64, k), respond)
	if m.rule.Normalized {
		f.Size = func(node int) float64 { return j.Problem.Degrees[node] }
	}
	return f
}
