package graphlearner

import (
	"context"
	"math"
	"time"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// spreading is a learner of package propagate. Its parameters are chosen by
// cross-validation.
type spreading struct{ *propagate.Learner }

// Declaration implements [Learner].
func (m spreading) Declaration() *spec.Spec { return &m.Spec }

const (
	// choiceTolerance is that of scores of which the largest in a row is all that
	// counts.
	choiceTolerance = 1e-6

	// choiceColumns bounds the columns of the folds that are solved together.
	choiceColumns = 64
)

// begin finds what is known of the graph.
func (m spreading) begin(ctx context.Context, p *problem.Problem, s *Settings) (*spreader, error) {
	g, out, err := graphOf(ctx, p, s)
	return &spreader{spreading: m, p: p, g: g, set: s, out: out}, err
}

// Predict implements [Learner].
func (m spreading) Predict(ctx context.Context, p *problem.Problem, v spec.Values, s *Settings) (*Answer, error) {
	start := time.Now()
	r, err := m.begin(ctx, p, s)
	if err != nil {
		return nil, err
	}
	out := r.out
	if v != nil {
		r.choice = &validate.Choice{Values: v, Settings: 1}
	} else if err := r.choose(ctx); err != nil {
		return nil, err
	}
	out.Seconds.Choose = time.Since(start).Seconds()
	start = time.Now()
	if err := r.score(ctx); err != nil {
		return nil, err
	}
	out.Seconds.Walk = time.Since(start).Seconds()
	out.Values, out.Settings = r.choice.Values, r.choice.Settings
	if r.held != nil {
		out.Estimate = r.held.Estimate(p, out.Reached)
	}
	return out, nil
}

// spreader makes one prediction.
type spreader struct {
	spreading
	p      *problem.Problem
	g      *graph.Graph
	set    *Settings
	out    *Answer
	choice *validate.Choice
	held   *choose.Estimator // nil: there were too few labels
}

// seeds returns the labels outside one fold, or all of them if it is −1.
func (r *spreader) seeds(fold []int, without int) cwk.Seeds {
	s := cwk.Seeds{Classes: len(r.p.Names)}
	for i, row := range r.p.Row {
		if without < 0 || fold[i] != without {
			s.Row, s.Class = append(s.Row, row), append(s.Class, r.p.Class[i])
		}
	}
	return s
}

// choose finds the setting with most right answers out of fold; with too few labels
// it takes the defaults.
func (r *spreader) choose(ctx context.Context) (err error) {
	if validate.TooFew(r.p.Class) {
		v, err := r.Resolve(r.set.Given, nil)
		r.choice = &validate.Choice{Values: v, Settings: 1}
		return err
	}
	folds := r.set.Folds(len(r.p.Row))
	fold := validate.Folds(r.p.Class, folds, r.set.RNGSeed, 0)
	found := make([][]reply, 0)
	r.choice, err = validate.Choose(r.set.Tried, r.set.Given, nil, len(r.p.Row), func(settings []spec.Values) ([]int64, error) {
		hits := make([]int64, len(settings))
		for i, v := range settings {
			list, err := r.replies(ctx, fold, folds, v)
			if err != nil {
				return nil, err
			}
			found = append(found, list)
			hits[i] = rightOutside(list, fold, -1)
			r.set.Progress("choose", float64(i+1)/float64(len(settings)))
		}
		return hits, nil
	})
	if err == nil {
		r.held = judged(r.p, found, fold, folds)
	}
	return err
}

// replies returns those of a setting to all labels. A node from which no label outside
// its fold is reached is given the largest class.
func (r *spreader) replies(ctx context.Context, fold []int, folds int, v spec.Values) ([]reply, error) {
	list := make([]reply, len(r.p.Row))
	seeds := func(f int) cwk.Seeds { return r.seeds(fold, f) }
	return list, r.answers(ctx, folds, seeds, v, func(f int, answer answer) {
		for i, row := range r.p.Row {
			if fold[i] == f {
				class, reached := answer(row)
				list[i] = reply{reached, class == r.p.Class[i]}
			}
		}
	})
}

// add adds offset, nil for nothing, to scores.
func add(scores, offset []float64) {
	for c, x := range offset {
		scores[c] += x
	}
}

// answer is what the scores that a group of labels gives say of a node, and whether one of
// these reaches it.
type answer func(row int) (class int, reached bool)

// answers solves for so many groups of labels, some of them together, and calls visit for each;
// what makes the scores of different classes comparable is added to them. A node that no label
// reaches is given the largest class of the labels.
func (r *spreader) answers(ctx context.Context, groups int, seeds func(group int) cwk.Seeds, v spec.Values, visit func(group int, answer answer)) error {
	k, n := len(r.p.Names), len(r.p.Degrees)
	together, memory := foldsTogether(r.Learner, n, r.p.A.NNZ(), k, v, r.set.Memory)
	for lo := 0; lo < groups; lo += together {
		var some []cwk.Seeds
		for i := lo; i < min(lo+together, groups); i++ {
			some = append(some, seeds(i))
		}
		f := sparse.NewBlock[float64](n, k*len(some))
		work, err := r.ScoresTo(ctx, f, r.g, some, v, &propagate.Settings{Tolerance: choiceTolerance, Memory: memory})
		if err != nil {
			return err
		}
		r.out.Work.Add(work)
		for i, seeds := range some {
			scores := f.Columns(i*k, (i+1)*k)
			offset, assigned, err := r.Decide(scores, seeds, v)
			if err != nil {
				return err
			}
			for row := range n {
				add(scores.Row(row), offset)
			}
			all, largest := r.g.Components.Reached(seeds.Row), validate.Majority(seeds.Class)
			visit(lo+i, func(row int) (int, bool) {
				reached := all.Contains(uint32(row))
				switch {
				case assigned != nil:
					return assigned[row], reached
				case !reached:
					return largest, false
				}
				return classify.ArgMax(scores.Row(row)), true
			})
		}
	}
	return nil
}

// foldsTogether returns how many folds are columns of one block, and what memory is
// left beside that block; limit 0: no limit.
func foldsTogether(l *propagate.Learner, n int, entries int64, classes int, v spec.Values, limit int64) (folds int, memory int64) {
	folds = max(1, choiceColumns/classes)
	block := func() int64 { return tall.BlockBytes[float64](n, folds*classes) }
	for limit > 0 && folds > 1 && block()+spec.Least(l.Memory(n, entries, folds*classes, classes, v, 0)) > limit {
		folds--
	}
	return folds, budget.Remaining(limit, block())
}

// score computes the scores of all nodes and takes classes from them.
func (r *spreader) score(ctx context.Context) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	f, seeds := sparse.NewBlock[float64](n, k), r.seeds(nil, -1)
	work, err := r.ScoresTo(ctx, f, r.g, []cwk.Seeds{seeds}, r.choice.Values, &propagate.Settings{
		Memory:   budget.Remaining(r.set.Memory, tall.BlockBytes[float64](n, k)),
		Progress: func(done float64) { r.set.Progress("walk", done) },
	})
	if err != nil {
		return err
	}
	r.out.Work.Add(work)
	scale := math.Sqrt(tall.Total(tall.Dots(f, f)) / float64(max(1, n*k)))
	r.out.Raw, r.out.Scores, r.out.Class = f, sparse.NewBlock[float32](n, k), make([]int, n)
	largest, prior := validate.Majority(r.p.Class), Shares.Of(seeds)(0)
	offset, assigned, err := r.Decide(f, seeds, r.choice.Values)
	if err != nil {
		return err
	}
	row, weighed := make([]float64, k), make([]float64, k)
	for i := range n {
		if !r.out.Reached.Contains(uint32(i)) {
			copy(row, prior)
			r.out.Class[i] = largest
		} else {
			copy(weighed, f.Row(i))
			add(weighed, offset)
			r.Probabilities(row, weighed, prior, scale)
			r.out.Class[i] = classify.ArgMax(row)
		}
		simd.ConvertTo(r.out.Scores.Row(i), row)
	}
	if assigned != nil {
		copy(r.out.Class, assigned)
	}
	for i, at := range r.p.Row {
		r.out.Class[at] = r.p.Class[i]
	}
	return nil
}

// Tune implements [Learner].
func (m spreading) Tune(ctx context.Context, p *problem.Problem, splits *validate.Splits, s *Settings) (*validate.Choice, problem.Work, error) {
	r, err := m.begin(ctx, p, s)
	if err != nil {
		return nil, problem.Work{}, err
	}
	tested := testedOn(splits)
	c, err := validate.Choose(s.Tried, s.Given, nil, tested, func(settings []spec.Values) ([]int64, error) {
		return s.Count(len(settings), len(settings), func(i int, right []int64) (_ int, err error) {
			right[i], err = r.rightOn(ctx, splits, settings[i])
			s.Progress("choose", float64(i+1)/float64(len(settings)))
			return tested, err
		})
	})
	return c, r.out.Work, err
}

// rightOn counts the right answers on the test nodes of splits.
func (r *spreader) rightOn(ctx context.Context, splits *validate.Splits, v spec.Values) (hits int64, err error) {
	seeds := func(i int) cwk.Seeds {
		train := r.p.At(splits.At(i).Train)
		return cwk.Seeds{Row: train.Row, Class: train.Class, Classes: len(r.p.Names)}
	}
	return hits, r.answers(ctx, splits.Len, seeds, v, func(i int, answer answer) {
		for _, at := range splits.At(i).Test {
			if class, _ := answer(r.p.Row[at]); class == r.p.Class[at] {
				hits++
			}
		}
	})
}

// Bytes implements [Learner]: the folds of a choice or the splits of a tuning are columns of
// one solve; after it all nodes are solved for and scored.
func (m spreading) Bytes(p *problem.Problem, _ int, s *Settings) (int64, error) {
	n, k := len(p.Degrees), len(p.Names)
	v, err := m.Resolve(s.Given, nil)
	if err != nil {
		return 0, err
	}
	folds, _ := foldsTogether(m.Learner, n, p.A.NNZ(), k, v, s.Memory)
	solve := func(columns int) int64 {
		block := tall.BlockBytes[float64](n, columns)
		return block + spec.Sum(m.Learner.Memory(n, p.A.NNZ(), columns, k, v, budget.Remaining(s.Memory, block)))
	}
	raw, scores := tall.BlockBytes[float64](n, k), tall.BlockBytes[float32](n, k)+8*int64(n)
	return graphVectors*8*int64(n) + max(solve(folds*k), solve(k), raw+scores), nil
}

// graphVectors is the number of vectors of float64 that a graph with its components has,
// and its system.
const graphVectors = 8
