package ingest

import (
	"bytes"
	"context"
	"io"
	"iter"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Lookup finds the row of an id; *shard.Nodes is one.
type Lookup interface {
	Lookup(id string) (row int, ok bool)
	Len() int
}

// nodeTable reads a small file about nodes: a node on each line, the first field
// unless node says otherwise, and what is said of it.
type nodeTable struct {
	path    string
	columns int    // how many are wanted; with 1, what follows a tab is passed over
	nodes   Lookup // the graph; nil: not known
	stdin   io.Reader
	warn    func(string)

	name   string // for messages
	node   int    // the column of the node
	sep    byte   // 0 before the first line
	fields table.Fields
}

// tableRow is one line of a table, valid until the next one.
type tableRow struct {
	line  int64
	text  [][]byte // the fields, one at least
	start []int    // their columns, from 0
	node  int      // the field of the node
}

// id returns the node.
func (r tableRow) id() []byte { return r.text[r.node] }

// field returns field i without blanks around it, empty if the line has fewer.
func (r tableRow) field(i int) []byte {
	if i < len(r.text) {
		return bytes.Trim(r.text[i], table.Blank)
	}
	return nil
}

// read opens the file and yields its data lines; an error comes last.
func (t *nodeTable) read(ctx context.Context) iter.Seq2[tableRow, error] {
	return func(yield func(tableRow, error) bool) {
		in, err := textio.Open(ctx, t.path, &textio.Options{Stdin: t.stdin, Warn: t.warn})
		if err != nil {
			t.name = t.path
			yield(tableRow{}, translate(t.path, err))
			return
		}
		defer in.Close()
		t.rows(in)(yield)
	}
}

// rows yields the data lines of an open file. Fields are separated by tabs if
// the first line holds one, else by commas or semicolons as in an edge list,
// else by blanks: of two columns the first blank ends the node, so that the
// rest may hold some. A line of one column is a node as a whole, unless the
// file is called .csv.
func (t *nodeTable) rows(in *textio.Reader) iter.Seq2[tableRow, error] {
	t.name = in.Name()
	return func(yield func(tableRow, error) bool) {
		for line, err := range in.Lines() {
			if err != nil {
				yield(tableRow{}, translate(t.path, err))
				return
			}
			if t.isComment(line.Text) {
				continue
			}
			row, bad := t.split(line)
			if bad != nil {
				yield(tableRow{}, bad)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// isComment reports whether a line is one. The id of a node of the graph may
// begin like a comment.
func (t *nodeTable) isComment(line []byte) bool {
	if !isComment(line) {
		return false
	}
	if t.isList() && len(bytes.Trim(line, table.Blank)) > 0 {
		return false
	}
	id, _, _ := bytes.Cut(line, []byte{table.Tab})
	if id = bytes.Trim(id, table.Blank); len(id) == 0 || t.nodes == nil {
		return true
	}
	_, known := t.nodes.Lookup(string(id))
	return !known
}

// isList reports whether the file is a list that heatwalk writes: an id is a line
// as it is.
func (t *nodeTable) isList() bool { return graphfile.Extension(t.name) == idsFile }

// separator returns what separates the fields of the file whose first line
// this is.
func (t *nodeTable) separator(line []byte) byte {
	if graphfile.Extension(t.name) == contentFile {
		return contentSeparator(line)
	}
	if t.columns == 1 && !table.IsNamed(t.name, ".csv") {
		return table.Tab
	}
	sep := table.Separator(t.name, line)
	if sep == table.Blanks && table.IsNamed(t.name, ".csv") && (t.columns == 1 || len(bytes.Fields(line)) == 1) {
		return table.Comma // nothing is said of the first node
	}
	return sep
}

// split cuts a line into its fields.
func (t *nodeTable) split(line textio.Line) (tableRow, *ParseError) {
	first := t.sep == 0
	if first {
		t.sep = t.separator(line.Text)
	}
	f := &t.fields
	if err := t.cut(line.Text); err != nil {
		return tableRow{}, &ParseError{File: t.name, Line: line.Number, Msg: err.Error(), Fix: splitFix(err, "fix the line")}
	}
	node := min(t.node, len(f.Text)-1)
	if isTitle := first && t.columns > 1; !isTitle && len(bytes.Trim(f.Text[node], table.Blank)) == 0 {
		return tableRow{}, &ParseError{File: t.name, Line: line.Number, Column: f.Start[node] + 1, Msg: "empty id", Fix: "fix the line"}
	}
	if f.Padded[node] && !t.isVerbatim(f.Text[node]) {
		f.Text[node] = bytes.Trim(f.Text[node], table.Blank)
	}
	for i, text := range f.Text {
		if bytes.IndexByte(text, table.Tab) >= 0 {
			return tableRow{}, &ParseError{File: t.name, Line: line.Number, Column: f.Start[i] + 1, Msg: table.ErrTab.Error(), Fix: "fix the line"}
		}
	}
	return tableRow{line: line.Number, text: f.Text, start: f.Start, node: node}, nil
}

// isVerbatim reports whether an id has the blanks around it that its line has: one
// of the graph does, and where that is not known one in a list of heatwalk's own.
func (t *nodeTable) isVerbatim(id []byte) bool {
	if t.nodes == nil {
		return t.isList()
	}
	_, known := t.nodes.Lookup(string(id))
	return known
}

// cut cuts a line. Of two columns that blanks separate the first blank ends the
// node, unless that is in quotes.
func (t *nodeTable) cut(line []byte) error {
	f := &t.fields
	text := bytes.Trim(line, table.Blank)
	if t.sep != table.Blanks || t.columns != 2 || text[0] == '"' {
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
