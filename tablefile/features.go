package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
)

// Features holds numeric attributes of nodes, a row for each node.
type Features struct {
	Table   *sparse.Table // a row for each node of the graph, missing where nothing is known
	Unknown int           // rows skipped because their node is not in the graph
	Columns input.Columns // how the columns of a table are used; nil for a matrix
}

// FeatureConfig holds the settings of [ReadFeatures]; nil means the zero value.
type FeatureConfig struct {
	IDs         string       // a file whose lines name the rows of a matrix; "": see [File.Axis]
	Header      input.Header // default: decide from the text
	Text        input.Text   // how the text of a table is read; default: decide from it
	SkipUnknown bool         // pass over rows of nodes that are not in the graph; default: an error
	Memory      int64        // limits the table, in bytes, an eighth of it what reading takes; 0: no limit
	Stdin       io.Reader    // read for the path "-"; nil: os.Stdin
	Warn        func(error)  // called with each warning about the file; may be nil
}

// ErrTable is wrapped by the error of [ReadFeatures] if ids are given for a table.
var ErrTable = errors.New("tablefile: the ids of a table stand in a column")

// ReadFeatures reads attributes of nodes, a row for each node: a matrix that
// [Inspect] knows, whose rows the lines of a file name, or a table with the ids in a
// column. A matrix without ids is an error that wraps [ErrNoIDs], one that can be read
// once [ErrStream].
//
// A table is read as tables of labels are: the node is in the column whose title says so
// (node, id, …), or in the only one that holds nodes of the graph, or without a header in the
// first; a column of row numbers is skipped. A column of numbers is an attribute; where a
// value is missing it has the mean of the others. A column with other text is one of
// categories, each of which becomes an attribute of 0 and 1; a missing value has none of
// them. Ignored are columns of dates, columns titled as labels are, and columns with more than
// a thousand categories; Features.Columns reports the use of every column. The last column
// of a LINQS .content file is the label. A table is read up to three times.
//
// It is a [*nodefile.ParseError] if there is no row, if a node has two, or if a node that
// is not in the graph has one, unless these are to be skipped. With a table that the memory
// does not hold comes an outline of it, by the rows that were read.
func ReadFeatures(ctx context.Context, path string, nodes nodefile.Lookup, c *FeatureConfig) (*Features, error) {
	if c == nil {
		c = new(FeatureConfig)
	}
	r := &features{Features: new(Features), c: c, file: path, nodes: nodes, unknown: nodetable.Unknown{Nodes: nodes}}
	var err error
	switch {
	case endsAsMatrix(path) || Detect(ctx, path) != nil:
		err = r.readMatrix(ctx)
	case isStream(path) && c.IDs != "": // of a table it could be read
		err = streamed(path)
	case c.IDs != "":
		if _, err = os.Stat(path); err == nil { // a missing file is no table
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

// readingShare of the memory is for reading.
const readingShare = 8

// features collects features.
type features struct {
	*Features
	c       *FeatureConfig
	file    string
	nodes   nodefile.Lookup
	unknown nodetable.Unknown
	reading int64         // bytes that this takes beyond its share
	outline *sparse.Table // of a table that does not fit the memory, nil if it does
}

// readMatrix reads a matrix whose rows have ids of their own.
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

// end returns an error if there are no rows, or if their nodes are not in the graph.
func (r *features) end() error {
	if r.unknown.Total == 0 {
		return &nodefile.ParseError{File: r.file, Msg: "no row", Fix: "give one node a row"}
	}
	r.Unknown = r.unknown.Count
	return r.unknown.Err(r.file, r.c.SkipUnknown, "take such rows out, or pass {unknown-ids=skip}")
}
