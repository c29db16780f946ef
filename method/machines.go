package method

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// machineSpec declares what support vector machines behind any kernel are given beside
// their cost; neither is chosen. Without a strategy, that of [trial.Strategy] counts.
var machineSpec = spec.Spec{Name: string(KernelSVM), Params: machineParams()}

func machineParams() (list []spec.Param) {
	for _, p := range classify.LearnerOf(string(KernelSVM)).Params {
		if p.Kind == spec.Choice {
			list = append(list, p)
		}
	}
	return list
}

// machines reports whether the learner is one of support vector machines whose costs are
// chosen in a way of its own.
func (l Learner) machines() bool { return slices.Contains([]Learner{KernelSVM, LinearSVM}, l) }

// strategy returns how machines of so many classes are made.
func (s *Settings) strategy(classes int) classify.Strategy {
	switch given := s.Given["strategy"]; {
	case !s.Learner.machines() || given == spec.Value{}:
		return trial.Strategy(classes)
	case given == spec.Word("one-vs-rest"):
		return classify.OneVsRest
	}
	return classify.OneVsOne
}

// mostPairwise is the largest number of classes whose votes fit into bytes.
const mostPairwise = 256

// checkStrategy refuses machines for every two classes of very many.
func (s *Settings) checkStrategy(classes int) error {
	if classes > mostPairwise && s.strategy(classes) == classify.OneVsOne {
		return fmt.Errorf("%w: machines for every two of %d classes are too many; take one-vs-rest", validate.ErrUsage, classes)
	}
	return nil
}

// weights returns what the cost is multiplied by for each class of the items with y ≥ 0.
func (s *Settings) weights(y []int, classes int) []float64 {
	if !s.Learner.machines() || s.Given["class-weights"] != spec.Word("balanced") {
		return nil
	}
	return classify.BalancedWeights(y, classes)
}

// machine returns a support vector machine for the items with y ≥ 0.
func (s *Settings) machine(y []int, classes int) classify.SVM {
	return classify.SVM{Strategy: s.strategy(classes), Weights: s.weights(y, classes), Tolerance: s.Tolerance}
}

// usualTolerance is that of a [classify.SVM] whose Tolerance is 0.
const usualTolerance = 1e-3

// beside returns the values of support vector machines of so many classes beside their
// cost, nil for another learner.
func (s *Settings) beside(l Learner, classes int) []Setting {
	if !l.machines() {
		return nil
	}
	same := *s
	same.Learner = l
	v := spec.Values{"class-weights": spec.Word("equal"), "strategy": spec.Word("one-vs-one")}
	if s.Given["class-weights"] == spec.Word("balanced") {
		v["class-weights"] = spec.Word("balanced")
	}
	if same.strategy(classes) == classify.OneVsRest {
		v["strategy"] = spec.Word("one-vs-rest")
	}
	if l == KernelSVM {
		v["svm-tolerance"] = spec.Number(cmp.Or(s.Tolerance, usualTolerance))
	}
	return []Setting{{&classify.LearnerOf(string(KernelSVM)).Spec, v}}
}
