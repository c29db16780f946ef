package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/sparse"
)

// Features holds numeric attributes of nodes, a row for each node.
type Features struct {
	Table   *sparse.Table // a row for each node of the graph; missing for a node without attributes
	Unknown int           // rows skipped because their node is not in the graph
	Columns input.Columns // how the columns of a table are used; nil for a matrix
}

// FeatureConfig holds the settings of [ReadFeatures]; nil means the zero value.
type FeatureConfig struct {
	IDs         string       // file with the ids of the rows of a matrix, one a line; "": see [File.Axis]
	Header      input.Header // default: decide from the text
	Text        input.Text   // how the text of a table is read; default: decide from it
	SkipUnknown bool         // skip rows of nodes that are not in the graph; default: an error
	Memory      int64        // limit of the table and of reading it, in bytes (an eighth is for reading); 0: no limit
	Stdin       io.Reader    // read for the path "-"; nil: os.Stdin
	Warn        func(error)  // called with each warning about the file; may be nil
}

// ErrTable is wrapped by the error of [ReadFeatures] if ids are given for a table.
var ErrTable = errors.New("tablefile: the ids of a table stand in a column")

// ReadFeatures reads attributes of nodes, a row for each node, from a matrix that [Inspect]
// reads and a list of the ids of its rows, or from a table with a column of ids. The error for
// a matrix without ids wraps [ErrNoIDs], the error for a pipe wraps [ErrStream].
//
// A table is read by the rules of label tables. The node is in the column with such a title
// (node, id, …), or in the only column with nodes of the graph, or in the first column of a
// table without a header. A column of row numbers is skipped. A column of numbers becomes one
// attribute, and a missing value becomes the mean of the column. A column of other text
// becomes one attribute of 0 and 1 for each category; for a missing value all of them are 0.
// For example, the column colour with the values red, blue and red becomes two attributes.
//
// Three kinds of columns are ignored: dates, columns titled as labels, because they may hold
// the values to be predicted, and columns with more than 1,000 categories, because these are
// names rather than attributes. Features.Columns reports the use of every column. The last
// column of a LINQS .content file is the label. A table is read up to three times: for the
// types of its columns, their categories and the values.
//
// The error is a [*nodefile.ParseError] if there is no row, if a node has two rows, or if a
// node is not in the graph (unless SkipUnknown is set). If the attributes exceed Memory, the
// error is a [*budget.Error], and Features.Table has the estimated size of the whole table.
func ReadFeatures(ctx context.Context, path string, nodes nodefile.Lookup, c *FeatureConfig) (*Features, error) {
	if c == nil {
		c = new(FeatureConfig)
	}
	r := &features{Features: new(Features), c: c, file: path, nodes: nodes, unknown: nodetable.Unknown{Nodes: nodes}}
	var err error
	switch {
	case endsAsMatrix(path) || Detect(ctx, path) != nil:
		err = r.readMatrix(ctx)
	case isStream(path) && c.IDs != "": // only a matrix has a list of ids, and it cannot be read from a pipe
		err = streamed(path)
	case c.IDs != "":
		if _, err = os.Stat(path); err == nil { // for a missing file, report that it is missing
			err = fmt.Errorf("%w, and so none are read from %s", ErrTable, c.IDs)
		}
	default:
		err = r.readTable(ctx)
	}
	if err == nil {
		err = r.end()
	}
	switch {
	case r.outline != nil:
		r.Table = r.outline
	case err != nil:
		return nil, err
	}
	return r.Features, err
}

// readingShare is the divisor of the memory limit that gives the share for reading.
const readingShare = 8

// features reads the attributes of nodes into a table.
type features struct {
	*Features
	c       *FeatureConfig
	file    string
	nodes   nodefile.Lookup
	unknown nodetable.Unknown
	reading int64         // bytes of reading that exceed its share of the limit; ≤ 0 if none do
	outline *sparse.Table // estimated size of a table that exceeds the limit, else nil
}

// readMatrix reads a matrix and the ids of its rows.
func (r *features) readMatrix(ctx context.Context) error {
	f, err := Inspect(ctx, r.file, &Options{Memory: r.c.Memory / readingShare})
	if err != nil {
		return err
	}
	if r.reading = f.rowBytes(4) - r.c.Memory/readingShare; r.c.Memory > 0 && r.reading > r.c.Memory {
		return &budget.Error{Need: r.reading, Limit: r.c.Memory, Largest: budget.Item{What: "a row of attributes", Bytes: r.reading}}
	}
	var rows Axis
	if r.c.IDs != "" {
		rows, err = ReadAxis(ctx, r.c.IDs, f.Rows, r.c.Stdin)
	} else {
		rows, err = f.Axis(ctx, "rows")
	}
	if err != nil {
		return err
	}
	r.Table = &sparse.Table{Rows: r.nodes.Len(), Cols: f.Cols}
	i := 0
	return Read(ctx, f, func(_ []byte, row []float32) error {
		i++
		return r.add(0, []byte(rows.ID(i-1)), row)
	})
}

// add adds the row of a node; line is 0 for a matrix.
func (r *features) add(line int64, id []byte, values []float32) error {
	row, known := nodetable.Find(r.nodes.Lookup, string(id))
	if !known {
		r.unknown.Add(line, id)
		return nil
	}
	r.unknown.Total++
	if _, before := r.Table.Row(row); before != nil {
		return &nodefile.ParseError{File: r.file, Line: line, Msg: fmt.Sprintf("%s has two rows", table.Quoted(id)), Fix: "keep one of them"}
	}
	r.Table.Set(row, values)
	if bytes := r.Table.Bytes + max(0, r.reading); r.c.Memory > 0 && bytes > r.c.Memory {
		r.outline = r.Table.Outline(r.nodes.Len())
		need := max(bytes, r.outline.Bytes)
		return &budget.Error{Need: need, Limit: r.c.Memory, Largest: budget.Item{What: "attributes", Bytes: need}}
	}
	return nil
}

// end returns an error if there are no rows, or if some of their nodes are not in the graph.
func (r *features) end() error {
	if r.unknown.Total == 0 {
		return &nodefile.ParseError{File: r.file, Msg: "no row", Fix: "give one node a row"}
	}
	r.Unknown = r.unknown.Count
	return r.unknown.Err(r.file, r.c.SkipUnknown, "remove such rows, or pass {unknown-ids=skip}")
}
