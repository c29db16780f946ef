package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

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
	family *kernel.Family
	values param.Values
}

// MarshalJSON writes an object with the values and the name of the kernel.
func (p kernelParameters) MarshalJSON() ([]byte, error) {
	values := maps.Clone(p.values)
	values["kernel"] = param.Of(p.family.Name)
	return json.Marshal(values)
}

// writeNodeKernel writes a block of any kernel except the coinciding walk kernel.
func writeNodeKernel[T sparse.Float](run *session, f *kernelOptions, name string) error {
	d, err := beginDense(run, &f.graph, name, f.block.out, denseInputs{labels: f.walk.labels, rows: f.block.rows, cols: f.block.cols, block: true})
	if err != nil {
		return err
	}
	rows, cols, shape, err := partOfBlock(f.share, d.rows, d.cols, f.block.dtype)
	if err != nil {
		return err
	}
	rowAxis, colAxis := nodesOf(d.g, rows), nodesOf(d.g, cols)
	files, err := checkMatrix(d.out, rowAxis, colAxis, f.block.dtype, fewerNodes)
	if err != nil {
		return err
	}
	directed := d.g.Store.Manifest.Directed
	if directed && f.family.Works&param.Directed == 0 {
		index := slices.IndexFunc(nodeKernels(), func(s *param.Spec) bool { return s.Works&param.Directed != 0 })
		return fault.Usage(name, "%s", asymmetric(f.name, "--kernel="+nodeKernels()[index].Name))
	}
	d.g.Store.Forward = !directed
	settings := &kernel.Settings{Tolerance: f.tolerance, Lo: shape.Lo, Hi: shape.Hi, Progress: run.progress.Stages("product")}
	run.disk += files
	block := tablefile.NPY.Size(rowAxis.N, colAxis.N, f.block.dtype)
	if !takesPieces(d.out) { // the block is in memory until it is complete
		heatwalk.Reserve(d.g.Graph, block, wholeBlock)
	}
	if limit := 100; run.estimating && min(len(rows), len(cols)) > limit {
		run.faster = append(run.faster, "fewer columns: the time is proportional to the shorter of --rows and --cols")
	}
	k, err := heatwalk.OpenKernel(run.ctx, d.g.Graph, f.name, f.userValues, d.rows, d.cols, settings)
	if over := new(budget.Error); errors.As(err, &over) && over.Largest.What == wholeBlock {
		return fault.Limit("-o", "%s: %s in this form need as much memory; write a .npy file, which is filled piece by piece, or name fewer --rows or --cols",
			d.out.path, words.Bytes(block))
	}
	if err != nil {
		return graphError(run, err, name, loosened)
	}
	if err := d.describePart("kernel", f.share, shape, kernelParameters{f.family, k.Parameters}); err != nil {
		return err
	}
	file, err := newWriter[T](d.out, &tablefile.Matrix{Rows: rowAxis, Cols: colAxis, Kernel: true, Label: d.labelOf(), Pieces: true, Hold: !takesPieces(d.out)})
	if err != nil {
		return err
	}
	put := func(i, j int, piece *sparse.Block[float64]) error {
		return file.Put(run.ctx, i, j, piece)
	}
	report, err := kernel.Values[T](run.ctx, k.Kernel, k.Rows, k.Cols, put, settings)
	if err != nil {
		return graphError(run, err, name, loosened)
	}
	if err := file.Close(run.ctx); err != nil {
		return err
	}
	return d.finishKernel(&kernelDocument{Output: f.block.out, Rows: len(rows), Cols: len(cols), Dtype: f.block.dtype, Parameters: kernelParameters{f.family, k.Parameters}}, report)
}

// wholeBlock names the memory of a block that is written at the end.
const wholeBlock = "block"

// asymmetric returns the message that what requires an undirected graph; instead is a flag for an
// alternative, if any.
func asymmetric(what, instead string) string {
	text := "is directed, and " + what + " needs an undirected graph; ingest with --undirected"
	if instead != "" {
		text += " or use " + instead
	}
	return text
}

// finishKernel publishes a block, completes its report with the results, and prints the summary.
func (d *graphRun) finishKernel(r *kernelDocument, result *kernel.Report) error {
	r.Method, r.HalfSteps, r.Sweeps, r.LargestValue, r.Condition = result.Method, result.HalfSteps, result.Sweeps, result.Largest, result.Condition
	text := "no bound on the error: an eigenvalue that counts is as large as one that does not"
	if bound := result.ErrorBound; result.Estimated() {
		r.ErrorEstimate = &bound
		text = fmt.Sprintf("error about %.2g, largest value %.4g", bound, result.Largest)
	} else if !math.IsInf(bound, 1) {
		r.ErrorBound = &bound
		if relative := bound / result.Largest; bound == 0 {
			r.Relative = new(float64)
		} else if !math.IsInf(relative, 0) {
			r.Relative = &relative
		}
		text = fmt.Sprintf("error ≤ %.2g, largest value %.4g", bound, result.Largest)
	}
	method := r.Method
	if r.HalfSteps {
		method += ", half steps"
	}
	return d.out.finish(r, storeOf(d.g.Store.Manifest), r.Parameters,
		fmt.Sprintf("%s · %s%s", shapeOf(r.Rows, r.Cols, r.Dtype), r.Parameters.family.Name, parameterText(&r.Parameters.family.Spec, r.Parameters.values)),
		fmt.Sprintf("%s, %s · %s", method, words.Counted(r.Sweeps, "sweep"), text))
}
