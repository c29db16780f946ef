package tablefile

import (
	"cmp"
	"context"
	"io"

	"github.com/heatwalk/heatwalk/file/npy"
)

// WritePairs writes eigenvalues and eigenvectors in a format. vector(i) returns row i of the matrix of eigenvectors, of
// shape m. An archive, written to vectors, has the arrays values, vectors and rows, the ids. In other formats values
// receives the eigenvalues: an array, or a matrix with the one column value.
func WritePairs(ctx context.Context, vectors, values io.Writer, f *Format, m *Matrix, eigenvalues []float64,
	vector func(i int) []float64) error {
	writeVectors := func(w io.Writer) error { return writeArray(w, m.Rows.N, vector, m.Rows.N, m.Cols.N) }
	writeValues := func(w io.Writer) error {
		return writeArray(w, 1, func(int) []float64 { return eigenvalues },
			len(eigenvalues))
	}
	switch f {
	case NPZ:
		archive := npy.NewArchive(vectors)
		return cmp.Or(
			archive.Strings("rows", m.Rows.N, m.Rows.ID),
			writeMember(archive, "values", writeValues),
			writeMember(archive, "vectors", writeVectors),
			archive.Close())
	case NPY:
		return cmp.Or(WriteIDs(m.RowIDs, m.Rows), writeValues(values), writeVectors(vectors))
	}
	column := &Matrix{Rows: m.Cols, Cols: AxisOf([]string{"value"})}
	return cmp.Or(
		Fill[float64](ctx, values, f, column, func(i int, row []float64) error {
			row[0] = eigenvalues[i]
			return nil
		}),
		Fill[float64](ctx, vectors, f, m, func(i int, row []float64) error {
			copy(row, vector(i))
			return nil
		}))
}

func writeMember(archive *npy.ArchiveWriter, name string,
	write func(w io.Writer) error) error {
	w, err := archive.Member(name)
	if err != nil {
		return err
	}
	return write(w)
}

func writeArray(w io.Writer, pieces int, piece func(i int) []float64,
	shape ...int) error {
	file, err := npy.NewWriter[float64](w, shape...)
	for i := 0; i < pieces && err == nil; i++ {
		err = file.Floats(piece(i))
	}
	if err != nil {
		return err
	}
	return file.Close()
}
