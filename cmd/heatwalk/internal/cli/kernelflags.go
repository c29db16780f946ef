package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// walkKernel is the kernel that needs labels and is made by walks; all others
// are those of package kernel.
const walkKernel = "cwk"

// walkFlagNames returns the flags that walkKernel takes.
func walkFlagNames() []string {
	return slices.Concat([]string{"labels"}, cwk.Spec.Takes(), []string{"prior"})
}

// kernelFlags are the flags of kernel.
type kernelFlags struct {
	reading
	walking
	name       string
	family     *kernel.Family // nil: of walks
	given      spec.Values    // of its parameters
	tolerance  float64        // NaN: not given
	lenient    bool           // the tolerance was not asked for
	rows, cols string
	dtype      string
	out        string
	slab       slabFlag
	vectors    vectorFlags
}

// kernelFlags declares the flags that say which kernel.
func (in *invocation) kernelFlags(flags *pflag.FlagSet, f *kernelFlags) {
	in.choiceVar(flags, &f.name, "kernel", walkKernel, slices.Concat([]string{walkKernel}, kernel.Names(), vectorKernels()), "which kernel")
	in.walkFlags(flags, &f.walking, ": of cwk, and classes of the rows in LIBSVM's text")
	ofKernels().flags(in, flags, "")
	f.tolerance = math.NaN()
	in.numberVar(flags, &f.tolerance, "tolerance", "largest error of a value, relative to the largest value in its columns (default: about what --dtype can hold)")
}

// ofKernels returns the parameters of all kernels on nodes.
func ofKernels() declaredParams {
	list := walkParams(byDefault)
	for _, f := range kernel.Families() {
		list.addAll(&f.Spec, f.Takes(), byDefault)
	}
	return list
}

// numberVar declares a flag whose range depends on the kernel.
func (in *invocation) numberVar(flags *pflag.FlagSet, p *float64, name, usage string) {
	in.variable(flags, name, "X", "", usage, func(s string) error {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s is not a number; give one such as 0.5", quoted(s))
		}
		*p = x
		return nil
	})
}

// checkKernel notes what is wrong with the flags of f together.
func (in *invocation) checkKernel(cmd *cobra.Command, f *kernelFlags) {
	if in.noted("--kernel") {
		return // what it takes is not known
	}
	takes, all := walkFlagNames(), []string{"labels", "prior", "tolerance"}
	if f.family = kernel.FamilyOf(f.name); f.family != nil {
		takes = append(f.family.Takes(), "tolerance")
	}
	for _, p := range ofKernels() {
		all = append(all, p.Name)
	}
	for _, name := range sortedOnce(all) {
		if !cmd.Flags().Changed(name) || slices.Contains(takes, name) || name == "labels" && isLIBSVM(f.out) {
			continue
		}
		in.problem("--"+name, "%s has no such parameter; it takes --%s", f.name, strings.Join(takes, ", --"))
	}
	if f.family == nil {
		in.checkWalk(cmd.Flags(), &f.walking)
		return
	}
	f.given, _ = in.given(cmd.Flags(), &f.family.Spec)
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
