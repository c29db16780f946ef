package method

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/sparse"
)

// spreading is a learner of package propagate.
type spreading struct{ rule *propagate.Learner }

const (
	// choiceTolerance is the tolerance of scores of which only the largest of a row matters.
	choiceTolerance = 1e-6

	// solveColumns bounds the columns of classes or folds that are solved together.
	solveColumns = 64
)

func (m spreading) declaration() *param.Spec { return &m.rule.Spec }
func (m spreading) isSampled() bool          { return false }

func (m spreading) prepare(ctx context.Context, r *graphPredictor, _ []param.Values) error {
	r.set.Memory = budget.Remaining(r.set.Memory, vectorBytes(r.p))
	return r.whole(ctx)
}

// vectorBytes is the memory of vectors of the graph, its components and its system.
func vectorBytes(p *Problem) int64 { return 8 * 8 * int64(len(p.Degrees)) }

// columns returns the number of classes that are solved at a time, and of folds in one solve.
func (m spreading) columns(classes int) (width, folds int) {
	if m.rule.Coupled || classes <= solveColumns {
		return classes, max(1, solveColumns/classes)
	}
	return solveColumns, 1
}

// within returns the folds that are solved together within a memory limit, and the memory of the
// limit without their block.
func (m spreading) within(n int, entries int64, classes int, v param.Values, limit int64) (folds int, left int64) {
	width, folds := m.columns(classes)
	block := func(folds int) int64 { return blocks.BlockBytes[float64](n, folds*classes) }
	folds = budget.Widest(folds, limit, func(folds int) int64 {
		return block(folds) + m.rule.ScoresBytes(n, entries, folds*width, width, v, limit)
	})
	return folds, budget.Remaining(limit, block(folds))
}

// solve stores the scores of the labels of some problems in f, a column for each class after the other. Of many classes it
// solves for some after others, for one problem.
func (m spreading) solve(ctx context.Context, r *graphPredictor, f *sparse.Block[float64], problems []*Problem, v param.Values, s *propagate.Settings) error {
	k := len(r.p.Names)
	width, _ := m.columns(k)
	for lo := 0; lo < k; lo += width {
		hi, set := min(lo+width, k), *s
		var seeds []cwk.Seeds
		for _, p := range problems {
			seeds = append(seeds, seedsOf(p, lo, hi))
		}
		if s.Progress != nil {
			set.Progress = func(_ string, done, total int64) {
				s.Progress("walk", int64(lo)*total+int64(width)*done, int64(k)*total)
			}
		}
		work, err := m.rule.ScoresTo(ctx, f.Columns(lo, lo+(hi-lo)*len(problems)), r.g, seeds, v, &set)
		if err != nil {
			return err
		}
		r.out.Work.Add(work)
	}
	return nil
}

// predictions solves for the groups, several of them together. A node that no label reaches is given the largest class.
func (m spreading) predictions(ctx context.Context, r *graphPredictor, settings []param.Values, groups []group, visit func(setting, group int, predict func(node int) (int, bool))) error {
	k, n := len(r.p.Names), len(r.p.Degrees)
	for setting, v := range settings {
		width, memory := m.within(n, r.p.A.NNZ(), k, v, r.set.Memory)
		for lo := 0; lo < len(groups); lo += width {
			var batch []*Problem
			for _, g := range groups[lo:min(lo+width, len(groups))] {
				batch = append(batch, g.train)
			}
			f := sparse.NewBlock[float64](n, k*len(batch))
			if err := m.solve(ctx, r, f, batch, v, &propagate.Settings{Tolerance: choiceTolerance, Memory: memory}); err != nil {
				return err
			}
			for i, p := range batch {
				scores, seeds := f.Columns(i*k, (i+1)*k), seedsOf(p, 0, k)
				offset, assigned, err := m.rule.Decide(sparse.TeamOf(r.g.A), scores, seeds, v)
				if err != nil {
					return err
				}
				reached, largest := r.g.Components.Reached(p.Row), split.Majority(p.Class)
				row := make([]float64, k)
				visit(setting, lo+i, func(node int) (int, bool) {
					isReached := reached.Contains(uint32(node))
					switch {
					case assigned != nil:
						return assigned[node], isReached
					case !isReached:
						return largest, false
					}
					copy(row, scores.Row(node))
					addTo(row, offset)
					return classify.ArgMax(row), true
				})
			}
		}
	}
	return nil
}

// addTo adds offset, nil for nothing, to scores.
func addTo(scores, offset []float64) {
	for c, x := range offset {
		scores[c] += x
	}
}

// scores computes the scores of all nodes, of many classes some after others, and takes classes from them.
func (m spreading) scores(ctx context.Context, r *graphPredictor, v param.Values) error {
	n, k := len(r.p.Degrees), len(r.p.Names)
	f, seeds := sparse.NewBlock[float64](n, k), seedsOf(r.p, 0, k)
	err := m.solve(ctx, r, f, []*Problem{r.p}, v, &propagate.Settings{Memory: budget.Remaining(r.set.Memory, blocks.BlockBytes[float64](n, k)), Progress: r.set.Progress})
	if err != nil {
		return err
	}
	squares := blocks.Total(nil, blocks.Dots(sparse.TeamOf(r.g.A), f, f))
	r.out.Raw, r.out.Scores, r.out.form = f, sparse.NewBlock[float32](n, k), m.form(r, v, f)
	offset, assigned, err := m.rule.Decide(sparse.TeamOf(r.g.A), f, seeds, v)
	if err != nil {
		return err
	}
	scale := math.Sqrt(squares / float64(max(1, sparse.TeamOf(r.g.A).TotalOf(n)*k)))
	prior := classShares.Of(seeds)(0)
	row, scores := make([]float64, k), make([]float64, k)
	r.out.Class = make([]int, n)
	for i := range n {
		copy(scores, f.Row(i))
		addTo(scores, offset)
		if r.g.Signed {
			propagate.SignedShares(row, scores)
		} else {
			m.rule.Probabilities(row, scores, prior, scale)
		}
		r.out.Class[i] = classify.ArgMax(row)
		simd.ConvertTo(r.out.Scores.Row(i), row)
	}
	fillClasses(r.out, r.p, classShares)
	if assigned != nil {
		copy(r.out.Class, assigned)
	}
	return nil
}

// bytes is the memory of the largest of three phases: folds or splits that are columns of one
// solve, the solve for all nodes, and the conversion of its scores.
func (m spreading) bytes(p *Problem, _ int, settings []param.Values, s *Settings) int64 {
	n, k, v := len(p.Degrees), len(p.Names), settings[0]
	classes, _ := m.columns(k)
	memory := budget.Remaining(s.Memory, vectorBytes(p))
	solve := func(folds int) int64 {
		scores := blocks.BlockBytes[float64](n, k*folds)
		return scores + m.rule.ScoresBytes(n, p.A.NNZ(), classes*folds, classes, v, budget.Remaining(memory, scores))
	}
	folds, _ := m.within(n, p.A.NNZ(), k, v, memory)
	return vectorBytes(p) + max(solve(folds), solve(1), blocks.BlockBytes[float64](n, k)+scoreBytes(p))
}
