package tablefile

import (
	"io"
	"math"

	"github.com/heatwalk/heatwalk/file/table"
)

// groupRows is the number of rows of a Parquet row group, which is kept in memory.
const groupRows = 1 << 16

func newParquet(w io.Writer, _ string, c *Columns) rowFile[*Prediction] {
	var fields []table.ParquetColumn
	columns := c.list()
	for _, f := range columns {
		fields = append(fields,
			table.ParquetColumn{Name: f.Title, Kind: f.kind(), Optional: f.Optional})
	}
	out, err := table.CreateParquet(w, "predictions", fields, groupRows)
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

func (c *Column[R]) kind() table.ParquetKind {
	switch {
	case c.Truth != nil:
		return table.ParquetTruths
	case c.Whole != nil:
		return table.ParquetIntegers
	case c.Number != nil:
		return table.ParquetDoubles
	}
	return table.ParquetStrings
}

func putValue[R any](out table.ParquetWriter, c *Column[R], row R) {
	switch c.kind() {
	case table.ParquetTruths:
		out.Truth(c.Truth(row))
	case table.ParquetIntegers:
		out.Integer(int64(c.Whole(row)))
	case table.ParquetDoubles:
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
