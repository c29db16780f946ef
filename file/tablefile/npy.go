package tablefile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// NPY is NumPy's file format of a single array.
var NPY = &Format{
	Name: "npy", Title: "a NumPy array", Endings: []string{".npy"},
	NoGraph:     "heatwalk convert reads it; for a graph, save the sparse matrix with scipy.sparse.save_npz",
	SeparateIDs: true, AnyOrder: true,
	matches: func(ending string, head []byte) bool {
		return bytes.HasPrefix(head, []byte(npy.Magic)) ||
			ending == ".npy" && !isArchive(head)
	},
	inspect: (*File).inspectArray,
	of32: rows[float32]{readNPY[float32], newNPYWriter[float32],
		placeNPY[float32]},
	of64: rows[float64]{readNPY[float64], newNPYWriter[float64],
		placeNPY[float64]},
}

func (f *File) inspectArray(in *textio.Reader) error {
	file, size := in.File()
	a, err := npy.Read(f.Name, io.NewSectionReader(file, 0, size))
	if err != nil {
		return err
	}
	return f.shape(a, size)
}

// shape sets the shape of f. It compares the header with size, the bytes of the file or member, to find truncated
// files.
func (f *File) shape(a *npy.Array, size int64) error {
	if err := setType(f, a); err != nil {
		return err
	}
	rows, cols := int64(0), int64(1)
	switch want := a.Start + a.Len*int64(a.Width); {
	case len(a.Shape) != 1 && len(a.Shape) != 2:
		return a.Fault("reshape it", "%d dimensions, want rows and columns",
			len(a.Shape))
	case a.Len == 0:
		return a.Fault("save the array again", "no elements")
	case size != want:
		return a.Fault(fetchAgain, "%d bytes, its header requires %d", size, want)
	}
	rows = a.Shape[0]
	if len(a.Shape) == 2 {
		cols = a.Shape[1]
	}
	if rows > math.MaxInt32 || cols > math.MaxInt32 {
		return a.Fault("save a part of it", "%d × %d; limit %d", rows, cols, math.MaxInt32)
	}
	f.Rows = int(rows)
	f.Cols = int(cols)
	f.byColumns = a.Fortran
	return nil
}

func setType(f *File, a *npy.Array) error {
	if !a.IsNumeric() {
		return a.Fault("save numbers", "elements that are not numbers")
	}
	f.Single = a.Kind == 'f' && a.Width <= 4 || a.Kind == 'b'
	f.isInteger = a.Kind == 'i' || a.Kind == 'u'
	return nil
}

// narrowTo stores row i, values, in dst. It refuses values that are not finite, values that are too large for T, and
// integers above 2⁵³.
func narrowTo[T sparse.Float](dst []T, f *File, i int, values []float64) error {
	for j, v := range values {
		dst[j] = T(v)
		if w := float64(dst[j]); w-w != 0 || f.isInteger && math.Abs(v) > 1<<53 {
			return elementError(f, i, j, v)
		}
	}
	return nil
}

// elementError returns the error about an element that narrowTo refuses.
func elementError(f *File, i, j int, v float64) error {
	what := "is beyond float32"
	fix := "pass {dtype=float64}"
	switch {
	case math.IsNaN(v):
		what = "is not a number"
		fix = "replace it"
	case math.IsInf(v, 0):
		what = "is infinite"
		fix = "replace it"
	case f.isInteger && math.Abs(v) > 1<<53:
		what = "is beyond 2⁵³ and may have been rounded"
		fix = "save floats"
	}
	return textio.Fault(f.Name, 0, fix, "element [%d, %d] = %v %s", i, j, v, what)
}

func narrowRows[T sparse.Float](ctx context.Context, f *File,
	visit func(label []byte, row []T) error) func(i int, values []float64) error {
	row := make([]T, f.Cols)
	return func(i int, values []float64) error {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := narrowTo(row, f, i, values); err != nil {
			return err
		}
		return visit(nil, row)
	}
}

func readNPY[T sparse.Float](ctx context.Context, in *textio.Reader, f *File,
	visit func(label []byte, row []T) error) error {
	rows := narrowRows(ctx, f, visit)
	file, size := in.File()
	if file == nil {
		return streamError(f.Name)
	}
	a, err := npy.Read(f.Name,
		progressReader{io.NewSectionReader(file, 0, size), f, in})
	if err != nil {
		return err
	}
	if a.Fortran {
		return f.readPanels(file, a, func() { f.progress(in) }, rows)
	}
	return f.readRows(a, rows)
}

func (f *File) readRows(a *npy.Array,
	visit func(i int, row []float64) error) error {
	const elements = 1 << 13
	height := max(1, elements/f.Cols)
	rows := make([]float64, min(height, f.Rows)*f.Cols)
	for lo := 0; lo < f.Rows; lo += height {
		n := min(height, f.Rows-lo)
		if err := a.Floats(rows[:n*f.Cols]); err != nil {
			return err
		}
		for i := range n {
			if err := visit(lo+i, rows[i*f.Cols:][:f.Cols]); err != nil {
				return err
			}
		}
	}
	return a.End()
}

// panelRows returns the number of rows of a panel: rows of an array stored by columns that are read together, so that
// each read covers adjacent elements of a column.
func panelRows(f *File) int {
	memory := int64(64 << 20)
	if f.o.Memory > 0 {
		memory = min(memory, f.o.Memory)
	}
	return int(max(1, min(int64(f.Rows), memory/(8*int64(f.Cols)+16))))
}

func panelBytes(f *File) int64 {
	if !f.byColumns {
		return 0
	}
	return int64(panelRows(f)) * (8*int64(f.Cols) + 16)
}

// readPanels visits the rows of an array stored by columns. For each panel, it reads the same range of every column.
func (f *File) readPanels(file io.ReaderAt, a *npy.Array, progress func(),
	visit func(i int, row []float64) error) error {
	height := panelRows(f)
	panel := make([]float64, height*f.Cols)
	column := make([]float64, height)
	raw := make([]byte, height*a.Width)
	for lo := 0; lo < f.Rows; lo += height {
		n := min(height, f.Rows-lo)
		for j := range f.Cols {
			offset := a.Start + (int64(j)*int64(f.Rows)+int64(lo))*int64(a.Width)
			if _, err := file.ReadAt(raw[:n*a.Width], offset); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			a.Decode(column[:n], raw)
			for i, v := range column[:n] {
				panel[i*f.Cols+j] = v
			}
		}
		for i := range n {
			if err := visit(lo+i, panel[i*f.Cols:(i+1)*f.Cols]); err != nil {
				return err
			}
		}
		progress()
	}
	return nil
}

func newNPYWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	out, err := npy.NewWriter[T](w, m.Rows.N, m.Cols.N)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{cols: m.Cols.N,
		row:   func(_ int, values []T) error { return out.Floats(values) },
		close: out.Close}, nil
}

// placeNPY returns a writer of elements in any order.
func placeNPY[T sparse.Float](w io.WriterAt, m *Matrix) (*Writer[T], error) {
	out, err := npy.NewPlaced[T](w, m.Rows.N, m.Cols.N)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{cols: m.Cols.N, put: out.Put, close: out.Close}, nil
}
