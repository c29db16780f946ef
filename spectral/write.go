package spectral

import (
	"io"

	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/tablefile"
)

// Files are where eigenpairs are written: arrays of NumPy with the vectors, a row for each
// node, and the values, and the ids of the nodes one a line; or, where Values is nil, one
// archive with the arrays vectors, values and rows in Vectors.
type Files struct{ Vectors, Values, IDs io.Writer }

// Write writes the pairs, of the given rows in this order, whose ids are those of the axis.
func (p *Pairs) Write(to Files, rows []int, ids tablefile.Axis) error {
	if to.Values != nil {
		if err := tablefile.WriteIDs(to.IDs, ids.IDs()); err != nil {
			return err
		}
		if err := p.writeValues(to.Values); err != nil {
			return err
		}
		return p.writeVectors(to.Vectors, rows)
	}
	archive := npy.NewArchive(to.Vectors)
	if err := archive.Strings("rows", ids.N, ids.ID); err != nil {
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
