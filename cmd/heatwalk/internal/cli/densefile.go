package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
)

// Endings of files of dense matrices.
var denseFormats = []string{".npy", ".npz", ".svm", ".libsvm"}

// denseFormatOf returns the format of the file of a dense matrix.
func denseFormatOf(path string) tablefile.Format {
	switch formatOf(path, denseFormats) {
	case ".npz":
		return tablefile.NPZ
	case ".svm", ".libsvm":
		return tablefile.LIBSVM
	}
	return tablefile.NPY
}

// formatOf returns the ending of path if it is among the formats, or else the
// first of them, which also is the format of stdout.
func formatOf(path string, formats []string) string {
	ending := strings.ToLower(filepath.Ext(path))
	for _, f := range formats {
		if f == ending {
			return f
		}
	}
	return formats[0]
}

// checkFormat notes an ending that no format has.
func (in *invocation) checkFormat(flag, path string, formats []string) {
	ending := strings.ToLower(filepath.Ext(path))
	if path == "-" || path == "" || isDir(path) || formatOf(path, formats) == ending {
		return
	}
	in.problem(flag, "%s has no ending that names a format; give one of %s", path, strings.Join(formats, " "))
}

// denseOutput is a dense matrix and what stands beside it, begun but empty.
type denseOutput struct {
	format         tablefile.Format
	matrix         io.Writer
	rowIDs, colIDs io.Writer // beside .npy only
	run            io.Writer
}

// beginDense begins the file path in the format that its ending names, its run
// file and, beside a .npy file, the ids of its rows and columns.
func (o *outputs) beginDense(path string) (*denseOutput, error) {
	d, err := o.beginDenseAs(path, denseFormatOf(path))
	if err != nil {
		return nil, err
	}
	d.run, err = o.beside(path, "", ".run.json")
	return d, err
}

// beginDenseAs is beginDense for a format, without the run file.
func (o *outputs) beginDenseAs(path string, format tablefile.Format) (*denseOutput, error) {
	d := &denseOutput{format: format, rowIDs: io.Discard, colIDs: io.Discard}
	var err error
	if d.matrix, err = o.begin(path); err != nil {
		return nil, err
	}
	if d.format == tablefile.NPY {
		if d.rowIDs, err = o.beside(path, filepath.Ext(path), ".rows.ids"); err != nil {
			return nil, err
		}
		if d.colIDs, err = o.beside(path, filepath.Ext(path), ".cols.ids"); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// bytes returns about how large the file of a matrix will be, exactly for
// .npy and .npz up to their headers.
func (d *denseOutput) bytes(rows, cols axis, element int) int64 {
	if d.format == tablefile.LIBSVM {
		element *= 2 // digits and the index
	}
	return int64(rows.N) * int64(cols.N) * int64(element)
}

// axis is the rows or the columns of a matrix.
type axis = tablefile.Axis

// bytesOf returns what a file of ids takes, one a line.
func bytesOf(a axis) (bytes int64) {
	for id := range a.IDs() {
		bytes += int64(len(id)) + 1
	}
	return bytes
}

// lines says what LIBSVM's text form has beside the values.
type lines struct {
	label  func(row int) string // a number; 0 for none
	kernel bool                 // rows are of a precomputed kernel
}

// writeIDs writes what stands beside the file.
func (d *denseOutput) writeIDs(rows, cols axis) error {
	if err := tablefile.WriteIDs(d.rowIDs, rows.IDs()); err != nil {
		return err
	}
	return tablefile.WriteIDs(d.colIDs, cols.IDs())
}

// newDenseFile writes everything but the rows of a matrix to d.
func newDenseFile[T sparse.Float](d *denseOutput, rows, cols axis, l lines) (*tablefile.Writer[T], error) {
	return beginMatrix[T](d, &tablefile.Matrix{Rows: rows, Cols: cols, Kernel: l.kernel, Label: l.label})
}

// beginMatrix writes everything but the values of a matrix to d.
func beginMatrix[T sparse.Float](d *denseOutput, m *tablefile.Matrix) (*tablefile.Writer[T], error) {
	if err := d.writeIDs(m.Rows, m.Cols); err != nil {
		return nil, err
	}
	return tablefile.NewWriter[T](d.matrix, d.format, m)
}

// takesPieces tells whether the output called path can be written in any order: a
// .npy file that is one. An estimate, which begins no file, tells the same.
func (d *denseOutput) takesPieces(path string) bool {
	info, err := os.Stat(path)
	return d.format == tablefile.NPY && path != "-" && (err != nil || info.Mode().IsRegular())
}

// checkDense notes what is wrong with the output of a dense matrix.
func (in *invocation) checkDense(out string, inputs ...string) {
	if out == "" {
		in.problem("-o", "the output is missing; write -o FILE, with an ending %s", strings.Join(denseFormats, " "))
		return
	}
	in.checkFormat("-o", out, denseFormats)
	in.checkOutput("-o", out, inputs...)
}

// checkSpace returns an error if a file of so many bytes does not fit beside
// path.
func checkSpace(path string, bytes int64, shape, advice string) error {
	if path == "-" {
		return nil
	}
	free, err := durable.OS.Free(filepath.Dir(path))
	if err != nil || bytes <= free {
		return nil // where the free space is not known, writing will tell
	}
	return fault.Limit(path, "would be %s (%s) on a disk with %s free; %s",
		words.Bytes(bytes), shape, words.Bytes(free), advice)
}
