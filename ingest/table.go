package ingest

import (
	"bytes"
	"context"
	"io"
	"iter"
	"strings"

	"github.com/heatwalk/heatwalk/graphfile"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Lookup finds the row of an id; *shard.Nodes is one.
type Lookup interface {
	Lookup(id string) (row int, ok bool)
	Len() int
}

// table reads a small file about nodes: a node first on each line, then what
// is said of it.
type table struct {
	path    string
	columns int    // how many are wanted; with 1, what follows a tab is passed over
	nodes   Lookup // the graph; nil: not known
	stdin   io.Reader
	warn    func(string)

	name   string // for messages
	sep    byte   // 0 before the first line
	fields fields
}

// tableRow is one line of a table, valid until the next one.
type tableRow struct {
	line  int64
	text  [][]byte // the fields, one at least
	start []int    // their columns, from 0
}

// id returns the node.
func (r tableRow) id() []byte { return r.text[0] }

// field returns field i, empty if the line has fewer.
func (r tableRow) field(i int) []byte {
	if i < len(r.text) {
		return r.text[i]
	}
	return nil
}

// read opens the file and yields its data lines; an error comes last.
func (t *table) read(ctx context.Context) iter.Seq2[tableRow, error] {
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
func (t *table) rows(in *textio.Reader) iter.Seq2[tableRow, error] {
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
func (t *table) isComment(line []byte) bool {
	if !isComment(line) {
		return false
	}
	if graphfile.Extension(t.name) == idsFile && len(bytes.Trim(line, blank)) > 0 {
		return false
	}
	id, _, _ := bytes.Cut(line, []byte{tab})
	if id = bytes.Trim(id, blank); len(id) == 0 || t.nodes == nil {
		return true
	}
	_, known := t.nodes.Lookup(string(id))
	return !known
}

// separator returns what separates the fields of the file whose first line
// this is.
func (t *table) separator(line []byte) byte {
	if graphfile.Extension(t.name) == contentFile {
		return contentSeparator(line)
	}
	if t.columns == 1 && !isNamed(t.name, ".csv") {
		return tab
	}
	sep := separator(t.name, line)
	if sep == blanks && isNamed(t.name, ".csv") && (t.columns == 1 || len(bytes.Fields(line)) == 1) {
		return comma // nothing is said of the first node
	}
	return sep
}

// split cuts a line into its fields.
func (t *table) split(line textio.Line) (tableRow, *ParseError) {
	if t.sep == 0 {
		t.sep = t.separator(line.Text)
	}
	f := &t.fields
	if t.sep == blanks && t.columns == 2 {
		text := bytes.Trim(line.Text, blank)
		from := bytes.Index(line.Text, text)
		end := bytes.IndexAny(text, blank)
		if end < 0 {
			end = len(text)
		}
		rest := bytes.TrimLeft(text[end:], blank)
		f.text = append(f.text[:0], text[:end], rest)
		f.start = append(f.start[:0], from, from+len(text)-len(rest))
	} else if err := f.split(line.Text, t.sep); err != nil {
		return tableRow{}, &ParseError{File: t.name, Line: line.Number, Msg: err.Error(), Fix: splitFix(err, "fix the line")}
	}
	if len(f.text[0]) == 0 {
		return tableRow{}, &ParseError{File: t.name, Line: line.Number, Column: f.start[0] + 1, Msg: "empty id", Fix: "fix the line"}
	}
	for i, text := range f.text {
		if bytes.IndexByte(text, tab) >= 0 {
			return tableRow{}, &ParseError{File: t.name, Line: line.Number, Column: f.start[i] + 1, Msg: errTab.Error(), Fix: "fix the line"}
		}
	}
	return tableRow{line: line.Number, text: f.text, start: f.start}, nil
}

// nodeTitles are words that head a column of nodes.
var nodeTitles = map[string]bool{
	"node": true, "nodes": true, "node_id": true, "nodeid": true, "id": true, "ids": true,
	"name": true, "vertex": true, "vertex_id": true, "user": true, "paper": true, "page": true,
}

// isNodeTitle reports whether an id would also be a title.
func isNodeTitle(id []byte) bool { return nodeTitles[strings.ToLower(string(id))] }
