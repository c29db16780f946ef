package method

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/internal/auto"
	"github.com/heatwalk/heatwalk/method/kernels"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/method/spread"
	"github.com/heatwalk/heatwalk/method/trees"
	"github.com/heatwalk/heatwalk/method/walks"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/propagate"
)

// All returns every engine that predicts classes and has a name, with the engines that other modules register.
func All() []*engine.Engine {
	return slices.Concat([]*engine.Engine{auto.Engine, spread.Propagation, engine.Majority, spread.Beliefs},
		graphMethods(), registeredFor(engine.Classes), walks.Engines(), kernels.Engines())
}

func registeredFor(t engine.Target) []*engine.Engine {
	return slices.DeleteFunc(slices.Clone(registered), func(m *engine.Engine) bool { return m.Target != t })
}

func methodNames() []string {
	methods := All()
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name
	}
	return names
}

// MethodList returns the names that [Parse] knows, in one line.
func MethodList() string {
	var names []string
	methods := All()
	for _, m := range methods {
		name := m.Name
		stem, _, composed := strings.Cut(name, "+")
		if !composed || !slices.ContainsFunc(methods,
			func(o *engine.Engine) bool { return o.Name == stem }) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s; behind cwk and the kernels after it + and any learner",
		strings.Join(names, ", "))
}

// findMethod returns the method with a name that predicts t. If there is none, the error wraps [choose.ErrUsage] and
// suggests the nearest name or lists all names.
func findMethod(name string, t engine.Target) (*engine.Engine, error) {
	switch {
	case t == engine.Numbers:
		var names []string
		for _, e := range Regressions() {
			switch {
			case e.Name == name:
				return e, nil
			case len(e.Specs) == 1:
				names = append(names, e.Name)
			}
		}
		what := "predicts no numbers in this program"
		if slices.Contains(methodNames(), name) {
			what = "predicts classes, no numbers"
		}
		return nil, choose.Usage("%s: %s; give %s or KERNEL+%s", name, what, strings.Join(names, ", "), regression.RidgeSpec.Name)
	case t == engine.LabelSets && name == regression.Spectral.Name:
		return regression.Spectral, nil
	case t == engine.LabelSets:
		return nil, choose.Usage("%s: predicts no sets of labels in this program; give %s", name, regression.Spectral.Name)
	}
	methods := All()
	i := slices.IndexFunc(methods, func(m *engine.Engine) bool { return m.Name == name })
	if i < 0 { // a name may have the default learner
		i = slices.IndexFunc(methods, func(m *engine.Engine) bool {
			return m.Name+"+"+classify.Learners()[0].Name == name &&
				slices.Contains(m.Specs, engine.SpecOf(classify.Learners()[0]))
		})
	}
	if i >= 0 {
		return methods[i], nil
	}
	prefix, _, _ := strings.Cut(name, "+")
	if f := kernel.Families().Named(prefix); f != nil && f.Distance != "" {
		return nil, choose.Usage("%s is a distance, no kernel; centred it is %s",
			prefix, f.Distance)
	}
	hint := "choose from " + MethodList()
	suggestion := words.Nearest(name, methodNames())
	base, isSmoothed := strings.CutSuffix(name, "+cs") // of earlier versions
	switch {
	case isSmoothed && slices.Contains(methodNames(), base):
		hint = "scores are not corrected and smoothed any more; give " + base + " or auto"
	case classify.Learners().Named(name) != nil:
		hint = "it learns from a kernel, as in diffusion+" + name
	case suggestion != "":
		hint = "did you mean " + suggestion + "?"
	}
	return nil, choose.Usage("there is no method %q in this program; %s", name, hint)
}

func graphMethods() (list []*engine.Engine) {
	for _, l := range propagate.Learners() {
		list = append(list, spread.Of(l))
	}
	return append(list, regression.SpectralLogistic.Engine(), trees.Engine)
}

var registered []*engine.Engine

// Restore returns an engine that predicts t with the kept model m. The problem must have the labels and classes, in the same
// order, or the numbers that the model has learned from. On the same graph the result equals the prediction that was kept,
// to the bit. Settings other than Raw, Memory, Workers and Progress come from the model. For an unknown method the error is
// a [choose.ErrUsage].
func Restore(m *engine.Model, t engine.Target) (*engine.Engine, error) {
	e, err := findMethod(m.Method, t)
	for _, mean := range regression.Means() { // which the best may be
		if t == engine.Numbers && mean.Name == m.Method {
			e, err = mean.Method, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if t == engine.Numbers {
		e = Best([]engine.Entry{{Method: e, Own: m.Values}})
	}
	return e.Restore(m), nil
}

// Best returns an engine that predicts the number of every node with the best of entries, see [engine.BestAmong].
func Best(entries []engine.Entry) *engine.Engine {
	return engine.BestAmong(regression.Means(), entries)
}

// Register adds an engine that [Parse] and [ParseList] find. If it has one declaration in Specs, cross-validation chooses
// its parameters and Fit is called with a value for every parameter. Call Register from an init function. It panics if the
// name is taken, or if Fit is nil.
func Register(e *engine.Engine) {
	if _, err := findMethod(e.Name, e.Target); err == nil || e.Fit == nil {
		panic("method: an engine needs Fit and a name of its own")
	}
	if len(e.Specs) == 1 {
		e = e.Choosing()
	}
	registered = append(registered, e)
}

// Regressions returns all engines that predict numbers.
func Regressions() (list []*engine.Engine) {
	for _, m := range []engine.GraphMethod{spread.Harmonic, regression.Hops, regression.Ridge, regression.SpectralRidge, trees.Numbers} {
		list = append(list, m.Engine())
	}
	for _, i := range []int{1, 2, 4} {
		list[i].Takes = append(list[i].Takes, "node_features")
	}
	for _, l := range propagate.Learners() {
		if l.Averages {
			list = append(list, spread.NumbersOf(l))
		}
	}
	list = append(list, registeredFor(engine.Numbers)...)
	for _, f := range kernels.Families() {
		if f.Works&param.Undirected != 0 {
			list = append(list, regression.OnKernel(f))
		}
	}
	return list
}

// On graphs of more nodes, diffusion+rls, spectral and trees are not among [DefaultNumbers], so that these cost only some
// seconds.
// A kernel needs a column for each of a thousand values; it is the best engine if values have heavy tails.
const (
	mostKernelNodes   = 8_000
	mostSpectralNodes = 20_000
	mostTreesNodes    = 200_000
)

// mostRidgeAttributes is the largest number of attributes with which ridge is among [DefaultNumbers]. Words, which are more,
// stay with hops.
const mostRidgeAttributes = 512

// DefaultNumbers returns the names of the engines of numbers to compare by default, separated by commas: lgc, hops, on at
// most 20,000 nodes spectral, and on at most 200,000 trees. If signed is set, harmonic replaces these four. On at most 8,000
// nodes diffusion+rls is added, and with at most 512 attributes ridge.
func DefaultNumbers(nodes int, signed bool, attributes int) string {
	list := []string{"lgc", "hops"}
	if signed {
		list = []string{"harmonic"}
	}
	if nodes <= mostKernelNodes {
		list = append(list, "diffusion+rls")
	}
	if !signed && nodes <= mostSpectralNodes {
		list = append(list, "spectral")
	}
	if attributes > 0 && attributes <= mostRidgeAttributes {
		list = append(list, "ridge")
	}
	if !signed && nodes <= mostTreesNodes {
		list = append(list, "trees")
	}
	return strings.Join(list, ",")
}

// Explainable returns the names of the methods that [engine.Prediction.Explain] can explain, in one line.
func Explainable() string {
	names := []string{auto.Spec.Name, trees.Spec.Name, spread.Propagation.Name, spread.Beliefs.Name, walks.Spec.Name}
	for _, l := range propagate.Learners() {
		if propagate.IsLinear(l) {
			names = append(names, l.Name)
		}
	}
	for _, l := range classify.Learners() {
		if l.Dual {
			names = append(names, "KERNEL+"+l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Extendable returns the names of the methods that predict new nodes, see [engine.Extension], in one line.
func Extendable() string {
	var names []string
	for _, m := range All() {
		if m.Extension != nil {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}
