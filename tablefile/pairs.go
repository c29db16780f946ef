package tablefile

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/sparse"
)

// Pairs are eigenvalues and a column of Vectors for each.
type Pairs struct {
	Values  []float64
	Vectors *sparse.Block[float64]
}

// Write writes the pairs, of the given rows in this order, whose ids are those of the
// axis: arrays of NumPy with the vectors, a row for each node, and the values, and the ids
// of the nodes one a line; or, where values is nil, one archive with the arrays vectors,
// values and rows in vectors.
func (p *Pairs) Write(vectors, values, ids io.Writer, rows []int, axis Axis) error {
	if values != nil {
		if err := WriteIDs(ids, axis); err != nil {
			return err
		}
		if err := p.writeValues(values); err != nil {
			return err
		}
		return p.writeVectors(vectors, rows)
	}
	archive := npy.NewArchive(vectors)
	if err := archive.Strings("rows", axis.N, axis.ID); err != nil {
		return err
	}
	member, err := archive.Member("values")
	if err == nil {
		err = p.writeValues(member)
	}
	if err == nil {
		member, err = archive.Member("vectors")
	}
	if err == nil {
		err = p.writeVectors(member, rows)
	}
	if err != nil {
		return err
	}
	return archive.Close()
}

func (p *Pairs) writeValues(w io.Writer) error {
	file, err := npy.NewWriter[float64](w, len(p.Values))
	if err != nil {
		return err
	}
	if err := file.Floats(p.Values); err != nil {
		return err
	}
	return file.Close()
}

func (p *Pairs) writeVectors(w io.Writer, rows []int) error {
	file, err := npy.NewWriter[float64](w, len(rows), len(p.Values))
	if err != nil {
		return err
	}
	for _, i := range rows {
		if err := file.Floats(p.Vectors.Row(i)); err != nil {
			return err
		}
	}
	return file.Close()
}
