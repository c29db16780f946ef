package classify

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Learner declares a learner: its name, its parameters, and functions that fit it.
type Learner struct {
	param.Spec

	// Fit learns from the values of k between its items with y ≥ 0, in the order of
	// the items. v must be complete, see [param.Spec.Resolve]. If fewer than two
	// classes have an item, Fit returns [ErrOneClass].
	Fit FitFunc

	// Linear, if not nil, fits on explicit features in less time than Fit on their [LinearGram].
	Linear func(ctx context.Context, f *sparse.Block[float32], y []int, classes int, v param.Values) (*LinearModel, error)

	// MostItems is the largest number of items to fit on explicit features; 0 means no limit. If there are more items,
	// callers fit a sample.
	MostItems int

	// ComparedItems is the largest number of items on which callers compare settings on explicit features; 0 means no
	// limit.
	ComparedItems int

	// Compare, if not nil, fits a model with each of the given settings, so that callers can compare the settings. It may
	// end before the tolerance of Fit.
	Compare PathFit

	// Path declares the parameter that is chosen along a path. If Path is nil, callers compare all combinations of usual
	// values.
	Path *Path

	// Solve, if not nil, fits the model of Fit without reading kernel values: it calls solve, which must return (K +
	// diag(ridge))⁻¹·targets. All items must have a class. With more than Solved items, Solve takes less time than Fit.
	Solve  func(y []int, classes int, v param.Values, solve func(ridge []float64, targets *mat.Dense) (*mat.Dense, error)) (*Model, error)
	Solved int

	// Parameter and Ridge say for a learner without a path how a parameter depends on the unit of the kernel, see [Path].
	// Callers may then change the unit. If a learner has neither Parameter nor Path, the scores of its Machines must be
	// proportional to the kernel.
	Parameter string
	Ridge     bool

	// Dual says that every model of Fit has Machines.
	Dual bool

	// Whole says that the model depends on the kernel between all items, with or without a class. The scores of an item x
	// depend on K(x, x) and on K(x, i) for the items i with a class.
	Whole bool

	// Probabilities stores in dst, and returns, the probabilities of the classes that have scores, in the order of the
	// scores. If Probabilities is nil, the learner has none; see [Calibrate].
	Probabilities func(dst, scores []float64) []float64

	// Workspace, if not nil, declares the memory of Fit for the given number of items with a class, in addition to the Gram
	// and a few numbers for each item. If features is not 0, it declares the memory of Linear in addition to the features
	// and the model.
	Workspace func(items, features, classes int) budget.Workspace
}

// Learners returns the learners of this package and the registered learners.
func Learners() param.List[*Learner] {
	return slices.Clone(learners)
}

// Declare returns l.Workspace(items, features, classes). If l.Workspace is nil, Declare returns the zero value.
func (l *Learner) Declare(items, features, classes int) (w budget.Workspace) {
	if l.Workspace != nil {
		w = l.Workspace(items, features, classes)
	}
	return w
}

// Register adds a learner. The learner then works on every kernel and on walks. Only Spec and Fit are required. Call
// Register from an init function. Register panics if the name is taken, if Fit is nil, or if a kernel has a parameter of
// the same name.
func Register(l *Learner) {
	l.claim()
	learners.Add(l, l.Fit != nil)
}

func (l *Learner) claim() {
	param.Claim("learner", &l.Spec)
	if l.Path != nil {
		param.Claim("learner", &l.Path.Spec)
	}
}

func init() {
	for _, l := range learners {
		l.claim()
	}
}

var learners = param.List[*Learner]{&svmLearner, &rlsLearner, &gpLearner,
	&logisticLearner, &centroidLearner, &densityLearner}

// AgainstRest returns, for each class that has an item, a classifier of the class against [Rest]. It returns [ErrOneClass]
// if fewer than two classes have an item.
func AgainstRest(y []int, classes int) (Pairs, error) {
	g, err := newGroupsOfTwo(len(y), y, classes)
	return g.againstRest(), err
}

func (g *groups) againstRest() Pairs {
	pairs := make(Pairs, len(g.present))
	for m, c := range g.present {
		pairs[m] = Pair{c, Rest}
	}
	return pairs
}

// Path declares that the settings of a learner are chosen along one parameter: fitting several values of this parameter
// together costs less than fitting them separately. The models of the learner must have Machines.
type Path struct {
	// Spec has the learner's parameters with usual values for kernels where the mean of K(i, i) is 1. For another kernel,
	// callers change usual values, but not given values, as Ridge says.
	param.Spec

	// Parameter is the name of the parameter. If Ridge is set, the value s·x on the kernel s·K gives the same models as x
	// on K; otherwise x/s does. The same holds for s copies of each item.
	Parameter string
	Ridge     bool

	// Fit returns a function that fits a model with each setting to the values of k between the items with y ≥ 0. Models are
	// for comparison: a fit may end before its tolerance. Settings differ only in Parameter, and increase in it. A model is
	// nil if the kernel does not allow its setting. Models are valid until the next call. Fit is nil for learners on
	// features, where each setting is fitted separately.
	Fit func() PathFit

	// LeaveOneOut, if not nil, returns for each setting s the decisions on each item i, in decisions[s][i·len(pairs):].
	// They are decisions of the model of all other items. If the kernel does not allow the setting, decisions[s] is nil.
	// Callers that compare settings subtract loss[s] from the share of right predictions.
	LeaveOneOut func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) (pairs Pairs, decisions [][]float64, loss []float64, err error)

	// OnFeatures, if not nil, replaces the path on explicit features.
	OnFeatures *Path

	// For, if not nil, returns the values that replace defaults for the given number of classes.
	For func(classes int) param.Values

	// Pairwise, if not nil, reports whether the learner fits a classifier for every two classes. v holds all values except
	// Parameter. If Pairwise is nil, the learner fits a classifier of each class against the rest.
	Pairwise func(v param.Values) bool

	// Noun names a classifier in messages, for example "a support vector machine". If Noun is empty, messages say
	// "learning".
	Noun string
}

// FitFunc fits a model to a Gram, see [Learner].
type FitFunc func(ctx context.Context, k Gram, y []int, classes int, v param.Values) (*Model, error)

// PathFit fits a model with each of some settings, see [Path].
type PathFit func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) ([]*Model, error)

func numbers(name string, settings []param.Values) []float64 {
	list := make([]float64, len(settings))
	for i, v := range settings {
		list[i] = v.Number(name)
	}
	return list
}
