package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/tablefile"
)

// walkKernel is the kernel that needs labels and is made by walks; all others
// are those of package kernel.
const walkKernel = "cwk"

// walkParameterNames are the flags that walkKernel takes.
var walkParameterNames = []string{"labels", "alpha", "steps", "min-steps", "prior"}

// kernelFlags are the flags of kernel.
type kernelFlags struct {
	reading
	walking
	name       string
	tolerance  float64 // NaN: not given
	lenient    bool    // the tolerance was not asked for
	rows, cols string
	dtype      string
	out        string
	slab       slabFlag
	vectors    vectorFlags
}

// kernelFlags declares the flags that say which kernel.
func (in *invocation) kernelFlags(flags *pflag.FlagSet, f *kernelFlags) {
	alpha, steps := defaultWalk()
	in.choiceVar(flags, &f.name, "kernel", walkKernel, slices.Concat([]string{walkKernel}, kernel.Names(), vectorKernels()), "which kernel")
	in.labelFlags(flags, &f.labels, "`FILE` of node<TAB>label lines: of cwk, and classes of the rows in LIBSVM's text")
	f.alpha = math.NaN()
	in.numberVar(flags, &f.alpha, "alpha", fmt.Sprintf("α (cwk: probability that a labelled node absorbs at a step, default %v)", alpha))
	f.steps = -1
	in.variable(flags, "steps", "N", "", fmt.Sprintf("p of p-step (default 8), or the last step of a walk (cwk: default %d)", steps), func(s string) error {
		var n int64
		err := parseInt(&n, s, 0, maxSteps)
		if err == nil {
			f.steps = int(n)
		}
		return err
	})
	in.intVar(flags, &f.minSteps, "min-steps", 0, 0, maxSteps, "first step of a walk that counts")
	flags.StringVar(&f.prior, "prior", "uniform", "start of walks at nodes without a label: uniform, empirical, or a `FILE` of distributions")
	in.parameterFlags(flags, &f.of)
	flags.BoolVar(&f.of.Symmetric, "symmetric", false, "the symmetric kernel of pagerank or heat-pagerank, D^½·K·D^−½")
	f.tolerance = math.NaN()
	in.numberVar(flags, &f.tolerance, "tolerance", "largest error of a value, relative to the largest value in its columns (default: about what --dtype can hold)")
}

// parameterFlags declares the flags of kernels that walks do not have.
func (in *invocation) parameterFlags(flags *pflag.FlagSet, p *kernel.Parameters) {
	in.numberVar(flags, &p.Beta, "beta", "β, the time of a diffusion")
	in.choiceVar(flags, (*string)(&p.Laplacian), "laplacian", "", []string{string(kernel.Normalized), string(kernel.Combinatorial), string(kernel.RandomWalk)},
		"L̃ = J − S, L = D − A or I − T (default: "+string(kernel.Normalized)+")")
	in.choiceVar(flags, (*string)(&p.Matrix), "matrix", "", []string{string(kernel.Adjacency), string(kernel.NormalizedAdjacency)},
		"A or S (default: that of the kernel)")
	in.numberVar(flags, &p.Shift, "shift", "a of p-step, at least 2 (default 2)")
	in.numberVar(flags, &p.Nu, "nu", "ν of matern, its smoothness")
	in.numberVar(flags, &p.Kappa, "kappa", "κ of matern, its length")
	in.variable(flags, "rank", "Q", "", "eigenvalues of modularity that count (default: all positive ones)", func(s string) error {
		var n int64
		err := parseInt(&n, s, 1, math.MaxInt)
		p.Rank = int(n)
		return err
	})
	in.numberVar(flags, &p.Resolution, "resolution", "γ of modularity (default 1)")
}

// given returns the parameters of a kernel that were given.
func (w *walking) given() kernel.Parameters {
	p := w.of
	if !math.IsNaN(w.alpha) {
		p.Alpha = w.alpha
	}
	p.Steps = max(w.steps, 0)
	return p
}

// numberVar declares a flag whose range depends on the kernel.
func (in *invocation) numberVar(flags *pflag.FlagSet, p *float64, name, usage string) {
	in.variable(flags, name, "X", "", usage, func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s is not a number; give one such as 0.5", quoted(s))
		}
		switch {
		case x != 0 || name == "alpha": // with labels, walks may go on for ever
		case name == "tolerance":
			return errors.New("0 is out of range; want 0 < tolerance < 1")
		default:
			return errors.New("0 is out of range; give a number above 0")
		}
		*p = x
		return nil
	})
}

// checkKernel notes what is wrong with the flags of f together.
func (in *invocation) checkKernel(cmd *cobra.Command, f *kernelFlags) {
	if slices.ContainsFunc(in.problems, func(p problem) bool { return p.place == "--kernel" }) {
		return // what it takes is not known
	}
	takes := slices.Concat(kernel.Takes(f.name), []string{"tolerance"})
	if f.name == walkKernel {
		takes = walkParameterNames
	}
	all := []string{"labels", "min-steps", "prior", "tolerance"}
	for _, name := range kernel.Names() {
		all = append(all, kernel.Takes(name)...)
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if !cmd.Flags().Changed(name) || slices.Contains(takes, name) || name == "labels" && isLIBSVM(f.out) {
			continue
		}
		in.problem("--"+name, "%s has no such parameter; it takes --%s", f.name, strings.Join(takes, ", --"))
	}
	if f.name == walkKernel {
		f.fixed()
		in.checkWalk(&f.walking, true)
		return
	}
	// Without a graph there is no error, and a range that depends on it is empty.
	alphas, _ := kernel.AlphaRange(in.ctx, nil, f.name, f.of)
	in.checkPositive(&f.walking, alphas)
	in.checkTolerance(f)
}

func isLIBSVM(path string) bool {
	return denseFormatOf(path) == tablefile.LIBSVM
}

// precisionOf returns the relative rounding error of a type.
func precisionOf(dtype string) float64 {
	if dtype == "float64" {
		return 0x1p-53
	}
	return 0x1p-24
}

// checkTolerance settles the tolerance that values are computed to, so that
// with the rounding of float32 it is that of the file.
func (in *invocation) checkTolerance(f *kernelFlags) {
	rounding := precisionOf(f.dtype)
	least := 2 * rounding
	switch {
	case math.IsNaN(f.tolerance):
		f.tolerance, f.lenient = 0, true
		if f.dtype == "float32" {
			f.tolerance = 4*rounding - rounding
		}
	case f.tolerance <= 0 || f.tolerance >= 1:
		in.problem("--tolerance", "%v is out of range; want 0 < tolerance < 1", f.tolerance)
	case f.tolerance < least && f.dtype == "float32":
		in.problem("--tolerance", "%v is below what float32 holds; give %.2g or more, or --dtype float64", f.tolerance, least)
	case f.tolerance < least:
		in.problem("--tolerance", "%v is below what float64 holds; give %.2g or more", f.tolerance, least)
	default:
		f.tolerance -= rounding
	}
}
