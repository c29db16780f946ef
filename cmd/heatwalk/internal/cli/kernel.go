package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func newKernel(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "kernel GRAPH --kernel SPEC -o K.npy",
		"A block of kernel values, streamed to a file", checkKernel, runKernel)
	c.block.declare(flags)
	flags.StringVar(&c.listed, "kernel", nodeKernels()[0].Name, "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods")
	c.walk.declare(&c.graph.tables, flags,
		": of cwk, and classes of the rows in LIBSVM's text")
	numberVar(flags, &c.tolerance, "tolerance", 0, openUnit, "tolerance",
		"largest error of a value, relative to the largest value in its columns (default: 1e-6 with float32, 1e-8 with float64, and less where the precision allows)")
	c.share.declare(flags, "the columns")
	largestFlag(&c.graph, flags)
	graphFlags(&c.graph, flags)
	return cmd
}

func runKernel(run *session, c *kernelOptions, name string) error {
	if c.family == nil {
		return inPrecision(c.block.dtype, writeWalkKernel[float32],
			writeWalkKernel[float64])(run, c, name)
	}
	return inPrecision(c.block.dtype, writeNodeKernel[float32],
		writeNodeKernel[float64])(run, c, name)
}

// denseFlags are those of a block of kernel values.
type denseFlags struct{ out, rows, cols, dtype string }

func (f *denseFlags) declare(flags *flagSet) {
	outputFlag(flags, &f.out, "output", "", "`FILE` of the block: .npy, .npz, .svm or .libsvm", tablefile.MatrixEndings)
	flags.addText(&f.rows, "rows", "`FILE` of the ids of the rows, one a line (default: all)")
	flags.addText(&f.cols, "cols", "`FILE` of the ids of the columns (default: all)")
	dtypeFlag(flags, &f.dtype, "float32", "precision of the values")
}

// rowsOf reads a list of ids. Without a list it returns all rows in the order of the ids, except rows of
// hyperedges.
func rowsOf(run *session, in *inputs, path string, g *openGraph) ([]int, error) {
	if path == "" {
		rows := slices.AppendSeq(make([]int, 0, g.Nodes.Len()), g.Nodes.Rows())
		if g.Hyperedges {
			rows = slices.DeleteFunc(rows,
				func(row int) bool { return strings.HasPrefix(g.Nodes.ID(row), source.HyperedgePrefix) })
		}
		return rows, nil
	}
	return readIDs(run, in, path, g.Nodes)
}

// readIDs reads a list of ids, at least one.
func readIDs(run *session, in *inputs, path string,
	nodes nodefile.Lookup) ([]int, error) {
	rows, err := nodefile.ReadIDs(run.ctx, path, nodes, listConfig(run.console, in, path))
	if err == nil && len(rows) == 0 {
		err = fault.Data(path, "no ids; give one a line")
	}
	return rows, err
}

// nodesOf returns the ids of the given rows.
func nodesOf(g *openGraph, rows []int) axis {
	return axis{ID: g.Nodes.ID}.Select(rows)
}

// kernelOptions are the options of kernel.
type kernelOptions struct {
	graph      graphInputs
	walk       walkFlags
	block      denseFlags
	listed     string         // value of --kernel
	name       string         // name of the kernel
	family     *kernel.Family // nil for cwk
	userValues param.Values   // given values of the parameters
	tolerance  float64        // 0: not given
	share      shareFlag
}

// checkKernel parses the kernel and records problems of the flags.
func checkKernel(line *commandLine, c *kernelOptions, _ []string) {
	spec, n := parseNamed(line, "--kernel", c.listed, nodeKernels())
	if spec == nil {
		return
	}
	c.name, c.family = n.Name, kernel.Families().Named(n.Name)
	if c.family == nil {
		line.refuse(rule{true, "tolerance",
			"cwk is computed by walks without an iteration; leave it out"})
		c.walk.check(line, n)
		return
	}
	line.refuse(rule{true, cwk.PriorParam.Name, c.name + " has no prior; leave it out"},
		rule{!matrixFormatOf(c.block.out, tablefile.MatrixEndings).Text, "labels",
			c.name + " needs no labels; leave them out, or write LIBSVM's text"},
	)
	c.userValues, _ = parseGiven(line, "--kernel", n.Given, spec)
	checkTolerance(line, c.tolerance, c.block.dtype)
}

// checkTolerance records a tolerance that values of a precision cannot have.
func checkTolerance(line *commandLine, tolerance float64, dtype string) {
	floor := 0x1p-23
	wider := ", or --dtype float64"
	if dtype == "float64" {
		floor = 0x1p-52
		wider = ""
	}
	line.refuse(rule{tolerance < floor, "tolerance",
		fmt.Sprintf("%v is below what %s holds; give %.2g or more%s", tolerance,
			dtype, floor, wider)})
}

// writeWalkKernel writes a block of the coinciding walk kernel.
func writeWalkKernel[T sparse.Float](run *session, f *kernelOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.block.out,
		denseInputs{labels: f.walk.labels, seeds: true, rows: f.block.rows,
			cols: f.block.cols, block: true})
	if err != nil {
		return err
	}
	lo, hi, err := f.share.bounds(len(d.cols), "column")
	if err != nil {
		return err
	}
	w, err := newWalk[T](run, d, &f.graph.tables, &f.walk)
	if err != nil {
		return err
	}
	parameters := f.walk.parameters
	parameters.Kernel = f.name
	rows := cwk.Picks(d.rows, w.Seeds, nil)
	cols := cwk.Picks(d.cols[lo:hi], w.Seeds, nil)
	minSteps := parameters.MinSteps
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: nodesOf(d.g, d.rows),
			Cols: nodesOf(d.g, d.cols[lo:hi]), Kernel: true, Label: d.labelOf()},
		memory: func() (int64, int, error) { return w.GramBytes(minSteps, rows, cols) },
		panels: func(sink func(int, *sparse.Block[T]) error) error {
			return w.Gram(run.ctx, minSteps, rows, cols, sink)
		},
		picks:  [][]cwk.Pick{rows, cols},
		advice: fewerNodes,

		parameters: parameters, command: "kernel", share: f.share,
		shape: parts.Shape{Axis: parts.ByColumns, Lo: lo, Hi: hi,
			Whole: len(d.cols), Groups: 1, Dtype: f.block.dtype},
	})
}

// kernelDocument is the JSON document of kernel for all kernels except cwk.
type kernelDocument struct {
	Output     string           `json:"output"`
	Rows       int              `json:"rows"`
	Cols       int              `json:"cols"`
	Dtype      string           `json:"dtype"`
	Parameters kernelParameters `json:"parameters"`

	Method    string `json:"method"`
	HalfSteps bool   `json:"half_steps"` // the block is UᵀU
	Sweeps    int    `json:"sweeps"`

	// ErrorBound is an upper bound of the error of every value, Relative the bound divided by the
	// largest value. They are null if no bound is known.
	ErrorBound    *float64 `json:"error_bound"`
	ErrorEstimate *float64 `json:"error_estimate,omitempty"`
	Relative      *float64 `json:"relative_error_bound"`
	LargestValue  float64  `json:"largest_value"`
	Condition     string   `json:"condition,omitempty"`
	Closing
}

// kernelParameters holds the parameters of a block.
type kernelParameters struct {
	spec   *param.Spec
	values param.Values
}

// MarshalJSON writes an object with the values and the name of the kernel.
func (p kernelParameters) MarshalJSON() ([]byte, error) {
	values := maps.Clone(p.values)
	values["kernel"] = param.Of(p.spec.Name)
	return json.Marshal(values)
}

// writeNodeKernel writes a block of any kernel except the coinciding walk kernel.
func writeNodeKernel[T sparse.Float](run *session, f *kernelOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.block.out,
		denseInputs{labels: f.walk.labels, rows: f.block.rows, cols: f.block.cols,
			block: true})
	if err != nil {
		return err
	}
	rows, cols, shape, err := partOfBlock(f.share, d.rows, d.cols, f.block.dtype)
	if err != nil {
		return err
	}
	rowAxis := nodesOf(d.g, rows)
	colAxis := nodesOf(d.g, cols)
	files, err := checkMatrix(d.out, rowAxis, colAxis, f.block.dtype, fewerNodes)
	if err != nil {
		return err
	}
	directed := d.g.Store.Manifest.Directed
	if directed && f.family.Works&param.Directed == 0 {
		index := slices.IndexFunc(nodeKernels(),
			func(s *param.Spec) bool { return s.Works&param.Directed != 0 })
		return asymmetric(name, f.name, "--kernel="+nodeKernels()[index].Name)
	}
	d.g.Store.Forward = !directed
	settings := &kernel.Settings{Tolerance: f.tolerance, Lo: shape.Lo, Hi: shape.Hi,
		Progress: run.progress.Stages("product")}
	run.costs.disk += files
	block := tablefile.NPY.Size(rowAxis.N, colAxis.N, f.block.dtype)
	if !takesPieces(d.out) { // the block is in memory until it is complete
		d.g.Graph = d.g.Leave(block, wholeBlock)
	}
	k, err := heatwalk.OpenKernel(run.ctx, d.g.Graph, f.name, f.userValues, d.rows,
		d.cols, settings)
	if over := new(budget.Error); errors.As(err, &over) && over.Largest.What == wholeBlock {
		return fault.Limit("-o", "%s: %s in this form need as much memory; write a .npy file, which is filled piece by piece, or name fewer --rows or --cols",
			d.out.path, words.Bytes(block))
	}
	if err != nil {
		return graphError(run.costs, err, name, loosened)
	}
	if err := d.describePart("kernel", f.share, shape,
		kernelParameters{&f.family.Spec, k.Parameters}); err != nil {
		return err
	}
	file, err := newWriter[T](d.out,
		&tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true,
			Label: d.labelOf(), Pieces: true, Hold: !takesPieces(d.out)})
	if err != nil {
		return err
	}
	put := func(i, j int, piece *sparse.Block[float64]) error {
		return file.Put(run.ctx, i, j, piece)
	}
	report, err := kernel.Values[T](run.ctx, k.Kernel, k.Rows, k.Cols,
		put, settings)
	if err != nil {
		return toleranceError(run.costs, err, name, f.tolerance)
	}
	if err := file.Close(run.ctx); err != nil {
		return err
	}
	return d.finishKernel(&kernelDocument{Output: f.block.out, Rows: len(rows),
		Cols: len(cols), Dtype: f.block.dtype,
		Parameters: kernelParameters{&f.family.Spec, k.Parameters}}, report)
}

// wholeBlock names the memory of a block that is written at the end.
const wholeBlock = "block"

// asymmetric returns the error that what requires an undirected graph; instead is a flag for an
// alternative, if any.
func asymmetric(graph, what, instead string) error {
	text := "is directed, and " + what +
		" needs an undirected graph; ingest with --undirected"
	if instead != "" {
		text += " or use " + instead
	}
	return fault.Usage(graph, "%s", text)
}

// finishKernel publishes a block, completes its report with the results, and prints the summary.
func (d *graphRun) finishKernel(r *kernelDocument, result *kernel.Report) error {
	r.Method = result.Method
	r.HalfSteps = result.HalfSteps
	r.Sweeps = result.Sweeps
	r.LargestValue = result.Largest
	r.Condition = result.Condition
	text := "no bound on the error: an eigenvalue that counts is as large as one that does not"
	if bound := result.ErrorBound; result.IsEstimate() {
		r.ErrorEstimate = &bound
		text = fmt.Sprintf("error about %.2g, largest value %.4g", bound,
			result.Largest)
	} else if !math.IsInf(bound, 1) {
		r.ErrorBound = &bound
		if relative := bound / result.Largest; bound == 0 {
			r.Relative = new(float64)
		} else if !math.IsInf(relative, 0) {
			r.Relative = &relative
		}
		text = fmt.Sprintf("error ≤ %.2g, largest value %.4g", bound,
			result.Largest)
	}
	method := r.Method
	if r.HalfSteps {
		method += ", half steps"
	}
	return d.out.finish(r, r.Parameters,
		fmt.Sprintf("%s · %s%s", shapeOf(r.Rows, r.Cols, r.Dtype),
			r.Parameters.spec.Name,
			parameterText(r.Parameters.spec, r.Parameters.values)),
		fmt.Sprintf("%s, %s · %s", method, words.Counted(r.Sweeps, "sweep"), text))
}
