package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/propagate"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/validate"
)

// learning holds the flags of a method: a kernel, a learner, and those of
// their parameters that are not to be chosen.
type learning struct {
	walking
	stated  spec.Values // parameters of declared methods that were given
	name    string      // of the method
	kernel  string      // its parts, "" if not given
	learner string
	method  method.Method
	tried   *method.Settings // the grid and the declared values that are left to choose from
	machine
	features string
	effort   string
}

// machine holds the flags of a learner. What was not given is NaN.
type machine struct {
	cost, lambda float64
	tolerance    float64 // of support vector machines
}

// machineFlags declares the flags of m.
func (in *invocation) machineFlags(flags *pflag.FlagSet, m *machine, otherwise string) {
	above := func(symbol string) bounds { return bounds{lo: 0, hi: math.Inf(1), loOpen: true, symbol: symbol} }
	in.floatVar(flags, &m.cost, "cost", math.NaN(), above("C"), "cost C of the support vector machine ("+otherwise+")")
	in.floatVar(flags, &m.lambda, "lambda", math.NaN(), above("λ"), "λ of regularised least squares ("+otherwise+")")
	in.floatVar(flags, &m.tolerance, "svm-tolerance", math.NaN(), above("tolerance"),
		"violation of the optimality conditions at which the support vector machine stops (default 0.001)")
}

// fix puts what was given in place of what a grid has.
func (m *machine) fix(g *method.Grid) {
	if !math.IsNaN(m.cost) {
		g.Cost = []float64{m.cost}
	}
	if !math.IsNaN(m.lambda) {
		g.Lambda = []float64{m.lambda}
	}
}

// given returns the tolerance, 0 for the default.
func (m *machine) given() float64 {
	if math.IsNaN(m.tolerance) {
		return 0
	}
	return m.tolerance
}

func (in *invocation) learningFlags(flags *pflag.FlagSet, f *learning) {
	const byCV = "default: chosen by cross-validation"
	in.walkFlags(flags, &f.walking, "")
	flags.StringVar(&f.name, "method", "auto", "`NAME` of the method, with parameters behind it if need be, as in diffusion:beta=2 (default: auto, or cwk if one of its parameters is given): "+method.MethodList())
	flags.Lookup("method").DefValue = "" // it is told already
	in.choiceVar(flags, &f.kernel, "kernel", "", slices.Concat([]string{walkKernel}, kernel.Names(), vectorKernels()), "the method's kernel, in place of --method")
	in.choiceVar(flags, &f.learner, "learner", "", learnerNames(), "the learner: of the method, in place of --method, or of given kernel values")
	in.machineFlags(flags, &f.machine, byCV)
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"},
		"rows of labelled nodes: from a walk in which their own fold is unlabelled, or not; auto chooses")
	in.effortFlag(flags, &f.effort)
	ofMethods().flags(in, flags, "")
}

func (in *invocation) effortFlag(flags *pflag.FlagSet, effort *string) {
	in.choiceVar(flags, effort, "effort", string(method.FullEffort), []string{string(method.FullEffort), string(method.LowEffort)},
		"what auto spends: low for walks alone, without eigenvectors and a diffusion kernel")
}

// learnerNames returns the names of all learners.
func learnerNames() (names []string) {
	for _, l := range classify.Learners() {
		names = append(names, l.Name)
	}
	return names
}

// checkLearning notes what is wrong with the flags of f together, and finds
// the method.
func (in *invocation) checkLearning(flags *pflag.FlagSet, f *learning) {
	if f.kernel != "" || f.learner != "" {
		if flags.Changed("method") {
			in.problem("--method", "%s says all; leave out --kernel and --learner", f.name)
		}
		f.name = cmp.Or(f.kernel, walkKernel) + "+" + cmp.Or(f.learner, string(method.KernelSVM))
	} else if !flags.Changed("method") && choosesWalks(flags) {
		f.name = walkKernel
	}
	place := "--method"
	if f.kernel != "" {
		place = "--kernel"
	} else if f.learner != "" {
		place = "--learner"
	}
	entries := in.entries(place, f.name)
	if len(entries) > 1 {
		in.problem("--method", "%s are several; classify takes one, evaluate compares them", f.name)
	}
	var list []method.Method
	for _, e := range entries {
		list = append(list, e.Method)
	}
	f.stated = in.stated(flags, list)
	in.checkForm(entries, f.stated)
	in.checkSteps(f.stated)
	in.checkLabels(&f.walking)
	if len(entries) == 1 {
		f.method = entries[0].Method
		in.takeOwn(flags, f, entries[0].Own)
	}
}

// takeOwn completes what is tried with the parameters that stand behind the method's
// name.
func (in *invocation) takeOwn(flags *pflag.FlagSet, f *learning, own method.Own) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if flag := strings.ReplaceAll(name, "_", "-"); flags.Changed(flag) {
			in.problem("--"+flag, "--method gives %s too; leave out one of the two", name)
		}
	}
	var err error
	if f.tried, err = (&method.Settings{Grid: f.grid(), Given: f.stated}).With(f.method, own); err != nil {
		in.problem("--method", "%s", withoutUsage(err))
	}
}

// ofLearners returns the parameters of all learners.
func ofLearners() (list declaredParams) {
	for _, l := range classify.Learners() {
		list.addAll(&l.Spec, l.Takes(), chosenByDefault)
	}
	return list
}

// ofMethods returns the parameters of all learners and methods.
func ofMethods() declaredParams {
	list := ofLearners()
	list.addAll(&propagate.CorrectAndSmooth, propagate.CorrectAndSmooth.Takes(), chosenByDefault)
	for _, m := range method.All() {
		if d, ok := m.(method.Declared); ok {
			for _, s := range d.Declarations() {
				list.addAll(s, m.Takes(), chosenByDefault)
			}
		}
	}
	return list
}

// stated returns the values of the flags that are parameters of declared methods, and
// notes what is wrong with them.
func (in *invocation) stated(flags *pflag.FlagSet, methods []method.Method) spec.Values {
	given := spec.Values{}
	for _, m := range methods {
		d, ok := m.(method.Declared)
		if !ok {
			continue
		}
		for _, s := range d.Declarations() {
			own, _ := in.given(flags, s)
			maps.Copy(given, own)
		}
	}
	return given
}

// anyWalks reports whether one of the methods learns from walks with absorption.
func anyWalks(methods []method.Method) bool {
	return len(methods) == 0 || slices.ContainsFunc(methods, func(m method.Method) bool {
		return slices.Contains(m.Takes(), "features")
	})
}

// checkForm notes a form of a kernel that no learner takes.
func (in *invocation) checkForm(entries []method.Entry, given spec.Values) {
	const form = "random-walk"
	for _, e := range entries {
		if slices.Contains(e.Own["laplacian"], form) || given["laplacian"] == spec.Word(form) && slices.Contains(e.Method.Takes(), "laplacian") {
			in.problem("--laplacian", "functions of I − T are not symmetric, and learners need them to be; give combinatorial or normalized")
			return
		}
	}
}

// methodError names the graph in an error about its directions, or about an
// iteration on it that did not come to its tolerance.
func (in *invocation) methodError(err error, graph string) error {
	var (
		directed *method.DirectedError
		limited  *method.ConvergenceError
	)
	switch {
	case errors.As(err, &directed):
		return usageOf(graph, "%s", asymmetric(directed.Kernel, "--method=cwk"))
	case errors.As(err, &limited) && limited.Short > 0:
		return &machineError{graph, fmt.Sprintf(unsolved+"; allow --max-memory %s or more for a factor of the graph, or take another --method",
			formatBytes(in.memory+limited.Short+limited.Short/4)), err}
	case errors.As(err, &limited):
		return &machineError{graph, unsolved + "; take another --method", err}
	case errors.Is(err, iterative.ErrIterationLimit):
		return &machineError{graph, unsolved + "; take parameters farther from the end of their range, or another --method", err}
	}
	return err
}

// unfinishedAdvice is what to do about an iteration that ended at its limit.
func unfinishedAdvice(m method.Method) string {
	if slices.Contains(m.Takes(), "svm_tolerance") {
		return "; give a smaller --cost or a larger --svm-tolerance"
	}
	if slices.Contains(m.Takes(), "cost") {
		return "; give a smaller --cost"
	}
	return "; longer ones do not count"
}

// choosesWalks reports whether a parameter was given that only walks with absorption take.
func choosesWalks(flags *pflag.FlagSet) bool {
	walks, err := method.ParseMethods(walkKernel)
	if err != nil {
		panic(err) // the name is right
	}
	return slices.ContainsFunc(flagsOf(walks[0]), func(name string) bool {
		return name != "unreached" && flags.Changed(name)
	})
}

// entries returns the methods of a list, and notes at the flag that it comes from what is
// wrong with their names or with the parameters of their own.
func (in *invocation) entries(place, list string) []method.Entry {
	entries, err := method.ParseEntries(list)
	if err == nil {
		return entries
	}
	known := method.MethodNames()
	for text := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(text), ":")
		if _, wrong := method.ParseMethods(name); wrong == nil {
			continue
		}
		if near := nearest(name, known); near != "" {
			in.problem(place, "there is no method %s; did you mean %s?", quoted(name), near)
			return nil
		}
	}
	in.problem(place, "%s", withoutUsage(err))
	return nil
}

// withoutUsage returns what an error of usage says.
func withoutUsage(err error) string {
	return strings.TrimPrefix(err.Error(), validate.ErrUsage.Error()+": ")
}

// grid returns the settings that are left to choose from.
func (f *learning) grid() *method.Grid {
	kinds := []method.Features{method.Plain, method.Honest}
	if f.features != "auto" {
		kinds = []method.Features{method.Features(f.features)}
	}
	g := method.SmallGrid(kinds...)
	if anyWalks([]method.Method{f.method}) {
		g.Fix(f.stated)
	}
	f.fix(g)
	return g
}

// settings returns how to choose parameters and train machines.
func (in *invocation) settings(f *learning, g *openGraph, l *nodefile.Labels) (*method.Settings, error) {
	prior, err := in.priorOf(&f.walking, g, l)
	if err != nil {
		return nil, err
	}
	return &method.Settings{
		Grid: f.tried.Grid, Given: f.tried.Given, Prior: prior, RNGSeed: uint64(in.seed),
		Tolerance: f.machine.given(), Effort: method.Effort(f.effort), Memory: g.memory(), Workers: in.threads,
		Progress: in.phases(),
	}, nil
}

// phases returns a callback that shows the phases of a method, one after the other. What
// follows a phase that is done, such as training machines, is no part of it.
func (in *invocation) phases() func(name string, done float64) {
	var (
		shown *stage
		phase string
	)
	return func(name string, done float64) {
		if shown == nil || phase != name {
			phase = name
			shown = in.progress.begin(name, whole, inShares)
		}
		shown.set(int64(done*whole), whole)
		if done >= 1 {
			in.progress.end()
			shown = nil
		}
	}
}
