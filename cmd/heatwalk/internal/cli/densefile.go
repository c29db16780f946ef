package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/heatwalk/heatwalk/export"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
)

// Endings of files of dense matrices.
var denseFormats = []string{".npy", ".npz", ".svm", ".libsvm"}

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
	format         string
	matrix         io.Writer
	rowIDs, colIDs io.Writer // beside .npy only
	run            io.Writer
}

// beginDense begins the file path in the format that its ending names, its run
// file and, beside a .npy file, the ids of its rows and columns.
func (o *outputs) beginDense(path string) (*denseOutput, error) {
	d, err := o.beginDenseAs(path, formatOf(path, denseFormats))
	if err != nil {
		return nil, err
	}
	d.run, err = o.beside(path, "", ".run.json")
	return d, err
}

// beginDenseAs is beginDense for one of denseFormats, without the run file.
func (o *outputs) beginDenseAs(path, format string) (*denseOutput, error) {
	d := &denseOutput{format: format, rowIDs: io.Discard, colIDs: io.Discard}
	var err error
	if d.matrix, err = o.begin(path); err != nil {
		return nil, err
	}
	if d.format == ".npy" {
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
	if d.format == ".svm" || d.format == ".libsvm" {
		element *= 2 // digits and the index
	}
	return int64(rows.n) * int64(cols.n) * int64(element)
}

// axis is the rows or the columns of a matrix.
type axis struct {
	n  int
	id func(i int) string
}

// lines says what LIBSVM's text form has beside the values.
type lines struct {
	label  func(row int) string // a number; 0 for none
	kernel bool                 // rows are of a precomputed kernel
}

// denseFile is a dense matrix under way to its file.
type denseFile[T sparse.Float] struct {
	row   func(i int, values []T) error // the next row, which is number i
	close func() error
}

// newDenseFile writes everything but the rows of a matrix to d.
func newDenseFile[T sparse.Float](d *denseOutput, rows, cols axis, l lines) (*denseFile[T], error) {
	switch d.format {
	case ".svm", ".libsvm":
		file := export.NewLIBSVM(d.matrix)
		write := export.Features[T]
		if l.kernel {
			write = export.Kernel[T]
		}
		return &denseFile[T]{
			row:   func(i int, values []T) error { return write(file, l.label(i), values) },
			close: file.Close,
		}, nil
	case ".npz":
		return newArchive[T](d.matrix, rows, cols, l)
	}
	if err := export.WriteIDs(d.rowIDs, rows.n, rows.id); err != nil {
		return nil, err
	}
	if err := export.WriteIDs(d.colIDs, cols.n, cols.id); err != nil {
		return nil, err
	}
	file, err := export.NewNPY[T](d.matrix, rows.n, cols.n)
	if err != nil {
		return nil, err
	}
	return &denseFile[T]{
		row:   func(_ int, values []T) error { return file.Row(values) },
		close: file.Close,
	}, nil
}

// newArchive is newDenseFile for .npz: arrays rows and cols with the ids, and
// the matrix.
func newArchive[T sparse.Float](w io.Writer, rows, cols axis, l lines) (*denseFile[T], error) {
	archive := export.NewNPZ(w)
	if err := archive.Strings("rows", rows.n, rows.id); err != nil {
		return nil, err
	}
	if err := archive.Strings("cols", cols.n, cols.id); err != nil {
		return nil, err
	}
	name := "features"
	if l.kernel {
		name = "kernel"
	}
	file, err := export.Matrix[T](archive, name, rows.n, cols.n)
	if err != nil {
		return nil, err
	}
	return &denseFile[T]{
		row: func(_ int, values []T) error { return file.Row(values) },
		close: func() error {
			if err := file.Close(); err != nil {
				return err
			}
			return archive.Close()
		},
	}, nil
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
	return &limitError{path, fmt.Sprintf("would be %s (%s) on a disk with %s free; %s",
		formatBytes(bytes), shape, formatBytes(free), advice)}
}
