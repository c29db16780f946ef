package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/npy"
)

// WritePairs writes eigenvalues and eigenvectors; vector(i) returns row i of the matrix of
// eigenvectors, which has the shape of m. If values is not nil, WritePairs writes two NumPy
// arrays, to values and vectors, and the row ids to m.RowIDs. If values is nil, it writes one
// archive with the arrays values, vectors and rows to vectors.
func WritePairs(vectors, values io.Writer, m *Matrix, eigenvalues []float64, vector func(i int) []float64) error {
	writeValues := func(w io.Writer) error {
		return writeArray(w, 1, func(int) []float64 { return eigenvalues }, len(eigenvalues))
	}
	writeVectors := func(w io.Writer) error { return writeArray(w, m.Rows.N, vector, m.Rows.N, m.Cols.N) }
	if values != nil {
		if err := WriteIDs(m.RowIDs, m.Rows); err != nil {
			return err
		}
		if err := writeValues(values); err != nil {
			return err
		}
		return writeVectors(vectors)
	}
	archive := npy.NewArchive(vectors)
	if err := archive.Strings("rows", m.Rows.N, m.Rows.ID); err != nil {
		return err
	}
	for _, array := range []struct {
		name  string
		write func(w io.Writer) error
	}{{"values", writeValues}, {"vectors", writeVectors}} {
		member, err := archive.Member(array.name)
		if err == nil {
			err = array.write(member)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeArray writes an array of the given shape as a sequence of pieces.
func writeArray(w io.Writer, pieces int, piece func(i int) []float64, shape ...int) error {
	file, err := npy.NewWriter[float64](w, shape...)
	for i := 0; i < pieces && err == nil; i++ {
		err = file.Floats(piece(i))
	}
	if err != nil {
		return err
	}
	return file.Close()
}
