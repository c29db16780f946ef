package graphfile

import (
	"bufio"
	"context"
	"io"
	"slices"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Format is a format of graph files. [Formats] lists all formats; [Register] adds formats of other packages.
type Format struct {
	Name    string   // short name, such as "graphml", of a format that [Write] writes; "": only read
	Title   string   // title for messages and reports: "GraphML"
	Endings []string // usual endings of file names; the content counts for more
	Text    bool     // text, which may be written compressed

	// Encoded reports whether a text that begins with head declares its encoding. Nil means that no text does.
	Encoded func(head []byte) bool

	Table      bool // a table of edges, whose columns [Input].Fields, Weight, Kind and Time may name
	Attributes bool // edges have attributes, which [Input].Weight and Kind may name

	// What Write does.
	EdgesOnly      bool // nodes without an edge are not in the file
	Exact          bool // [Bytes] returns the size of the file within a few kilobytes
	NodeAttributes bool // [WriteOptions].Attributes are written
	Sweeps         int  // sweeps of Write over the store

	// Begins reports whether a file that begins with head, a few kilobytes, has the format. If it is nil, the ending
	// decides.
	Begins func(head []byte) bool

	// Read reads a file and calls visit with its batches in order, see the function [Read]. If it is nil, package ingest
	// reads the format.
	Read func(in *Input, visit Visitor) (*Summary, error)

	// Write writes the edges of a store to out and returns the number of nodes that are missing in the file. Size bounds
	// the size of the file. Both are for formats of other packages, and nil if the format is only read.
	Write func(ctx context.Context, out *bufio.Writer, s *shard.Store) (isolated int, err error)
	Size  func(s *shard.Store) int64

	write  func(ctx context.Context, out *bufio.Writer, g *graph) (isolated int, err error) // nil: only read
	size   func(g *graph) int64                                                             // size of the file; nil: textBytes
	markup int                                                                              // bytes of an edge or node as text, without ids, weights and attributes; 0: nodes have no text
	held   func(g *graph) int64                                                             // memory of write without rows that are put in order; nil: none
}

// Formats are the formats of this package and of [Register]. The first format that matches a file is used.
var Formats = []*Format{EdgeList, CSV, MatrixMarket, SciPy, GraphML, JSONLines,
	Parquet, BVGraph}

// Register adds a format of another package. It must be called from an init function. A format must have a title,
// endings, and Read or Write; with Write it must also have a name and Size. Register panics otherwise, and if the
// title or an ending is taken.
func Register(f *Format) {
	isWritten := f.Write != nil
	if f.Title == "" || len(f.Endings) == 0 || f.Read == nil && !isWritten ||
		isWritten != (f.Name != "") || isWritten != (f.Size != nil) {
		panic(badFormat)
	}
	if isWritten {
		f.write = func(ctx context.Context, out *bufio.Writer, g *graph) (int, error) {
			return f.Write(ctx, out, g.store)
		}
		f.size = func(g *graph) int64 { return f.Size(g.store) }
	}
	for _, g := range Formats {
		if g.Title == f.Title ||
			slices.ContainsFunc(g.Endings,
				func(e string) bool { return slices.Contains(f.Endings, e) }) {
			panic(takenFormat)
		}
	}
	Formats = append(Formats, f)
}

// Direction is the direction of edges that a file states.
type Direction int

// The edges of a table are Unstated. The edges of a matrix are BySymmetry: undirected if the matrix is symmetric.
const (
	Unstated Direction = iota
	Undirected
	Directed
	BySymmetry
)

// Input is an opened file, and how [Read] reads it.
type Input struct {
	Name string    // file name for messages; its ending may decide the format
	Text io.Reader // decompressed; text must be UTF-8 without a byte-order mark

	// File is the same content with random access, and Size its length. If File is nil, formats that need random access
	// (npz, Parquet) are read into memory first.
	File io.ReaderAt
	Size int64

	Directed   bool     // every edge has a direction; an edge that the file calls undirected is given both ways
	Undirected bool     // no edge has a direction, whatever the file says
	Fields     []string // columns of source, target and weight of a table, numbers from 1 or titles; nil: found by their titles

	Reciprocal bool // weights are the reciprocals of the attribute or column, which are distances

	Weight string // edge attribute of GraphML or JSON, or column of a table, that is the weight; "": the usual names

	// Kind and Time name the edge attributes or columns with the kind and the time of an edge; "": none. Code returns
	// the code of the edge, or what is wrong with its time.
	Kind, Time string
	TimeForm   table.TimeForm
	Code       func(form table.TimeForm, kind, time string) (code uint32, fault string)

	Signed    bool // weights may be negative
	Bipartite bool // titles of the columns of a table, and a colon, precede the ids

	Hold Holder // may be nil
}

// Visitor gets the batches of a file in order. Its error ends the reading.
type Visitor = func(b *Batch) error

// Holder is called whenever the memory of a reader has grown, with the bytes kept in addition to a batch. Its error
// ends the reading.
type Holder = func(bytes int64) error

// Batch is a part of a file: nodes, or edges with two ids each, source and target. It is valid during the call.
type Batch struct {
	Edges    bool      // ids are ends of edges
	Numbered bool      // numbers are positions from 0, see Summary
	Number   []uint64  // ids, if they are numbers; else empty
	Text     []byte    // ids, if they are text, concatenated
	End      []int     // where each id ends in Text
	Weight   []float64 // weights of edges, finite and ≥ 0; empty: all are 1 so far
	Code     []uint32  // codes of kind and time of edges; empty without Input.Kind and Input.Time
}

func (b *Batch) len() int { return len(b.Number) + len(b.End) }

// AddText adds an id as text.
func (b *Batch) AddText(id []byte) {
	b.Text = append(b.Text, id...)
	b.End = append(b.End, len(b.Text))
}

// Summary describes a file that has been read.
type Summary struct {
	Direction Direction
	Numbered  bool          // nodes are First … First+Nodes−1; batches count them from 0
	Nodes     uint64        // if Numbered
	First     uint64        // if Numbered
	Lines     int64         // lines of a text format
	Columns   input.Columns // uses of columns of a table, or of attributes of edges
	AreEvents bool          // lines of a table are events between two nodes, such as payments
	Notes     []error       // warnings
	Rounded   int64         // integer weights that float64 does not hold
	RoundedAt string        // place of the first of them, as it follows the name of the file
}

// MaxNodes is the largest number of nodes that a file may declare.
const MaxNodes = 1<<32 - 1

const fetchAgain = "fetch the file again"

// Read reads a file of format f and calls visit with its batches in order. The error is an [*input.Error]
// about the file, or the error of visit, Hold or the reader.
func Read(f *Format, in *Input, visit Visitor) (*Summary, error) {
	if f.Read == nil {
		panic(badRead)
	}
	return f.Read(in, visit)
}

// readBatches returns a function like [Read] for a reader that adds nodes and edges one by one.
func readBatches(read func(s *batchWriter) (*Summary, error)) func(in *Input, visit Visitor) (*Summary, error) {
	return func(in *Input, visit Visitor) (*Summary, error) {
		s := &batchWriter{Input: in, visit: visit}
		g, err := read(s)
		if err != nil {
			return nil, err
		}
		g.Rounded = s.rounded
		g.RoundedAt = s.roundedAt
		return g, s.flush()
	}
}

// Write writes the graph of a store to w in format f. It returns the number of nodes without edges if the format
// drops them, and otherwise 0. The error wraps [ErrFormat] if the format cannot represent the graph, or says that the
// two halves of an undirected store differ.
//
// Nodes are in the order of the ids. Edge lists, Parquet tables and Matrix Market files (lower triangle) have an
// undirected edge once, SciPy files at both of its ends. Weights have enough digits to read the same bits back.
func Write(ctx context.Context, f *Format, w io.Writer, s *shard.Store,
	o *WriteOptions) (isolated int, err error) {
	if f.write == nil {
		panic(badWrite)
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	isolated, err = f.write(ctx, out, graphOf(s, o))
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return 0, err
	}
	return isolated, nil
}

const (
	badRead     = "graphfile: Read does not read this format"
	badWrite    = "graphfile: Write does not write this format"
	badFormat   = "graphfile: a format needs a title, an ending and Read, or a name, Write and Size"
	takenFormat = "graphfile: a format with this title or ending exists"
)
