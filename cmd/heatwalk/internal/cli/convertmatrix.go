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
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
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

	temp   *tempDir // of a copy of the input; nil without
	stage  *progress.Stage
	file   *tablefile.File
	matrix tablefile.Matrix
	given  []string // labels of the rows, from --labels; nil without
}

// runConvertMatrix writes a matrix.
func (in *invocation) runConvertMatrix(input, path string, format *fileFormat, flags *matrixFlags, r *reading) error {
	in.keeps(path)
	c := &matrixRun{in: in, input: input, path: path, format: format, flags: flags}
	defer func() { c.temp.end() }()
	c.plan.Limit = in.dataLimit()
	files := &outputs{in: in}
	defer files.abort()
	out, err := files.beginDenseAs(path, format.matrix)
	if err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
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
		return err
	}
	if err := in.writeRun(out.run, nil, nil); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	return in.tell(&c.doc, c.summary, path)
}

// open finds out what the input is like; what can be read only once is copied
// to a file first.
func (c *matrixRun) open() (err error) {
	o := &tablefile.Options{
		Name: c.input, ZeroBased: c.flags.zeroBased, Columns: c.flags.columns, Memory: c.plan.Limit / 4,
		Progress: func(done, total int64) { c.stage.Set(done, total) },
	}
	if c.input == "-" {
		o.Name = "stdin"
	}
	c.stage = c.in.progress.Begin("reading "+o.Name, 0, progress.Bytes)
	c.file, err = tablefile.InspectStream(c.in.ctx, c.input, o, c.in.stdin, func() (_ string, err error) {
		if c.temp, err = c.in.makeTemp(c.path); err != nil {
			return "", err
		}
		return filepath.Join(c.temp.Content(), "content"), durable.OS.Mkdir(c.temp.Content())
	})
	return err
}

// name finds out what rows and columns are called: by list, which may be "", beside an
// array or in its archive, or else by numbers.
func (c *matrixRun) name(list string) (err error) {
	const id = 32 // bytes
	m, f := &c.matrix, c.file
	m.Rows.N, m.Cols.N = f.Rows, f.Cols
	first := 0
	if f.Format == tablefile.LIBSVM && !c.flags.zeroBased {
		first = 1 // as the file counts
	}
	if f.Format != tablefile.LIBSVM || list != "" {
		bytes := id * int64(f.Rows+f.Cols)
		if info, err := os.Stat(list); err == nil {
			bytes += info.Size()
		}
		if err := c.plan.Reserve(bytes, "ids"); err != nil {
			return err
		}
	}
	if list != "" {
		m.Rows, err = tablefile.ReadAxis(c.in.ctx, list, f.Rows, c.in.stdin)
	}
	beside := func(a *axis, which string) {
		if f.Format != tablefile.LIBSVM && err == nil && a.ID == nil {
			if *a, err = f.Axis(c.in.ctx, which); errors.Is(err, tablefile.ErrNoIDs) {
				err = nil
			}
		}
	}
	beside(&m.Rows, "rows")
	beside(&m.Cols, "cols")
	if m.Rows.ID == nil {
		m.Rows.ID = strconv.Itoa
	}
	if m.Cols.ID == nil {
		m.Cols.ID = func(i int) string { return strconv.Itoa(first + i) }
	}
	return err
}

// label reads the labels that are given.
func (c *matrixRun) label(r *reading) error {
	if c.flags.labels == "" {
		return nil
	}
	n := c.matrix.Rows.N
	const row = 56 // the id again, its place, the label, the class and its text
	if err := c.plan.Reserve(row*int64(n), "labels"); err != nil {
		return err
	}
	if tablefile.Detect(c.in.ctx, c.flags.labels) == tablefile.NPY {
		list, err := tablefile.ReadLabels(c.in.ctx, c.flags.labels, n)
		for _, v := range list {
			c.given = append(c.given, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return err
	}
	var ids shard.NodesBuilder
	for i := range n {
		ids.Append(c.matrix.Rows.ID(i))
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
	} else if missing := n - len(l.Row); zero && missing > 0 {
		return &dataError{c.flags.labels, fmt.Sprintf("0 is a class, and %s no label, which LIBSVM text writes as 0; label all rows", has(missing, "row"))}
	}
	c.given = slices.Repeat([]string{"0"}, n)
	for i, at := range l.Row {
		c.given[at] = names[l.Class[i]]
	}
	return nil
}

// has returns "1 row has", "2 rows have".
func has(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " has"
	}
	return words.Counted(int64(n), noun) + " have"
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
		shape := fmt.Sprintf("%s × %s %s", words.Count(int64(f.Rows)), words.Count(int64(f.Cols)), c.doc.Dtype)
		if err := checkSpace(c.path, out.bytes(c.matrix.Rows, c.matrix.Cols, bytesOf[T]()), shape, "take another disk"); err != nil {
			return err
		}
	}
	if err := in.keepTo(&c.plan); err != nil {
		return err
	}
	c.stage = in.progress.Begin("writing "+c.path, 0, progress.Bytes)
	sum := &written{w: out.matrix}
	packed, finish, err := textio.Compress(sum, c.path)
	if err != nil {
		return err
	}
	out.matrix = packed
	i, label := 0, "0" // of the row that comes next
	file, err := newDenseFile[T](out, c.matrix.Rows, c.matrix.Cols, lines{kernel: c.doc.Kernel, label: func(i int) string {
		if c.given != nil {
			return c.given[i]
		}
		return label
	}})
	if err != nil {
		return err
	}
	beside := bufio.NewWriter(labels)
	err = tablefile.Read(in.ctx, f, func(text []byte, row []T) error {
		if f.Labelled {
			label = string(text)
			fmt.Fprintf(beside, "%s\t%s\n", c.matrix.Rows.ID(i), label) // bufio keeps the first error for Flush
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

// summary says what was written.
func (c *matrixRun) summary(w io.Writer) {
	d := &c.doc
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
	fmt.Fprintf(w, "\n%s · %s\n", c.in.cost(), c.path)
}
