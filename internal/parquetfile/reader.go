package parquetfile

import (
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// Magic is how a file begins and ends, and Endings are those of its name.
const Magic = "PAR1"

var Endings = []string{".parquet", ".pq"}

// fetchAgain is the remedy for a file that was cut or damaged.
const fetchAgain = "fetch the file again"

// maxWord bounds the bytes of one value.
const maxWord = 1 << 20

// Reader reads columns of a Parquet file row by row. The sizes that the footer declares are
// compared with the memory that the caller allows, before the library reads the pages.
type Reader struct {
	Titles   []string // of the leaf columns, with dots between the levels of nested ones
	Unsigned []bool   // whether they hold integers without a sign

	name  string
	file  *parquet.File
	hold  func(bytes int64) error
	taken int64 // bytes in memory
	row   int64
}

// Open opens the file called name with size bytes of content. taken is the memory in use for
// it already. Open and Each call hold with the total memory before they allocate it, and return
// its error. Other errors are those of content and a [*textio.Error].
func Open(name string, content io.ReaderAt, size, taken int64, hold func(bytes int64) error) (t *Reader, err error) {
	t = &Reader{name: name, taken: taken, hold: hold}
	defer t.recovered(&err)
	if err := t.footer(content, size); err != nil {
		return nil, err
	}
	t.file, err = parquet.OpenFile(content, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	if err != nil {
		return nil, t.fault(fetchAgain, "no whole Parquet file (%w)", err)
	}
	for _, path := range t.file.Schema().Columns() {
		leaf, _ := t.file.Schema().Lookup(path...)
		integer, _ := logical(leaf).(*format.IntType)
		t.Titles, t.Unsigned = append(t.Titles, strings.Join(path, ".")), append(t.Unsigned, integer != nil && !integer.IsSigned)
	}
	return t, nil
}

// fault returns an error about the file.
func (t *Reader) fault(fix, format string, args ...any) error {
	return textio.Fault(t.name, 0, fix, format, args...)
}

// recovered turns a panic into an error, because the library panics over some damaged files.
func (t *Reader) recovered(err *error) {
	if r := recover(); r != nil {
		*err = t.fault(fetchAgain, "damaged near row %d", t.row)
	}
}

// Rows returns how many rows the footer declares.
func (t *Reader) Rows() int64 { return t.file.NumRows() }

// Leaf returns a column, and whether its values are single ones: not nested or repeated.
func (t *Reader) Leaf(column int) (leaf parquet.LeafColumn, flat bool) {
	path := t.file.Schema().Columns()[column] // that of the leaf is only the end of it
	leaf, _ = t.file.Schema().Lookup(path...)
	return leaf, leaf.MaxRepetitionLevel == 0 && len(path) == 1
}

// logical returns the logical type of a column, nil if it has none.
func logical(leaf parquet.LeafColumn) any {
	if l := leaf.Node.Type().LogicalType(); l != nil {
		return l.Value
	}
	return nil
}

// Each calls use with the values of the given columns in each row, which are valid until
// it returns; column −1 is skipped. Columns must be flat. The errors are those of use
// and of [Open].
func (t *Reader) Each(columns []int, use func(row int64, values []parquet.Value) error) (err error) {
	defer t.recovered(&err)
	t.row = 0
	for _, c := range columns {
		if c >= 0 && !t.oneCodec(c) {
			return t.fault("write it again in one go", "column %s is compressed in several ways, which is not supported", t.Titles[c])
		}
	}
	values := make([]parquet.Value, len(columns))
	for i, group := range t.file.RowGroups() {
		if err := t.group(group, &t.file.Metadata().RowGroups[i], columns, values, use); err != nil {
			return err
		}
	}
	if t.row != t.file.NumRows() {
		return t.fault(fetchAgain, "%d rows, the footer declares %d", t.row, t.file.NumRows())
	}
	return nil
}

// positionBytes is the memory of a value's place in a dictionary.
const positionBytes = 4

// group reads one row group, its columns side by side. Its memory is at most that of the
// columns' unpacked pages, with a place in the dictionary for each value.
func (t *Reader) group(group parquet.RowGroup, metadata *format.RowGroup, columns []int, values []parquet.Value, use func(int64, []parquet.Value) error) error {
	chunks := group.ColumnChunks()
	before := t.taken
	defer func() { t.taken = before }()
	readers := make([]*columnReader, len(columns))
	for i, c := range columns {
		if c < 0 {
			continue
		}
		t.taken += metadata.Columns[c].MetaData.TotalUncompressedSize + positionBytes*metadata.NumRows
		if err := t.hold(t.taken); err != nil {
			return err
		}
		readers[i] = &columnReader{pages: chunks[c].Pages()}
		defer readers[i].pages.Close()
	}
	for range group.NumRows() {
		for i, r := range readers {
			if r == nil {
				continue
			}
			var err error
			name := t.Titles[columns[i]]
			switch values[i], err = r.next(); {
			case errors.Is(err, io.EOF):
				return t.fault(fetchAgain, "column %s ends at row %d of %d", name, t.row, t.file.NumRows())
			case err != nil:
				return t.fault(fetchAgain, "column %s is damaged near row %d (%w)", name, t.row, err)
			case values[i].Kind() == parquet.ByteArray && len(values[i].ByteArray()) > maxWord:
				return t.fault("correct it", "row %d: %s is longer than 1 MiB", t.row, name)
			}
		}
		if err := use(t.row, values); err != nil {
			return err
		}
		t.row++
	}
	return nil
}

// Scale returns the number of digits behind the point of a column of decimals, and whether
// it is one. A decimal is stored as an integer, which is its value times 10 to the scale.
func (t *Reader) Scale(column int) (digits int, isDecimal bool) {
	leaf, flat := t.Leaf(column)
	decimal, isDecimal := logical(leaf).(*format.DecimalType)
	if !isDecimal || !flat || leaf.Node.Type().Kind() == parquet.Int96 {
		return 0, false
	}
	return int(decimal.Scale), decimal.Scale >= 0
}

// IsText reports whether values of a column can be written as one word: text, numbers,
// decimals and truths, but no dates and the like.
func (t *Reader) IsText(column int) bool {
	leaf, flat := t.Leaf(column)
	if _, isDecimal := t.Scale(column); isDecimal {
		return true
	}
	switch logical(leaf).(type) {
	case nil, *format.StringType, *format.EnumType, *format.IntType:
		kind := leaf.Node.Type().Kind()
		return flat && kind != parquet.Int96 && kind != parquet.FixedLenByteArray
	}
	return false
}

// AppendText appends the text of a value of such a column, nothing if it is missing. Whole numbers among floating-point ones are written without a point: pandas
// makes these of integers as soon as one of them is missing.
func (t *Reader) AppendText(dst []byte, column int, v parquet.Value) []byte {
	unsigned := t.Unsigned[column]
	if scale, isDecimal := t.Scale(column); isDecimal && !v.IsNull() {
		return appendDecimal(dst, v, scale)
	}
	switch {
	case v.IsNull():
		return dst
	case v.Kind() == parquet.Boolean:
		return strconv.AppendBool(dst, v.Boolean())
	case v.Kind() == parquet.Int32 && unsigned:
		return strconv.AppendUint(dst, uint64(v.Uint32()), 10)
	case v.Kind() == parquet.Int32:
		return strconv.AppendInt(dst, int64(v.Int32()), 10)
	case v.Kind() == parquet.Int64 && unsigned:
		return strconv.AppendUint(dst, v.Uint64(), 10)
	case v.Kind() == parquet.Int64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case v.Kind() == parquet.Float:
		return strconv.AppendFloat(dst, float64(v.Float()), 'f', -1, 32)
	case v.Kind() == parquet.Double:
		return strconv.AppendFloat(dst, v.Double(), 'f', -1, 64)
	}
	return append(dst, v.ByteArray()...)
}

// appendDecimal appends a decimal without zeros at the end of its fraction.
func appendDecimal(dst []byte, v parquet.Value, scale int) []byte {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default: // two's complement, the highest byte first
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

// footer checks that the file ends in a footer as long as it says, and accounts for its
// memory, about four times its length.
func (t *Reader) footer(content io.ReaderAt, size int64) error {
	const tail = 8
	var end [tail]byte
	if size >= int64(len(Magic))+tail {
		if _, err := content.ReadAt(end[:], size-tail); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != Magic || length > size-tail-int64(len(Magic)) {
		return t.fault(fetchAgain, "no whole Parquet file: it does not end in a footer")
	}
	t.taken += 4 * length
	return t.hold(t.taken)
}

// oneCodec reports whether all row groups have a column under one compression. The
// library decompresses all of them as the first.
func (t *Reader) oneCodec(column int) bool {
	groups := t.file.Metadata().RowGroups
	return !slices.ContainsFunc(groups, func(g format.RowGroup) bool {
		return g.Columns[column].MetaData.Codec != groups[0].Columns[column].MetaData.Codec
	})
}

// columnReader reads the values of one column of a row group.
type columnReader struct {
	pages  parquet.Pages
	page   parquet.Page // the page of which values are read
	values parquet.ValueReader
	buf    [1 << 10]parquet.Value
	at, n  int
}

// next returns the next value; io.EOF behind the last one.
func (c *columnReader) next() (parquet.Value, error) {
	for c.at == c.n {
		if c.values == nil {
			parquet.Release(c.page) // nothing in buf is read any more
			var err error
			if c.page, err = c.pages.ReadPage(); err != nil {
				return parquet.Value{}, err
			}
			c.values = c.page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.at, c.n = 0, n
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
	}
	c.at++
	return c.buf[c.at-1], nil
}
