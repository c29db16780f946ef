package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

func newKernel(in *invocation) *cobra.Command {
	var f kernelFlags
	graphOr := func(cmd *cobra.Command, args []string) error { return in.graphOrTable(f.vectors.file)(cmd, args) }
	cmd := in.newCommand("kernel GRAPH --kernel NAME -o K.npy", graphOr,
		"A block of kernel values, streamed to a file",
		func(cmd *cobra.Command, args []string) {
			if f.vectors.file != "" {
				in.checkOutput("-o", f.out, denseFormats, f.vectors.file, f.rows, f.cols)
				in.checkStdin(f.vectors.file, f.rows, f.cols)
				in.checkVectors(cmd, &f.vectors, f.name, []string{"rows", "cols"})
				return
			}
			in.checkNoVectors(cmd.Flags(), f.name, append(walkFlagNames(), nodeKernels().params(byDefault).names()...))
			in.checkDenseRun(cmd, args, &f.reading, f.out, f.share, f.labels, f.rows, f.cols)
			in.checkKernel(cmd, &f)
		}, func(args []string) error {
			if f.vectors.file != "" {
				return in.runVectorKernel(&f)
			}
			single, double := runNodeKernel[float32], runNodeKernel[float64]
			if f.family == nil {
				single, double = runWalkKernel[float32], runWalkKernel[float64]
			}
			if f.dtype == "float64" {
				return double(in, args[0], &f)
			}
			return single(in, args[0], &f)
		})
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the block: .npy, .npz, .svm or .libsvm")
	in.choiceVar(flags, &f.name, "kernel", nodeKernels()[0].Name, append(nodeKernels().names(), tableKernels().names()...), "which kernel")
	in.walkFlags(flags, &f.walking, ": of cwk, and classes of the rows in LIBSVM's text")
	nodeKernels().params(byDefault).flags(in, flags, "")
	numberVar(in, flags, &f.tolerance, "tolerance", 0, spec.Range{Most: 1, AboveLeast: true, BelowMost: true}, "tolerance", "largest error of a value, relative to the largest value in its columns (default: about what --dtype can hold)")
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the nodes of the rows, one id a line (default: all)")
	flags.StringVar(&f.cols, "cols", "", "`FILE` of the nodes of the columns (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the values, and of walks")
	in.shareVar(flags, &f.share, "the columns")
	flags.BoolVar(&in.resume, "resume", false, resumeUsage)
	in.vectorFlags(flags, &f.vectors)
	in.readingFlags(flags, &f.reading)
	return cmd
}

// rowsOf reads a list of ids; without one, all rows in the order of the ids, but for
// those that stand for hyperedges.
func (in *invocation) rowsOf(path string, g *openGraph) ([]int, error) {
	if path == "" {
		rows := slices.Collect(g.Nodes.Rows())
		if g.hasHyperedges() {
			rows = slices.DeleteFunc(rows, func(row int) bool { return strings.HasPrefix(g.Nodes.ID(row), source.HyperedgePrefix) })
		}
		return rows, nil
	}
	return in.readIDs(path, g.Nodes)
}

// readIDs reads a list of ids, at least one.
func (in *invocation) readIDs(path string, nodes nodefile.Lookup) ([]int, error) {
	rows, err := nodefile.ReadIDs(in.ctx, path, nodes, in.listConfig(path))
	if err == nil && len(rows) == 0 {
		err = fault.Data(path, "no ids; give one a line")
	}
	return rows, err
}

// nodesOf returns the ids of the given rows.
func nodesOf(g *openGraph, rows []int) axis {
	return axis{N: len(rows), ID: func(i int) string { return g.Nodes.ID(rows[i]) }}
}

// walkFlagNames returns the flags that the kernel of walks takes.
func walkFlagNames() []string {
	return slices.Concat([]string{"labels"}, cwk.Spec.Takes(), []string{cwk.PriorParam.Name})
}

// kernelFlags are the flags of kernel.
type kernelFlags struct {
	reading
	walking
	name       string
	family     *kernel.Family // nil: of walks
	given      spec.Values    // of its parameters
	tolerance  float64        // 0: not given
	rows, cols string
	dtype      string
	out        string
	share      shareFlag
	vectors    vectorFlags
}

// checkKernel notes what is wrong with the flags of f together.
func (in *invocation) checkKernel(cmd *cobra.Command, f *kernelFlags) {
	if in.noted("--kernel") {
		return // what it takes is not known
	}
	takes, all := walkFlagNames(), append([]string{"labels", cwk.PriorParam.Name, "tolerance"}, nodeKernels().params(byDefault).names()...)
	if f.family = kernel.Families().Named(f.name); f.family != nil {
		takes = append(f.family.Takes(), "tolerance")
	}
	for _, name := range sortedOnce(all) {
		useful := slices.Contains(takes, name) || name == "labels" && matrixFormatOf(f.out, denseFormats).Text
		in.refuse(cmd.Flags(), rule{!useful, name, f.name + " has no such parameter; it takes --" + strings.Join(takes, ", --")})
	}
	if f.family == nil {
		in.checkWalk(cmd.Flags(), &f.walking)
		return
	}
	f.given, _ = in.given(cmd.Flags(), &f.family.Spec)
	least, wider := 0x1p-23, ", or --dtype float64"
	if f.dtype == "float64" {
		least, wider = 0x1p-52, ""
	}
	in.refuse(cmd.Flags(), rule{f.tolerance < least, "tolerance", fmt.Sprintf("%v is below what %s holds; give %.2g or more%s", f.tolerance, f.dtype, least, wider)})
}

// runWalkKernel writes the block of coinciding walks that f describes.
func runWalkKernel[T sparse.Float](in *invocation, name string, f *kernelFlags) error {
	d, err := in.beginDense(name, f.out, &f.reading, denseInputs{labels: f.labels, seeds: true, rows: f.rows, cols: f.cols, block: true})
	if err != nil {
		return err
	}
	lo, hi, err := f.share.bounds(len(d.cols), "column")
	if err != nil {
		return err
	}
	w, err := newWalk[T](d, &f.walking)
	if err != nil {
		return err
	}
	parameters := f.parameters()
	parameters.Kernel = f.name
	rows, cols, from := d.pick(d.rows, w.Seeds, nil), d.pick(d.cols[lo:hi], w.Seeds, nil), f.minSteps()
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: nodesOf(d.g, d.rows), Cols: nodesOf(d.g, d.cols[lo:hi]), Kernel: true, Label: d.labelOf()},
		memory: func() ([]spec.Bytes, int, error) { return w.GramMemory(from, rows, cols) },
		panels: func(first int, sink func(int, *sparse.Block[T]) error) error {
			return w.Gram(in.ctx, from, rows[first:], cols, sink)
		},
		advice: fewerNodes,

		parameters: parameters, command: "kernel", share: f.share,
		shape: parts.Shape{Axis: parts.ByColumns, Lo: lo, Hi: hi, Whole: len(d.cols), Groups: 1, Dtype: f.dtype},
	})
}
