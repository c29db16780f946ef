package tablefile

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	mostLevels  = 1000 // largest number of categories of a column; one with more is ignored
	nameShare   = 90   // distinct values, in percent of all, from which a column has names and no categories
	fewestNames = 10   // number of values from which nameShare applies
	errorShare  = 10   // words, in percent of all values, up to which a column has numbers with errors
)

// notNumber is the fault of [table.ParseNumber] for text that is not a number.
const notNumber = "is not a number"

// attributeColumn is a column of a table of attributes and the form of its values.
type attributeColumn struct {
	title   string
	skipped bool   // the column holds the node or row numbers
	isLabel bool   // the title is one of labels
	ignored string // reason why the column is no attribute; "" for an attribute
	isText  bool   // values are categories

	texts  nodetable.Dictionary // the first distinct values, up to one more than mostLevels
	sample int                  // number of values in which these were found

	// Numbers of values by their form: numbers, money and the like, numbers with a unit, other texts, and all.
	numbers, money, units, words, count int

	dates int
	zeros bool // some value is digits behind a zero
	sum   float64
	odd   *nodefile.ParseError // about the first value that is not a number

	at     int     // first column of the result
	levels []int32 // column of the result of each category, counted from at, by its code in texts
	names  []string
}

// attributeTable reads a table with a node in each row.
type attributeTable struct {
	c       *FeatureConfig
	rows    nodetable.Reader
	columns []attributeColumn
}

func newAttributeTable(nodes nodefile.Lookup, c *FeatureConfig) *attributeTable {
	return &attributeTable{c: c, rows: nodetable.Reader{
		Every: true, Lookup: nodes.Lookup, Header: c.Header, Text: c.Text, Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn},
	}}
}

// each reads the file at path and calls visit with every row.
func (t *attributeTable) each(ctx context.Context, path string, visit func(nodetable.Row) error) error {
	for row, err := range t.rows.Read(ctx, path) {
		if err != nil {
			return err
		}
		if t.columns == nil {
			t.begin()
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the columns.
func (t *attributeTable) begin() {
	n := len(t.rows.Names)
	t.columns = make([]attributeColumn, n)
	for i, title := range t.rows.Names {
		c := &t.columns[i]
		c.title = title
		c.skipped = i == t.rows.Node || t.rows.Columns != nil && t.rows.Columns[i].Use == input.Index
		c.isLabel = t.rows.Titles != nil && !c.skipped && table.IsLabel(title)
		if c.isLabel {
			c.ignored = "titled as labels are"
		}
	}
	if table.IsNamed(t.rows.Name, nodetable.ContentFile) {
		t.columns[n-1].ignored = "labels"
	}
}

// isMissing reports whether a field is empty or a word for a missing value.
func isMissing(text []byte) bool {
	const longest = len("unlabelled")
	isDigit := len(text) > 0 && text[0]-'0' <= 9
	return !isDigit && len(text) <= longest && table.IsMissing(string(text), table.Missing)
}

// number parses a number; fault is "" if it is valid, else the reason as the end of a sentence.
func (t *attributeTable) number(text []byte) (value float64, fault string) {
	value, fault = table.ParseNumber(table.Point(text, t.c.Text.HasDecimalComma()), 64)
	if fault == "" && math.Abs(value) > math.MaxFloat32 {
		fault = "is beyond float32"
	}
	return value, fault
}

// inspect counts the forms of the values of a row.
func (t *attributeTable) inspect(row nodetable.Row) error {
	for i := range t.columns {
		c := &t.columns[i]
		text := row.Field(i)
		if c.skipped || c.ignored != "" || isMissing(text) {
			continue
		}
		c.count++
		if len(c.texts.Values) <= mostLevels {
			c.texts.Code(text)
			c.sample = c.count
		}
		v, fault := t.number(text)
		isDate := c.dates == c.count-1 && (fault != "" || len(text) == len("20060102")) && table.IsDate(string(text))
		if isDate {
			c.dates++
		}
		if fault == "" {
			c.numbers++
			c.sum += v
			c.zeros = c.zeros || table.HasLeadingZero(string(text))
			continue
		}
		form := table.FormOf(text)
		fix := "fix the line, or leave the field empty"
		if form != table.Word && fault == notNumber {
			fix = "write numbers without units and separators of thousands, or leave the field empty"
		}
		if at := bytes.IndexByte(text, ','); table.IsDecimalComma(text) && len(text)-at != len(",000") {
			fix = "write numbers with a decimal point, or pass {decimal=,}"
		}
		e := textio.Fault(t.rows.Name, row.Line, fix, "%s %s", table.Quoted(text), fault)
		e.Column = row.Start[i] + 1
		if c.odd == nil {
			c.odd = e
		}
		switch {
		case fault != notNumber:
			return e
		case isDate, form == table.Word:
			c.words++
		case form == table.Money:
			c.money++
		default:
			c.units++
		}
	}
	return nil
}

// decide determines which columns are attributes and of what type. It returns an error about
// errors in a column of numbers, and about a column of names.
func (t *attributeTable) decide() error {
	for i := range t.columns {
		c := &t.columns[i]
		isNames := c.sample >= fewestNames && 100*len(c.texts.Values) >= nameShare*c.sample
		errors := c.money
		if c.numbers > 0 || isNames {
			errors += c.units
		}
		switch {
		case c.skipped || c.ignored != "":
		case c.count == 0:
			c.ignored = "no value"
		case c.dates == c.count && c.numbers < c.count:
			c.ignored = "dates"
		case c.numbers == c.count && !c.zeros:
		case !c.zeros && (errors > 0 && c.numbers+errors > c.words || 100*(c.words+c.units) <= errorShare*c.count):
			c.odd.Msg += ", and column " + input.Escape(c.title) + " holds numbers"
			return c.odd
		case isNames:
			return textio.Fault(t.rows.Name, 0, "remove the column, because such values say nothing about other nodes",
				"column %s has a different text for nearly every node", input.Escape(c.title))
		case len(c.texts.Values) > mostLevels:
			c.ignored = fmt.Sprintf("more than %d categories", mostLevels)
		default:
			c.isText = true
			if 2*c.numbers >= c.count && !c.zeros && t.c.Warn != nil {
				c.odd.Msg = "column " + input.Escape(c.title) + " is read as categories, because " + c.odd.Msg
				t.c.Warn(c.odd)
			}
		}
	}
	return nil
}

// assign assigns columns of the result to the columns of the file, and returns their number.
// Categories are sorted by bytes, so that the result does not depend on the order of the rows.
func (t *attributeTable) assign() (cols int) {
	for i := range t.columns {
		c := &t.columns[i]
		c.at = cols
		switch {
		case c.skipped || c.ignored != "":
		case !c.isText:
			cols++
		default:
			c.names = slices.Sorted(slices.Values(c.texts.Values))
			for _, text := range c.texts.Values {
				at, _ := slices.BinarySearch(c.names, text)
				c.levels = append(c.levels, int32(at))
			}
			cols += len(c.names)
		}
	}
	return cols
}

// use returns the use of every column.
func (t *attributeTable) use() input.Columns {
	use := t.rows.Columns
	if use == nil {
		use = input.Named(t.rows.Names)
		use[t.rows.Node].Use = input.Node
	}
	for i := range t.columns {
		switch c := &t.columns[i]; {
		case c.skipped:
		case c.ignored != "":
			use[i].Note = c.ignored
		case !c.isText:
			use[i].Use = "number"
		default:
			use[i].Use = table.Counted(len(c.levels), "category")
		}
	}
	return use
}

// values stores the attributes of a row in dst.
func (t *attributeTable) values(dst []float32, row nodetable.Row) {
	clear(dst)
	for i := range t.columns {
		c := &t.columns[i]
		text := row.Field(i)
		switch missing := isMissing(text); {
		case c.skipped || c.ignored != "" || c.isText && missing:
		case c.isText:
			code, _ := c.texts.Code(text)
			dst[c.at+int(c.levels[code])] = 1
		case missing:
			dst[c.at] = float32(c.sum / float64(c.numbers))
		default:
			v, _ := t.number(text)
			dst[c.at] = float32(v)
		}
	}
}

// readTable reads a table with the ids in a column: first the types of its columns, and then the
// values, so that its text need not be kept in memory.
func (r *features) readTable(ctx context.Context) error {
	t := newAttributeTable(r.nodes, r.c)
	err := t.each(ctx, r.file, t.inspect)
	if err == nil {
		err = t.decide()
	}
	if err != nil {
		return err
	}
	cols := t.assign()
	if cols == 0 {
		return errNoAttributes(r.file)
	}
	r.Columns, t.rows.Options.Warn = t.use(), nil
	for i := range t.columns {
		if c := &t.columns[i]; !c.skipped && c.ignored == "" {
			r.groups = append(r.groups, group{c.title, c.at, max(1, len(c.levels)), c.names})
		}
	}
	values := make([]float32, cols)
	r.Table = &sparse.Table{Rows: r.nodes.Len(), Cols: cols}
	return t.each(ctx, r.file, func(row nodetable.Row) error {
		t.values(values, row)
		return r.add(row.Line, row.ID(), values)
	})
}

func errNoAttributes(file string) error {
	return textio.Fault(file, 0, "add one to the column of the node", "no column of attributes")
}
