package classify

import (
	"context"

	"github.com/heatwalk/heatwalk/param"
)

// Path declares that the settings of a learner are chosen along one parameter, several values of
// which are fitted together for less than as many fits cost, and what else methods on graphs are
// to know of it. Its models have Machines.
type Path struct {
	// Spec has the learner's parameters for kernels whose mean between an item and itself is about
	// 1, with the usual values there.
	param.Spec

	// Parameter is the name of the parameter. On a multiple s·K of a kernel, and on s copies of each item, a
	// learner with the value x on K has the value s·x if Ridge, and x/s otherwise.
	Parameter string
	Ridge     bool

	// Fit returns what fits a model with each of some settings to the values of k
	// between the items with y ≥ 0, as [Learner].Fit does but to be compared: it may end before
	// its tolerance. Settings are complete but for Instead, differ in Parameter only, and rise there.
	// A model is nil where the kernel does not allow its setting. Models are valid until the next
	// call. nil on features: each setting is a fit of its own.
	Fit func() PathFit

	// LeaveOneOut, unless nil, returns for each setting in decisions[i·len(pairs):] those on item
	// i by what learns from all other items, nil where the kernel does not allow it, and the loss
	// that is taken off the share of right answers where settings are compared.
	LeaveOneOut func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) (pairs Pairs, decisions [][]float64, loss []float64, err error)

	// OnFeatures, unless nil, is the path on which settings are compared on explicit features.
	OnFeatures *Path

	// For, unless nil, returns values that replace defaults for the given number of classes.
	For func(classes int) param.Values

	// Pairwise, unless nil, reports whether there is a classifier for every two classes, given the
	// values of all parameters but Parameter. Other learners separate each class from the rest.
	Pairwise func(v param.Values) bool

	// Noun names a classifier in messages, for example "a support vector machine"; "": learning.
	Noun string
}

// PathFit fits a model with each of some settings, see [Path].
type PathFit func(ctx context.Context, k Gram, y []int, classes int, settings []param.Values) ([]*Model, error)

// numbers returns the values of a parameter in some settings.
func numbers(name string, settings []param.Values) []float64 {
	list := make([]float64, len(settings))
	for i, v := range settings {
		list[i] = v.Number(name)
	}
	return list
}
