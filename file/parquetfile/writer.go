package parquetfile

import (
	"cmp"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/heatwalk/heatwalk/file/table"
)

func node(c *table.ParquetColumn, codec compress.Codec) parquet.Field {
	field := [...]parquet.Node{parquet.String(), parquet.Leaf(parquet.Int64Type),
		parquet.Leaf(parquet.DoubleType), parquet.Leaf(parquet.BooleanType)}[c.Kind]
	if c.Optional {
		field = parquet.Optional(field)
	}
	return parquet.Group{c.Name: parquet.Compressed(field, codec)}.Fields()[0]
}

// schema keeps the order of columns, whereas a parquet.Group sorts them by name.
type schema struct {
	parquet.Group
	fields []parquet.Field
}

func (s schema) Fields() []parquet.Field { return s.fields }

type writer struct {
	rows    *parquet.GenericWriter[any]
	out     *output
	columns []table.ParquetColumn
	batch   []parquet.Row
	values  []parquet.Value // values of the batch, then of the incomplete row
	text    []byte
	begun   int // values of the batch
}

const batchRows = 1 << 10

func create(w io.Writer, name string, columns []table.ParquetColumn, group int64) table.ParquetWriter {
	encoder, _ := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20),
		zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true),
		zstd.WithEncoderCRC(false))
	pages := zstdPages{&parquet.Zstd, encoder}
	s := schema{Group: parquet.Group{}}
	for i := range columns {
		field := node(&columns[i], pages)
		s.fields = append(s.fields, field)
		s.Group[columns[i].Name] = field
	}
	out := &output{w: w}
	return &writer{
		rows: parquet.NewGenericWriter[any](out, parquet.NewSchema(name, s),
			parquet.MaxRowsPerRowGroup(group),
			parquet.CreatedBy("heatwalk", "", "")),
		out: out, columns: columns,
	}
}

func (p *writer) add(v parquet.Value) {
	column := len(p.values) - p.begun
	defined := 0
	if p.columns[column].Optional && !v.IsNull() {
		defined = 1
	}
	p.values = append(p.values, v.Level(0, defined, column))
}

func (p *writer) String(text []byte) {
	start := len(p.text)
	p.text = append(p.text, text...)
	p.add(parquet.ByteArrayValue(p.text[start:]))
}

func (p *writer) Integer(n int64) { p.add(parquet.Int64Value(n)) }

func (p *writer) Double(x float64) {
	p.add(parquet.DoubleValue(x))
}

func (p *writer) Truth(value bool) {
	p.add(parquet.BooleanValue(value))
}

func (p *writer) Null() { p.add(parquet.NullValue()) }

// EndRow ends a row, which must have a value for every column.
func (p *writer) EndRow() error {
	p.batch = append(p.batch, p.values[p.begun:len(p.values):len(p.values)])
	p.begun = len(p.values)
	if len(p.batch) < batchRows {
		return nil
	}
	return p.flush()
}

func (p *writer) flush() error {
	_, err := p.rows.WriteRows(p.batch)
	p.batch = p.batch[:0]
	p.values = p.values[:0]
	p.text = p.text[:0]
	p.begun = 0
	return cmp.Or(p.out.err, err)
}

// Close writes the buffered rows and the footer. It does not close the underlying writer.
func (p *writer) Close() error {
	if err := p.flush(); err != nil {
		return err
	}
	err := p.rows.Close()
	return cmp.Or(p.out.err, err)
}

// output keeps the first error, because the library wraps it in text about pages.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// zstdPages compresses pages with one encoder, whose window is slightly larger than a page. Each encoder of
// parquet.Zstd needs 16 MiB, again after each garbage collection.
type zstdPages struct {
	compress.Codec
	encoder *zstd.Encoder
}

func (z zstdPages) Encode(dst, page []byte) ([]byte, error) {
	return z.encoder.EncodeAll(page, dst[:0]), nil
}
