package propagate

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Learner is the declaration of a learner that spreads labels.
type Learner struct {
	spec.Spec

	// relax, in place of a system, stores the scores of one group of seeds in f, and
	// returns over how many columns it has swept. memory lists what that takes.
	relax  func(ctx context.Context, f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v spec.Values, tolerance float64) (columns int, err error)
	memory func(n, classes int, v spec.Values) []spec.Bytes

	// system returns the system that the scores solve.
	system func(g *graph.Graph, v spec.Values) (*iterative.System, error)

	// sources stores the right-hand sides of one group of seeds in the columns of b,
	// one for each class, which are zero.
	sources func(b *sparse.Block[float64], g *graph.Graph, s cwk.Seeds)

	// finish, if not nil, makes scores of the solutions for one group.
	finish func(f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds)

	// offset, if not nil, returns that of [Learner.Decide].
	offset func(f *sparse.Block[float64], s cwk.Seeds, v spec.Values) ([]float64, error)

	// Probabilities stores in dst what the scores of a node in f say of its classes:
	// numbers ≥ 0 that sum to one, the largest where the score is. shares are those
	// of the labels, for a node of which nothing is known. scale is the root mean
	// square of all scores.
	Probabilities func(dst, f, shares []float64, scale float64)
}

// Learners returns all of them.
func Learners() spec.List[*Learner] {
	return spec.List[*Learner]{&lgc, &poisson, &wvrn, &relaxationLabelling, &gpTransduction}
}

// Settings are the settings of one computation. Nil means all defaults.
type Settings struct {
	// Tolerance is the norm of a column's residual relative to that of its
	// right-hand side. 0 means 1e-12, or as little as float64 allows; it must be less
	// than 1.
	Tolerance float64

	// Memory is the largest number of bytes to use beside the graph and the scores;
	// 0 means no limit. Columns are solved in as many groups as that takes.
	Memory int64

	// Progress, if not nil, is called with the share of the work that is done.
	Progress func(done float64)
}

const (
	defaultTolerance = 1e-12

	// solveBlocks is the number of blocks that a solve holds at a time: right-hand
	// sides, solutions, residuals, directions and their images.
	solveBlocks = 5
)

// Memory lists what ScoresTo takes beside the graph and the scores for so many columns on a
// graph with n nodes and so many entries, within a limit, 0 for none, where as many columns
// are solved at a time as there is room for: of learners that relax the columns of a group,
// all its classes.
func (l *Learner) Memory(n int, entries int64, cols, classes int, v spec.Values, limit int64) []spec.Bytes {
	_, list := l.within(n, entries, cols, classes, v, limit)
	return list
}

// within returns how many columns are solved at a time, at least one, and the list of
// [Learner.Memory].
func (l *Learner) within(n int, entries int64, cols, classes int, v spec.Values, limit int64) (width int, list []spec.Bytes) {
	if l.relax != nil {
		return cols, append(l.memory(n, classes, v), spec.Bytes{What: "scores of a group", Bytes: tall.BlockBytes[float64](n, classes)})
	}
	for width = cols; ; width-- {
		list = []spec.Bytes{
			{What: "blocks of a solve", Bytes: solveBlocks * tall.BlockBytes[float64](n, width)},
			{What: "vectors of the system", Bytes: 6 * 8 * int64(n)},
			{What: "a sampled Cholesky factor", Bytes: spec.Sum(iterative.CholeskyMemory(n, entries, width)), Optional: true},
		}
		if width == 1 || limit == 0 || spec.Least(list) <= limit {
			return width, list
		}
	}
}

// ScoresTo stores the scores of every class for every node in dst, those of group i
// in its columns i·Classes ≤ j < (i+1)·Classes. The groups have the same number of
// classes; v are complete, see [spec.Spec.Resolve]. The graph is undirected.
//
// The error is a [*spec.ParameterError] for a value that these labels do not admit,
// [iterative.ErrIterationLimit] if the tolerance is not reached, the
// context's, that of a sweep, or one of memory.
//
// Cost: a block solve of as many columns, or what the learner says.
func (l *Learner) ScoresTo(ctx context.Context, dst *sparse.Block[float64], g *graph.Graph, groups []cwk.Seeds, v spec.Values, s *Settings) (work problem.Work, err error) {
	n, classes := len(g.Degrees), groups[0].Classes
	if dst.Rows != n || dst.Cols != classes*len(groups) {
		panic(badShape)
	}
	var set Settings
	if s != nil {
		set = *s
	}
	if set.Tolerance == 0 {
		set.Tolerance = defaultTolerance
	}
	width, list := l.within(n, g.A.NNZ(), dst.Cols, classes, v, set.Memory)
	least := spec.Least(list)
	if set.Memory > 0 && least > set.Memory {
		return work, fmt.Errorf("%w: the least it takes is %s, the limit is %s", budget.ErrMemory, budget.Size(least), budget.Size(set.Memory))
	}
	if l.relax != nil {
		return l.relaxTo(ctx, dst, g, groups, v, &set)
	}
	sys, err := l.system(g, v)
	if err != nil {
		return work, err
	}
	if set.Memory > 0 {
		sys.Memory = max(1, set.Memory-least)
	}
	for i, seeds := range groups {
		part := dst.Columns(i*classes, (i+1)*classes)
		for r := range n {
			clear(part.Row(r))
		}
		l.sources(part, g, seeds)
	}
	for lo := 0; lo < dst.Cols; lo += width {
		hi := min(lo+width, dst.Cols)
		b, x := sparse.NewBlock[float64](n, hi-lo), sparse.NewBlock[float64](n, hi-lo)
		for i := range n {
			copy(b.Row(i), dst.Row(i)[lo:hi])
		}
		r, err := sys.SolveTo(ctx, x, b, &iterative.Settings{Tolerance: set.Tolerance, Certify: true})
		if err != nil && !errors.Is(err, iterative.ErrStagnation) {
			return work, fmt.Errorf("propagate: %s: %w", l.Name, err)
		}
		for i := range n {
			copy(dst.Row(i)[lo:hi], x.Row(i))
		}
		work.Sweeps += r.Sweeps
		work.EntryColumns += int64(r.Sweeps) * g.A.NNZ() * int64(hi-lo)
		if set.Progress != nil {
			set.Progress(float64(hi) / float64(dst.Cols))
		}
	}
	for i, seeds := range groups {
		if l.finish != nil {
			l.finish(dst.Columns(i*classes, (i+1)*classes), g, seeds)
		}
	}
	return work, nil
}

// relaxTo is ScoresTo without a system, one group after the other.
func (l *Learner) relaxTo(ctx context.Context, dst *sparse.Block[float64], g *graph.Graph, groups []cwk.Seeds, v spec.Values, set *Settings) (work problem.Work, err error) {
	for i, seeds := range groups {
		f := sparse.NewBlock[float64](dst.Rows, seeds.Classes)
		columns, err := l.relax(ctx, f, g, seeds, v, set.Tolerance)
		if err != nil {
			return work, fmt.Errorf("propagate: %s: %w", l.Name, err)
		}
		part := dst.Columns(i*seeds.Classes, (i+1)*seeds.Classes)
		for r := range f.Rows {
			copy(part.Row(r), f.Row(r))
		}
		work.Sweeps += columns / seeds.Classes
		work.EntryColumns += int64(columns) * g.A.NNZ()
		if set.Progress != nil {
			set.Progress(float64(i+1) / float64(len(groups)))
		}
	}
	return work, nil
}

const badShape = "propagate: dimension mismatch"
