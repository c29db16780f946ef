package cli

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/kernel"
)

// learning holds the flags of a method: a kernel, a learner, and those of
// their parameters that are not to be chosen.
type learning struct {
	walking
	name     string // of the method
	kernel   string // its parts, "" if not given
	learner  string
	method   evaluate.Method
	cost     float64 // NaN: chosen
	features string
}

func (in *invocation) learningFlags(flags *pflag.FlagSet, f *learning) {
	const byCV = "default: chosen by cross-validation"
	in.walkFlags(flags, &f.walking, byCV, byCV)
	flags.StringVar(&f.name, "method", "auto", "`NAME` of the method: "+strings.Join(evaluate.MethodNames(), ", "))
	in.choiceVar(flags, &f.kernel, "kernel", "", kernelChoices(), "the method's kernel, in place of --method")
	in.choiceVar(flags, &f.learner, "learner", "", []string{string(evaluate.KernelSVM), string(evaluate.LinearSVM)},
		"the method's learner, in place of --method")
	in.parameterFlags(flags, &f.of, kernel.Normalized)
	in.floatVar(flags, &f.cost, "cost", math.NaN(), bounds{lo: 0, hi: math.Inf(1), loOpen: true, symbol: "C"},
		"cost C of the support vector machine ("+byCV+")")
	in.choiceVar(flags, &f.features, "features", "auto", []string{"auto", "honest", "plain"},
		"rows of labelled nodes: from a walk in which their own fold is unlabelled, or not; auto chooses")
}

// checkLearning notes what is wrong with the flags of f together, and finds
// the method.
func (in *invocation) checkLearning(flags *pflag.FlagSet, f *learning) {
	if f.kernel != "" || f.learner != "" {
		if flags.Changed("method") {
			in.problem("--method", "%s says all; leave out --kernel and --learner", f.name)
		}
		f.name = cmp.Or(f.kernel, "cwk") + "+" + cmp.Or(f.learner, string(evaluate.KernelSVM))
	}
	list := in.methods(f.name)
	if len(list) > 1 {
		in.problem("--method", "%s are several; classify takes one, evaluate compares them", f.name)
	}
	if len(list) == 1 {
		f.method = list[0]
	}
	in.checkWalk(&f.walking, anyWalks(list))
}

// anyWalks reports whether one of the methods learns from walks with absorption.
func anyWalks(methods []evaluate.Method) bool {
	return len(methods) == 0 || slices.ContainsFunc(methods, func(m evaluate.Method) bool {
		return slices.Contains(m.Takes(), "features")
	})
}

// kernelChoices returns the kernels that there is a method for.
func kernelChoices() []string {
	choices := []string{walkKernel}
	for _, name := range kernel.Names() {
		if slices.Contains(evaluate.MethodNames(), name) {
			choices = append(choices, name)
		}
	}
	return choices
}

// methods returns the methods of a list of names, and notes those there are
// not.
func (in *invocation) methods(list string) []evaluate.Method {
	methods, err := evaluate.ParseMethods(list)
	if err == nil {
		return methods
	}
	known := evaluate.MethodNames()
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if near := nearest(name, known); !slices.Contains(known, name) && near != "" {
			in.problem("--method", "there is no method %s; did you mean %s?", quoted(name), near)
			return nil
		}
	}
	in.problem("--method", "%s", strings.TrimPrefix(err.Error(), evaluate.ErrUsage.Error()+": "))
	return nil
}

// grid returns the settings that are left to choose from.
func (f *learning) grid() *evaluate.Grid {
	kinds := []evaluate.Features{evaluate.Plain, evaluate.Honest}
	if f.features != "auto" {
		kinds = []evaluate.Features{evaluate.Features(f.features)}
	}
	g := evaluate.SmallGrid(kinds...)
	g.MinSteps = f.minSteps
	if f.alpha <= 1 {
		g.Alpha = []float64{f.alpha}
	}
	if f.steps >= 0 {
		g.Steps = []int{f.steps}
	}
	if !math.IsNaN(f.cost) {
		g.Cost = []float64{f.cost}
	}
	return g
}

// settings returns how to choose parameters and train machines.
func (in *invocation) settings(f *learning, g *graph, l *ingest.Labels) (*evaluate.Settings, error) {
	prior, err := in.priorOf(&f.walking, g, l)
	if err != nil {
		return nil, err
	}
	var (
		shown *stage
		phase string
	)
	return &evaluate.Settings{
		Grid: f.grid(), Kernel: f.given(), Prior: prior, Seed: uint64(in.seed),
		Memory: g.memory(), Workers: in.threads,
		Progress: func(name string, done float64) {
			if shown == nil || phase != name {
				phase = name
				shown = in.progress.begin(name, whole, inShares)
			}
			shown.set(int64(done*whole), whole)
		},
	}, nil
}
