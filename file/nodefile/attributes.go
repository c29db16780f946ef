package nodefile

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// AttributeConfig holds the settings of [ReadAttributes]; nil means the zero value.
type AttributeConfig struct {
	Columns []string    // columns of attributes, by numbers from 1 or titles; nil: all except the columns of ids and classes
	ID      string      // column of ids, by number or title; "": found by its title, may be missing
	Class   string      // column of classes; "": found by its title, may be missing
	Text    input.Text  // form of the text
	Header  Header      // default: decide from the text
	Missing []string    // words for a missing value, besides the empty text; nil: the words of [table.Missing] in a column of numbers
	Memory  int64       // limit of the table in bytes; 0: no limit
	Stdin   io.Reader   // content of the path "-"; nil: os.Stdin
	Warn    func(error) // called with warnings; may be nil
}

// Column is a column of a table. Equal values have equal codes.
type Column struct {
	Name   string
	Values []string // distinct values in order of first appearance, by code
	Code   []int32  // codes of records; −1: missing value
}

// Attributes is a table of records.
type Attributes struct {
	File    string
	IDs     []string      // ids of records; without a column of ids, numbers from 1
	Line    []int64       // lines of records
	Columns []Column      // the attributes
	Classes *Labels       // classes of records; nil without a column of classes
	Use     input.Columns // uses of all columns of the file
	Bytes   int64         // approximate memory of the table

	rows map[string]int
}

// Lookup implements [Lookup].
func (a *Attributes) Lookup(id string) (row int, ok bool) {
	row, ok = a.rows[id]
	return row, ok
}

// ID implements [Lookup].
func (a *Attributes) ID(row int) string { return a.IDs[row] }

// Len implements [Lookup].
func (a *Attributes) Len() int { return len(a.IDs) }

// ReadAttributes reads a table of records, text or Parquet, by the rules of docs/tables.md. Each line is a record with a value in each
// column. A column of dates is ignored unless c.Columns names it, because almost every date occurs once.
//
// ReadAttributes returns an error if the lines do not have the same number of fields, or if two records have the same
// id. It returns a [*budget.Error] if the table exceeds c.Memory.
func ReadAttributes(ctx context.Context, path string,
	c *AttributeConfig) (*Attributes, error) {
	c = cmp.Or(c, &AttributeConfig{})
	t := &Reader{Every: true, Header: c.Header, Text: c.Text,
		Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}
	if !table.Numbers(slices.Concat(c.Columns, strings.Fields(c.ID), strings.Fields(c.Class))) {
		t.Header = HasHeader
	}
	r := &attributeReader{c: c, t: t}
	for row, err := range t.Read(ctx, path) {
		if err == nil {
			err = r.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.lines == nil {
		msg := "no records"
		if t.Titles != nil {
			msg = "a header and no records"
		}
		return nil, textio.Fault(t.Name, 0,
			"write a line for each, with a value for every attribute", "%s", msg)
	}
	return r.end()
}

type attributeReader struct {
	c *AttributeConfig
	t *Reader

	lines   []int64
	columns []attributeColumn
	bytes   int64 // memory of the table, and of lists while they grow
}

type attributeColumn struct {
	table.Dictionary
	codes []int32
}

func (c *attributeColumn) omitWords() {
	isWord := func(text string) bool { return table.IsMissing(text, table.Missing) }
	isNumber := func(text string) bool { return table.IsNumber(text) && !table.HasLeadingZero(text) }
	if !slices.ContainsFunc(c.Values, isWord) || !slices.ContainsFunc(c.Values, isNumber) ||
		slices.ContainsFunc(c.Values, func(text string) bool { return !isWord(text) && !isNumber(text) }) {
		return
	}
	numbers := table.Dictionary{}
	for i, code := range c.codes {
		if code >= 0 && isWord(c.Values[code]) {
			c.codes[i] = -1
		} else if code >= 0 {
			c.codes[i], _ = numbers.Code([]byte(c.Values[code]))
		}
	}
	c.Dictionary = numbers
}

func (c *attributeColumn) areDates() bool {
	isDate := func(text string) bool {
		_, isTime := table.ParseTime(text)
		return isTime
	}
	return slices.ContainsFunc(c.Values, isDate) && !slices.ContainsFunc(c.Values, func(text string) bool {
		return !isDate(text) && !table.IsMissing(text, table.Doubtful)
	})
}

func (r *attributeReader) add(row Row) error {
	if r.columns == nil {
		r.columns = make([]attributeColumn, len(r.t.Names))
	}
	r.lines = append(r.lines, row.Line)
	const cell, record = 10, 130 // bytes of codes; bytes of lines, ids and their lookup
	r.bytes += record + cell*int64(len(r.columns))
	if r.c.Memory > 0 && r.bytes > r.c.Memory {
		need := r.bytes
		if done, total := r.t.in.Progress(); done > 0 { // assume that memory is proportional to the size of the file
			need = max(need, int64(float64(need)*float64(total)/float64(done)))
		}
		return budget.Check(r.c.Memory, need, "the table")
	}
	for i := range row.Text {
		c := &r.columns[i]
		text := row.Field(i)
		code := int32(-1)
		// In a table of one column the empty text in quotes is a value, because a blank line would be skipped.
		if isValue := len(text) == 0 && len(r.columns) == 1; isValue ||
			!table.IsMissing(string(text), r.c.Missing) {
			var bytes int64
			code, bytes = c.Code(text)
			r.bytes += bytes
		}
		c.codes = append(c.codes, code)
	}
	return nil
}

func (r *attributeReader) column(i int) Column {
	return Column{Name: r.t.Names[i], Values: r.columns[i].Values,
		Code: r.columns[i].codes}
}

// end chooses the columns and returns the table.
func (r *attributeReader) end() (*Attributes, error) {
	for i := range r.columns {
		if r.c.Missing == nil {
			r.columns[i].omitWords()
		}
	}
	id, class, attributes, err := r.roles()
	if err != nil {
		return nil, err
	}
	n := int64(len(r.lines))
	a := &Attributes{File: r.t.Name, Line: r.lines,
		Use: r.use(id, class, attributes), Bytes: 120 * n}
	if class >= 0 {
		column := r.column(class)
		l := &Labels{File: a.File}
		all := classes{}
		for _, value := range column.Values {
			all.add(&l.Names, value)
		}
		for row, code := range column.Code {
			if code < 0 {
				l.Unlabelled++
				continue
			}
			l.Row = append(l.Row, row)
			l.Class = append(l.Class, all.code[column.Values[code]])
		}
		a.Classes = l
		all.warn(a.File, r.c.Warn)
		a.Classes.warnOfAlike(r.c.Warn)
		if r.c.Missing == nil {
			a.Classes.warnOfWords(r.c.Warn, false)
		}
	}
	for _, i := range attributes {
		a.Columns = append(a.Columns, r.column(i))
		a.Bytes += 4*n + 64*int64(len(r.columns[i].Values))
	}
	err = r.identify(a, id)
	if a.Classes != nil && err == nil {
		a.Classes.Sort(a)
	}
	return a, err
}

// roles returns the columns of ids, of classes and of attributes, −1 for a missing column.
func (r *attributeReader) roles() (id, class int, attributes []int, err error) {
	titles := r.t.Titles
	id = slices.IndexFunc(titles, table.IsNode)
	class = table.FindLabel(titles)
	if id < 0 && len(titles) > 1 && table.IsIndex(titles[0]) {
		id = 0
	}
	if attributes, err = r.choose(r.c.Columns); err != nil {
		return id, class, nil, err
	}
	for _, role := range []struct {
		title  string
		column *int
	}{{r.c.ID, &id}, {r.c.Class, &class}} {
		if role.title != "" {
			list, err := r.choose([]string{role.title})
			if err != nil {
				return id, class, nil, err
			}
			*role.column = list[0]
		} else if slices.Contains(attributes, *role.column) {
			*role.column = -1
		}
	}
	if r.c.Columns == nil {
		for i := range r.columns {
			if i != id && i != class && !r.columns[i].areDates() && r.t.Columns[i].Note != unreadNote {
				attributes = append(attributes, i)
			}
		}
	}
	if len(attributes) == 0 {
		return id, class, nil,
			textio.Fault(r.t.Name, 0, "name the columns of attributes",
				"no column is left for attributes")
	}
	return id, class, attributes, nil
}

func (r *attributeReader) use(id, class int, attributes []int) input.Columns {
	use := input.IgnoreAll(r.t.Names)
	for i := range use {
		switch {
		case slices.Contains(attributes, i):
			use[i].Use = words.Counted(len(r.columns[i].Values), "value")
		case i == id:
			use[i].Use = input.Node
		case i == class:
			use[i].Use = input.Label
		case r.columns[i].areDates():
			use[i].Note = "dates"
		case r.t.Columns[i].Note == unreadNote:
			use[i].Note = unreadNote
		}
	}
	return use
}

func (r *attributeReader) choose(names []string) ([]int, error) {
	if !table.Numbers(names) && r.t.Titles == nil {
		return nil, textio.Fault(r.t.Name, r.lines[0],
			"give numbers of columns, or say that there is a header",
			"no header names %q", strings.Join(names, ","))
	}
	list, err := table.Find(names, r.t.Titles, len(r.columns))
	if err != nil {
		return nil, textio.Fault(r.t.Name, 0,
			"give titles of the header, or numbers", "%v", err)
	}
	return list, nil
}

// identify sets the ids of the records.
func (r *attributeReader) identify(a *Attributes, id int) error {
	a.rows = make(map[string]int, len(r.lines))
	a.IDs = make([]string, len(r.lines))
	for row := range a.IDs {
		name := strconv.Itoa(row + 1)
		if id >= 0 {
			code := r.columns[id].codes[row]
			if code < 0 {
				return textio.Fault(a.File, a.Line[row], "fix the line", "empty id")
			}
			name = r.columns[id].Values[code]
		}
		if earlier, isRepeated := a.rows[name]; isRepeated {
			return textio.Fault(a.File, a.Line[row], "give each record an id of its own, or name another column of ids",
				"%s is the id of the record on line %d already", words.Quoted(name),
				a.Line[earlier])
		}
		a.IDs[row] = name
		a.rows[name] = row
	}
	has := func(id string) bool {
		_, has := a.rows[id]
		return has
	}
	if warning := table.AlikeWarning(a.File, "record", slices.Values(a.IDs), has); warning != nil && r.c.Warn != nil {
		r.c.Warn(warning)
	}
	return nil
}
