package tablefile

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math"
	"strings"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// NPZ is NumPy's file format of an archive of arrays, one of which is the matrix.
var NPZ = &Format{
	Name: "npz", Title: "a NumPy archive", Endings: []string{".npz"},
	matches: func(_ string, head []byte) bool { return isArchive(head) },
	holds:   holdsMatrix, inspect: (*File).inspectArchive, names: archiveNames,
	of32: rows[float32]{read: readNPZ[float32], write: newNPZWriter[float32]},
	of64: rows[float64]{read: readNPZ[float64], write: newNPZWriter[float64]},
}

// arrays lists the names of the matrix in an archive.
var arrays = []string{"features", kernelArray, "X", "x", "arr_0"}

const kernelArray = "kernel"

func pick(archive *npy.Archive) string {
	for _, name := range arrays {
		if archive.Has(name) {
			return name
		}
	}
	return archive.Single()
}

// archive opens an archive whose arrays report progress as they are read.
func (f *File) archive(in *textio.Reader) (*npy.Archive, error) {
	file, size := in.File()
	if file == nil {
		return nil, streamError(f.Name)
	}
	archive, err := npy.OpenArchive(f.Name, file, size)
	if err == nil {
		archive.Watch = func(r io.Reader) io.Reader { return progressReader{r, f, in} }
	}
	return archive, err
}

func (f *File) openMember(in *textio.Reader) (archive *npy.Archive, a *npy.Array, err error) {
	if archive, err = f.archive(in); err != nil {
		return nil, nil, err
	}
	name := pick(archive)
	if name == "" {
		return archive, nil, textio.Fault(f.Name, 0,
			"save the matrix as one of them", "no array is named %s",
			strings.Join(arrays, ", "))
	}
	a, err = archive.Open(name)
	return archive, a, err
}

func (f *File) inspectArchive(in *textio.Reader) error {
	archive, a, err := f.openMember(in)
	if archive != nil && pick(archive) == "" {
		if rows, cols, ok := sparseShape(archive); ok {
			format, err := archive.Open("format")
			if err != nil {
				return err
			}
			order, err := format.Text()
			switch {
			case err != nil:
				return err
			case order != "csr":
				return textio.Fault(f.Name, 0, "save X.tocsr()",
					"a sparse matrix in the format %q", order)
			case rows < 1 || cols < 1 || rows > math.MaxInt32 || cols > math.MaxInt32:
				return textio.Fault(f.Name, 0, "save a part of it", "%d × %d; want 1 to %d",
					rows, cols, math.MaxInt32)
			}
			data, err := archive.Open("data")
			if err != nil {
				return err
			}
			f.Rows = int(rows)
			f.Cols = int(cols)
			f.sparse = true
			return setType(f, data)
		}
	}
	if err != nil {
		return err
	}
	if a.Fortran {
		return a.Fault("save np.ascontiguousarray of it", "columns are stored one after the other")
	}
	name := pick(archive)
	f.Kernel = name == kernelArray
	return f.shape(a, archive.Size(name))
}

// archiveNames returns the strings of the array which ("rows" or "cols") as ids, or nil if the array is missing or
// contains numbers. It refuses tabs and line breaks, which files of ids could not contain.
func archiveNames(ctx context.Context, f *File, which string,
	n int) ([]string, error) {
	in, err := open(ctx, f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	archive, err := f.archive(in)
	if err != nil || !archive.Has(which) {
		return nil, err
	}
	a, err := archive.Open(which)
	if err != nil {
		return nil, err
	}
	if a.IsNumeric() || len(a.Shape) != 1 {
		return nil, nil // the array has another meaning
	}
	if a.Len != int64(n) {
		return nil, a.Fault("give one for each, or leave the array out", "%d names, the matrix has %d %s", a.Len, n,
			which)
	}
	names := make([]string, 0, min(n, 1<<16))
	for i := range n {
		name, err := a.Text()
		if err != nil {
			return nil, err
		}
		if name == "" || strings.ContainsAny(name, "\t\n\r\x00") {
			return nil, a.Fault("rename it", "element %d, %q, is not a valid name: it is empty or holds a tab, a line break or NUL", i, name)
		}
		names = append(names, name)
	}
	return names, a.End()
}

// sparseArrays lists the arrays of a CSR matrix in scipy.sparse.save_npz, besides format and shape.
var sparseArrays = []string{"indptr", "indices", "data"}

func sparseShape(archive *npy.Archive) (rows, cols int64, ok bool) {
	shape := make([]int64, 2)
	a, err := archive.Open("shape")
	if err != nil || !a.IsNumeric() || a.Len != 2 || a.Integers(shape) != nil {
		return 0, 0, false
	}
	return shape[0], shape[1], archive.Has("format") && archive.Has("data")
}

func readNPZ[T sparse.Float](ctx context.Context, in *textio.Reader, f *File,
	visit func(label []byte, row []T) error) error {
	rows := narrowRows(ctx, f, visit)
	if f.sparse {
		return f.readSparse(in, rows)
	}
	_, a, err := f.openMember(in)
	if err != nil {
		return err
	}
	return f.readRows(a, rows)
}

// readSparse visits the rows of the sparse matrix in an archive. Entries of the same row and column are added, as in
// SciPy.
func (f *File) readSparse(in *textio.Reader,
	visit func(i int, row []float64) error) error {
	archive, err := f.archive(in)
	if err != nil {
		return err
	}
	arrays := make([]*npy.Array, len(sparseArrays))
	for i, name := range sparseArrays {
		if arrays[i], err = archive.Open(name); err != nil {
			return err
		}
	}
	ends := arrays[0]
	indices := arrays[1]
	data := arrays[2]
	if ends.Len != int64(f.Rows)+1 || indices.Len != data.Len ||
		!ends.IsNumeric() || !indices.IsNumeric() {
		return textio.Fault(f.Name, 0, fetchAgain,
			"arrays of %d, %d and %d elements for %d rows", ends.Len, indices.Len,
			data.Len, f.Rows)
	}
	const piece = 1 << 10
	row := make([]float64, f.Cols)
	cols := make([]int64, piece)
	values := make([]float64, piece)
	end := make([]int64, 1)
	for i, done := -1, int64(0); i < f.Rows; i++ {
		if err := ends.Integers(end); err != nil {
			return err
		}
		n := end[0] - done
		if n < 0 || end[0] > data.Len || i < 0 && n != 0 ||
			i == f.Rows-1 && end[0] != data.Len {
			return ends.Fault(fetchAgain, "indptr[%d] = %d after %d, of %d entries",
				i+1, end[0], done, data.Len)
		}
		if i < 0 {
			continue
		}
		clear(row)
		for ; done < end[0]; done += int64(len(cols)) {
			cols = cols[:min(end[0]-done, piece)]
			values = values[:min(end[0]-done, piece)]
			if err := cmp.Or(indices.Integers(cols), data.Floats(values)); err != nil {
				return err
			}
			for k, j := range cols {
				if j < 0 || j >= int64(f.Cols) {
					return indices.Fault(fetchAgain, "column %d of row %d; there are %d", j, i, f.Cols)
				}
				row[j] += values[k]
			}
		}
		if err := visit(i, row); err != nil {
			return err
		}
	}
	return cmp.Or(ends.End(), indices.End(), data.End())
}

// holdsMatrix reports whether an archive contains a matrix of features; a square sparse matrix is a graph.
func holdsMatrix(name string, in *textio.Reader) bool {
	archive, err := (&File{Name: name}).archive(in)
	if err != nil {
		return false
	}
	rows, cols, sparse := sparseShape(archive)
	return sparse && rows != cols || pick(archive) != ""
}

// newNPZWriter writes ids as arrays rows and cols, and the matrix as kernel or features.
func newNPZWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	archive := npy.NewArchive(w)
	err := cmp.Or(archive.Strings("rows", m.Rows.N, m.Rows.ID),
		archive.Strings("cols", m.Cols.N, m.Cols.ID))
	if err == nil && m.Predictions != nil {
		err = writePredictions(archive, m)
	}
	if err != nil {
		return nil, err
	}
	name := arrays[0]
	if m.Kernel {
		name = kernelArray
	}
	member, err := archive.Member(name)
	if err != nil {
		return nil, err
	}
	out, err := newNPYWriter[T](member, m)
	if err != nil {
		return nil, err
	}
	closeArray := out.close
	out.close = func() error { return cmp.Or(closeArray(), archive.Close()) }
	return out, nil
}

// writePredictions writes m.Predictions as the arrays label and reached.
func writePredictions(archive *npy.ArchiveWriter, m *Matrix) error {
	labels := make([]byte, 0, 4*m.Rows.N)
	reached := make([]byte, m.Rows.N)
	for i := range m.Rows.N {
		label, isReached := m.Predictions(i)
		labels = binary.LittleEndian.AppendUint32(labels, uint32(int32(label)))
		if isReached {
			reached[i] = 1
		}
	}
	for _, array := range []struct {
		name, descr string
		data        []byte
	}{{"label", "<i4", labels}, {"reached", "|b1", reached}} {
		w, err := archive.Member(array.name)
		if err == nil {
			_, err = w.Write(append(npy.Header(array.descr, m.Rows.N),
				array.data...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
