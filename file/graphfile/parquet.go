package graphfile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Parquet is a table of edges.
var Parquet = &Format{
	Name: "parquet", Title: "Parquet", Endings: table.ParquetEndings,
	Begins: isParquet, Read: readBatches(readParquet), Table: true,
	EdgesOnly: true, Sweeps: 1, write: writeParquet,
	held: parquetBytes,
}

func isParquet(head []byte) bool {
	return bytes.HasPrefix(head, []byte(table.ParquetMagic))
}

const (
	sourceColumn = iota
	targetColumn
	weightColumn
	kindColumn
	timeColumn
	edgeColumns
)

type edgeTable struct {
	out    *batchWriter
	file   table.ParquetReader
	leaves []table.ParquetLeaf
	column [edgeColumns]int // leaf columns; −1: none
	chosen *table.Choice

	warnings []error
	text     [edgeColumns][]byte
}

func parseUint(word []byte) (n uint64, ok bool) {
	for _, c := range word {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(word) > 0 && len(word) <= 19
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
	if t.file, err = table.OpenParquet(s.Name, content, size, held, s.hold); err != nil {
		return nil, err
	}
	t.leaves = t.file.Leaves()
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.out.weighted = t.column[weightColumn] >= 0
	if err := t.file.Each(t.column[:], t.edge); err != nil {
		return nil, err
	}
	return &Summary{Direction: Unstated, Columns: t.chosen.Columns,
		AreEvents: t.chosen.AreEvents, Notes: t.warnings}, nil
}

func (t *edgeTable) choose() error {
	c, err := t.edges()
	if err != nil {
		return err
	}
	for i, use := range []string{input.Source, input.Target, input.Weight, input.Kind, input.Time} {
		t.column[i] = c.Column[use]
	}
	t.chosen = c
	for i, c := range t.column {
		if c < 0 {
			continue
		}
		leaf := &t.leaves[c]
		switch {
		case !leaf.IsFlat:
			return t.out.fault(0, "choose with {fields}", "column %s is nested", leaf.Title)
		case i <= weightColumn && !leaf.IsText:
			return t.out.fault(0, "choose with {fields}",
				"column %s holds %s, want numbers or text", leaf.Title, leaf.Type)
		}
	}
	return nil
}

// edges chooses the columns of source, target, weight, kind and time. It chooses nested columns only if an option
// names columns.
func (t *edgeTable) edges() (*table.Choice, error) {
	s, err := table.SampleParquet(t.file, true)
	if err != nil {
		return nil, err
	}
	s.File = t.out.Name
	titles := slices.Clone(s.Titles)
	for i, leaf := range t.leaves {
		if !leaf.IsFlat {
			s.Titles[i] = table.IndexOfPandas // a title that is ignored
		}
	}
	if t.out.Fields != nil || t.out.Weight != "" || !table.NamesEnds(s.Titles) {
		s.Titles = slices.Clone(titles)
	}
	c, err := s.Choose(&table.Request{IsEdges: true, IsTyped: true, Fields: t.out.Fields, Option: "fields", Signed: t.out.Signed, Reciprocal: t.out.Reciprocal,
		Named: map[string]string{input.Weight: t.out.Weight, input.Kind: t.out.Kind, input.Time: t.out.Time}})
	if err != nil {
		return nil, err
	}
	if i := c.Column[input.Weight]; i >= 0 && t.out.Reciprocal {
		c.Columns[i].Note = "reciprocal"
	}
	if i := c.Column[input.Time]; i >= 0 {
		t.out.TimeForm = t.out.TimeForm.Among(s.Values(i))
	}
	if c.Warning != nil {
		t.warnings = append(t.warnings, t.out.fault(0, c.Warning.Fix, "%s", c.Warning.Msg))
	}
	for i, title := range s.Titles {
		c.Columns[i].Title = titles[i]
		if title != titles[i] {
			c.Columns[i].Use = ""
		}
	}
	return c, nil
}

// edge reads a row. If an end is null or empty, the row is no edge, and the other end is a node.
func (t *edgeTable) edge(row int64, values table.ParquetRow) error {
	isBlank := false
	isNumber := true // both ends are integers of at most 19 digits
	var number [2]uint64
	for i, c := range t.column {
		if c < 0 {
			continue
		}
		text := values.AppendText(t.text[i][:0], i)
		t.text[i] = text
		switch {
		case i <= targetColumn && !t.out.Bipartite && table.IsInteger(text):
			var isSmall bool
			number[i], isSmall = parseUint(text)
			isNumber = isNumber && isSmall
		case i <= targetColumn:
			isNumber = false
			wrong := faultOfID(text)
			if wrong != "" && (wrong != emptyID || i == targetColumn && isBlank) {
				return t.out.fault(0, "correct it", "row %d: %s %s %s", row,
					t.leaves[c].Title, words.Quoted(text), wrong)
			}
			isBlank = isBlank || wrong == emptyID
			if wrong != "" {
				t.text[i] = text[:0]
			} else if t.out.Bipartite {
				t.text[i] = slices.Insert(text, 0, []byte(t.leaves[c].Title+":")...)
			}
		case i == timeColumn && len(text) == 0 && !isBlank:
			return t.out.fault(0, "leave out {time}, or leave out such rows", "row %d: %s is null", row,
				t.leaves[c].Title)
		}
	}
	weight := 1.0
	if text := t.text[weightColumn]; t.out.weighted && len(text) == 0 {
		weight = 0
	} else if t.out.weighted {
		var wrong string
		if weight, wrong = t.out.parse(text); wrong != "" {
			return t.out.fault(0, "leave such rows out", "row %d: weight %s %s", row, text, wrong)
		}
		if textio.IsRounded(text, weight) {
			t.out.round(fmt.Sprintf(": row %d", row))
		}
	}
	code := uint32(0)
	if t.out.Kind != "" || t.out.Time != "" {
		var wrong string
		code, wrong = t.out.Code(t.out.TimeForm, string(t.text[kindColumn]), string(t.text[timeColumn]))
		if wrong != "" && !isBlank {
			return t.out.fault(0, t.out.TimeForm.Fix(string(t.text[timeColumn])), "row %d: time %s %s",
				row, words.Quoted(t.text[timeColumn]), wrong)
		}
	}
	if isNumber {
		return t.out.addCode(code, t.out.numbers(number[0], number[1], weight))
	}
	return t.out.addCode(code, t.out.texts(t.text[sourceColumn], t.text[targetColumn], weight))
}

// groupRows is the number of rows in a row group, which is kept in memory.
const groupRows = 1 << 18

func parquetBytes(g *graph) int64 {
	const (
		largest = 6 << 20 // bytes of a column of a group and its compressor
		row     = 32      // bytes of a row in a small column
	)
	column := min(largest, row*g.edges())
	if g.weighted {
		return 2*column + column/2 // numbers take less than ids
	}
	return 2 * column
}

// writeParquet writes the columns source, target and, if g has weights, weight. Ids are integers if all ids are
// numbers, and otherwise text.
func writeParquet(ctx context.Context, w *bufio.Writer,
	g *graph) (isolated int, err error) {
	ids := table.ParquetStrings
	if g.numeric {
		ids = table.ParquetIntegers
	}
	columns := []table.ParquetColumn{{Name: "source", Kind: ids},
		{Name: "target", Kind: ids}, {Name: "weight", Kind: table.ParquetDoubles}}
	if !g.weighted {
		columns = columns[:2]
	}
	out, err := table.CreateParquet(w, "edges", columns, groupRows)
	if err != nil {
		return 0, err
	}
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
