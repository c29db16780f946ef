package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
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

// matrixRun is the conversion of a matrix under way.
type matrixRun struct {
	in     *invocation
	input  string // its path
	path   string // of the output
	format *fileFormat
	flags  *matrixFlags
	plan   needs
	doc    convertedMatrix

	stage      *stage
	temp       *tempDir // of a copy of the input; nil without
	file       *tablefile.File
	rows, cols axis
	labels     func(row int) string // given by --labels; nil without
}

// runConvertMatrix writes a matrix.
func (in *invocation) runConvertMatrix(input, path string, format *fileFormat, flags *matrixFlags, r *reading) error {
	in.keeps(path)
	c := &matrixRun{in: in, input: input, path: path, format: format, flags: flags}
	defer c.close()
	c.plan.Limit = in.dataLimit()
	files := &outputs{in: in}
	defer files.abort()
	out, err := files.beginDenseAs(path, format.matrix)
	if err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return matrixError(err)
	}
	if c.file.Format != tablefile.LIBSVM && (flags.columns > 0 || flags.zeroBased) {
		return usageOf("--columns", "it and --zero-based are for LIBSVM text, and %s is an array; leave them out", input)
	}
	labels := io.Discard
	if c.file.Labelled && !format.text && path != "-" {
		c.doc.Labels = strings.TrimSuffix(path, filepath.Ext(path)) + ".labels.tsv"
		if labels, err = files.beside(path, filepath.Ext(path), ".labels.tsv"); err != nil {
			return err
		}
	}
	if out.run, err = files.beside(path, "", ".run.json"); err != nil {
		return err
	}
	if err := c.name(r.config.Nodes); err != nil {
		return err
	}
	if err := c.label(r); err != nil {
		return err
	}
	if flags.dtype == "float32" || flags.dtype == "" && c.file.Single {
		err = writeMatrix[float32](c, out, labels)
	} else {
		err = writeMatrix[float64](c, out, labels)
	}
	if err != nil {
		return matrixError(err)
	}
	if err := in.writeRun(out.run, nil, nil); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	return c.report()
}

// close gives up what is not needed any more.
func (c *matrixRun) close() {
	c.temp.end()
}

// matrixError turns an error of reading a matrix into one with an exit code.
func matrixError(err error) error {
	var wrong *tablefile.Error
	switch {
	case errors.As(err, &wrong):
		return &nodefile.ParseError{File: wrong.File, Line: wrong.Line, Column: wrong.Column, Msg: wrong.What, Fix: wrong.Fix, Err: wrong.Err}
	case errors.Is(err, textio.ErrTerminal):
		return &nodefile.InputError{Msg: "waiting for input on a terminal", Fix: "give a file or pipe"}
	}
	return err
}

// open finds out what the input is like; what can be read only once is copied
// to a file first.
func (c *matrixRun) open() (err error) {
	o := &tablefile.Options{
		Name: c.input, ZeroBased: c.flags.zeroBased, Columns: c.flags.columns, Memory: c.plan.Limit / 4,
		Progress: func(done, total int64) { c.stage.set(done, total) },
	}
	if c.input == "-" {
		o.Name = "stdin"
	}
	c.stage = c.in.progress.begin("reading "+o.Name, 0, inBytes)
	if c.file, err = tablefile.Inspect(c.in.ctx, c.input, o); !errors.Is(err, tablefile.ErrStream) {
		return err
	}
	if c.temp, err = c.in.makeTemp(c.path); err != nil {
		return err
	}
	if err := durable.OS.Mkdir(c.temp.Content()); err != nil {
		return err
	}
	plain := filepath.Join(c.temp.Content(), "content")
	w, err := durable.OS.Create(plain)
	if err != nil {
		return err
	}
	err = tablefile.Copy(c.in.ctx, w, c.input, c.in.stdin)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	c.file, err = tablefile.Inspect(c.in.ctx, plain, o)
	return err
}

// name finds out what rows and columns are called.
func (c *matrixRun) name(nodes string) (err error) {
	base := ""
	if c.file.Format == tablefile.NPY && c.temp == nil {
		base = strings.TrimSuffix(c.input, filepath.Ext(c.input))
	}
	first := 0
	if c.file.Format == tablefile.LIBSVM && !c.flags.zeroBased {
		first = 1 // as the file counts
	}
	if c.rows, err = c.axis(nodes, base, "rows", c.file.Rows, 0); err != nil {
		return err
	}
	c.cols, err = c.axis("", base, "cols", c.file.Cols, first)
	return err
}

// axis reads the n names of rows or columns from list, which may be "", from a
// file beside the input, or from its archive; without any, they are numbers.
func (c *matrixRun) axis(list, base, which string, n, first int) (axis, error) {
	if beside := base + "." + which + ".ids"; list == "" && base != "" {
		if _, err := os.Stat(beside); err == nil {
			list = beside
		}
	}
	if list == "" {
		names, err := c.file.Names(which)
		if err != nil || names == nil {
			return axis{n, func(i int) string { return strconv.Itoa(first + i) }}, matrixError(err)
		}
		return axisOf(names), c.plan.Reserve(32*int64(n), "ids")
	}
	if info, err := os.Stat(list); err == nil {
		if err := c.plan.Reserve(info.Size()+8*int64(n), "ids"); err != nil {
			return axis{}, err
		}
	}
	return c.in.readIDFile(list, n)
}

// label reads the labels that are given.
func (c *matrixRun) label(r *reading) error {
	if c.flags.labels == "" {
		return nil
	}
	const row = 40 // the id again, its place, the label and the class
	if err := c.plan.Reserve(row*int64(c.rows.n), "labels"); err != nil {
		return err
	}
	if tablefile.Detect(c.in.ctx, c.flags.labels) == tablefile.NPY {
		return matrixError(c.labelArray())
	}
	var ids shard.NodesBuilder
	for i := range c.rows.n {
		ids.Append(c.rows.id(i))
	}
	nodes, err := ids.Nodes()
	if err != nil {
		return &dataError{c.input, fmt.Sprintf("labels cannot be told apart: %v; give each row an id of its own with --nodes", err)}
	}
	l, err := nodefile.ReadLabels(c.in.ctx, c.flags.labels, nodes, &nodefile.LabelConfig{
		SkipUnknown: r.config.UnknownIDs == ingest.SkipUnknown, Missing: nodefile.MissingLabels[1:], Stdin: c.in.stdin,
		Warn: func(text string) { c.in.warn("%s", text) },
	})
	if err != nil {
		return err
	}
	names := l.Names
	if zero, numbers := areNumbers(names); !numbers {
		c.doc.Classes = names
		names = make([]string, len(names))
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
	} else if missing := c.rows.n - len(l.Row); zero && missing > 0 {
		return &dataError{c.flags.labels, fmt.Sprintf("0 is a class, and %s no label, which LIBSVM text writes as 0; label all rows", has(missing, "row"))}
	}
	class := evaluate.ClassOfRow(l, c.rows.n)
	c.labels = func(i int) string {
		if class[i] == evaluate.Unlabelled {
			return "0"
		}
		return names[class[i]]
	}
	return nil
}

// labelArray reads a vector of labels, an element for each row.
func (c *matrixRun) labelArray() error {
	f, err := tablefile.Inspect(c.in.ctx, c.flags.labels, nil)
	if errors.Is(err, tablefile.ErrStream) {
		return &dataError{c.flags.labels, "a compressed array; decompress it first"}
	}
	if err != nil {
		return err
	}
	if f.Rows != c.rows.n || f.Cols != 1 {
		return &dataError{f.Name, fmt.Sprintf("%d × %d, want a label for each of %s", f.Rows, f.Cols, counted(int64(c.rows.n), "row"))}
	}
	list := make([]float64, 0, f.Rows)
	c.labels = func(i int) string { return strconv.FormatFloat(list[i], 'g', -1, 64) }
	return tablefile.Read(c.in.ctx, f, func(_ []byte, row []float64) error {
		list = append(list, row[0])
		return nil
	})
}

// has returns "1 row has", "2 rows have".
func has(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " has"
	}
	return counted(int64(n), noun) + " have"
}

// areNumbers reports whether all names of classes are numbers, and whether one
// of them is 0.
func areNumbers(names []string) (zero, all bool) {
	for _, name := range names {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || v-v != 0 {
			return false, false
		}
		zero = zero || v == 0
	}
	return zero, true
}

// writeMatrix copies the rows to the output, and labels beside it.
func writeMatrix[T sparse.Float](c *matrixRun, out *denseOutput, labels io.Writer) error {
	in, f := c.in, c.file
	c.doc.Output, c.doc.Format, c.doc.Rows, c.doc.Cols = c.path, c.format.name, f.Rows, f.Cols
	c.doc.Kernel, c.doc.Dtype = f.Kernel || c.format.kernel, fmt.Sprintf("float%d", 8*bytesOf[T]())
	if f.Kernel && !f.InOrder && f.Format == tablefile.LIBSVM {
		in.warn("%s: its serial numbers are not 1, 2, 3 …; rows are in the order of its lines", f.Name)
	}
	if err := c.plan.Reserve(f.Bytes(bytesOf[T]()), "rows"); err != nil {
		return err
	}
	if !c.format.text {
		shape := fmt.Sprintf("%s × %s %s", formatCount(int64(f.Rows)), formatCount(int64(f.Cols)), c.doc.Dtype)
		if err := checkSpace(c.path, out.bytes(c.rows, c.cols, bytesOf[T]()), shape, "take another disk"); err != nil {
			return err
		}
	}
	if err := in.keepTo(&c.plan); err != nil {
		return err
	}
	c.stage = in.progress.begin("writing "+c.path, 0, inBytes)
	sum := &written{w: out.matrix}
	packed, finish, err := compressing(sum, c.path)
	if err != nil {
		return err
	}
	label := "0" // of the row that comes next
	out.matrix = packed
	file, err := newDenseFile[T](out, c.rows, c.cols, lines{kernel: c.doc.Kernel, label: func(i int) string {
		if c.labels != nil {
			return c.labels(i)
		}
		return label
	}})
	if err != nil {
		return err
	}
	beside := bufio.NewWriter(labels)
	i := 0
	err = tablefile.Read(in.ctx, f, func(text []byte, row []T) error {
		if f.Labelled {
			label = string(text)
			fmt.Fprintf(beside, "%s\t%s\n", c.rows.id(i), label) // bufio keeps the first error for Flush
		}
		i++
		return file.Row(row)
	})
	if err = cmp.Or(err, file.Close(), finish(), beside.Flush()); err != nil {
		return err
	}
	c.doc.Bytes = sum.bytes
	return nil
}

// report says what was written.
func (c *matrixRun) report() error {
	in, d := c.in, &c.doc
	if in.json {
		d.Closing = in.closing()
		return in.document(d)
	}
	w := in.summary(c.path)
	what := "features"
	if d.Kernel {
		what = "kernel"
	}
	fmt.Fprintf(w, "%s × %s %s %s", formatCount(int64(d.Rows)), formatCount(int64(d.Cols)), d.Dtype, what)
	if d.Labels != "" {
		fmt.Fprintf(w, ", labels in %s", d.Labels)
	}
	const most = 10
	for i, name := range d.Classes[:min(most, len(d.Classes))] {
		if i == 0 {
			fmt.Fprintf(w, "\nlabels ")
		} else {
			fmt.Fprintf(w, ", ")
		}
		fmt.Fprintf(w, "%d %s", i+1, name)
	}
	if len(d.Classes) > most {
		fmt.Fprintf(w, " …")
	}
	fmt.Fprintf(w, "\n%s · %s\n", in.cost(), c.path)
	return in.stdout.err
}
