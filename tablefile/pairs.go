package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/npy"
)

// WritePairs writes eigenvalues and eigenvectors, an entry of each for every row of m, which
// vector returns: arrays of NumPy with the vectors and the values, and what the rows are called
// to m.RowIDs; or, where values is nil, one archive with the arrays vectors, values and rows in
// vectors.
func WritePairs(vectors, values io.Writer, m *Matrix, eigenvalues []float64, vector func(i int) []float64) error {
	if values != nil {
		if err := WriteIDs(m.RowIDs, m.Rows); err != nil {
			return err
		}
		if err := writeValues(values, eigenvalues); err != nil {
			return err
		}
		return writeVectors(vectors, m, vector)
	}
	archive := npy.NewArchive(vectors)
	if err := archive.Strings("rows", m.Rows.N, m.Rows.ID); err != nil {
		return err
	}
	member, err := archive.Member("values")
	if err == nil {
		err = writeValues(member, eigenvalues)
	}
	if err == nil {
		member, err = archive.Member("vectors")
	}
	if err == nil {
		err = writeVectors(member, m, vector)
	}
	if err != nil {
		return err
	}
	return archive.Close()
}

func writeValues(w io.Writer, values []float64) error {
	file, err := npy.NewWriter[float64](w, len(values))
	if err != nil {
		return err
	}
	if err := file.Floats(values); err != nil {
		return err
	}
	return file.Close()
}

func writeVectors(w io.Writer, m *Matrix, vector func(i int) []float64) error {
	file, err := npy.NewWriter[float64](w, m.Rows.N, m.Cols.N)
	if err != nil {
		return err
	}
	for i := range m.Rows.N {
		if err := file.Floats(vector(i)); err != nil {
			return err
		}
	}
	return file.Close()
}
