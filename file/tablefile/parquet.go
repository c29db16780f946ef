package tablefile

import (
	"io"
	"math"

	"github.com/heatwalk/heatwalk/file/typed"
)

// groupRows is the number of rows of a Parquet row group, which the writer keeps in memory
// until it is complete.
const groupRows = 1 << 16

// newParquet returns a writer of predictions in the Parquet format.
func newParquet(w io.Writer, _ string, c *Columns) rowFile[*Prediction] {
	var fields []typed.Column
	columns := c.list()
	for _, f := range columns {
		fields = append(fields,
			typed.Column{Name: f.Title, Kind: f.kind(), Optional: f.Optional})
	}
	out, err := typed.Create(w, "predictions", fields, groupRows)
	if err != nil {
		fail := func() error { return err }
		return rowFile[*Prediction]{close: fail, write: func(*Prediction) error { return err }}
	}
	return rowFile[*Prediction]{close: out.Close, write: func(p *Prediction) error {
		for i := range columns {
			putValue(out, &columns[i], p)
		}
		return out.EndRow()
	}}
}

// kind returns the type of the values of a column.
func (c *Column[R]) kind() typed.Kind {
	switch {
	case c.Truth != nil:
		return typed.Truths
	case c.Whole != nil:
		return typed.Integers
	case c.Number != nil:
		return typed.Doubles
	}
	return typed.Strings
}

// putValue adds the value of a column to a row.
func putValue[R any](out typed.Writer, c *Column[R], row R) {
	switch c.kind() {
	case typed.Truths:
		out.Truth(c.Truth(row))
	case typed.Integers:
		out.Integer(int64(c.Whole(row)))
	case typed.Doubles:
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
