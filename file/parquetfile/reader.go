package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

func init() { table.RegisterParquet(&table.ParquetFormat{Open: open, Create: create}) }

const fetchAgain = "fetch the file again"

// maxWord limits the bytes of a value.
const maxWord = 1 << 20

// reader reads columns of a Parquet file row by row. Before the library reads pages, it compares the sizes in the
// footer with the memory that the caller allows.
type reader struct {
	name    string
	file    *parquet.File
	columns []column
	hold    func(bytes int64) error
	used    int64
	row     int64
}

type column struct {
	table.ParquetLeaf
	isDecimal  bool
	scale      int // scale of a decimal: 1.50 with the scale 2 is stored as 150
	isUnsigned bool
	logical    any // logical type; nil: the type of the values
}

func open(name string, content io.ReaderAt, size, used int64,
	hold func(bytes int64) error) (_ table.ParquetReader, err error) {
	t := &reader{name: name, used: used, hold: hold}
	defer t.convertPanic(&err)
	if err := t.footer(content, size); err != nil {
		return nil, err
	}
	t.file, err = parquet.OpenFile(content, size, parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	if err != nil {
		return nil, t.fault(fetchAgain, "not a complete Parquet file (%w)", err)
	}
	for _, path := range t.file.Schema().Columns() { // a path is whole, but a leaf has only its last part
		leaf, _ := t.file.Schema().Lookup(path...)
		t.columns = append(t.columns, newColumn(leaf, path))
	}
	return t, nil
}

func newColumn(leaf parquet.LeafColumn, path []string) (c column) {
	of := leaf.Node.Type()
	kind := of.Kind()
	c.Title = strings.Join(path, ".")
	c.Type = of.String()
	c.IsFlat = leaf.MaxRepetitionLevel == 0 && len(path) == 1
	if l := of.LogicalType(); l != nil {
		c.logical = l.Value
	}
	switch logical := c.logical.(type) {
	case *format.DecimalType:
		c.isDecimal = c.IsFlat && kind != parquet.Int96 && logical.Scale >= 0
		c.IsText = c.isDecimal
		c.scale = int(logical.Scale)
	case *format.UUIDType:
		c.IsText = c.IsFlat
	case nil, *format.StringType, *format.EnumType, *format.IntType:
		integer, isInteger := logical.(*format.IntType)
		c.isUnsigned = isInteger && !integer.IsSigned
		c.IsText = c.IsFlat && kind != parquet.Int96 && kind != parquet.FixedLenByteArray
	}
	return c
}

func (t *reader) fault(fix, format string, args ...any) error {
	return textio.Fault(t.name, 0, fix, format, args...)
}

// convertPanic converts a panic of the library, as some damaged files cause, to an error.
func (t *reader) convertPanic(err *error) {
	if r := recover(); r != nil {
		*err = t.fault(fetchAgain, "damaged near row %d", t.row)
	}
}

func (t *reader) Leaves() []table.ParquetLeaf {
	leaves := make([]table.ParquetLeaf, len(t.columns))
	for i, c := range t.columns {
		leaves[i] = c.ParquetLeaf
	}
	return leaves
}

func (t *reader) Each(columns []int,
	use func(number int64, row table.ParquetRow) error) (err error) {
	defer t.convertPanic(&err)
	t.row = 0
	groups := t.file.Metadata().RowGroups
	for _, c := range columns {
		if c < 0 || len(groups) == 0 {
			continue
		}
		codec := groups[0].Columns[c].MetaData.Codec
		if codec == format.Lz4 || codec == format.LZO {
			return t.fault("write it with zstd or LZ4_RAW",
				"column %s is compressed with %s, which is not read",
				t.columns[c].Title, codec)
		}
		// The library decompresses all row groups with the codec of the first row group.
		if slices.ContainsFunc(groups,
			func(g format.RowGroup) bool { return g.Columns[c].MetaData.Codec != codec }) {
			return t.fault("write it again with one codec",
				"column %s has several compression codecs, which is not supported",
				t.columns[c].Title)
		}
	}
	values := &row{columns: make([]*column, len(columns)), values: make([]parquet.Value, len(columns))}
	for i, c := range columns {
		if c >= 0 {
			values.columns[i] = &t.columns[c]
		}
	}
	for i, group := range t.file.RowGroups() {
		err := t.group(group, &groups[i], columns, values, use)
		if errors.Is(err, table.ErrEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if t.row != t.file.NumRows() {
		return t.fault(fetchAgain, "%d rows, the footer declares %d", t.row,
			t.file.NumRows())
	}
	return nil
}

// positionBytes is the memory of the dictionary index of a value.
const positionBytes = 4

// group reads columns of a row group in parallel, in at most the memory of their uncompressed pages and of a
// dictionary index for each value.
func (t *reader) group(group parquet.RowGroup, metadata *format.RowGroup,
	columns []int, row *row,
	use func(int64, table.ParquetRow) error) error {
	chunks := group.ColumnChunks()
	previous := t.used
	defer func() { t.used = previous }()
	readers := make([]*columnReader, len(columns))
	for i, c := range columns {
		if c < 0 {
			continue
		}
		t.used += metadata.Columns[c].MetaData.TotalUncompressedSize +
			positionBytes*metadata.NumRows
		if err := t.hold(t.used); err != nil {
			return err
		}
		readers[i] = &columnReader{pages: chunks[c].Pages()}
		defer readers[i].pages.Close()
	}
	values := row.values
	for range group.NumRows() {
		for i, r := range readers {
			if r == nil {
				continue
			}
			var err error
			name := t.columns[columns[i]].Title
			switch values[i], err = r.next(); {
			case errors.Is(err, io.EOF):
				return t.fault(fetchAgain, "column %s ends at row %d of %d", name,
					t.row, t.file.NumRows())
			case err != nil:
				return t.fault(fetchAgain, "column %s is damaged near row %d (%w)",
					name, t.row, err)
			case values[i].Kind() == parquet.ByteArray &&
				len(values[i].ByteArray()) > maxWord:
				return t.fault("correct it", "row %d: %s is longer than 1 MiB",
					t.row, name)
			}
		}
		if err := use(t.row, row); err != nil {
			return err
		}
		t.row++
	}
	return nil
}

type row struct {
	columns []*column
	values  []parquet.Value
}

var epoch = time.Unix(0, 0).UTC()

// AppendText implements [table.ParquetRow]. Integral floating-point numbers have no decimal point, because pandas
// stores a column of integers as floats if a value is missing.
func (r *row) AppendText(dst []byte, i int) []byte {
	c := r.columns[i]
	v := r.values[i]
	if v.IsNull() {
		return dst
	}
	if c.isDecimal {
		return appendDecimal(dst, v, c.scale)
	}
	switch kind := c.logical.(type) {
	case nil, *format.StringType:
	case *format.UUIDType:
		if id := v.ByteArray(); len(id) == 16 {
			return fmt.Appendf(dst, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8],
				id[8:10], id[10:])
		}
	case *format.DateType:
		return epoch.AddDate(0, 0, int(v.Int32())).AppendFormat(dst, time.DateOnly)
	case *format.TimestampType:
		return epoch.Add(time.Duration(v.Int64())*kind.Unit.Value.Duration()).AppendFormat(dst, time.DateTime)
	case *format.TimeType:
		count, _ := c.integer(v)
		return epoch.Add(time.Duration(count)*kind.Unit.Value.Duration()).AppendFormat(dst, time.TimeOnly)
	}
	switch {
	case v.Kind() == parquet.Double && math.IsNaN(v.Double()):
		return dst
	case v.Kind() == parquet.Int96: // Int96 is nanoseconds and a Julian day
		const julian = 2440588 // Julian day of 1970-01-01
		return epoch.AddDate(0, 0, int(v.Int96()[2])-julian).AppendFormat(dst,
			time.DateOnly)
	case v.Kind() == parquet.Boolean:
		return strconv.AppendBool(dst, v.Boolean())
	case v.Kind() == parquet.Int32, v.Kind() == parquet.Int64:
		bits, isNegative := c.integer(v)
		if isNegative {
			return strconv.AppendInt(dst, int64(bits), 10)
		}
		return strconv.AppendUint(dst, bits, 10)
	case v.Kind() == parquet.Float:
		return strconv.AppendFloat(dst, float64(v.Float()), 'f', -1, 32)
	case v.Kind() == parquet.Double:
		return strconv.AppendFloat(dst, v.Double(), 'f', -1, 64)
	}
	return append(dst, v.ByteArray()...)
}

func (c *column) integer(v parquet.Value) (bits uint64, isNegative bool) {
	bits = v.Uint64()
	if v.Kind() == parquet.Int32 { // the upper half of a dictionary's value is empty
		bits = uint64(v.Uint32())
		if !c.isUnsigned {
			bits = uint64(int64(v.Int32()))
		}
	}
	return bits, !c.isUnsigned && int64(bits) < 0
}

// appendDecimal appends a decimal number without trailing zeros of the fraction.
func appendDecimal(dst []byte, v parquet.Value, scale int) []byte {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default: // bytes are two's complement, big-endian
		bytes := v.ByteArray()
		if n.SetBytes(bytes); len(bytes) > 0 && bytes[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
		}
	}
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := n.Abs(n).String()
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	point := len(digits) - scale
	dst = append(dst, digits[:point]...)
	if fraction := strings.TrimRight(digits[point:], "0"); fraction != "" {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst
}

// footer checks the footer, and adds its memory, about four times its length, to the memory in use.
func (t *reader) footer(content io.ReaderAt, size int64) error {
	const tail = 8
	var end [tail]byte
	if size >= int64(len(table.ParquetMagic))+tail {
		if _, err := content.ReadAt(end[:], size-tail); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != table.ParquetMagic || length > size-tail-int64(len(table.ParquetMagic)) {
		return t.fault(fetchAgain,
			"not a complete Parquet file: it does not end in a footer")
	}
	t.used += 4 * length
	return t.hold(t.used)
}

type columnReader struct {
	pages       parquet.Pages
	page        parquet.Page
	values      parquet.ValueReader
	buf         [1 << 10]parquet.Value
	position, n int
}

// next returns the next value, or io.EOF after the last one.
func (c *columnReader) next() (parquet.Value, error) {
	for c.position == c.n {
		if c.values == nil {
			parquet.Release(c.page) // all values in buf have been read
			var err error
			if c.page, err = c.pages.ReadPage(); err != nil {
				return parquet.Value{}, err
			}
			c.values = c.page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.position = 0
		c.n = n
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
	}
	c.position++
	return c.buf[c.position-1], nil
}
