package nodefile

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// AttributeConfig holds the settings of [ReadAttributes]; nil means the zero value.
type AttributeConfig struct {
	Columns []string    // the attributes, numbers from 1 or titles; nil: all but those of ids and classes
	ID      string      // the column of ids, a number or title; "": by its title, or none
	Class   string      // the column of classes; "": by its title, or none
	Text    input.Text  // how the text is read; default: decide from it
	Header  Header      // default: decide from the text
	Missing []string    // words for a missing value, in addition to the empty text; nil: [MissingValues]
	Memory  int64       // bytes that the table may take; 0: no limit
	Stdin   io.Reader   // read for the path "-"; nil: os.Stdin
	Warn    func(error) // called with each warning about the file; may be nil
}

// MissingValues are the words for a missing value: ?, and those that pandas and R write.
var MissingValues = append([]string{"?"}, table.Missing...)

// Column is a column of a table. Equal values have equal codes.
type Column struct {
	Name   string
	Values []string // by code, in the order in which they appear first
	Code   []int32  // of each record; −1: there is no value
}

// labels returns the values of a column as classes of the records that have one.
func (c *Column) labels(file string) *Labels {
	l := &Labels{File: file, Names: slices.Sorted(slices.Values(c.Values))}
	for row, code := range c.Code {
		if code < 0 {
			l.Unlabelled++
			continue
		}
		class, _ := slices.BinarySearch(l.Names, c.Values[code])
		l.Row, l.Class = append(l.Row, row), append(l.Class, class)
	}
	return l
}

// Attributes is a table of records.
type Attributes struct {
	File    string
	IDs     []string      // of the records; without a column of ids their numbers from 1
	Line    []int64       // of the records in the file
	Columns []Column      // the attributes
	Classes *Labels       // of the records that have one; nil: there is no column of classes
	Records Lookup        // finds the records by their ids
	Use     input.Columns // how the columns of the file are used
	Bytes   int64         // approximate memory of the table
}

// records are the numbers of records by their ids.
type records map[string]int

// Lookup implements [Lookup].
func (r records) Lookup(id string) (row int, ok bool) {
	row, ok = r[id]
	return row, ok
}

// Len implements [Lookup].
func (r records) Len() int { return len(r) }

// weigh sets the approximate memory of the table.
func (a *Attributes) weigh() {
	n := int64(len(a.IDs))
	a.Bytes = 120 * n
	for i := range a.Columns {
		a.Bytes += 4*n + 64*int64(len(a.Columns[i].Values))
	}
}

// ReadAttributes reads a table of records, one on each line, with a value in each
// column. Separators, comments and quotes are those of tables of labels. The first line
// is a header if all of its fields are words, each of which occurs nowhere else in its
// column. A column of dates is ignored unless c.Columns names it.
//
// It is an error if a line has more or fewer fields than the first, or two records have
// one id, and a [*budget.Error] if the table would take more than Memory.
func ReadAttributes(ctx context.Context, path string, c *AttributeConfig) (*Attributes, error) {
	if c == nil {
		c = &AttributeConfig{}
	}
	in, err := textio.Open(ctx, path, &textio.Options{Stdin: c.Stdin, Warn: c.Warn, Text: c.Text})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := &attributeReader{c: c, name: in.Name(), missing: c.Missing, progress: in.Progress}
	if r.missing == nil {
		r.missing = MissingValues
	}
	// Whether there is a header is known only when all values have been read.
	t := &nodetable.Reader{Every: true, Header: NoHeader, Text: c.Text, Options: textio.Options{Warn: c.Warn}}
	for row, err := range t.Rows(in) {
		if err == nil {
			err = r.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.end()
}

// attributeReader collects the columns of a table.
type attributeReader struct {
	c       *AttributeConfig
	name    string
	missing []string

	progress func() (done, total int64) // bytes of the file

	first  []string // the first line
	titles []string // of the header; nil if there is none
	lines  []int64
	column []Column
	code   []map[string]int32 // of each column
	bytes  int64              // bytes of the table, and of lists that grow
}

// add takes one row. Of the first one there are no codes before the end, when it is known
// whether it is a header.
func (r *attributeReader) add(row nodetable.Row) error {
	r.lines = append(r.lines, row.Line)
	if r.first == nil {
		for i := range row.Text {
			r.first = append(r.first, string(row.Field(i)))
		}
		r.column, r.code = make([]Column, len(r.first)), make([]map[string]int32, len(r.first))
		for i := range r.column {
			r.column[i].Name, r.column[i].Code, r.code[i] = "column "+strconv.Itoa(i+1), []int32{-1}, map[string]int32{}
		}
		return nil
	}
	if got, want := len(row.Text), len(r.first); got != want {
		return textio.Fault(r.name, row.Line, "give each record a value for every attribute, or ? where it is missing",
			"%s, but line %d has %d", table.Counted(got, "field"), r.lines[0], want)
	}
	const cell, record = 10, 130 // codes; lines, ids and their lookup
	if r.bytes += record + cell*int64(len(r.column)); r.c.Memory > 0 && r.bytes > r.c.Memory {
		need := r.bytes
		if done, total := r.progress(); done > 0 { // the rest of the file needs memory in proportion
			need = max(need, int64(float64(need)*float64(total)/float64(done)))
		}
		return &budget.Error{Need: need, Limit: r.c.Memory, Largest: budget.Item{What: "the table", Bytes: need}}
	}
	for i := range row.Text {
		r.column[i].Code = append(r.column[i].Code, r.codeOf(i, row.Field(i)))
	}
	return nil
}

// codeOf returns the code of a value of column i.
func (r *attributeReader) codeOf(i int, text []byte) int32 {
	code, known := r.code[i][string(text)]
	if known {
		return code
	}
	code = -1
	value := string(text)
	if !r.isMissing(value) {
		code = int32(len(r.column[i].Values))
		r.column[i].Values = append(r.column[i].Values, value)
	}
	const entry = 100 // of a map and a list, while they grow
	r.bytes += entry + int64(len(value))
	r.code[i][value] = code
	return code
}

// isMissing reports whether a field has no value. In a table of one column the empty text is
// a value, since the line would be blank otherwise.
func (r *attributeReader) isMissing(value string) bool {
	return value == "" && len(r.first) > 1 || slices.Contains(r.missing, value)
}

// isHeader reports whether the first line heads the others.
func (r *attributeReader) isHeader() bool {
	if r.c.Header != AutoHeader {
		return r.c.Header == HasHeader
	}
	for i, title := range r.first {
		_, again := r.code[i][title]
		if again || !table.IsTitle(title) && !(i == 0 && len(r.first) > 1 && table.IsIndex(title)) || slices.Contains(r.first[:i], title) {
			return false
		}
	}
	return len(r.lines) > 1
}

// end decides about the header and the use of the columns.
func (r *attributeReader) end() (*Attributes, error) {
	if r.first == nil {
		return nil, &ParseError{File: r.name, Msg: "no records", Fix: "write a line for each, with a value for every attribute"}
	}
	if r.isHeader() {
		r.titles, r.lines = r.first, r.lines[1:]
		for i := range r.column {
			r.column[i].Name, r.column[i].Code = r.titles[i], r.column[i].Code[1:]
		}
	} else {
		for i, text := range r.first {
			r.column[i].Code[0] = r.codeOf(i, []byte(text))
		}
	}
	if len(r.lines) == 0 {
		return nil, &ParseError{File: r.name, Msg: "a header and no records", Fix: "write a line for each, with a value for every attribute"}
	}
	id, class, attributes, err := r.roles()
	if err != nil {
		return nil, err
	}
	a := &Attributes{File: r.name, Line: r.lines}
	if class >= 0 {
		a.Classes = r.column[class].labels(a.File)
	}
	for _, i := range attributes {
		a.Columns = append(a.Columns, r.column[i])
	}
	a.Use = r.use(id, class, attributes)
	if err := r.identify(a, id); err != nil {
		return nil, err
	}
	a.weigh()
	return a, nil
}

// roles returns the columns of ids and classes, −1 for none, and of attributes.
func (r *attributeReader) roles() (id, class int, attributes []int, err error) {
	id, class = slices.IndexFunc(r.titles, table.IsNode), -1
	if r.titles != nil {
		_, class = table.FindLabels(r.titles)
		if class >= 0 && !table.IsLabel(r.titles[class]) {
			class = -1
		}
		if id < 0 && len(r.titles) > 1 && table.IsIndex(r.titles[0]) {
			id = 0
		}
	}
	if attributes, err = r.choose(r.c.Columns); err != nil {
		return id, class, nil, err
	}
	for _, role := range []struct {
		given string
		at    *int
	}{{r.c.ID, &id}, {r.c.Class, &class}} {
		if role.given != "" {
			list, err := r.choose([]string{role.given})
			if err != nil {
				return id, class, nil, err
			}
			*role.at = list[0]
		} else if slices.Contains(attributes, *role.at) {
			*role.at = -1
		}
	}
	if r.c.Columns == nil {
		for i := range r.column {
			if i != id && i != class && !r.areDates(i) {
				attributes = append(attributes, i)
			}
		}
	}
	if len(attributes) == 0 {
		return id, class, nil, &ParseError{File: r.name, Msg: "no column is left for attributes", Fix: "name those that are"}
	}
	return id, class, attributes, nil
}

// areDates reports whether a column has dates alone, which are no categories.
func (r *attributeReader) areDates(column int) bool {
	values := r.column[column].Values
	return len(values) > 0 && !slices.ContainsFunc(values, func(text string) bool { return !table.IsDate(text) })
}

// use describes the use of every column.
func (r *attributeReader) use(id, class int, attributes []int) input.Columns {
	titles := make([]string, len(r.column))
	for i := range titles {
		titles[i] = r.column[i].Name
	}
	use := input.Named(titles)
	for i := range use {
		n := len(r.column[i].Values)
		switch {
		case slices.Contains(attributes, i) && n == 1:
			use[i].Use = "1 value"
		case slices.Contains(attributes, i):
			use[i].Use = strconv.Itoa(n) + " values"
		case i == id:
			use[i].Use = input.Node
		case i == class:
			use[i].Use = input.Label
		case r.areDates(i):
			use[i].Note = "dates"
		}
	}
	return use
}

// choose returns the columns of the given numbers or titles.
func (r *attributeReader) choose(names []string) ([]int, error) {
	if names == nil {
		return nil, nil
	}
	if !table.Numbers(names) && r.titles == nil {
		return nil, textio.Fault(r.name, r.lines[0], "give numbers of columns, or say that there is a header", "no header names %q", strings.Join(names, ","))
	}
	list, err := table.Choose(names, r.titles)
	if err != nil {
		return nil, &ParseError{File: r.name, Msg: err.Error(), Fix: "give titles of the header, or numbers"}
	}
	if most := slices.Max(list); most >= len(r.first) {
		return nil, textio.Fault(r.name, 0, "give other numbers", "there is no column %d; the lines have %s", most+1, table.Counted(len(r.first), "field"))
	}
	return list, nil
}

// identify gives the records their ids.
func (r *attributeReader) identify(a *Attributes, id int) error {
	rows := make(records, len(r.lines))
	a.IDs, a.Records = make([]string, len(r.lines)), rows
	for row := range a.IDs {
		name := strconv.Itoa(row + 1)
		if id >= 0 {
			code := r.column[id].Code[row]
			if code < 0 {
				return &ParseError{File: a.File, Line: a.Line[row], Msg: "empty id", Fix: "fix the line"}
			}
			name = r.column[id].Values[code]
		}
		if before, is := rows[name]; is {
			return textio.Fault(a.File, a.Line[row], "give each record an id of its own, or name another column of ids",
				"%s is the id of the record on line %d already", table.Quoted(name), a.Line[before])
		}
		a.IDs[row], rows[name] = name, row
	}
	return nil
}
