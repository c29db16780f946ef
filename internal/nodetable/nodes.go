package nodetable

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/heatwalk/heatwalk/internal/parquetfile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Endings of files about nodes.
const (
	IDsFile     = ".ids"     // lists that heatwalk writes, an id on each line as it is; they have no header
	ContentFile = ".content" // of the LINQS collections: a node on each line, its features and at last its class
)

// Reader reads a small file about nodes: a node on each line, the first field unless
// Node says otherwise, and what is said of it.
type Reader struct {
	Name    string
	Columns int                                   // how many are wanted; with 1, what follows a tab is passed over
	Lookup  func(id string) (row int, known bool) // finds a node in the graph; nil: that is not known
	Node    int                                   // the column of the node
	Wanted  []int                                 // the columns that are read of Parquet, which the first row may settle; nil: all
	Titled  bool                                  // the first row holds titles for sure, as Parquet tells
	Options textio.Options                        // of the file

	sep    byte // 0 before the first line
	fields table.Fields
}

// MaxFields bounds the columns of a line that are looked at.
const MaxFields = 1000

// Row is one line of such a file, valid until the next one.
type Row struct {
	Line  int64
	Text  [][]byte // the fields, one at least
	Start []int    // column in which each field begins, from 0
	node  int      // the field of the node
}

// ID returns the node.
func (r Row) ID() []byte { return r.Text[r.node] }

// Of returns the row with its node in field i.
func (r Row) Of(i int) Row {
	r.node = i
	return r
}

// Field returns field i without blanks around it, empty if the line has fewer.
func (r Row) Field(i int) []byte {
	if i < len(r.Text) {
		return bytes.Trim(r.Text[i], table.Blank)
	}
	return nil
}

// Read opens the file called path and yields its data lines, see [Reader.Rows]; an error
// comes last. Of Parquet, which its name tells, the first line is that of the titles.
func (t *Reader) Read(ctx context.Context, path string) iter.Seq2[Row, error] {
	isParquet := slices.Contains(parquetfile.Endings, table.Extension(path))
	t.Options.Any = isParquet
	return func(yield func(Row, error) bool) {
		t.Name, t.sep = path, 0
		in, err := textio.Open(ctx, path, &t.Options)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer in.Close()
		t.Name = in.Name()
		if !isParquet {
			t.Rows(in)(yield)
		} else if err := t.parquet(in, yield); err != nil {
			yield(Row{}, err)
		}
	}
}

// Rows yields the data lines of an open file; an error comes last. Fields are separated by tabs if
// the first line holds one, else by commas or semicolons as in an edge list,
// else by blanks: of two columns the first blank ends the node, so that the
// rest may hold some. A line of one column is a node as a whole, unless the
// file is called .csv.
func (t *Reader) Rows(in *textio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if t.Name == "" {
			t.Name = in.Name()
		}
		data := t.firstData(in)
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
			if line.Number < data || table.IsBlank(line.Text) {
				continue
			}
			if line.Number > data && t.isRemark(line.Text) {
				if t.sep != 0 && (t.Lookup == nil || table.MayBeRow(line.Text)) {
					if remarks++; remarks == 1 {
						first = line.Number
					}
				}
				continue
			}
			row, bad := t.Split(line)
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

// firstData returns the number of the first line of data, as [table.FirstData] finds it; 0
// where the graph, or the kind of file, decides about each line that begins as a comment.
func (t *Reader) firstData(in *textio.Reader) int64 {
	if t.Lookup != nil || t.isList() {
		return 0
	}
	head, err := in.Head()
	if err != nil {
		return 0 // it is met again
	}
	first, doubtful := table.FirstData(head.Data, t.separator)
	if first < 0 {
		return head.First + int64(head.Lines)
	}
	if doubtful >= 0 && t.Options.Warn != nil {
		t.Options.Warn(fmt.Errorf("%s:%d: taken as a comment; if it is data, write a header line above it", t.Name, head.First+int64(doubtful)))
	}
	return head.First + int64(first)
}

// isRemark reports whether a line that is not blank is a comment. One that begins with a
// comment marker is data if its id is in the graph, or, where that is not known, if the
// line has the form of a row.
func (t *Reader) isRemark(line []byte) bool {
	if !table.IsComment(line) || t.isList() {
		return false
	}
	if t.Lookup == nil {
		return !table.MayBeRow(line) || t.Columns == 1 && bytes.ContainsAny(bytes.Trim(line, table.Blank), " ")
	}
	sep := t.sep
	if sep == 0 {
		sep = t.separator(line)
	}
	var f table.Fields
	if f.Split(line, sep) != nil || len(f.Text) == 0 {
		return true
	}
	id := f.Text[min(t.Node, len(f.Text)-1)]
	_, known := t.Lookup(string(id))
	if !known {
		_, known = t.Lookup(string(bytes.Trim(id, table.Blank)))
	}
	return !known
}

// isList reports whether the file is a list that heatwalk writes: an id is a line
// as it is.
func (t *Reader) isList() bool { return table.IsNamed(t.Name, IDsFile) }

// separator returns what separates the fields of the file whose first line
// this is.
func (t *Reader) separator(line []byte) byte {
	if table.IsNamed(t.Name, ContentFile) {
		if bytes.IndexByte(line, table.Tab) >= 0 {
			return table.Tab
		}
		return table.Blanks
	}
	if t.Columns == 1 && !table.IsNamed(t.Name, ".csv") {
		return table.Tab
	}
	sep := table.Separator(t.Name, line)
	if sep == table.Blanks && table.IsNamed(t.Name, ".csv") && (t.Columns == 1 || len(bytes.Fields(line)) == 1) {
		return table.Comma // nothing is said of the first node
	}
	return sep
}

// Split cuts a line into its fields.
func (t *Reader) Split(line textio.Line) (Row, *textio.Error) {
	first := t.sep == 0
	if first {
		t.sep = t.separator(line.Text)
	}
	f := &t.fields
	if err := t.cut(line.Text); err != nil {
		return Row{}, &textio.Error{File: t.Name, Line: line.Number, Msg: err.Error(), Fix: table.SplitFix(err, "fix the line")}
	}
	node := min(t.Node, len(f.Text)-1)
	if isTitle := first && t.Columns > 1; !isTitle && len(bytes.Trim(f.Text[node], table.Blank)) == 0 {
		return Row{}, &textio.Error{File: t.Name, Line: line.Number, Column: f.Start[node] + 1, Msg: "empty id", Fix: "fix the line"}
	}
	if f.Padded[node] && !t.isVerbatim(f.Text[node]) {
		f.Text[node] = bytes.Trim(f.Text[node], table.Blank)
	}
	for i, text := range f.Text {
		if bytes.IndexByte(text, table.Tab) >= 0 {
			return Row{}, &textio.Error{File: t.Name, Line: line.Number, Column: f.Start[i] + 1, Msg: table.ErrTab.Error(), Fix: "fix the line"}
		}
	}
	return Row{Line: line.Number, Text: f.Text, Start: f.Start, node: node}, nil
}

// isVerbatim reports whether an id has the blanks around it that its line has: one
// of the graph does, and where that is not known one in a list of heatwalk's own.
func (t *Reader) isVerbatim(id []byte) bool {
	if t.Lookup == nil {
		return t.isList()
	}
	_, known := t.Lookup(string(id))
	return known
}

// cut cuts a line. Of two columns that blanks separate the first blank ends the
// node, unless that is in quotes.
func (t *Reader) cut(line []byte) error {
	f := &t.fields
	text := bytes.Trim(line, table.Blank)
	if t.sep != table.Blanks || t.Columns != 2 || text[0] == '"' {
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
