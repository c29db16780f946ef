package classify

import (
	"context"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Learner declares a learner: its name and parameters, what it learns from, and
// what it gives. Each stands in the file of its algorithm; [Learners] lists them.
type Learner struct {
	spec.Spec

	// Fit learns from the values of k between its items with y ≥ 0, in their order;
	// v is complete ([spec.Spec.Resolve]). It returns [ErrOneClass] if fewer than two
	// classes have an item.
	Fit func(ctx context.Context, k Gram, y []int, classes int, v spec.Values) (*Model, error)

	// Linear is Fit on explicit features, in less time than on them as a [Gram];
	// nil: there is no such way.
	Linear func(ctx context.Context, f *sparse.Block[float64], y []int, classes int, v spec.Values) (*LinearModel, error)

	// Dual says that every model of Fit has Machines.
	Dual bool

	// Whole says that the model depends on the kernel between all items, with a class
	// or without, and its scores on K(x, x) and the values with items with a class.
	Whole bool

	// Probabilities stores in dst the probabilities of the classes that the scores of
	// an item stand for, in their order. nil: the learner has none; see [Calibrate].
	Probabilities func(dst, scores []float64) []float64

	// Memory returns the bytes that Fit takes beside the Gram for so many items with a
	// class, but for a few numbers for each item.
	Memory func(items, classes int) int64
}

// Learners returns all learners: those of a kernel, those on deep kernels, and those
// of features alone.
func Learners() spec.List[*Learner] { return slices.Clone(learners()) }

var learners = sync.OnceValue(func() []*Learner {
	list := []*Learner{&svmLearner, &rlsLearner, &gpLearner, &logisticLearner, &perceptronLearner, &centroidLearner, &densityLearner}
	for _, base := range list {
		list = append(list, deepLearner(base))
	}
	return append(list, &linearSVMLearner)
})

// againstRest lists a machine for each class that has an item.
func (g *groups) againstRest() Pairs {
	pairs := make(Pairs, len(g.present))
	for m, c := range g.present {
		pairs[m] = Pair{c, Rest}
	}
	return pairs
}
