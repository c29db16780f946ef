package nodetable

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/parquetfile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Endings of files about nodes.
const (
	IDsFile     = ".ids"     // lists that heatwalk writes, an id on each line as it is; they have no header
	ContentFile = ".content" // of the LINQS collections: a node on each line, its features and at last its class
)

// MaxFields bounds the numbers of columns in settings.
const MaxFields = 1000

// Reader reads a table with a node in each row. Set the fields of the first group, then call
// [Reader.Read]; the others are known from the first row on.
type Reader struct {
	Name    string                                // of the file, for messages
	Lookup  func(id string) (row int, known bool) // finds a node in the graph; nil: the graph is not known
	Value   string                                // use of the column that is read together with the node, input.Label or input.Part; "": none
	Every   bool                                  // all columns are read, as attributes
	Fields  []string                              // columns of node and value, numbers from 1 or titles; nil: by their titles
	Option  string                                // name of the setting for Fields, for messages; "" if there is none
	Header  input.Header
	Text    input.Text
	Options textio.Options // of the file

	Titles   []string      // of the header; nil if there is none
	Line     int64         // of the header; 0 if there is none
	Columns  input.Columns // how the columns are used; nil if there is nothing to report
	Node, At int           // columns of the node and of the value; At is −1 if there is none

	isPart  bool // the file is a part of a table, which may have no row but a header
	titled  bool // Parquet: the first row holds titles
	first   int64
	sep     byte
	cutNode bool // the first blank ends the node, and the rest of the line is its value
	shifted bool // rows have one field more than the header, the name of the row, as R writes them
	fields  table.Fields
}

// Row is one row of a table, valid until the next one.
type Row struct {
	Line     int64
	Text     [][]byte // the fields, one at least
	Start    []int    // column in which each field begins, from 0
	node, at int
}

// ID returns the node.
func (r Row) ID() []byte { return r.Text[r.node] }

// Value returns the value of the node without blanks around it, empty if there is none.
func (r Row) Value() []byte {
	if r.at < 0 {
		return nil
	}
	return r.Field(r.at)
}

// Column returns the position of the value on the line, from 1.
func (r Row) Column() int {
	if r.at >= 0 && r.at < len(r.Start) {
		return r.Start[r.at] + 1
	}
	return 0
}

// Field returns field i without blanks around it, empty if the line has fewer.
func (r Row) Field(i int) []byte {
	if i < len(r.Text) {
		return bytes.Trim(r.Text[i], table.Blank)
	}
	return nil
}

// Read opens the file called path and yields its rows, see [Reader.Rows]; an error comes
// last. A directory of parts is read as one table, see [Parts].
func (t *Reader) Read(ctx context.Context, path string) iter.Seq2[Row, error] {
	parts := Parts(path)
	if t.isPart = parts != nil; !t.isPart {
		parts = []string{path}
	}
	t.Titles, t.Columns = nil, nil
	return func(yield func(Row, error) bool) {
		for _, part := range parts {
			for row, err := range t.readFile(ctx, part) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// readFile is Read for a file.
func (t *Reader) readFile(ctx context.Context, path string) iter.Seq2[Row, error] {
	isParquet := slices.Contains(parquetfile.Endings, table.Extension(path))
	t.Options.Any, t.Options.Text = isParquet, t.Text
	return func(yield func(Row, error) bool) {
		t.Name = path
		in, err := textio.Open(ctx, path, &t.Options)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer in.Close()
		if t.Name = in.Name(); !isParquet {
			t.Rows(in)(yield)
		} else if err := t.parquet(in, yield); err != nil {
			yield(Row{}, err)
		}
	}
}

// Rows yields the rows of an open file of text, without its header; an error comes last.
// Fields are separated by tabs if the first line has one, else by commas or semicolons as in
// an edge list, else by blanks; then, if only a node and a value are read, the first blank
// ends the node so that the value may contain blanks. A line of a list of ids is an id as a
// whole, unless the file is called .csv or a tab ends the id.
func (t *Reader) Rows(in *textio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if t.Name == "" {
			t.Name = in.Name()
		}
		head, err := in.Head()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = t.begin(head)
		}
		if err != nil {
			yield(Row{}, err)
			return
		}
		remarks, first := int64(0), int64(0)
		defer func() {
			if remarks > 0 && t.Options.Warn != nil {
				t.Options.Warn(table.RemarkWarning(t.Name, first, remarks))
			}
		}()
		for line, err := range in.Lines() {
			if err != nil {
				yield(Row{}, err)
				return
			}
			switch {
			case line.Number < t.first || line.Number == t.Line || table.IsBlank(line.Text):
				continue
			case line.Number > t.first && t.isRemark(line.Text, false):
				if remarks++; remarks == 1 {
					first = line.Number
				}
				continue
			}
			row, bad := t.split(line)
			if bad != nil {
				yield(Row{}, bad)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// find looks an id up in the graph. A whole number matches one that is written as 3 in one
// file and as 3.0 in the other.
func (t *Reader) find(id string) (row int, known bool) { return Find(t.Lookup, id) }

// Find looks an id up in the graph, and then the other way to write it if it is a whole
// number: 3 for 3.0, and 3.0 for 3.
func Find(lookup func(id string) (row int, known bool), id string) (row int, known bool) {
	if row, known = lookup(id); !known {
		if other := table.WholeNumber(id); other != "" {
			row, known = lookup(other)
		}
	}
	return row, known
}

// isRemark reports whether a line that is not blank is a comment. One that begins with a
// comment marker is data if its id is in the graph, or, where that is not known, if the
// line has the form of a row. With anyField the id may be any field, because the column of the
// node is not known yet.
func (t *Reader) isRemark(line []byte, anyField bool) bool {
	if !table.IsComment(line) || t.isList() {
		return false
	}
	if t.Lookup == nil {
		return !table.MayBeRow(line) || !t.Every && t.Value == "" && bytes.ContainsAny(bytes.Trim(line, table.Blank), " ")
	}
	sep := t.sep
	if sep == 0 {
		sep = t.separator(line)
	}
	var f table.Fields
	if f.Split(line, sep) != nil || len(f.Text) == 0 {
		return true
	}
	for i, id := range f.Text {
		if i != min(t.Node, len(f.Text)-1) && !anyField {
			continue
		}
		if _, known := t.find(string(id)); known {
			return false
		}
		if _, known := t.find(string(bytes.Trim(id, table.Blank))); known {
			return false
		}
	}
	return true
}

// isList reports whether the file is a list that heatwalk writes: an id is a line as it is.
func (t *Reader) isList() bool { return table.IsNamed(t.Name, IDsFile) }

// isContent reports whether the last field of each line is the label.
func (t *Reader) isContent() bool { return table.IsNamed(t.Name, ContentFile) }

// separator returns the separator of the fields of the file whose first line this is.
func (t *Reader) separator(line []byte) byte {
	switch {
	case t.isList():
		return table.Tab
	case t.Text.Separator() != 0:
		return t.Text.Separator()
	case t.isContent():
		if bytes.IndexByte(line, table.Tab) >= 0 {
			return table.Tab
		}
		return table.Blanks
	case t.Value == "" && !t.Every && !table.IsNamed(t.Name, ".csv"):
		return table.Tab
	}
	sep := table.SeparatorOf(t.Text, t.Name, line)
	if sep == table.Blanks && table.IsNamed(t.Name, ".csv") && (t.Value == "" && (!t.Every || t.Lookup == nil) || len(bytes.Fields(line)) == 1) {
		return table.Comma // the first row has one field
	}
	return sep
}

// split cuts a line into its fields.
func (t *Reader) split(line textio.Line) (Row, *textio.Error) {
	f := &t.fields
	fault := func(column int, fix string, err error) *textio.Error {
		e := textio.Fault(t.Name, line.Number, fix, "%w", err)
		e.Column = column
		return e
	}
	if err := t.cut(f, line.Text); err != nil {
		return Row{}, fault(0, table.SplitFix(err, "fix the line"), err)
	}
	node := min(t.Node, len(f.Text)-1)
	if len(bytes.Trim(f.Text[node], table.Blank)) == 0 && !t.mayBeEmpty() {
		return Row{}, fault(f.Start[node]+1, "fix the line", errEmpty)
	}
	if f.Padded[node] && !t.isVerbatim(f.Text[node]) {
		f.Text[node] = bytes.Trim(f.Text[node], table.Blank)
	}
	for i, text := range f.Text {
		if bytes.IndexByte(text, table.Tab) >= 0 {
			return Row{}, fault(f.Start[i]+1, "fix the line", table.ErrTab)
		}
	}
	at := t.At
	if t.isContent() && t.Value != "" {
		at = len(f.Text) - 1
	}
	return Row{Line: line.Number, Text: f.Text, Start: f.Start, node: node, at: at}, nil
}

var errEmpty = errors.New("empty id")

// mayBeEmpty reports whether no column of nodes was asked for, so that any field may be
// empty.
func (t *Reader) mayBeEmpty() bool { return t.Every && t.Lookup == nil }

// isVerbatim reports whether an id has the blanks around it that its line has: one of the
// graph does, and where the graph is not known one in a list of heatwalk's own.
func (t *Reader) isVerbatim(id []byte) bool {
	if t.Lookup == nil {
		return t.isList()
	}
	_, known := t.Lookup(string(id))
	return known
}

// cut cuts a line. The first blank ends the node if that is how the file is built, unless
// the node is in quotes.
func (t *Reader) cut(f *table.Fields, line []byte) error {
	text := bytes.Trim(line, table.Blank)
	if !t.cutNode || text[0] == '"' {
		return f.Split(line, t.sep)
	}
	from := bytes.Index(line, text)
	end := bytes.IndexAny(text, table.Blank)
	if end < 0 {
		end = len(text)
	}
	rest := bytes.TrimLeft(text[end:], table.Blank)
	f.Text = append(f.Text[:0], text[:end], rest)
	f.Start = append(f.Start[:0], from, from+len(text)-len(rest))
	f.Padded = append(f.Padded[:0], false, false)
	return nil
}
