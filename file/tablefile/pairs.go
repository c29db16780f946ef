package tablefile

import (
	"cmp"
	"io"

	"github.com/heatwalk/heatwalk/file/npy"
)

// WritePairs writes eigenvalues and eigenvectors. vector(i) returns row i of the matrix of eigenvectors, of shape m.
// If values is not nil, WritePairs writes the eigenvalues to values and the matrix to vectors, as NumPy arrays, and
// the ids of the rows to m.RowIDs. Otherwise it writes an archive with the arrays values, vectors and rows to
// vectors.
func WritePairs(vectors, values io.Writer, m *Matrix, eigenvalues []float64,
	vector func(i int) []float64) error {
	writeValues := func(w io.Writer) error {
		return writeArray(w, 1, func(int) []float64 { return eigenvalues },
			len(eigenvalues))
	}
	writeVectors := func(w io.Writer) error { return writeArray(w, m.Rows.N, vector, m.Rows.N, m.Cols.N) }
	if values != nil {
		return cmp.Or(WriteIDs(m.RowIDs, m.Rows), writeValues(values),
			writeVectors(vectors))
	}
	archive := npy.NewArchive(vectors)
	return cmp.Or(
		archive.Strings("rows", m.Rows.N, m.Rows.ID),
		writeMember(archive, "values", writeValues),
		writeMember(archive, "vectors", writeVectors),
		archive.Close())
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
