package graphfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/heatwalk/heatwalk/internal/table"
)

var parquetType = fileType{
	name: "Parquet", endings: []string{".parquet", ".pq"}, begins: isParquet, read: readParquet, write: writeParquet, size: edgesBytes,
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }

// edgeTable reads a Parquet file whose rows are edges.
type edgeTable struct {
	*sink
	file     *parquet.File
	content  io.ReaderAt
	size     int64
	taken    int64 // bytes that are kept throughout, or while a row group is read
	unsigned [3]bool
	column   [3]int // the leaf columns of source, target and weight; −1: no weights
	paths    []string
	said     string // what becomes of the columns
	row      int64
}

func readParquet(in *Input, s *sink) (g *Summary, err error) {
	file, size, err := anywhere(in, s)
	if err != nil {
		return nil, err
	}
	t := &edgeTable{sink: s, content: file, size: size}
	if in.File == nil {
		t.taken = size
	}
	defer func() {
		// The library panics over some files that are damaged. What it panics with is
		// of use to nobody but its authors.
		if r := recover(); r != nil {
			g, err = nil, &Error{File: s.name, What: fmt.Sprintf("damaged near row %d", t.row), Fix: fetchAgain}
		}
	}()
	if err := t.footer(); err != nil {
		return nil, err
	}
	t.file, err = parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	if err != nil {
		return nil, &Error{File: s.name, What: fmt.Sprintf("no whole Parquet file (%v)", err), Fix: fetchAgain, Err: err}
	}
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.weighted = t.column[2] >= 0
	if err := t.declare(Declared{Edges: uint64(t.file.NumRows()), Weighted: t.weighted}, false); err != nil {
		return nil, err
	}
	for i, group := range t.file.RowGroups() {
		if err := t.group(group, &t.file.Metadata().RowGroups[i]); err != nil {
			return nil, err
		}
	}
	if t.row != t.file.NumRows() {
		return nil, s.fault(0, fetchAgain, "%d rows, the footer declares %d", t.row, t.file.NumRows())
	}
	return &Summary{Direction: Unstated, Columns: t.said}, nil
}

// footer checks that the file has a footer as long as it says at its end, and
// accounts what it takes: the library allocates that much before it reads.
func (t *edgeTable) footer() error {
	const magic, tail = "PAR1", 8
	var end [tail]byte
	if t.size >= int64(len(magic))+tail {
		if _, err := t.content.ReadAt(end[:], t.size-tail); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || length > t.size-tail-int64(len(magic)) {
		return t.fault(0, fetchAgain, "no whole Parquet file: it does not end in a footer")
	}
	if err := t.hold(t.taken + length); err != nil {
		return err
	}
	footer := make([]byte, length)
	if _, err := t.content.ReadAt(footer, t.size-tail-length); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	bytes, err := footerBytes(footer)
	if err != nil {
		return t.fault(0, fetchAgain, "no whole Parquet file: its footer is damaged")
	}
	t.taken += bytes
	return t.hold(t.taken)
}

// choose settles which columns are read: those that the options name, or those
// that are called as such columns are, or else the first two.
func (t *edgeTable) choose() error {
	schema := t.file.Schema()
	for _, path := range schema.Columns() {
		t.paths = append(t.paths, strings.Join(path, "."))
	}
	c, err := t.edges()
	if err != nil {
		return err
	}
	t.column = [3]int{c.Source, c.Target, c.Weight}
	t.said = c.Describe(t.paths)
	for i, c := range t.column {
		if c < 0 {
			continue
		}
		if !t.oneCodec(c) {
			return t.fault(0, "write it again in one go", "column %s is compressed in several ways, which is not supported", t.paths[c])
		}
		path := schema.Columns()[c] // that of the leaf is only the end of it
		leaf, _ := schema.Lookup(path...)
		if leaf.MaxRepetitionLevel > 0 || len(path) != 1 {
			return t.fault(0, "choose with --fields", "column %s is nested", t.paths[c])
		}
		kind := leaf.Node.Type().Kind()
		good := kind == parquet.Int32 || kind == parquet.Int64
		switch {
		case i < 2:
			good = good || kind == parquet.ByteArray
		default:
			good = good || kind == parquet.Float || kind == parquet.Double || kind == parquet.Boolean
		}
		if l := leaf.Node.Type().LogicalType(); l != nil {
			switch v := l.Value.(type) {
			case *format.StringType, *format.EnumType:
			case *format.IntType:
				t.unsigned[i] = !v.IsSigned
			default: // dates, decimals and the like
				good = false
			}
		}
		if !good {
			what := "integers or text"
			if i == 2 {
				what = "numbers"
			}
			return t.fault(0, "choose with --fields", "column %s holds %s, want %s", t.paths[c], leaf.Node.Type(), what)
		}
	}
	return nil
}

// oneCodec reports whether all row groups have a column under one compression. The
// library decompresses all of them as the first.
func (t *edgeTable) oneCodec(column int) bool {
	groups := t.file.Metadata().RowGroups
	return !slices.ContainsFunc(groups, func(g format.RowGroup) bool {
		return g.Columns[column].MetaData.Codec != groups[0].Columns[column].MetaData.Codec
	})
}

// edges returns the columns of an edge: those that the options name, or those that
// are titled so, or else the only two beside the row numbers of pandas.
func (t *edgeTable) edges() (c table.EdgeColumns, err error) {
	if t.o.Fields != nil {
		columns, err := table.Choose(t.o.Fields, t.paths)
		switch {
		case err != nil:
			_, fix := table.Unnamed(t.paths)
			return c, t.fault(0, fix, "%v", err)
		case slices.Max(columns) >= len(t.paths):
			return c, t.fault(0, "correct --fields", "%s (%s), want %d", counted(len(t.paths), "column"), strings.Join(t.paths, ", "), slices.Max(columns)+1)
		}
		c = table.EdgeColumns{Source: columns[0], Target: columns[1], Weight: -1}
		if len(columns) == 3 {
			c.Weight = columns[2]
		}
		return c, nil
	}
	c, found := table.FindEdges(t.paths)
	if found {
		if c.Weight >= 0 && len(t.file.Schema().Columns()[c.Weight]) > 1 {
			c.Weight = -1 // nested
		}
		return c, nil
	}
	var data []int
	for i, path := range t.paths {
		if !table.IsIndex(path) {
			data = append(data, i)
		}
	}
	switch {
	case len(data) < 2:
		return c, t.fault(0, "write a row for each edge", "%s (%s), want 2 or 3 (source, target, weight)", counted(len(t.paths), "column"), strings.Join(t.paths, ", "))
	case len(data) == 2:
		return table.EdgeColumns{Source: data[0], Target: data[1], Weight: -1}, nil
	case len(data) == 3 && table.IsWeight(t.paths[data[2]]):
		return table.EdgeColumns{Source: data[0], Target: data[1], Weight: data[2]}, nil
	}
	msg, fix := table.Unnamed(t.paths)
	return c, t.fault(0, fix, "%s", msg)
}

// columnReader reads the values of one column of a row group.
type columnReader struct {
	name   string
	pages  parquet.Pages
	page   parquet.Page // that values are of
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

// group reads one row group, its columns beside each other.
func (t *edgeTable) group(group parquet.RowGroup, metadata *format.RowGroup) error {
	chunks := group.ColumnChunks()
	before := t.taken
	defer func() { t.taken = before }()
	var columns [3]*columnReader
	for i, c := range t.column {
		if c < 0 {
			continue
		}
		pages, err := t.chunkBytes(t.paths[c], &metadata.Columns[c].MetaData, metadata.NumRows)
		if err != nil {
			return err
		}
		t.taken += pages
		if err := t.hold(t.taken); err != nil {
			return err
		}
		r := &columnReader{name: t.paths[c], pages: chunks[c].Pages()}
		defer r.pages.Close()
		columns[i] = r
	}
	var text [2][]byte
	for range group.NumRows() {
		var number [2]uint64
		numbers := true
		weight := 1.0
		for i, c := range columns {
			if c == nil {
				continue
			}
			v, err := c.next()
			if err != nil {
				if errors.Is(err, io.EOF) {
					return t.fault(0, fetchAgain, "column %s ends at row %d of %d", c.name, t.row, t.file.NumRows())
				}
				return &Error{File: t.name, What: fmt.Sprintf("column %s is damaged near row %d (%v)", c.name, t.row, err), Fix: fetchAgain, Err: err}
			}
			if v.IsNull() {
				return t.fault(0, "leave such rows out", "row %d: %s is null", t.row, c.name)
			}
			if i == 2 {
				var wrong string
				weight, wrong = numberOf(v, t.unsigned[i])
				if v.Kind() == parquet.Int64 && !isExact(v.Uint64()) {
					t.round(fmt.Sprintf(": row %d", t.row))
				}
				if wrong != "" {
					return t.fault(0, "leave such rows out, or take absolute values", "row %d: weight %v %s", t.row, v, wrong)
				}
				continue
			}
			if v.Kind() == parquet.ByteArray && len(v.ByteArray()) > maxWord {
				return t.fault(0, "correct it", "row %d: %s is longer than 1 MiB", t.row, c.name)
			}
			isText := false
			if text[i], number[i], isText = idOf(text[i][:0], v, t.unsigned[i]); isText {
				numbers = false
				id, wrong := cleanID(text[i])
				if wrong != "" {
					return t.fault(0, "correct it", "row %d: %s %s %s", t.row, c.name, quote(text[i]), wrong)
				}
				text[i] = append(text[i][:0], id...)
			}
		}
		t.row++
		var err error
		if numbers {
			err = t.numbers(number[0], number[1], weight)
		} else {
			err = t.texts(text[0], text[1], weight)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numberOf returns the weight that a value is.
func numberOf(v parquet.Value, unsigned bool) (w float64, wrong string) {
	switch v.Kind() {
	case parquet.Int32:
		if w = float64(v.Int32()); unsigned {
			w = float64(v.Uint32())
		}
	case parquet.Int64:
		if w = float64(v.Int64()); unsigned {
			w = float64(v.Uint64())
		}
	case parquet.Float:
		w = float64(v.Float())
	case parquet.Double:
		w = v.Double()
	case parquet.Boolean:
		if v.Boolean() {
			w = 1
		}
	}
	return w + 0, weightFault(w)
}

// idOf returns the id that a value is: as text, and as a number unless isText.
func idOf(text []byte, v parquet.Value, unsigned bool) (id []byte, number uint64, isText bool) {
	switch v.Kind() {
	case parquet.Int32:
		number = uint64(v.Int32())
		if unsigned {
			number = uint64(uint32(number))
		}
	case parquet.Int64:
		number = v.Uint64()
	default:
		return append(text, v.ByteArray()...), 0, true
	}
	if !unsigned && int64(number) < 0 {
		return strconv.AppendInt(text, int64(number), 10), 0, true
	}
	return strconv.AppendUint(text, number, 10), number, false
}

// groupRows is how many rows are in a group, which is held in memory while it is
// written.
const groupRows = 1 << 18

// parquetBytes returns what writing a table holds beside the graph.
func parquetBytes(g *Graph) int64 {
	const (
		most = 6 << 20 // of a column of a group, and what packs it
		row  = 32      // of a row's place in a column, where there are few
	)
	column := min(most, row*g.edges())
	if g.Weighted {
		return 2*column + column/2 // numbers take less than ids
	}
	return 2 * column
}

// writeParquet writes a table with the columns source, target and, if g has weights,
// weight: integers of 64 bits if all ids are numbers, else text, and doubles.
func writeParquet(ctx context.Context, w io.Writer, g *Graph) (without int, err error) {
	ids := table.Strings
	if g.Numeric {
		ids = table.Integers
	}
	columns := []table.Column{{Name: "source", Kind: ids}, {Name: "target", Kind: ids}, {Name: "weight", Kind: table.Doubles}}
	if !g.Weighted {
		columns = columns[:2]
	}
	out := table.NewParquet(w, "edges", columns, groupRows)
	without, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		for _, id := range [][]byte{source, target} {
			if !g.Numeric {
				out.String(id)
				continue
			}
			n, err := strconv.ParseInt(string(id), 10, 64)
			if err != nil {
				return err
			}
			out.Integer(n)
		}
		if g.Weighted {
			out.Double(weight)
		}
		return out.EndRow()
	})
	if err != nil {
		return 0, err
	}
	return without, out.Close()
}
