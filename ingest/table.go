package ingest

import (
	"bytes"
	"iter"

	"github.com/heatwalk/heatwalk/internal/textio"
)

// tableConfig says how a small table of nodes is read.
type tableConfig struct {
	header  Header
	columns int                  // how many are wanted; 1: what follows a tab is passed over
	known   func(id []byte) bool // ids that are in the graph; nil: not known
}

// tableRow is one line of a table, valid until the next one.
type tableRow struct {
	line  int64
	text  [][]byte // the fields
	start []int    // their columns, from 0
}

// tableReader reads tables of nodes: a node first on each line, then what is
// said about it.
type tableReader struct {
	config tableConfig
	name   string
	sep    byte
	line   int64
	fields fields
}

// rows yields the data lines of a table. Fields are separated by tabs if the
// first line holds one, else by commas or semicolons as an edge list is, else
// the first blank ends the node. A line of one column is a node as a whole,
// unless the file is called .csv.
func (t *tableReader) rows(in *textio.Reader) iter.Seq2[tableRow, error] {
	t.name = in.Name()
	return func(yield func(tableRow, error) bool) {
		for line, err := range in.Lines() {
			if err != nil {
				yield(tableRow{}, err)
				return
			}
			if t.isComment(line.Text) {
				continue
			}
			if t.line == 0 {
				t.line = line.Number
				t.sep = t.separator(line.Text)
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

// isComment reports whether a line is one; an id of the graph may begin like a
// comment.
func (t *tableReader) isComment(line []byte) bool {
	if !isComment(line) {
		return false
	}
	id, _, found := bytes.Cut(line, []byte{tab})
	id = bytes.Trim(id, blank)
	return !(found && len(id) > 0 && t.config.known != nil && t.config.known(id))
}

func (t *tableReader) separator(line []byte) byte {
	switch {
	case bytes.IndexByte(line, tab) >= 0:
		return tab
	case isNamed(t.name, ".csv"):
		return separator(t.name, line)
	case t.config.columns == 1:
		return tab
	}
	return separator(t.name, line)
}

// split cuts a line into its fields.
func (t *tableReader) split(line textio.Line) (tableRow, *ParseError) {
	f := &t.fields
	if t.sep == blanks { // the first blank ends the node
		text := bytes.TrimLeft(line.Text, blank)
		from := len(line.Text) - len(text)
		f.text, f.start = f.text[:0], f.start[:0]
		end := bytes.IndexAny(text, blank)
		if end < 0 || t.config.columns > 2 {
			end = len(text)
		}
		rest := bytes.TrimLeft(text[end:], blank)
		f.text = append(f.text, text[:end], bytes.TrimRight(rest, blank))
		f.start = append(f.start, from, len(line.Text)-len(rest))
	}
	if t.sep != blanks || t.config.columns > 2 {
		if err := f.split(line.Text, t.sep); err != nil {
			return tableRow{}, &ParseError{File: t.name, Line: line.Number, Msg: err.Error(), Fix: "fix the line"}
		}
	}
	if len(f.text[0]) == 0 {
		return tableRow{}, &ParseError{File: t.name, Line: line.Number, Column: f.start[0] + 1, Msg: "empty id", Fix: "fix the line"}
	}
	return tableRow{line: line.Number, text: f.text, start: f.start}, nil
}
