package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// matrixFormatOf returns the format of a matrix by the ending of path, or the format of the first of
// formats if path has another ending; nil if the ending is not that of a matrix.
func matrixFormatOf(path string, formats []string) *tablefile.Format {
	if f := formatOfFile(formatOf(path, formats), ""); f != nil {
		return f.matrix
	}
	return nil
}

// axis is the rows or the columns of a matrix.
type axis = tablefile.Axis

// matrixDocument holds the first keys of the JSON documents of commands that write a matrix.
type matrixDocument struct {
	Output     string `json:"output"`
	Rows       int    `json:"rows"`
	Cols       int    `json:"cols"`
	Dtype      string `json:"dtype"`
	Kernel     string `json:"kernel,omitempty"`     // between items
	Attributes int    `json:"attributes,omitempty"` // of records
	Parameters any    `json:"parameters,omitempty"`
}

// newWriter begins the file of a matrix and the files of its ids.
func newWriter[T sparse.Float](o *outputs,
	m *tablefile.Matrix) (*tablefile.Writer[T], error) {
	m.RowIDs = o.rowIDs
	m.ColIDs = o.colIDs
	return tablefile.NewWriter[T](o.w, o.format, m)
}

// fillMatrix writes a matrix; values stores row i.
func fillMatrix(o *outputs, dtype string, m *tablefile.Matrix,
	values func(i int, row []float64) error) error {
	m.RowIDs = o.rowIDs
	m.ColIDs = o.colIDs
	return inPrecision(dtype, tablefile.Fill[float32],
		tablefile.Fill[float64])(o.run.ctx, o.w, o.format, m, values)
}

// inPrecision returns the function for numbers of the given type.
func inPrecision[F any](dtype string, single, double F) F {
	if dtype == "float64" {
		return double
	}
	return single
}

// takesPieces reports whether the output can be written in any order. The result is the same for an
// estimate, which begins no file.
func takesPieces(o *outputs) bool {
	return o.format.AnyOrder && !textio.IsStream(o.path)
}

// shapeOf returns the shape and type of a matrix as text.
func shapeOf(rows, cols int, dtype string) string {
	return fmt.Sprintf("%s × %s %s", words.Count(rows), words.Count(cols), dtype)
}

// checkMatrix returns the size of a matrix and its files of ids, and an error with advice if the disk
// has not enough space.
func checkMatrix(o *outputs, rows, cols axis,
	dtype, advice string) (bytes int64, err error) {
	bytes = o.format.Size(rows.N, cols.N, dtype)
	err = checkSpace(o.path, bytes, shapeOf(rows.N, cols.N, dtype), advice)
	if o.run.costs.estimating {
		bytes += idBytes(rows) + idBytes(cols)
	}
	return bytes + runFileBytes, err
}

// byteCounter is a writer that counts bytes.
type byteCounter int64

// Write implements [io.Writer].
func (c *byteCounter) Write(p []byte) (int, error) {
	*c += byteCounter(len(p))
	return len(p), nil
}

// idBytes returns the bytes of a file of ids.
func idBytes(ids axis) int64 {
	var file byteCounter // never fails
	_ = tablefile.WriteIDs(&file, ids)
	return int64(file)
}

// reserveNumbers adds an upper bound of the size of a file of numbers of nodes, of its ids and of the run file to an
// estimate. Real runs need none, and formatting all ids takes time.
func (costs *runCosts) reserveNumbers(ids axis) {
	const line = 100 // bytes of the numbers of a line
	if costs.estimating {
		costs.disk += runFileBytes + idBytes(ids) + line*int64(ids.N)
	}
}

// checkSpace returns an error if the disk of path has not the given space.
func checkSpace(path string, bytes int64, shape, advice string) error {
	if path == "-" {
		return nil
	}
	free, err := durable.OS.Free(filepath.Dir(path))
	if err != nil || bytes <= free {
		return nil // the free space is not known; writing reports a full disk
	}
	return fault.Limit(path, "would be %s (%s) on a disk with %s free; %s",
		words.Bytes(bytes), shape, words.Bytes(free), advice)
}

// shareFlag is the share of --slab: number index, from 0, of several of equal size. The zero
// value is the whole.
type shareFlag struct{ index, count int }

func (s *shareFlag) declare(flags *flagSet, of string) {
	variable(flags, "slab", "I/M", "", "do only share I, from 0, of M shares of "+of+"; heatwalk merge puts them together", func(text string) error {
		const most = 1 << 20
		index, of, _ := strings.Cut(text, "/")
		i, err := strconv.Atoi(index)
		m, wrong := strconv.Atoi(of)
		switch {
		case err != nil || wrong != nil || m < 1 || m > most:
			return fmt.Errorf("%q is no share; give I/M, as in 0/8 for the first of eight", text)
		case i < 0 || i >= m:
			return fmt.Errorf("%q is no share; shares of %d are numbered 0 to %d",
				text, m, m-1)
		}
		*s = shareFlag{i, m}
		return nil
	})
	flags.addCheck(func(line *commandLine, args []string) {
		out := flags.Lookup("output").Value.String()
		if s.count > 0 && len(args) > 0 && !ingest.IsStore(args[0]) {
			line.problem("--slab",
				"%s is not a store, and all shares are to read the same one; run heatwalk ingest first", args[0])
		}
		if s.count > 0 && out != "" &&
			(out == "-" || formatOf(out, tablefile.MatrixEndings) != ".npy") {
			line.problem("--slab",
				"a part is a file in the form .npy; write -o PART.npy")
		}
	})
}

// bounds returns the part lo ≤ i < hi of n items that belongs to the share; noun names an item in errors,
// for example "column".
func (s shareFlag) bounds(n int, noun string) (lo, hi int, err error) {
	if s.count == 0 {
		return 0, n, nil
	}
	if s.count > n {
		return 0, 0, fault.Usage("--slab",
			"there are only %s; give at most %d shares", words.Counted(n, noun), n)
	}
	edge := func(i int) int { return int(int64(n) * int64(i) / int64(s.count)) }
	return edge(s.index), edge(s.index + 1), nil
}

// partOfBlock returns the rows and the columns of a share of a block, and its position.
func partOfBlock(s shareFlag, rows, cols []int,
	dtype string) (_, _ []int, shape parts.Shape, err error) {
	shape = parts.Shape{Axis: parts.ByColumns, Groups: 1, Dtype: dtype}
	noun := "column"
	nodes := &cols
	if len(rows) < len(cols) {
		shape.Axis = parts.ByRows
		noun = "row"
		nodes = &rows
	}
	shape.Whole = len(*nodes)
	if s.count > 0 {
		shape.Lo, shape.Hi, err = s.bounds(shape.Whole, noun)
		*nodes = (*nodes)[shape.Lo:shape.Hi]
	}
	return rows, cols, shape, err
}

// describePart describes the output in its run file, if it is a slab of a matrix.
func (d *graphRun) describePart(command string, s shareFlag, shape parts.Shape,
	parameters any) (err error) {
	if s.count > 0 {
		part := parts.Part{Command: command, Share: s.index, Of: s.count,
			Store: d.g.Store.Manifest.Identity, Matrix: &shape}
		d.out.share, err = parts.New(part, parameters, d.l, d.rows, d.cols)
	}
	return err
}

// mergeDocument is the JSON document of merge.
type mergeDocument struct {
	matrixDocument
	Command string `json:"command"` // the command line that made the parts
	Parts   int    `json:"parts"`
	Closing
}

type mergeOptions struct {
	parts []string
	out   string
}

func newMerge(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "merge PART... -o OUT", "Put the parts that --slab made together",
		func(_ *commandLine, c *mergeOptions, args []string) { c.parts = args }, runMerge)
	outputFlag(flags, &c.out, "output", "", "`OUT` is the file of the whole matrix", nil)
	return cmd
}

func runMerge(run *session, c *mergeOptions, _ string) error {
	list, err := parts.Read(run.ctx, c.parts)
	if err == nil {
		err = mergeMatrix(run, list, c.out)
	}
	if wrong := new(parts.Error); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix writes the matrix that consists of the parts of list.
func mergeMatrix(run *session, list []parts.Part, out string) error {
	if formatOf(out, tablefile.MatrixEndings) != ".npy" {
		return fault.Usage("-o",
			"%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	dtype := list[0].Matrix.Dtype
	origin := list[0].Run
	return parts.Merge(run.ctx, list, func(rows, cols tablefile.Axis, rowTo func(i int, dst []float64) error) error {
		o, err := beginOutputs(run, out, tablefile.NPY.Endings)
		if err != nil {
			return err
		}
		if _, err := checkMatrix(o, rows, cols, dtype, "choose another disk"); err != nil {
			return err
		}
		stage := run.progress.Begin("merging", int64(rows.N), "row")
		err = fillMatrix(o, dtype, &tablefile.Matrix{Rows: rows, Cols: cols}, func(i int, row []float64) error {
			stage.Set(int64(i), int64(rows.N))
			return rowTo(i, row)
		})
		if err != nil {
			return err
		}
		o.store = origin.Store
		r := &mergeDocument{matrixDocument: matrixDocument{Output: out,
			Rows: rows.N, Cols: cols.N, Dtype: dtype}, Command: list[0].Command,
			Parts: len(list)}
		return o.finish(r, origin.Parameters,
			fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command,
				shapeOf(r.Rows, r.Cols, dtype)))
	})
}
