package export

import (
	"cmp"
	"io"

	"github.com/parquet-go/parquet-go"
)

// table is a Parquet file that is being written. Its errors are those of what it
// is written to, which the library tells with words about pages before them.
type table struct {
	rows *parquet.GenericWriter[any]
	out  *output
}

// newTable begins a table, of which so many rows are held in memory at once.
func newTable(w io.Writer, name string, fields []parquet.Field, group int64) table {
	out := &output{w: w}
	return table{parquet.NewGenericWriter[any](out, parquet.NewSchema(name, newGroup(fields)),
		parquet.MaxRowsPerRowGroup(group), parquet.CreatedBy("heatwalk", "", "")), out}
}

func (t table) write(rows []parquet.Row) error {
	_, err := t.rows.WriteRows(rows)
	return cmp.Or(t.out.err, err)
}

func (t table) close() error {
	err := t.rows.Close()
	return cmp.Or(t.out.err, err)
}

// output keeps the first error of a writer.
type output struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
