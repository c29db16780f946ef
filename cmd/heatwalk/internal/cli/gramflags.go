package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/spec"
)

// gramFlags are the flags of classify for kernel values from a file.
type gramFlags struct {
	file    string
	dtype   string
	learner *classify.Learner
	values  spec.Values
}

// ofLearners calls visit with the parameters of all learners of kernels by name, and
// with those learners that have each of their own, not of their base.
func ofLearners(visit func(p *spec.Param, learners []string)) {
	of := map[string][]string{}
	var order []*spec.Param
	for _, l := range classify.Learners() {
		for i := range l.Params {
			p := &l.Params[i]
			if l.Fit == nil || l.Base != nil && l.Base.Param(p.Name) != nil {
				continue
			}
			if of[p.Name] == nil {
				order = append(order, p)
			}
			of[p.Name] = append(of[p.Name], l.Name)
		}
	}
	for _, p := range order {
		visit(p, of[p.Name])
	}
}

// learnersOfKernels returns the names of those that learn from kernel values.
func learnersOfKernels() (names []string) {
	for _, l := range classify.Learners() {
		if l.Fit != nil {
			names = append(names, l.Name)
		}
	}
	return names
}

// gramFlags declares the flags of f, and of the parameters of learners those that
// there are not yet.
func (in *invocation) gramFlags(flags *pflag.FlagSet, f *gramFlags) {
	flags.StringVar(&f.file, "gram", "", "`FILE` of kernel values to learn from in place of a graph: rows of all nodes, columns of the labelled ones")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "with --gram or -o FILE.npy: precision of scores")
	ofLearners(func(p *spec.Param, learners []string) {
		whose := ", of " + strings.Join(learners, ", ")
		if len(learners) > 3 {
			whose = ""
		}
		otherwise := fmt.Sprintf("default %v", p.Default)
		if p.Instead != "" {
			otherwise = "in place of --" + p.Instead
		}
		if f := flags.Lookup(p.Name); f != nil {
			f.Usage += fmt.Sprintf("; with --gram%s, %s", whose, otherwise)
			return
		}
		usage := fmt.Sprintf("with --gram: %s%s (%s)", p.Meaning, whose, otherwise)
		switch p.Kind {
		case spec.Switch:
			flags.Bool(p.Name, false, usage)
		case spec.Choice:
			in.variable(flags, p.Name, strings.Join(p.Words, "|"), "", usage, noCheck)
		case spec.Whole:
			in.variable(flags, p.Name, "N", "", usage, noCheck)
		default:
			in.variable(flags, p.Name, "X", "", usage, noCheck)
		}
	})
}

// noCheck takes the text of a flag that its declaration checks later.
func noCheck(string) error { return nil }

// checkNoGram notes flags that only have a meaning with --gram.
func (in *invocation) checkNoGram(flags *pflag.FlagSet, f *classifyFlags) {
	switch matrix := isScoreMatrix(f.out); {
	case !matrix && f.kind != "":
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
	case matrix && f.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	if flags.Changed("dtype") && !isScoreMatrix(f.out) {
		in.problem("--dtype", "makes a difference with --gram FILE or -o FILE.npy only; leave it out")
	}
	var own []string
	known := effectFlags()
	ofLearners(func(p *spec.Param, _ []string) {
		if !slices.Contains(known, p.Name) {
			own = append(own, p.Name)
		}
	})
	for _, name := range own {
		if flags.Changed(name) {
			in.problem("--"+name, "makes a difference with --gram FILE only; leave it out")
		}
	}
}

// checkGram notes what is wrong with the flags of f together, and finds the learner
// and its parameters.
func (in *invocation) checkGram(cmd *cobra.Command, f *classifyFlags) {
	flags := cmd.Flags()
	if !flags.Changed("output") {
		f.out = "" // which is not stdout here
	}
	in.checkDense(f.out, f.gram.file, f.labels)
	if f.gram.file == "-" {
		in.problem("--gram", "stdin can be read once, and the kernel is read twice; give a file")
	}
	if f.labels == "" {
		in.problem("--labels", "learners need labels; write --labels FILE with node<TAB>label lines")
	}
	if f.kind == "" && flags.Changed("scores") {
		in.problem("--scores", "with --gram there are other ones; give raw or probability")
	}
	if f.learner == "" && !slices.ContainsFunc(in.problems, func(p problem) bool { return p.place == "--learner" }) {
		in.problem("--learner", "is missing; give one of %s", strings.Join(learnersOfKernels(), ", "))
	}
	l := classify.LearnerOf(f.learner)
	if l == nil {
		return
	}
	f.gram.learner = l
	if l.Fit == nil {
		in.problem("--learner", "%s learns from features, and --gram has kernel values; give one of %s", l.Name, strings.Join(learnersOfKernels(), ", "))
	}
	in.checkGramEffect(cmd, l)
	_, f.gram.values = in.given(flags, &l.Spec)
}

// checkGramEffect notes the flags that were given and make no difference to a
// learner.
func (in *invocation) checkGramEffect(cmd *cobra.Command, l *classify.Learner) {
	shared := cmd.InheritedFlags()
	own := append([]string{"gram", "labels", "learner", "scores", "dtype", "output", "unknown-ids"}, l.Takes()...)
	hint := "it takes nothing but labels"
	if takes := l.Takes(); len(takes) > 0 {
		hint = "it takes --" + strings.Join(takes, ", --")
	}
	flags := cmd.Flags()
	flags.Visit(func(f *pflag.Flag) {
		if shared.Lookup(f.Name) == nil && !slices.Contains(own, f.Name) {
			in.problem("--"+f.Name, "%s has no such parameter; %s", l.Name, hint)
		}
	})
}
