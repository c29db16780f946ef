package propagate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// Learner declares a learner that spreads labels. It computes scores by Spread, or by solving the linear system
// that System returns.
type Learner struct {
	param.Spec

	// Spread stores the scores of one group of seeds in f, a column for each class, and returns the number of columns over
	// which it has swept. v must be complete. Spread may stop at the tolerance. A seed of class −1 has a class without a
	// column, except for Coupled learners.
	Spread func(ctx context.Context, f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, v param.Values, tolerance float64) (columns int, err error)

	// ChoiceTolerance is the tolerance of scores that only choose parameters and measure the accuracy; 0 means 1e-6.
	ChoiceTolerance float64

	// Workspace returns the workspace of Spread in addition to f; nil: none.
	Workspace func(n, classes int, v param.Values) budget.Workspace

	// Coupled states that all classes must be computed together; otherwise columns are computed in groups.
	Coupled bool

	// Normalized states that scores spread by S = D^-½·A·D^-½, so that explanations divide the weight of a step by the root of
	// the product of the degrees.
	Normalized bool

	// Gain, if not nil, returns g of the equation f = g·Tf, or f = g·Sf if Normalized, that the scores f solve at nodes without
	// a label.
	Gain func(v param.Values) float64

	// CheckClasses, if not nil, returns an error for values that are not valid for the number of classes.
	CheckClasses func(classes int, v param.Values) error

	// Assign, if not nil, computes the result of [Learner.Decide]. The learner must be Coupled.
	Assign func(team *sparse.Team, f *sparse.Block[float64], s cwk.Seeds, v param.Values) (offset []float64, class []int, err error)

	// System, in place of Spread, returns the symmetric system that the scores solve. Explanations then divide the scores among the
	// labels, see [Response].
	System func(g *graph.Graph, v param.Values) (*iterative.System, error)

	// Sources stores the right-hand sides of a group of seeds in b, which is zero; nil: a one for the class of each labelled
	// node.
	Sources func(b *sparse.Block[float64], g *graph.Graph, s cwk.Seeds)

	// Averages states that the learner predicts numbers too, see [Learner.MeansTo]. The learner must have System.
	Averages bool

	// Finish, if not nil, turns solutions into scores.
	Finish func(f *sparse.Block[float64], g *graph.Graph, s cwk.Seeds)

	// Centre, if not nil, turns solutions x into responses, see [Response], if Finish centres the scores.
	Centre func(x *sparse.Block[float64], g *graph.Graph, s cwk.Seeds, nodes []int)

	// Probabilities stores in dst the class probabilities of a node with the scores f. They must be ≥ 0 and sum to one, and
	// the class with the largest score must have the largest probability. shares are the shares of the classes among the
	// labels, for a node about which nothing is known. scale is the root mean square of all scores in the component of the
	// node. If Probabilities is nil, negative scores become 0 and the scores are divided by their sum; if the sum is 0, the
	// probabilities are shares.
	Probabilities func(dst, f, shares []float64, scale float64)
}

var learners = param.List[*Learner]{&lgc, &poisson, &wvrn}

// Learners returns the learners of this package and the registered learners.
func Learners() param.List[*Learner] {
	return slices.Clone(learners)
}

// Register adds a learner to the methods, with cross-validation of its parameters. It must be called from an init function. It
// panics if the name is taken, or if the learner does not have exactly one of Spread and System.
func Register(l *Learner) {
	learner := *l
	learners.Add(&learner, (l.Spread == nil) != (l.System == nil))
}

// Settings configure a computation. Nil means the defaults.
type Settings struct {
	// Tolerance is the norm of the residual of a column relative to the norm of its right-hand side. 0 means 1e-12, or the smallest
	// tolerance that float64 allows; it must be less than 1.
	Tolerance float64

	// Memory is the largest number of bytes to use in addition to the graph and the scores; 0 means no limit. Columns are solved in
	// groups that fit.
	Memory int64

	// Progress, if not nil, is called with "columns", the number of finished columns and the number of all columns.
	Progress func(stage string, done, total int64)
}

const (
	defaultTolerance = 1e-12

	// solveBlocks is the number of blocks of a solve: right-hand sides, solutions, residuals, directions and their images.
	solveBlocks = 5
)

// Check returns a [*param.ParameterError] if the values v are not valid for the number of classes. v must be complete. Callers
// should check before they estimate memory, so that users see this error first.
func (l *Learner) Check(classes int, v param.Values) error {
	if l.CheckClasses == nil {
		return nil
	}
	return l.CheckClasses(classes, v)
}

// Decide decides the classes of nodes by the scores f of a group of seeds. If offset is not nil, the caller must add it to the
// scores of each class for the decision and the probabilities, but not to reported scores. If class is not nil, it holds the
// class of every node. Otherwise each node has its likeliest class. f may have the rows of one process of team.
func (l *Learner) Decide(team *sparse.Team, f *sparse.Block[float64], s cwk.Seeds,
	v param.Values) (offset []float64, class []int, err error) {
	if l.Assign != nil {
		offset, class, err = l.Assign(team, f, s, v)
	}
	if err != nil {
		err = fmt.Errorf("propagate: %s: %w", l.Name, err)
	}
	return offset, class, err
}

// Declare returns the workspace of ScoresTo in addition to the graph and the scores. cols is the number of columns of all
// groups, and classes the number of classes of a group. n is the number of nodes, and entries the number of entries of the
// matrix.
func (l *Learner) Declare(n int, entries int64, cols, classes int, v param.Values) budget.Workspace {
	if l.Spread == nil {
		return budget.Slabs[float64](solveBlocks, n, cols).AndHeld(6 * budget.Vector[float64](n)).And(
			iterative.FactorWorkspace(n, entries, false))
	}
	w := budget.Held(budget.Block[float64](n, classes))
	if l.Workspace != nil {
		w = w.And(l.Workspace(n, classes, v))
	}
	return w
}

// ScoresTo stores the scores of every class for every node in dst: the scores of group i are in the columns i·Classes ≤ j <
// (i+1)·Classes. All groups must have the same number of classes, v must be complete, see [param.Spec.Resolve], and the graph
// must be undirected. A seed of class −1 has a class without a column, so that many classes can be computed in several calls
// if the learner is not Coupled. If several processes share the rows of the graph, seeds must be named rows of the
// [sparse.Division], which every process has.
//
// The error is a [*param.ParameterError] for a value that is invalid for these labels, [iterative.ErrIterationLimit] if the
// tolerance is not reached, the error of the context, an error of a sweep, or an error of memory.
//
// Cost: a block solve for all columns, or the cost of the learner's Spread.
func (l *Learner) ScoresTo(ctx context.Context, dst *sparse.Block[float64],
	g *graph.Graph, groups []cwk.Seeds, v param.Values,
	s *Settings) (work graph.Work, err error) {
	n := len(g.Degrees)
	classes := groups[0].Classes
	if dst.Rows != n || dst.Cols != classes*len(groups) {
		panic(badShape)
	}
	if team := sparse.TeamOf(g.A); team != nil {
		for _, seeds := range groups {
			if slices.ContainsFunc(seeds.Row,
				func(i int) bool { return !team.IsNamed(i) }) {
				panic(badSeed)
			}
		}
	}
	var set Settings
	if s != nil {
		set = *s
	}
	if set.Tolerance == 0 {
		set.Tolerance = defaultTolerance
	}
	space := l.Declare(n, g.A.NNZ(), dst.Cols, classes, v)
	minimum := space.Required(set.Memory)
	if err := budget.Check(set.Memory, minimum, l.Name); err != nil {
		return work, err
	}
	if l.Spread != nil {
		return l.spreadTo(ctx, dst, g, groups, v, &set)
	}
	sys, err := l.System(g, v)
	if err != nil {
		return work, err
	}
	sys.Memory = budget.Subtract(set.Memory, minimum-iterative.NeededBytes(n, g.A.NNZ()))
	return l.solveTo(ctx, dst, sys, g, groups, space.Width(set.Memory), &set)
}

// solveTo is ScoresTo with a system, for width columns at a time.
func (l *Learner) solveTo(ctx context.Context, dst *sparse.Block[float64],
	sys *iterative.System, g *graph.Graph, groups []cwk.Seeds, width int,
	set *Settings) (work graph.Work, err error) {
	classes := groups[0].Classes
	for i := range dst.Rows {
		clear(dst.Row(i))
	}
	for i, seeds := range groups {
		b := dst.Columns(i*classes, (i+1)*classes)
		if l.Sources != nil {
			l.Sources(b, g, seeds)
		} else {
			Clamp(b, seeds)
		}
	}
	if work.Sweeps, err = l.solveColumns(ctx, dst, sys, width, set); err != nil {
		return work, err
	}
	for i, seeds := range groups {
		if l.Finish != nil {
			l.Finish(dst.Columns(i*classes, (i+1)*classes), g, seeds)
		}
	}
	return work, nil
}

// solveColumns replaces the columns of dst, width at a time, by the solutions of the system.
func (l *Learner) solveColumns(ctx context.Context, dst *sparse.Block[float64], sys *iterative.System, width int,
	set *Settings) (sweeps int, err error) {
	for lo, hi := range blocks.Slabs(dst.Cols, width) {
		b := sparse.NewBlock[float64](dst.Rows, hi-lo)
		x := sparse.NewBlock[float64](dst.Rows, hi-lo)
		columns := dst.Columns(lo, hi)
		blocks.Copy(b, columns)
		r, err := sys.SolveTo(ctx, x, b,
			&iterative.Settings{Tolerance: set.Tolerance, Eliminate: true})
		if err != nil && !errors.Is(err, iterative.ErrStagnation) {
			return sweeps, fmt.Errorf("propagate: %s: %w", l.Name, err)
		}
		blocks.Copy(columns, x)
		sweeps += r.Sweeps
		if set.Progress != nil {
			set.Progress("columns", int64(hi), int64(dst.Cols))
		}
	}
	return sweeps, nil
}

// leastResponse is ε of [Learner.MeansTo]: a node with hardly any responses gets the mean ȳ, not a quotient of rounding
// errors.
const leastResponse = 1e-6

// Sample has numbers of some nodes.
type Sample struct {
	Row   []int
	Value []float64
}

// MeansTo stores in column k of dst, for each node, a weighted mean of the numbers y of sample k. The weights are the
// responses M of the node to the nodes of the sample, and ȳ is the mean of y:
//
//	f = ȳ + M(y − ȳ)/(M1 + ε),  ε = 1e-6
//
// The graph must have no negative weights. Errors and memory are the same as for [Learner.ScoresTo] with two columns for each
// sample.
func (l *Learner) MeansTo(ctx context.Context, dst *sparse.Block[float64], g *graph.Graph, samples []Sample, v param.Values,
	s *Settings) error {
	s = cmp.Or(s, new(Settings))
	sys, err := l.System(g, v)
	if err != nil {
		return err
	}
	f := sparse.NewBlock[float64](dst.Rows, 2*len(samples))
	space := l.Declare(f.Rows, g.A.NNZ(), f.Cols, 2, v)
	sys.Memory = budget.Subtract(s.Memory, space.Required(s.Memory)-iterative.NeededBytes(f.Rows, g.A.NNZ()))
	mean := make([]float64, len(samples))
	for k, sample := range samples {
		mean[k] = floats.Sum(sample.Value) / float64(len(sample.Value))
		for i, r := range sample.Row {
			f.Row(r)[2*k] = sample.Value[i] - mean[k]
			f.Row(r)[2*k+1] = 1
		}
	}
	_, err = l.solveColumns(ctx, f, sys, space.Width(s.Memory), &Settings{Tolerance: cmp.Or(s.Tolerance, defaultTolerance)})
	for i := range dst.Rows {
		x := f.Row(i)
		for k := range mean {
			dst.Row(i)[k] = mean[k] + x[2*k]/(max(0, x[2*k+1])+leastResponse)
		}
	}
	return err
}

// spreadTo is ScoresTo by Spread, one group after another.
func (l *Learner) spreadTo(ctx context.Context, dst *sparse.Block[float64],
	g *graph.Graph, groups []cwk.Seeds, v param.Values,
	set *Settings) (work graph.Work, err error) {
	for i, seeds := range groups {
		f := sparse.NewBlock[float64](dst.Rows, seeds.Classes)
		columns, err := l.Spread(ctx, f, g, seeds, v, set.Tolerance)
		if err != nil {
			return work, fmt.Errorf("propagate: %s: %w", l.Name, err)
		}
		blocks.Copy(dst.Columns(i*seeds.Classes, (i+1)*seeds.Classes), f)
		work.Sweeps += columns / seeds.Classes
		if set.Progress != nil {
			set.Progress("columns", int64((i+1)*seeds.Classes), int64(dst.Cols))
		}
	}
	return work, nil
}

const (
	badShape = "propagate: dimension mismatch"
	badSeed  = "propagate: a seed that only one process has"
)
