package cli

import (
	"fmt"
	"path/filepath"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
)

// denseFormats are the endings of files of matrices.
var denseFormats = func() (endings []string) {
	for _, f := range tablefile.Formats {
		endings = append(endings, f.Endings...)
	}
	return endings
}()

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
	Kernel     string `json:"kernel,omitempty"`     // of tables and of collections
	Attributes int    `json:"attributes,omitempty"` // of a table
	Parameters any    `json:"parameters,omitempty"`
}

// closedMatrix is the JSON document of commands that write a matrix and say no more about it.
type closedMatrix struct {
	matrixDocument
	Closing
}

// newWriter begins the file of a matrix and the files of its ids.
func newWriter[T sparse.Float](o *outputs, m *tablefile.Matrix) (*tablefile.Writer[T], error) {
	m.RowIDs, m.ColIDs = o.rowIDs, o.colIDs
	return tablefile.NewWriter[T](o.w, o.format, m)
}

// fillMatrix writes a matrix; values stores row i.
func fillMatrix(o *outputs, dtype string, m *tablefile.Matrix, values func(i int, row []float64) error) error {
	m.RowIDs, m.ColIDs = o.rowIDs, o.colIDs
	if dtype == "float64" {
		return tablefile.Fill[float64](o.run.ctx, o.w, o.format, m, values)
	}
	return tablefile.Fill[float32](o.run.ctx, o.w, o.format, m, values)
}

// takesPieces reports whether the output can be written in any order. The result is the same for an
// estimate, which begins no file.
func takesPieces(o *outputs) bool { return o.format.AnyOrder && !isStream(o.path) }

// shapeOf returns the shape and type of a matrix as text.
func shapeOf(rows, cols int, dtype string) string {
	return fmt.Sprintf("%s × %s %s", words.Count(rows), words.Count(cols), dtype)
}

// checkMatrix returns the size of a matrix and its files of ids, and an error with advice if the disk
// has not enough space.
func checkMatrix(o *outputs, rows, cols axis, dtype, advice string) (bytes int64, err error) {
	bytes = o.format.Size(rows.N, cols.N, dtype)
	err = checkSpace(o.path, bytes, shapeOf(rows.N, cols.N, dtype), advice)
	if o.run.estimating {
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
