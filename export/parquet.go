package export

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is the number of rows of a Parquet row group, which is what is held
// in memory.
const rowGroup = 1 << 16

type parquetFile struct {
	table   table
	columns Columns
	scores  int // columns of scores
	batch   []parquet.Row
	order   []int
}

// Parquet returns a file of predictions in the Parquet format with the columns
// of the TSV form, in their order: node (string), label (string, null: none),
// reached (boolean), scores (double, null: none).
func Parquet(w io.Writer, c Columns) Predictions {
	text, number := parquet.String(), parquet.Leaf(parquet.DoubleType)
	pages := newZstdPages()
	var fields []parquet.Field
	for i, name := range c.header() {
		node := parquet.Optional(number)
		switch {
		case i == 0:
			node = text
		case i == 1:
			node = parquet.Optional(text)
		case i == 2:
			node = parquet.Leaf(parquet.BooleanType)
		case c.Top > 0 && i%2 == 1:
			node = parquet.Optional(text)
		}
		one := parquet.Group{name: parquet.Compressed(node, pages)}
		fields = append(fields, one.Fields()[0])
	}
	return &parquetFile{
		table:   newTable(w, "predictions", fields, rowGroup),
		columns: c,
		scores:  len(fields) - len(fixedColumns),
	}
}

// group is a schema whose columns stay in the order given; a parquet.Group
// sorts them by name.
type group struct {
	parquet.Group
	fields []parquet.Field
}

func newGroup(fields []parquet.Field) group {
	g := group{parquet.Group{}, fields}
	for _, f := range fields {
		g.Group[f.Name()] = f
	}
	return g
}

// Fields returns the columns in the order in which they are written.
func (g group) Fields() []parquet.Field { return g.fields }

// Write implements [Predictions].
func (p *parquetFile) Write(pr *Prediction) error {
	var row parquet.Row
	if n := len(p.batch); n < cap(p.batch) {
		row = p.batch[:n+1][n][:0] // the values of an earlier batch
	}
	add := func(v parquet.Value, defined int) { row = append(row, v.Level(0, defined, len(row))) }
	none := parquet.NullValue()
	add(parquet.ByteArrayValue([]byte(pr.Node)), 0)
	if pr.Label == "" {
		add(none, 0)
	} else {
		add(parquet.ByteArrayValue([]byte(pr.Label)), 1)
	}
	add(parquet.BooleanValue(pr.Reached), 0)
	switch {
	case pr.Scores == nil:
		for range p.scores {
			add(none, 0)
		}
	case p.columns.Top > 0:
		p.order = p.columns.best(p.order, pr.Scores)
		for _, class := range p.order {
			add(parquet.ByteArrayValue([]byte(p.columns.Classes[class])), 1)
			add(parquet.DoubleValue(pr.Scores[class]), 1)
		}
	case p.columns.Top == 0:
		for _, s := range pr.Scores {
			add(parquet.DoubleValue(s), 1)
		}
	}
	p.batch = append(p.batch, row)
	if len(p.batch) < 512 {
		return nil
	}
	return p.flush()
}

func (p *parquetFile) flush() error {
	err := p.table.write(p.batch)
	p.batch = p.batch[:0]
	return err
}

// Close implements [Predictions].
func (p *parquetFile) Close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.table.close()
}
