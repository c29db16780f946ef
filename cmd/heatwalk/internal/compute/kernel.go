package compute

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

func NewKernel(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "kernel GRAPH --kernel SPEC -o K.npy",
		"A block of kernel values, streamed to a file", checkKernel, runKernel)
	c.block.Declare(flags)
	flags.StringVar(&c.listed, "kernel", shell.NodeKernels()[0].Name, "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods")
	c.walk.Declare(&c.graph.Tables, flags,
		": of cwk, and classes of the rows in LIBSVM's text")
	shell.NumberVar(flags, &c.tolerance, "tolerance", 0, shell.OpenUnit, "tolerance",
		"largest error of a value, relative to the largest value in its columns (default: 1e-6 with float32, 1e-8 with float64, and less where the precision allows)")
	c.graph.DeclareLargest(flags)
	c.graph.Declare(flags)
	return cmd
}

func runKernel(run *shell.Session, c *kernelOptions, name string) error {
	if c.family == nil {
		return shell.InPrecision(c.block.Dtype, writeWalkKernel[float32],
			writeWalkKernel[float64])(run, c, name)
	}
	return shell.InPrecision(c.block.Dtype, writeNodeKernel[float32],
		writeNodeKernel[float64])(run, c, name)
}

type kernelOptions struct {
	graph      shell.GraphInputs
	walk       shell.WalkFlags
	block      shell.DenseFlags
	listed     string
	name       string
	family     *kernel.Family // nil for cwk
	userValues param.Values
	tolerance  float64 // 0: not given
}

func checkKernel(line *shell.CommandLine, c *kernelOptions, _ []string) {
	spec, n := line.ParseNamed("--kernel", c.listed, shell.NodeKernels())
	if spec == nil {
		return
	}
	c.name, c.family = n.Name, kernel.Families().Named(n.Name)
	if c.family == nil {
		line.Refuse(true, "tolerance",
			"cwk is computed by walks without an iteration; leave it out")
		c.walk.Check(line, n)
		return
	}
	line.Refuse(true, cwk.PriorParam.Name, c.name+" has no prior; leave it out")
	line.Refuse(!shell.MatrixFormatOf(c.block.Out, tablefile.MatrixEndings).HasLabels, "labels",
		c.name+" needs no labels; leave them out, or write LIBSVM's text")
	c.userValues, _ = line.ParseGiven("--kernel", n.Texts, spec)
	checkTolerance(line, c.tolerance, c.block.Dtype)
}

// checkTolerance records a problem if the tolerance is smaller than the precision of dtype allows.
func checkTolerance(line *shell.CommandLine, tolerance float64, dtype string) {
	floor := 0x1p-23
	wider := ", or --dtype float64"
	if dtype == "float64" {
		floor = 0x1p-52
		wider = ""
	}
	line.Refuse(tolerance < floor, "tolerance",
		fmt.Sprintf("%v is below what %s holds; give %.2g or more%s", tolerance,
			dtype, floor, wider))
}

func writeWalkKernel[T sparse.Float](run *shell.Session, f *kernelOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.block.Out,
		denseInputs{labels: f.walk.Labels, seeds: true, rows: f.block.Rows,
			cols: f.block.Cols, block: true})
	if err != nil {
		return err
	}
	w, err := newWalk[T](run, d, &f.graph.Tables, &f.walk)
	if err != nil {
		return err
	}
	parameters := f.walk.Parameters
	parameters.Kernel = f.name
	rows := cwk.Picks(d.Rows, w.Seeds, nil)
	cols := cwk.Picks(d.Cols, w.Seeds, nil)
	minSteps := parameters.MinSteps
	return writeWalk(d, w, &walkMatrix[T]{
		Matrix: tablefile.Matrix{Rows: d.Graph.SelectNodes(d.Rows),
			Cols: d.Graph.SelectNodes(d.Cols), Kernel: true, Label: labelOf(d)},
		memory: func() (int64, int, error) { return w.GramBytes(minSteps, rows, cols) },
		panels: func(sink func(int, *sparse.Block[T]) error) error {
			return w.Gram(run.Context, minSteps, rows, cols, sink)
		},
		picks:      [][]cwk.Pick{rows, cols},
		advice:     shell.FewerNodes,
		parameters: parameters,
		dtype:      f.block.Dtype,
	})
}

type kernelDocument struct {
	shell.Shape
	Parameters shell.KernelParameters `json:"parameters"`

	Method    string `json:"method"`
	HalfSteps bool   `json:"half_steps"` // the block was computed as UᵀU, where U is the columns of K^½
	Sweeps    int    `json:"sweeps"`

	// ErrorBound is an upper bound of the error of every value. Relative is this bound divided by the largest
	// value. Both are null if no bound is known.
	ErrorBound    *float64 `json:"error_bound"`
	ErrorEstimate *float64 `json:"error_estimate,omitempty"`
	Relative      *float64 `json:"relative_error_bound"`
	LargestValue  float64  `json:"largest_value"`
	Condition     string   `json:"condition,omitempty"`
	shell.Closing
}

// writeNodeKernel writes a block of any kernel except the coinciding walk kernel.
func writeNodeKernel[T sparse.Float](run *shell.Session, f *kernelOptions,
	name string) error {
	d, err := beginDense(run, &f.graph, name, f.block.Out,
		denseInputs{labels: f.walk.Labels, rows: f.block.Rows, cols: f.block.Cols,
			block: true})
	if err != nil {
		return err
	}
	rowAxis := d.Graph.SelectNodes(d.Rows)
	colAxis := d.Graph.SelectNodes(d.Cols)
	files, err := d.Out.CheckMatrix(rowAxis, colAxis, f.block.Dtype, shell.FewerNodes)
	if err != nil {
		return err
	}
	if d.Graph.Directed && f.family.Works&param.Directed == 0 {
		index := slices.IndexFunc(shell.NodeKernels(),
			func(s *param.Spec) bool { return s.Works&param.Directed != 0 })
		return shell.RefuseDirected(name, f.name, "--kernel="+shell.NodeKernels()[index].Name)
	}
	d.Graph.SweepForward(!d.Graph.Directed)
	settings := &kernel.Settings{Tolerance: f.tolerance, Progress: run.Progress.Stages("product")}
	run.Costs.Disk += files
	block := tablefile.NPY.Size(rowAxis.N, colAxis.N, f.block.Dtype)
	if !takesPieces(d.Out) { // the block is in memory until it is complete
		d.Graph.Graph = d.Graph.Leave(block, wholeBlock)
	}
	k, err := heatwalk.OpenKernel(run.Context, d.Graph.Graph, f.name, f.userValues, d.Rows,
		d.Cols, settings)
	if over := new(budget.Error); errors.As(err, &over) && over.Largest.What == wholeBlock {
		return shell.LimitError("-o", "%s: %s in this form need as much memory; write a .npy file, which is filled piece by piece, or name fewer --rows or --cols",
			d.Out.Path, words.Bytes(block))
	}
	if err != nil {
		return run.Costs.GraphError(err, name, shell.LoosenTolerance)
	}
	defer k.Job.End()
	file, err := newWriter[T](d.Out,
		&tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true,
			Label: labelOf(d), Pieces: true, Hold: !takesPieces(d.Out)})
	if err != nil {
		return err
	}
	put := func(i, j int, piece *sparse.Block[float64]) error {
		return file.Put(run.Context, i, j, piece)
	}
	report, err := kernel.Values[T](run.Context, k.Kernel, k.Rows, k.Cols,
		put, settings)
	if err != nil {
		return run.Costs.ToleranceError(err, name, f.tolerance)
	}
	if err := file.Close(run.Context); err != nil {
		return err
	}
	return finishKernel(d, &kernelDocument{Shape: shell.ShapeOf(f.block.Out, rowAxis.N, colAxis.N, f.block.Dtype),
		Parameters: shell.KernelParameters{Spec: &f.family.Spec, Values: k.Parameters}}, report)
}

// wholeBlock is the name in the plan of the memory for a block that is written only after all
// values are known.
const wholeBlock = "block"

// finishKernel publishes a block, completes its report with the results, and prints the summary.
func finishKernel(d *shell.GraphRun, r *kernelDocument, result *kernel.Report) error {
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
	return d.Out.Finish(r, r.Parameters,
		fmt.Sprintf("%s · %s%s", r.Shape,
			r.Parameters.Spec.Name,
			shell.ParameterText(r.Parameters.Spec, r.Parameters.Values)),
		fmt.Sprintf("%s, %s · %s", method, words.Counted(r.Sweeps, "sweep"), text))
}
