package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/tablefile"
)

// matrixFlags are the flags of convert for matrices of features.
type matrixFlags struct {
	labels    string
	columns   int // 0: as many as there are
	zeroBased bool
	dtype     string // "": that of the input
}

func (in *invocation) matrixFlags(flags *pflag.FlagSet, m *matrixFlags) {
	flags.StringVar(&m.labels, "labels", "", "`FILE` of labels for LIBSVM text, a node and its label a line, or a .npy vector; names of classes are numbered in byte order, from 1")
	in.choiceVar(flags, &m.dtype, "dtype", "", []string{"float32", "float64"}, "precision of features (default: that of the input, float64 of text)")
	in.intVar(flags, &m.columns, "columns", 0, 0, math.MaxInt32, "columns of LIBSVM features (default: up to the largest index)")
	flags.BoolVar(&m.zeroBased, "zero-based", false, "indices of LIBSVM text count from 0, as scikit-learn writes them")
}

// isMatrix reports whether an input is a matrix of features: by its content, by
// its name if it cannot be read, or by the output where it can only be read once.
func (in *invocation) isMatrix(input, out, to string) bool {
	info, err := os.Stat(input)
	if input == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		format := formatOfFile(out, to)
		return format != nil && !format.holds
	}
	if err != nil || textio.Unfinished(input) != nil {
		return tablefile.Recognize(input, nil) != tablefile.Other
	}
	return tablefile.Detect(in.ctx, input) != tablefile.Other
}

// checkMatrix notes which flags are not for matrices, or not for this output.
func (in *invocation) checkMatrix(cmd *cobra.Command, input string, format *fileFormat, m *matrixFlags, r *reading) {
	if m.labels != "" && format != nil && !format.text {
		in.problem("--labels", "%s files hold no labels; write LIBSVM text (.svm), or leave it out", format.name)
	}
	for _, name := range r.names {
		if cmd.Flags().Changed(name) && name != "nodes" && name != "temp-dir" {
			in.problem("--"+name, "is for graphs, and %s is a matrix of features; leave it out", input)
		}
	}
}

// checkNoMatrix notes which flags are not for graphs.
func (in *invocation) checkNoMatrix(cmd *cobra.Command) {
	for _, name := range []string{"labels", "dtype", "columns", "zero-based"} {
		if cmd.Flags().Changed(name) {
			in.problem("--"+name, "is for matrices of features (.svm .npy .npz); leave it out")
		}
	}
}

// convertedMatrix is the JSON document of convert for a matrix.
type convertedMatrix struct {
	Output  string   `json:"output"`
	Labels  string   `json:"labels,omitempty"` // the file beside it
	Format  string   `json:"format"`
	Rows    int      `json:"rows"`
	Cols    int      `json:"cols"`
	Dtype   string   `json:"dtype"`
	Kernel  bool     `json:"kernel"`
	Classes []string `json:"classes,omitempty"` // that the labels 1, 2 … stand for
	Bytes   int64    `json:"bytes"`
	Closing
}

// runConvertMatrix writes a matrix.
func (in *invocation) runConvertMatrix(input, path string, format *fileFormat, flags *matrixFlags, r *reading) error {
	in.keeps(path)
	files := &outputs{in: in}
	defer files.abort()
	out, err := files.beginDenseAs(path, format.matrix)
	if err != nil {
		return err
	}
	plan := in.needs()
	stage := in.progress.Begin("reading "+input, 0, progress.Bytes)
	o := &tablefile.Options{
		Name: input, ZeroBased: flags.zeroBased, Columns: flags.columns, Memory: plan.Limit / 4,
		Progress: func(done, total int64) { stage.Set(done, total) },
	}
	f, end, err := in.inspectMatrix(input, path, o)
	defer end()
	if err != nil {
		return err
	}
	if f.Format != tablefile.LIBSVM && (flags.columns > 0 || flags.zeroBased) {
		return fault.Usage("--columns", "it and --zero-based are for LIBSVM text, and %s is an array; leave them out", input)
	}
	doc := &convertedMatrix{Output: path, Format: format.name, Rows: f.Rows, Cols: f.Cols, Kernel: f.Kernel || format.kernel, Dtype: "float64"}
	labels := io.Discard
	if f.Labelled && !format.text && path != "-" {
		doc.Labels = strings.TrimSuffix(path, filepath.Ext(path)) + ".labels.tsv"
		if labels, err = files.beside(path, filepath.Ext(path), ".labels.tsv"); err != nil {
			return err
		}
	}
	if out.run, err = files.beside(path, "", ".run.json"); err != nil {
		return err
	}
	c := &tablefile.Conversion{
		File: f, Kernel: doc.Kernel, IDs: r.config.Nodes, Stdin: in.stdin, LabelFile: flags.labels, Reserve: plan.ReserveList,
		Labelling: &nodefile.LabelConfig{
			SkipUnknown: r.config.UnknownIDs == ingest.SkipUnknown, Missing: nodefile.MissingLabels[1:], Stdin: in.stdin,
			Warn: func(text string) { in.warn("%s", text) },
		},
	}
	if err := c.Prepare(in.ctx); err != nil {
		return err
	}
	doc.Classes = c.Classes
	if f.Kernel && !f.InOrder && f.Format == tablefile.LIBSVM {
		in.warn("%s: its serial numbers are not 1, 2, 3 …; rows are in the order of its lines", f.Name)
	}
	convert := tablefile.Convert[float64]
	if flags.dtype == "float32" || flags.dtype == "" && f.Single {
		convert, doc.Dtype = tablefile.Convert[float32], "float32"
	}
	if err := plan.Reserve(f.Held+int64(f.Cols*elementOf(doc.Dtype)), "rows"); err != nil {
		return err
	}
	if !format.text {
		shape := fmt.Sprintf("%s × %s %s", words.Count(int64(f.Rows)), words.Count(int64(f.Cols)), doc.Dtype)
		if err := checkSpace(path, out.bytes(c.Rows, c.Cols, elementOf(doc.Dtype)), shape, "take another disk"); err != nil {
			return err
		}
	}
	if err := in.keepTo(plan); err != nil {
		return err
	}
	stage = in.progress.Begin("writing "+path, 0, progress.Bytes)
	if err := out.writeIDs(c.Rows, c.Cols); err != nil {
		return err
	}
	sum := &written{w: out.matrix}
	packed, finish, err := textio.Compress(sum, path)
	if err != nil {
		return err
	}
	if err := cmp.Or(convert(in.ctx, c, format.matrix, packed, labels), finish()); err != nil {
		return err
	}
	doc.Bytes = sum.bytes
	if err := in.writeRun(out.run, nil, nil); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	return in.tell(doc, func(w io.Writer) { in.printMatrix(w, doc) }, path)
}

// inspectMatrix finds out what the input is like; what can be read only once is copied
// to a file first, which end removes.
func (in *invocation) inspectMatrix(input, beside string, o *tablefile.Options) (f *tablefile.File, end func(), err error) {
	if input == "-" {
		o.Name = "stdin"
	}
	var temp *tempDir
	o.Stdin, o.Copy = in.stdin, func() (_ string, err error) {
		if temp, err = in.makeTemp(beside); err != nil {
			return "", err
		}
		return filepath.Join(temp.Content(), "content"), durable.OS.Mkdir(temp.Content())
	}
	f, err = tablefile.Inspect(in.ctx, input, o)
	return f, func() { temp.end() }, err
}

// printMatrix says what was written.
func (in *invocation) printMatrix(w io.Writer, d *convertedMatrix) {
	what := "features"
	if d.Kernel {
		what = "kernel"
	}
	fmt.Fprintf(w, "%s × %s %s %s", words.Count(int64(d.Rows)), words.Count(int64(d.Cols)), d.Dtype, what)
	if d.Labels != "" {
		fmt.Fprintf(w, ", labels in %s", d.Labels)
	}
	const most = 10
	for i, name := range d.Classes[:min(most, len(d.Classes))] {
		before := ", "
		if i == 0 {
			before = "\nlabels "
		}
		fmt.Fprintf(w, "%s%d %s", before, i+1, name)
	}
	if len(d.Classes) > most {
		fmt.Fprintf(w, " …")
	}
	fmt.Fprintf(w, "\n%s · %s\n", in.cost(), d.Output)
}
