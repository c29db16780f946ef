package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/parquetfile"
	"github.com/heatwalk/heatwalk/internal/table"
)

// Parquet is a table of edges.
var Parquet = &Format{
	Name: "parquet", Title: "Parquet", Endings: parquetfile.Endings, Begins: isParquet, Read: reading(readParquet), Table: true, Kinds: true,
	EdgesOnly: true, Sweeps: 1, write: writeParquet, size: edgesBytes, held: parquetBytes,
}

func isParquet(head []byte) bool { return bytes.HasPrefix(head, []byte(parquetfile.Magic)) }

// edgeTable reads a Parquet file whose rows are edges.
type edgeTable struct {
	out    *batchWriter
	file   *parquetfile.Reader
	column [4]int // the leaf columns of source, target, weight and kind; −1: none
	report input.Columns

	text      [2][]byte // of a row's ids
	isDecimal [4]bool   // of the columns
	decimal   []byte    // text of a weight or a kind
}

func readParquet(s *batchWriter) (*Summary, error) {
	content, size, err := s.anywhere()
	if err != nil {
		return nil, err
	}
	var held int64
	if s.File == nil {
		held = size
	}
	t := &edgeTable{out: s}
	if t.file, err = parquetfile.Open(s.Name, content, size, held, s.hold); err != nil {
		return nil, err
	}
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.out.weighted = t.column[2] >= 0
	if err := t.out.declare(&Summary{Edges: uint64(t.file.Rows()), Weighted: t.out.weighted}, false); err != nil {
		return nil, err
	}
	if err := t.file.Each(t.column[:], t.edge); err != nil {
		return nil, err
	}
	return &Summary{Direction: Unstated, Columns: t.report}, nil
}

// choose settles which columns are read: those that the options name, or those
// that are called as such columns are, or else the first two.
func (t *edgeTable) choose() error {
	c, err := t.edges()
	if err != nil {
		return err
	}
	t.column = [4]int{c.Source, c.Target, c.Weight, -1}
	t.report = c.Columns
	if kind := t.out.Kind; kind != "" {
		i := slices.IndexFunc(t.file.Titles, func(title string) bool { return strings.EqualFold(title, kind) })
		if i < 0 {
			return t.out.fault(0, "choose with {kind}", "there is no column %s", table.Quoted(kind))
		}
		t.column[3] = i
		t.report[i].Use = input.Kind
	}
	for i, c := range t.column {
		if c < 0 {
			continue
		}
		leaf, flat := t.file.Leaf(c)
		if !flat {
			return t.out.fault(0, "choose with {fields}", "column %s is nested", t.file.Titles[c])
		}
		kinds := []parquet.Kind{parquet.Int32, parquet.Int64, parquet.ByteArray}
		what := "integers or text"
		if i == 2 {
			kinds = []parquet.Kind{parquet.Int32, parquet.Int64, parquet.Float, parquet.Double, parquet.Boolean}
			what = "numbers"
		}
		if i == 3 { // any value has a text
			continue
		}
		_, t.isDecimal[i] = t.file.Scale(c)
		if !t.isDecimal[i] && (!t.file.IsText(c) || !slices.Contains(kinds, leaf.Node.Type().Kind())) {
			return t.out.fault(0, "choose with {fields}", "column %s holds %s, want %s", t.file.Titles[c], leaf.Node.Type(), what)
		}
	}
	return nil
}

// edges chooses the columns of an edge, see [table.Sample.ChooseEdges]. Nested columns are chosen only
// by the options.
func (t *edgeTable) edges() (*table.EdgeTable, error) {
	s := &table.Sample{Titles: slices.Clone(t.file.Titles)}
	for i := range s.Titles {
		if _, isFlat := t.file.Leaf(i); !isFlat {
			s.Titles[i] = table.IndexOfPandas // ignored
		}
	}
	if t.out.Fields != nil || t.out.Weight != "" || !s.NamesEnds() {
		s.Titles = slices.Clone(t.file.Titles)
	}
	c, err := s.ChooseEdges(table.EdgeOptions{Fields: t.out.Fields, Weight: t.out.Weight, Header: input.HasHeader, Signed: t.out.Signed})
	var fault *input.Error
	if errors.As(err, &fault) {
		fault.File = t.out.Name
		return nil, fault
	}
	for i, title := range s.Titles {
		c.Columns[i].Title = t.file.Titles[i]
		if title != t.file.Titles[i] {
			c.Columns[i].Use = ""
		}
	}
	return c, nil
}

// edge takes one row.
func (t *edgeTable) edge(row int64, values []parquet.Value) error {
	weight := 1.0
	kind := uint32(0)
	var number [2]uint64
	numbers := true
	for i, v := range values {
		if t.column[i] < 0 {
			continue
		}
		name := t.file.Titles[t.column[i]]
		unsigned := t.file.Unsigned[t.column[i]]
		switch {
		case v.IsNull():
			return t.out.fault(0, "leave such rows out", "row %d: %s is null", row, name)
		case i == 3:
			t.decimal = t.file.AppendText(t.decimal[:0], t.column[i], v)
			kind = t.out.Number(string(t.decimal))
		case i == 2:
			var wrong string
			weight, wrong = numberOf(v, unsigned, t.out.Signed)
			if t.isDecimal[i] {
				t.decimal = t.file.AppendText(t.decimal[:0], t.column[i], v)
				weight, wrong = table.ParseWeight(t.decimal, t.out.Signed)
			}
			if v.Kind() == parquet.Int64 && !t.isDecimal[i] && !isExact(v.Uint64()) {
				t.out.round(fmt.Sprintf(": row %d", row))
			}
			if wrong != "" {
				return t.out.fault(0, "leave such rows out", "row %d: weight %v %s", row, v, wrong)
			}
		case t.isDecimal[i]:
			t.text[i] = t.file.AppendText(t.text[i][:0], t.column[i], v)
			numbers = false
		case v.Kind() == parquet.ByteArray:
			id, wrong := cleanID(v.ByteArray())
			if wrong != "" {
				return t.out.fault(0, "correct it", "row %d: %s %s %s", row, name, table.Quoted(v.ByteArray()), wrong)
			}
			t.text[i] = append(t.text[i][:0], id...)
			numbers = false
		case v.Kind() == parquet.Int32 && unsigned:
			number[i] = uint64(v.Uint32())
		case v.Kind() == parquet.Int32: // the upper half of a value of a dictionary is empty
			number[i] = uint64(int64(v.Int32()))
			numbers = numbers && v.Int32() >= 0
		default:
			number[i] = v.Uint64()
			numbers = numbers && (unsigned || int64(number[i]) >= 0)
		}
	}
	if numbers && !t.out.Bipartite {
		return t.out.addKind(kind, t.out.numbers(number[0], number[1], weight))
	}
	for i, v := range values[:2] {
		if v.Kind() != parquet.ByteArray && !t.isDecimal[i] {
			t.text[i] = t.file.AppendText(t.text[i][:0], t.column[i], v)
		}
		if t.out.Bipartite {
			t.text[i] = slices.Insert(t.text[i], 0, []byte(t.file.Titles[t.column[i]]+":")...)
		}
	}
	return t.out.addKind(kind, t.out.texts(t.text[0], t.text[1], weight))
}

// numberOf returns the weight that a value is.
func numberOf(v parquet.Value, unsigned, signed bool) (w float64, wrong string) {
	switch v.Kind() {
	case parquet.Int32:
		w = float64(v.Int32())
		if unsigned {
			w = float64(v.Uint32())
		}
	case parquet.Int64:
		w = float64(v.Int64())
		if unsigned {
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
	return w + 0, table.WeightFault(w, signed)
}

// groupRows is how many rows are in a group, which is held in memory while it is
// written.
const groupRows = 1 << 18

// parquetBytes returns the memory of writing a table, in addition to the graph.
func parquetBytes(g *graph) int64 {
	const (
		largest = 6 << 20 // of a column of a group, and its compressor
		row     = 32      // of a row's place in a column, where there are few
	)
	column := min(largest, row*g.edges())
	if g.weighted {
		return 2*column + column/2 // numbers take less than ids
	}
	return 2 * column
}

// writeParquet writes a table with the columns source, target and, if g has weights,
// weight: integers of 64 bits if all ids are numbers, else text, and doubles.
func writeParquet(ctx context.Context, w *bufio.Writer, g *graph) (isolated int, err error) {
	ids := parquetfile.Strings
	if g.numeric {
		ids = parquetfile.Integers
	}
	columns := []parquetfile.Column{{Name: "source", Kind: ids}, {Name: "target", Kind: ids}, {Name: "weight", Kind: parquetfile.Doubles}}
	if !g.weighted {
		columns = columns[:2]
	}
	out := parquetfile.NewWriter(w, "edges", columns, groupRows)
	isolated, err = g.eachEdge(ctx, func(source, target []byte, weight float64) error {
		for _, id := range [][]byte{source, target} {
			if !g.numeric {
				out.String(id)
				continue
			}
			n, err := strconv.ParseInt(string(id), 10, 64)
			if err != nil {
				return err
			}
			out.Integer(n)
		}
		if g.weighted {
			out.Double(weight)
		}
		return out.EndRow()
	})
	if err != nil {
		return 0, err
	}
	return isolated, out.Close()
}
