package classify

import (
	"fmt"

	"github.com/heatwalk/heatwalk/param"
)

// WeightsParam declares the weights of classes. With "balanced" an item of class c counts as v_c items, see
// [BalancedWeights], so that a rare class is predicted as readily as a frequent one: v_c multiplies the loss
// of the item in support vector machines, least squares, logistic regression and Gaussian processes, and
// the steps and votes of perceptrons. Scores that are means over the items of a class do not depend on
// v_c, see alwaysBalanced.
var WeightsParam = param.Param{
	Name: "class-weights", Meaning: "weight of the items of each class: 1, or one that makes all classes weigh the same",
	Kind: param.Choice, Words: []string{"equal", "balanced"}, Default: param.Of("equal"),
}

// alwaysBalanced is WeightsParam of learners whose score of a class is a mean over its items, in which
// all classes weigh the same already.
var alwaysBalanced = param.Param{
	Name: "class-weights", Meaning: "all classes weigh the same, because scores are means over the items of a class",
	Kind: param.Choice, Words: []string{"balanced"}, Default: param.Of("balanced"),
}

// weightsOf returns the weight of the items of each class; nil: 1.
func weightsOf(v param.Values, y []int, classes int) []float64 {
	if v.Word("class-weights") == "balanced" {
		return BalancedWeights(y, classes)
	}
	return nil
}

// BalancedWeights returns the weights n/(k·n_c) under which every class weighs
// the same in total: n items are used, n_c of them in class c, k classes have
// an item. A class without an item gets weight 1.
func BalancedWeights(y []int, classes int) []float64 {
	g := newGroups(y, classes)
	weights := make([]float64, classes)
	for c := range weights {
		weights[c] = 1
		if count := g.count(c); count > 0 {
			weights[c] = float64(len(g.items)) / (float64(len(g.present)) * float64(count))
		}
	}
	return weights
}

func validateWeights(weights []float64, classes int) error {
	if weights != nil && len(weights) != classes {
		return fmt.Errorf("classify: %d class weights for %d classes", len(weights), classes)
	}
	for c, w := range weights {
		if !positive(w) {
			return fmt.Errorf("classify: weight %v of class %d is not a positive number", w, c)
		}
	}
	return nil
}
