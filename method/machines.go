package method

import (
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/internal/trial"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// machines declares the learners whose cost or λ is chosen in a way of its own, as they are
// behind any kernel. What is tried of these two is in the [Grid] of the settings; nothing else
// of them is chosen, and without a strategy that of [trial.OneVsRest] counts.
var machines = map[learner]*spec.Spec{
	kernelSVM: machineOf(kernelSVM), linearSVM: machineOf(linearSVM), rls: machineOf(rls),
}

func machineOf(l learner) *spec.Spec {
	s := &spec.Spec{Name: string(l)}
	for _, p := range classify.Learners().Named(string(l)).Params {
		switch p.Name {
		case "cost":
			p.Grid = usualCosts
		case "lambda":
			p.Grid = usualLambdas
		case "svm-tolerance":
			p.Default, p.Otherwise = spec.Of(usualTolerance), fmt.Sprintf("behind methods %v", usualTolerance)
		case "strategy":
			p.Otherwise = "behind methods by the number of classes"
		}
		if p.Instead == "" {
			s.Params = append(s.Params, p)
		}
	}
	return s
}

// What is tried of a cost and of a λ unless told otherwise.
var (
	usualCosts   = spec.Grid(0.125, 0.5, 2, 8, 32, 128, 512, 2048)
	usualLambdas = spec.Grid(0.001, 0.01, 0.1, 1, 10)
)

// machines reports whether the learner is one of support vector machines whose costs are
// chosen in a way of its own.
func (l learner) machines() bool { return slices.Contains([]learner{kernelSVM, linearSVM}, l) }

// strengths returns the costs of some settings of machines, or λ.
func (l learner) strengths(settled []spec.Values) []float64 {
	name := "cost"
	if l == rls {
		name = "lambda"
	}
	list := make([]float64, len(settled))
	for i, v := range settled {
		list[i] = v.Number(name)
	}
	return list
}

// oneVsRest reports whether each of so many classes has a machine against all others.
func (s *Settings) oneVsRest(classes int) bool {
	given := s.Given["strategy"]
	if !s.learner.machines() || given == (spec.Value{}) {
		return trial.OneVsRest(classes)
	}
	return given == spec.Of("one-vs-rest")
}

// mostPairwise is the largest number of classes whose votes fit into bytes.
const mostPairwise = 256

// checkStrategy refuses machines for every two classes of very many.
func (s *Settings) checkStrategy(classes int) error {
	if classes > mostPairwise && !s.oneVsRest(classes) {
		return fmt.Errorf("%w: machines for every two of %d classes are too many; take one-vs-rest", validate.ErrUsage, classes)
	}
	return nil
}

// weights returns what the cost is multiplied by for each class of the items with y ≥ 0.
func (s *Settings) weights(y []int, classes int) []float64 {
	if !s.learner.machines() || s.Given["class-weights"] != spec.Of("balanced") {
		return nil
	}
	return classify.BalancedWeights(y, classes)
}

// machine returns a support vector machine for the items with y ≥ 0.
func (s *Settings) machine(y []int, classes int) classify.SVM {
	return classify.SVM{OneVsRest: s.oneVsRest(classes), Weights: s.weights(y, classes), Tolerance: s.tolerance()}
}

// usualTolerance is that of support vector machines on kernels unless told otherwise.
const usualTolerance = 1e-3

func (s *Settings) tolerance() float64 {
	if s.Given.Has("svm-tolerance") {
		return s.Given.Number("svm-tolerance")
	}
	return usualTolerance
}

// beside returns the values of support vector machines of so many classes beside their
// cost, nil for another learner.
func (s *Settings) beside(l learner, classes int) []Setting {
	if !l.machines() {
		return nil
	}
	same := *s
	same.learner = l
	v := spec.Values{"class-weights": spec.Of("equal"), "strategy": spec.Of("one-vs-one")}
	if s.Given["class-weights"] == spec.Of("balanced") {
		v["class-weights"] = spec.Of("balanced")
	}
	if same.oneVsRest(classes) {
		v["strategy"] = spec.Of("one-vs-rest")
	}
	if l == kernelSVM {
		v["svm-tolerance"] = spec.Of(s.tolerance())
	}
	return []Setting{{&classify.Learners().Named(string(kernelSVM)).Spec, v}}
}
