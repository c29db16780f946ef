package nodefile

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
)

// mostLevels is how many texts a column of categories may have; one with more is passed
// over.
const mostLevels = 1000

// featureColumn is a column of a table of attributes.
type featureColumn struct {
	title  string
	passed string // why it is passed over; "" if it is not
	text   bool   // some value is no number
	count  int    // of numbers
	sum    float64
	levels map[string]int // texts, and which of its columns each is
	at     int            // the first column of the table that it makes
}

// featureReader reads a table of attributes three times: what columns are, what
// categories they have, and their values.
type featureReader struct {
	t       *reader
	headed  bool
	columns []featureColumn // of the file; that of the node among them
	values  []float32       // of a row
	add     func(line int64, id string, values []float32) error
}

// ReadFeatures reads a table with a row for each node: comma, tab, semicolon or blank
// between fields, as in files of labels, the node in the column whose title says so
// (node, id, …) or the first. A column of numbers is an attribute; where a value is
// missing it has the mean of the others. A column in which something else stands is one
// of categories, each of which becomes an attribute of 0 and 1; a missing value has none
// of them. Passed over, with a warning, are columns titled as labels are and those with
// more than a thousand categories. The last column of a LINQS .content file is the label.
//
// The file is read up to three times. It is an error if a node that is not in the graph
// has a row, unless these are to be skipped, or if a node has two.
func ReadFeatures(ctx context.Context, path string, nodes Lookup, c *FeatureConfig) (*Features, error) {
	if c == nil {
		c = &FeatureConfig{}
	}
	r := &featureReader{t: &reader{path: path, nodes: nodes, warn: c.Warn}}
	if err := r.each(ctx, r.look); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(r.columns, func(c featureColumn) bool { return c.text && c.passed == "" }) {
		if err := r.each(ctx, r.collect); err != nil {
			return nil, err
		}
	}
	cols := r.place()
	if cols == 0 {
		return nil, &ParseError{File: r.t.name, Msg: "no column of attributes", Fix: "give one beside that of the node"}
	}
	var passed []string
	for _, col := range r.columns {
		if col.passed != "" {
			passed = append(passed, col.title)
			if c.Warn != nil {
				c.Warn(fmt.Sprintf("%s: column %s is passed over: %s", r.t.name, col.title, col.passed))
			}
		}
	}
	r.values = make([]float32, cols)
	out, err := CollectFeatures(r.t.name, nodes, cols, c, func(add func(int64, string, []float32) error) error {
		r.add = add
		return r.each(ctx, r.use)
	})
	if err != nil {
		return nil, err
	}
	out.Passed = passed
	return out, nil
}

// each reads the file and calls do for every row but that of the titles.
func (r *featureReader) each(ctx context.Context, do func(table.Row) error) error {
	r.t.lines = table.Nodes{Columns: table.MaxFields, Node: r.t.lines.Node}
	first := true
	for row, err := range r.t.read(ctx) {
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
			return &ParseError{File: r.t.name, Line: row.Line, Msg: fmt.Sprintf("%s, the first line has %d", table.Counted(len(row.Text), "field"), len(r.columns)), Fix: "fix the line"}
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// begin settles by the first line which column is the node's and whether there are
// titles: there are if no field is a number, or one is that of a column of nodes.
func (r *featureReader) begin(row table.Row) {
	numbers, node := false, -1
	for i, text := range row.Text {
		_, fault := table.ParseNumber(row.Field(i))
		numbers = numbers || fault == ""
		if node < 0 && table.IsNode(string(text)) {
			node = i
		}
	}
	_, known := r.t.nodes.Lookup(string(row.ID()))
	content := table.IsNamed(r.t.path, table.ContentFile)
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
	r.t.lines.Node = max(0, node)
	if !r.headed {
		r.t.lines.Node = 0
	}
}

// isMissingNumber reports whether a value is not there.
func isMissingNumber(text []byte) bool {
	return len(text) == 0 || string(text) == "?" || slices.Contains(table.Missing, string(text))
}

// look finds out what columns are.
func (r *featureReader) look(row table.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if i == r.t.lines.Node || c.passed != "" || c.text {
			continue
		}
		text := row.Field(i)
		if isMissingNumber(text) {
			continue
		}
		v, fault := table.ParseNumber(text)
		if fault == "" && math.Abs(v) > math.MaxFloat32 {
			fault = "is beyond float32"
		}
		switch fault {
		case "":
			c.count++
			c.sum += v
		case "is not a number":
			c.text = true
		default:
			return &ParseError{File: r.t.name, Line: row.Line, Column: row.Start[i] + 1, Msg: fmt.Sprintf("%s %s", table.Quoted(text), fault), Fix: "fix the line, or leave the field empty"}
		}
	}
	return nil
}

// collect finds the categories of columns.
func (r *featureReader) collect(row table.Row) error {
	for i := range r.columns {
		c := &r.columns[i]
		if i == r.t.lines.Node || c.passed != "" || !c.text || isMissingNumber(row.Field(i)) {
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
func (r *featureReader) place() (cols int) {
	for i := range r.columns {
		c := &r.columns[i]
		if c.at = cols; i == r.t.lines.Node || c.passed != "" {
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
		levels := make([]string, 0, len(c.levels))
		for l := range c.levels {
			levels = append(levels, l)
		}
		slices.SortFunc(levels, strings.Compare)
		for _, l := range levels {
			c.levels[l] = cols
			cols++
		}
	}
	return cols
}

// use adds a row.
func (r *featureReader) use(row table.Row) error {
	values := r.values
	clear(values)
	for i := range r.columns {
		c, text := &r.columns[i], row.Field(i)
		switch {
		case i == r.t.lines.Node || c.passed != "":
		case c.text && !isMissingNumber(text):
			values[c.levels[string(text)]] = 1
		case c.text:
		case isMissingNumber(text):
			values[c.at] = float32(c.sum / float64(c.count))
		default:
			v, _ := table.ParseNumber(text)
			values[c.at] = float32(v)
		}
	}
	return r.add(row.Line, string(row.ID()), values)
}
