package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/spec"
)

// gramFlags are the flags of classify for kernel values from a file.
type gramFlags struct {
	file    string
	others  []string // that its kernel is combined with
	combine string
	dtype   string
	learner *classify.Learner
	stated  spec.Values // parameters of the learner that were given
	values  spec.Values // all of them
}

// files returns the files whose kernels are combined.
func (f *gramFlags) files() []string { return append([]string{f.file}, f.others...) }

// How the kernels of several files become one. Both are kernels if these are.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

// gramFlags declares the flags of f.
func (in *invocation) gramFlags(flags *pflag.FlagSet, f *gramFlags) {
	flags.StringVar(&f.file, "gram", "", "`FILE` of kernel values to learn from in place of a graph: rows of all nodes, columns of the labelled ones; of several FILE,FILE their sum or product")
	in.choiceVar(flags, &f.combine, "combine", sumOfKernels, []string{sumOfKernels, productOfKernels}, "with --gram FILE,FILE: what becomes of the kernels")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "with --gram or -o FILE.npy: precision of scores")
}

// checkScores notes scores that the output does not hold.
func (in *invocation) checkScores(flags *pflag.FlagSet, f *classifyFlags) {
	switch matrix := isScoreMatrix(f.out); {
	case !matrix && (f.kind == "raw" || f.kind != "" && f.vectors.file == ""):
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
	case matrix && f.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	if flags.Changed("dtype") && !isScoreMatrix(f.out) {
		in.problem("--dtype", "makes a difference with --gram FILE or -o FILE.npy only; leave it out")
	}
}

// checkGram notes what is wrong with the flags of f together, and finds the learner
// and its parameters.
func (in *invocation) checkGram(cmd *cobra.Command, f *classifyFlags) {
	flags := cmd.Flags()
	if !flags.Changed("output") {
		f.out = "" // which is not stdout here
	}
	if names := strings.Split(f.gram.file, ","); len(names) > 1 && !isThere(f.gram.file) {
		f.gram.file, f.gram.others = names[0], names[1:]
	}
	if flags.Changed("combine") && f.gram.others == nil {
		in.problem("--combine", "is about several kernels; give --gram FILE,FILE")
	}
	in.checkDense(f.out, append(f.gram.files(), f.labels)...)
	if f.gram.file == "-" {
		in.problem("--gram", "stdin can be read once, and the kernel is read twice; give a file")
	}
	if f.labels == "" {
		in.problem("--labels", "learners need labels; write --labels FILE with node<TAB>label lines")
	}
	if f.kind == "" && flags.Changed("scores") {
		in.problem("--scores", "with --gram there are other ones; give raw or probability")
	}
	if f.learner == "" && !in.noted("--learner") {
		in.problem("--learner", "is missing; give one of %s", strings.Join(learnerNames(), ", "))
	}
	l := classify.LearnerOf(f.learner)
	if l == nil {
		return
	}
	f.gram.learner = l
	own := append([]string{"gram", "labels", "learner", "scores", "dtype", "output", "unknown-ids", "combine"}, l.Takes()...)
	in.notTaken(cmd, own, func(string) string {
		return l.Name + " has no such parameter; " + itTakes(l.Takes(), "it takes nothing but labels")
	})
	_, f.gram.values = in.given(flags, &l.Spec)
}
