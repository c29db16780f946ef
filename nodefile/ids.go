package nodefile

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// Lookup finds the row of an id; *shard.Nodes is one.
type Lookup interface {
	Lookup(id string) (row int, ok bool)
	Len() int
}

// Header says whether the first data line of a file is one.
type Header int

// The zero value decides from the text, see the package documentation.
const (
	AutoHeader Header = iota
	HasHeader
	NoHeader
)

// ReadIDs reads a list of ids, one a line, and returns their rows in the order
// of the file; what follows a tab is passed over, and so is a first line that
// says node, id or the like and is no node. An id that is not in the graph or
// stands there twice is an error. "-" reads stdin, or os.Stdin if that is nil.
func ReadIDs(ctx context.Context, path string, nodes Lookup, stdin io.Reader) ([]int, error) {
	t := &nodetable.Reader{Columns: 1, Lookup: nodes.Lookup, Options: textio.Options{Stdin: stdin}}
	return readRows(ctx, t, path, "ids", titled, func(int, nodetable.Row) error { return nil })
}

// ReadSplit reads lines node<TAB>train or node<TAB>test and returns the rows of
// both parts in the order of the file. Nodes without a line, with an empty
// part, or with val, validation or none, are in neither. A first line with a
// title is passed over as in [ReadIDs], and stdin is the same.
func ReadSplit(ctx context.Context, path string, nodes Lookup, stdin io.Reader) (train, test []int, err error) {
	t := &nodetable.Reader{Columns: 2, Lookup: nodes.Lookup, Options: textio.Options{Stdin: stdin}}
	_, err = readRows(ctx, t, path, "parts", titled, func(node int, row nodetable.Row) error {
		switch strings.ToLower(string(row.Field(1))) {
		case "train":
			train = append(train, node)
		case "test":
			test = append(test, node)
		case "", "val", "validation", "none":
		default:
			return &ParseError{File: t.Name, Line: row.Line, Column: row.Start[1] + 1, Msg: fmt.Sprintf("%s is neither train nor test", table.Quoted(row.Field(1))), Fix: "fix the line"}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case len(train) == 0:
		return nil, nil, &ParseError{File: t.Name, Msg: "no node is for training", Fix: "write lines node<TAB>train"}
	case len(test) == 0:
		return nil, nil, &ParseError{File: t.Name, Msg: "no node is for testing", Fix: "write lines node<TAB>test"}
	}
	return train, test, nil
}

// titled reports whether the first line of a table is a header: it holds a
// title where the node should be, or nothing.
func titled(t *nodetable.Reader, row nodetable.Row) (bool, error) {
	_, known := t.Lookup(string(row.ID()))
	return t.Titled || !known && (len(row.ID()) == 0 || table.IsNode(string(row.ID()))), nil
}

// readRows reads the file path, in which every node has one line, and returns the
// nodes' rows in order. isHeader is asked about the first line, use called
// with every other whose node is in the graph. what names the content in
// messages.
func readRows(ctx context.Context, t *nodetable.Reader, path, what string, isHeader func(*nodetable.Reader, nodetable.Row) (bool, error), use func(node int, row nodetable.Row) error) ([]int, error) {
	var list []int
	at := map[int]int64{} // the line of each row
	first := true
	var unknown nodetable.Unknown
	for row, err := range t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		if first {
			first = false
			is, err := isHeader(t, row)
			if err != nil {
				return nil, err
			}
			if is {
				continue
			}
		}
		id := row.ID()
		node, known := t.Lookup(string(id))
		if !known {
			unknown.Add(row.Line, id)
			continue
		}
		unknown.Total++
		if line, twice := at[node]; twice {
			return nil, &ParseError{File: t.Name, Line: row.Line, Msg: fmt.Sprintf("%s is on line %d already", table.Quoted(id), line), Fix: "keep one of the lines"}
		}
		at[node] = row.Line
		if err := use(node, row); err != nil {
			return nil, err
		}
		list = append(list, node)
	}
	if unknown.Total == 0 {
		return nil, &ParseError{File: t.Name, Msg: "no " + what, Fix: "give one node a line"}
	}
	if err := unknown.Err(t.Name, false, "take such lines out"); err != nil {
		return nil, err
	}
	return list, nil
}
