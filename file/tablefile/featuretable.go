package tablefile

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// mostLevels is the largest number of categories of a column; one with more is ignored.
const mostLevels = 1000

// featureColumn is a column of a table of attributes.
type featureColumn struct {
	ignored string // reason why the column is ignored; "" for an attribute
	skipped bool   // the column holds the node or row numbers
	text    bool   // some value is not a number
	dates   bool   // all values so far are dates
	comma   string // the first value that is not a number, if it has a decimal comma
	count   int    // number of numeric values
	sum     float64
	levels  map[string]int // from category to its column of the result
	at      int            // first column of the result
}

// featureTable reads a table of attributes in up to three passes: the types of the columns,
// their categories, and the values. The passes avoid keeping the text in memory.
type featureTable struct {
	*features
	rows    nodetable.Reader
	columns []featureColumn // columns of the file
	values  []float32       // attributes of the current row
}

// readTable reads a table with the ids in a column.
func (r *features) readTable(ctx context.Context) error {
	t := &featureTable{features: r, rows: nodetable.Reader{
		Every: true, Lookup: r.nodes.Lookup, Header: r.c.Header, Text: r.c.Text, Options: textio.Options{Warn: r.c.Warn},
	}}
	if err := t.each(ctx, t.detectTypes); err != nil {
		return err
	}
	t.rows.Options.Warn = nil
	for i := range t.columns {
		if c := &t.columns[i]; !c.skipped && c.ignored == "" && c.text && c.dates {
			c.ignored = "dates"
		}
	}
	if slices.ContainsFunc(t.columns, func(c featureColumn) bool { return c.text && c.ignored == "" }) {
		if err := t.each(ctx, t.collectCategories); err != nil {
			return err
		}
	}
	cols := t.assignColumns()
	if cols == 0 {
		return &nodefile.ParseError{File: t.file, Msg: "no column of attributes", Fix: "add one to the column of the node"}
	}
	t.report()
	t.values, t.Table = make([]float32, cols), &sparse.Table{Rows: t.nodes.Len(), Cols: cols}
	return t.each(ctx, t.addRow)
}

// report sets Features.Columns, and warns if numbers with a decimal comma were read as
// categories.
func (r *featureTable) report() {
	r.Columns = r.rows.Columns
	if r.Columns == nil {
		titles := make([]string, len(r.columns))
		for i := range titles {
			titles[i] = fmt.Sprintf("column %d", i+1)
		}
		r.Columns = input.Named(titles)
		r.Columns[r.rows.Node].Use = input.Node
	}
	for i := range r.columns {
		c, d := &r.columns[i], &r.Columns[i]
		switch {
		case c.skipped:
		case c.ignored != "":
			d.Note = c.ignored
		case !c.text:
			d.Use = "number"
		case len(c.levels) == 1:
			d.Use = "1 category"
		default:
			d.Use = fmt.Sprintf("%d categories", len(c.levels))
		}
		if c.comma != "" && c.ignored == "" && r.c.Warn != nil {
			r.c.Warn(textio.Fault(r.file, 0, "write numbers with a decimal point, or pass {decimal=,}", "column %s is read as categories, because %q is not a number", input.Escape(d.Title), c.comma))
		}
	}
}

// each reads the file and calls do for every row.
func (r *featureTable) each(ctx context.Context, do func(nodetable.Row) error) error {
	for row, err := range r.rows.Read(ctx, r.file) {
		if err != nil {
			return err
		}
		if r.columns == nil {
			r.begin(row)
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

// begin decides from the titles, or from the first row, which columns are not attributes.
func (r *featureTable) begin(row nodetable.Row) {
	n := len(row.Text)
	if r.rows.Titles != nil {
		n = len(r.rows.Titles)
	}
	r.columns = make([]featureColumn, n)
	for i := range r.columns {
		c := &r.columns[i]
		c.dates = true
		c.skipped = i == r.rows.Node || r.rows.Columns != nil && r.rows.Columns[i].Use == input.Index
		if !c.skipped && r.rows.Titles != nil && table.IsLabel(r.rows.Titles[i]) {
			c.ignored = "titled as labels are"
		}
	}
	if table.IsNamed(r.file, nodetable.ContentFile) {
		r.columns[n-1].ignored = "labels"
	}
}

// isMissingNumber reports whether a field is empty or a word for a missing value.
func isMissingNumber(text []byte) bool {
	return len(text) == 0 || slices.Contains(nodefile.MissingValues, string(text))
}

// number parses a number; fault is "" if it is valid, else the reason as the end of a sentence.
func (r *featureTable) number(text []byte) (value float64, fault string) {
	return table.ParseNumber(table.Point(text, r.c.Text.HasDecimalComma()), 64)
}

// detectTypes updates the types of the columns with the values of a row.
func (r *featureTable) detectTypes(row nodetable.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if c.skipped || c.ignored != "" || c.text && !c.dates {
			continue
		}
		text := row.Field(i)
		if isMissingNumber(text) {
			continue
		}
		if c.dates = c.dates && table.IsDate(string(text)); c.text {
			continue
		}
		v, fault := r.number(text)
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

// collectCategories adds the values of a row to the categories of the columns of text.
func (r *featureTable) collectCategories(row nodetable.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if c.skipped || c.ignored != "" || !c.text || isMissingNumber(row.Field(i)) {
			continue
		}
		if c.levels == nil {
			c.levels = map[string]int{}
		}
		if c.levels[string(row.Field(i))] = 0; len(c.levels) > mostLevels {
			c.ignored, c.levels = fmt.Sprintf("more than %d categories", mostLevels), nil
		}
	}
	return nil
}

// assignColumns assigns columns of the result to the columns of the file, and returns their
// number. Categories are sorted by bytes, so that the result does not depend on the order of
// the rows.
func (r *featureTable) assignColumns() (cols int) {
	for i := range r.columns {
		c := &r.columns[i]
		if c.at = cols; c.skipped || c.ignored != "" {
			continue
		}
		if !c.text {
			if c.count == 0 {
				c.ignored = "no value"
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

// addRow converts a row to numbers and adds it.
func (r *featureTable) addRow(row nodetable.Row) error {
	values := r.values
	clear(values)
	for i := range r.columns {
		c, text := &r.columns[i], row.Field(i)
		switch {
		case c.skipped || c.ignored != "":
		case c.text && !isMissingNumber(text):
			values[c.levels[string(text)]] = 1
		case c.text:
		case isMissingNumber(text):
			values[c.at] = float32(c.sum / float64(c.count))
		default:
			v, _ := r.number(text)
			values[c.at] = float32(v)
		}
	}
	return r.add(row.Line, row.ID(), values)
}
