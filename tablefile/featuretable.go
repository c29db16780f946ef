package tablefile

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostLevels is how many texts a column of categories may have; one with more is passed
// over.
const mostLevels = 1000

// featureColumn is a column of a table of attributes.
type featureColumn struct {
	title  string
	passed string // why it is passed over; "" if it is not
	text   bool   // some value is no number
	comma  string // the first that is none, if it has a decimal comma
	count  int    // of numbers
	sum    float64
	levels map[string]int // texts, and which of its columns each is
	at     int            // the first column of the table that it makes
}

// featureTable reads a table of attributes three times: what columns are, what
// categories they have, and their values.
type featureTable struct {
	*features
	rows    nodetable.Reader
	headed  bool
	columns []featureColumn // of the file; that of the node among them
	values  []float32       // of a row
}

// readTable reads a table with the ids in a column.
func (r *features) readTable(ctx context.Context) error {
	t := &featureTable{features: r, rows: nodetable.Reader{Columns: nodetable.MaxFields, Lookup: r.nodes.Lookup, Options: textio.Options{Warn: r.c.Warn}}}
	if err := t.each(ctx, t.look); err != nil {
		return err
	}
	if slices.ContainsFunc(t.columns, func(c featureColumn) bool { return c.text && c.passed == "" }) {
		if err := t.each(ctx, t.collect); err != nil {
			return err
		}
	}
	cols := t.place()
	if cols == 0 {
		return &nodefile.ParseError{File: t.file, Msg: "no column of attributes", Fix: "give one beside that of the node"}
	}
	for _, col := range t.columns {
		if col.comma != "" && t.c.Warn != nil {
			t.c.Warn(fmt.Errorf("%s: column %s is taken for categories, since %q is no number; write numbers with a decimal point", t.file, col.title, col.comma))
		}
		if col.passed != "" {
			t.Passed = append(t.Passed, col.title)
			if t.c.Warn != nil {
				t.c.Warn(fmt.Errorf("%s: column %s is passed over: %s", t.file, col.title, col.passed))
			}
		}
	}
	t.values, t.Table = make([]float32, cols), &sparse.Table{Rows: t.nodes.Len(), Cols: cols}
	return t.each(ctx, t.use)
}

// each reads the file and calls do for every row but that of the titles.
func (r *featureTable) each(ctx context.Context, do func(nodetable.Row) error) error {
	first := true
	for row, err := range r.rows.Read(ctx, r.file) {
		if err != nil {
			return err
		}
		if first {
			first = false
			if r.columns == nil {
				r.begin(row)
			}
			if r.headed {
				continue
			}
		}
		if len(row.Text) != len(r.columns) {
			return &nodefile.ParseError{File: r.file, Line: row.Line, Msg: fmt.Sprintf("%s, the first line has %d", table.Counted(len(row.Text), "field"), len(r.columns)), Fix: "fix the line"}
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// begin settles by the first line which column is the node's and whether there are
// titles: there are if no field is a number, or one is that of a column of nodes.
func (r *featureTable) begin(row nodetable.Row) {
	numbers, node := false, -1
	for i, text := range row.Text {
		_, fault := table.ParseNumber(row.Field(i), 64)
		numbers = numbers || fault == ""
		if node < 0 && table.IsNode(string(text)) {
			node = i
		}
	}
	_, known := r.nodes.Lookup(string(row.ID()))
	content := table.IsNamed(r.file, nodetable.ContentFile)
	r.headed = !known && !content && (node >= 0 || !numbers)
	r.columns = make([]featureColumn, len(row.Text))
	for i := range r.columns {
		c := &r.columns[i]
		c.title = fmt.Sprint(i + 1)
		if r.headed {
			c.title = string(row.Field(i))
			switch {
			case i == 0 && node > 0 && table.IsIndex(c.title):
				c.passed = "it numbers the rows"
			case table.IsLabel(c.title):
				c.passed = "it is titled as labels are"
			}
		}
	}
	if content {
		r.columns[len(r.columns)-1].passed = "it holds the labels"
	}
	r.rows.Node = max(0, node)
	if !r.headed {
		r.rows.Node = 0
	}
}

// isMissingNumber reports whether a value is not there.
func isMissingNumber(text []byte) bool {
	return len(text) == 0 || slices.Contains(nodefile.MissingValues, string(text))
}

// look finds out what columns are.
func (r *featureTable) look(row nodetable.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if i == r.rows.Node || c.passed != "" || c.text {
			continue
		}
		text := row.Field(i)
		if isMissingNumber(text) {
			continue
		}
		v, fault := table.ParseNumber(text, 64)
		if fault == "" && math.Abs(v) > math.MaxFloat32 {
			fault = "is beyond float32"
		}
		switch fault {
		case "":
			c.count++
			c.sum += v
		case "is not a number":
			c.text = true
			if table.IsDecimalComma(text) {
				c.comma = string(text)
			}
		default:
			return &nodefile.ParseError{File: r.file, Line: row.Line, Column: row.Start[i] + 1, Msg: fmt.Sprintf("%s %s", table.Quoted(text), fault), Fix: "fix the line, or leave the field empty"}
		}
	}
	return nil
}

// collect finds the categories of columns.
func (r *featureTable) collect(row nodetable.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if i == r.rows.Node || c.passed != "" || !c.text || isMissingNumber(row.Field(i)) {
			continue
		}
		if c.levels == nil {
			c.levels = map[string]int{}
		}
		if c.levels[string(row.Field(i))] = 0; len(c.levels) > mostLevels {
			c.passed, c.levels = fmt.Sprintf("it has more than %d different texts", mostLevels), nil
		}
	}
	return nil
}

// place gives the columns their places, the categories of each in byte order, and
// returns how many there are.
func (r *featureTable) place() (cols int) {
	for i := range r.columns {
		c := &r.columns[i]
		if c.at = cols; i == r.rows.Node || c.passed != "" {
			continue
		}
		if !c.text {
			if c.count == 0 {
				c.passed = "it has no value"
				continue
			}
			cols++
			continue
		}
		for _, l := range slices.Sorted(maps.Keys(c.levels)) {
			c.levels[l] = cols
			cols++
		}
	}
	return cols
}

// use adds a row.
func (r *featureTable) use(row nodetable.Row) error {
	values := r.values
	clear(values)
	for i := range r.columns {
		c, text := &r.columns[i], row.Field(i)
		switch {
		case i == r.rows.Node || c.passed != "":
		case c.text && !isMissingNumber(text):
			values[c.levels[string(text)]] = 1
		case c.text:
		case isMissingNumber(text):
			values[c.at] = float32(c.sum / float64(c.count))
		default:
			v, _ := table.ParseNumber(text, 64)
			values[c.at] = float32(v)
		}
	}
	return r.add(row.Line, row.ID(), values)
}
