package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	cmd := in.newCommand("kernel GRAPH --kernel SPEC -o K.npy", in.arguments("GRAPH", 1, 1),
		"A block of kernel values, streamed to a file",
		func(cmd *cobra.Command, args []string) {
			in.checkDenseRun(cmd, args, &f.reading, f.out, f.share, f.labels, f.rows, f.cols)
			in.checkKernel(cmd, &f)
		}, func(args []string) error {
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
	in.denseFlags(flags, &f.denseFlags)
	flags.StringVar(&f.listed, "kernel", nodeKernels()[0].Name, "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods")
	in.walkFlags(flags, &f.walking, ": of cwk, and classes of the rows in LIBSVM's text")
	numberVar(in, flags, &f.tolerance, "tolerance", 0, spec.Range{Most: 1, AboveLeast: true, BelowMost: true}, "tolerance", "largest error of a value, relative to the largest value in its columns (default: about what --dtype can hold)")
	in.shareVar(flags, &f.share, "the columns")
	flags.BoolVar(&in.resume, "resume", false, resumeUsage)
	in.readingFlags(flags, &f.reading)
	return cmd
}

// denseFlags are those of a block of kernel values.
type denseFlags struct{ out, rows, cols, dtype string }

func (in *invocation) denseFlags(flags *pflag.FlagSet, f *denseFlags) {
	flags.StringVarP(&f.out, "output", "o", "", "`FILE` of the block: .npy, .npz, .svm or .libsvm")
	flags.StringVar(&f.rows, "rows", "", "`FILE` of the ids of the rows, one a line (default: all)")
	flags.StringVar(&f.cols, "cols", "", "`FILE` of the ids of the columns (default: all)")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "precision of the values")
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

// kernelFlags are the flags of kernel.
type kernelFlags struct {
	reading
	walking
	denseFlags
	listed    string         // the kernel with its parameters
	name      string         // without them
	family    *kernel.Family // nil: of walks
	given     spec.Values    // of its parameters
	tolerance float64        // 0: not given
	share     shareFlag
}

// checkKernel finds the kernel, and notes errors in the flags of f.
func (in *invocation) checkKernel(cmd *cobra.Command, f *kernelFlags) {
	of, n := in.parseNamed("--kernel", f.listed, nodeKernels())
	if of == nil {
		return
	}
	flags := cmd.Flags()
	if f.name, f.family = n.Name, kernel.Families().Named(n.Name); f.family == nil {
		in.refuse(flags, rule{true, "tolerance", "cwk is computed by walks without an iteration; leave it out"})
		in.checkWalk(flags, &f.walking, n)
		return
	}
	in.refuse(flags,
		rule{true, cwk.PriorParam.Name, f.name + " has no prior; leave it out"},
		rule{!matrixFormatOf(f.out, denseFormats).Text, "labels", f.name + " needs no labels; leave them out, or write LIBSVM's text"},
	)
	f.given, _ = in.given("--kernel", n.Given, of)
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
		memory: func() (int64, int, error) { return w.GramBytes(from, rows, cols) },
		panels: func(first int, sink func(int, *sparse.Block[T]) error) error {
			return w.Gram(in.ctx, from, rows[first:], cols, sink)
		},
		advice: fewerNodes,

		parameters: parameters, command: "kernel", share: f.share,
		shape: parts.Shape{Axis: parts.ByColumns, Lo: lo, Hi: hi, Whole: len(d.cols), Groups: 1, Dtype: f.dtype},
	})
}
