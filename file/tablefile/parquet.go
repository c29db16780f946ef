package tablefile

import (
	"io"
	"math"

	"github.com/heatwalk/heatwalk/file/parquetfile"
)

// groupRows is the number of rows of a Parquet row group, which the writer keeps in memory
// until it is complete.
const groupRows = 1 << 16

// newParquet returns a writer of predictions in the Parquet format.
func newParquet(w io.Writer, _ string, c *Columns) rowFile[*Prediction] {
	var fields []parquetfile.Column
	columns := c.list()
	for _, f := range columns {
		fields = append(fields,
			parquetfile.Column{Name: f.Title, Kind: f.kind(), Optional: f.Optional})
	}
	out := parquetfile.NewWriter(w, "predictions", fields, groupRows)
	return rowFile[*Prediction]{close: out.Close, write: func(p *Prediction) error {
		for i := range columns {
			putValue(out, &columns[i], p)
		}
		return out.EndRow()
	}}
}

// kind returns the type of the values of a column.
func (c *Column[R]) kind() parquetfile.Kind {
	switch {
	case c.Truth != nil:
		return parquetfile.Truths
	case c.Whole != nil:
		return parquetfile.Integers
	case c.Number != nil:
		return parquetfile.Doubles
	}
	return parquetfile.Strings
}

// putValue adds the value of a column to a row.
func putValue[R any](out *parquetfile.Writer, c *Column[R], row R) {
	switch c.kind() {
	case parquetfile.Truths:
		out.Truth(c.Truth(row))
	case parquetfile.Integers:
		out.Integer(int64(c.Whole(row)))
	case parquetfile.Doubles:
		x := c.Number(row)
		if c.Optional && math.IsNaN(x) {
			out.Null()
		} else {
			out.Double(x)
		}
	default:
		text := c.Text(row)
		if c.Optional && text == "" {
			out.Null()
		} else {
			out.String([]byte(text))
		}
	}
}
