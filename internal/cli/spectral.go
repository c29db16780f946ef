package cli

import (
	"errors"
	"fmt"
	"math"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
)

// kernelReport is the JSON document of kernel, but for walks.
type kernelReport struct {
	Output     string           `json:"output"`
	Rows       int              `json:"rows"`
	Cols       int              `json:"cols"`
	Dtype      string           `json:"dtype"`
	Parameters kernelParameters `json:"parameters"`

	Method    string `json:"method"`
	HalfSteps bool   `json:"half_steps"` // the block is UᵀU
	Sweeps    int    `json:"sweeps"`

	// ErrorBound is never below the error of any value in the file, Relative
	// is that over the largest value. They are null where nothing is known.
	ErrorBound   *float64 `json:"error_bound"`
	Relative     *float64 `json:"relative_error_bound"`
	LargestValue float64  `json:"largest_value"`
	Condition    string   `json:"condition,omitempty"`
	Closing
}

// kernelParameters are what a block was made with.
type kernelParameters struct {
	Kernel string `json:"kernel"`
	kernel.Parameters
}

// runSpectral writes the block that f describes, of any kernel but that of
// walks.
func runSpectral[T sparse.Float](in *invocation, name string, f *kernelFlags) error {
	in.doing = f.out + " is unchanged"
	files := &outputs{in: in}
	defer files.abort()
	out, err := files.beginDense(f.out)
	if err != nil {
		return err
	}
	g, err := in.openSwept(name, &f.reading, f.out)
	if err != nil {
		return err
	}
	defer g.close()
	rows, err := in.rowsOf(f.rows, g)
	if err != nil {
		return err
	}
	cols, err := in.rowsOf(f.cols, g)
	if err != nil {
		return err
	}
	label := func(int) int { return 0 }
	if f.labels != "" {
		l, err := in.readLabels(f.labels, g, &f.reading)
		if err != nil {
			return err
		}
		label = classesOf(l, rows, len(g.Degrees()))
	}
	rowAxis, colAxis := nodesOf(g, rows), nodesOf(g, cols)
	size := out.bytes(rowAxis, colAxis, bytesOf[T]())
	shape := fmt.Sprintf("%s × %s %s", formatCount(int64(len(rows))), formatCount(int64(len(cols))), f.dtype)
	if err := checkSpace(f.out, size, shape, "name fewer columns (--cols), rows (--rows), or another disk"); err != nil {
		return err
	}
	if g.Manifest().Directed {
		return usageOf(name, "%s", asymmetric(f.name))
	}
	nodes, err := iterative.NewGraph(in.ctx, g.matrix, in.threads)
	if err != nil {
		return err
	}
	p := f.given()
	k, err := kernel.New(in.ctx, nodes, f.name, p)
	if err != nil {
		return in.kernelError(err, name, f)
	}
	file, err := newPlacedFile[T](out, f.out, rowAxis, colAxis, g.memory(), lines{kernel: true, label: label})
	if err != nil {
		return err
	}
	settings := &kernel.Settings{Tolerance: f.tolerance, Progress: in.kernelProgress()}
	if left := g.memory(); left > 0 {
		settings.Memory = max(1, left-file.held)
	}
	report, err := k.Block(in.ctx, rows, cols, file.put, settings)
	if err != nil {
		return in.kernelError(err, name, f)
	}
	if err := file.close(); err != nil {
		return err
	}
	return in.finishKernel(files, out, g, &kernelReport{
		Output: f.out, Rows: len(rows), Cols: len(cols), Dtype: f.dtype,
		Parameters: kernelParameters{f.name, kernel.Used(f.name, p)},
		Method:     report.Method, HalfSteps: report.HalfSteps, Sweeps: report.Sweeps,
		LargestValue: report.Largest, Condition: report.Condition,
	}, report)
}

// classesOf returns LIBSVM's labels of the given rows: the class counted from
// 1, 0 for a node without one.
func classesOf(l *ingest.Labels, rows []int, n int) func(i int) int {
	class := classOfRow(l, n)
	return func(i int) int { return int(class[rows[i]]) + 1 }
}

func asymmetric(kernel string) string {
	return "edges have a direction, and " + kernel + " needs a symmetric graph; ingest it without --directed"
}

// kernelError gives an error of package kernel the flag or file that it is
// about.
func (in *invocation) kernelError(err error, graph string, f *kernelFlags) error {
	switch {
	case errors.Is(err, kernel.ErrAsymmetric):
		return usageOf(graph, "%s", asymmetric(f.name))
	case errors.Is(err, kernel.ErrTolerance):
		return usageOf("--tolerance", "%v", err)
	}
	return err
}

// finishKernel publishes a block and says what it is.
func (in *invocation) finishKernel(files *outputs, out *denseOutput, g *graph, r *kernelReport, found *kernel.Report) error {
	// Rounding to float32 comes on top of what was computed.
	bound := found.ErrorBound
	if r.Dtype == "float32" {
		bound += precisionOf(r.Dtype) * found.Largest
	}
	text := "no bound on the error: an eigenvalue that counts is as large as one that does not"
	if !math.IsInf(bound, 1) {
		relative := 0.0
		if bound > 0 {
			relative = bound / found.Largest
		}
		r.ErrorBound, r.Relative = &bound, &relative
		text = fmt.Sprintf("error ≤ %.2g, largest value %.4g", bound, found.Largest)
		if math.IsInf(relative, 0) || math.IsNaN(relative) {
			r.Relative = nil
		}
	}
	if err := in.writeRun(out.run, storeOf(g.Manifest()), r.Parameters); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	if in.json {
		r.Closing = in.closing()
		return in.document(r)
	}
	method := r.Method
	if r.HalfSteps {
		method += ", half steps"
	}
	title := r.Parameters.Kernel
	if parameters := r.Parameters.String(); parameters != "" {
		title += ", " + parameters
	}
	w := in.summary(r.Output)
	fmt.Fprintf(w, "%s × %s %s · %s\n", formatCount(int64(r.Rows)), formatCount(int64(r.Cols)), r.Dtype, title)
	fmt.Fprintf(w, "%s, %s · %s\n", method, counted(int64(r.Sweeps), "sweep"), text)
	fmt.Fprintf(w, "%s · %s\n", in.cost(), r.Output)
	return in.stdout.err
}

// kernelProgress returns a callback that shows the products of a kernel.
func (in *invocation) kernelProgress() func(done, expected int) {
	var stage *stage
	return func(done, expected int) {
		if stage == nil {
			stage = in.progress.begin("computing", int64(expected), "product")
		}
		stage.set(int64(done), int64(expected))
	}
}
