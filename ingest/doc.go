// Package ingest converts graph files to a store. Package nodefile reads the small files
// that belong to a graph.
//
//	report, err := ingest.Run(ctx, "graph", []string{"edges.tsv.gz"}, nil)
//	store, err := shard.Open(ctx, "graph", nil)
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//
// # Edge lists
//
// An edge list has one edge a line: source, target and perhaps a weight, separated by tabs,
// commas, semicolons or blanks. The first data line decides the separator and the number of
// columns; a line that differs is an error. Titles of a header determine the columns, see package
// table and docs/tables.md. Lines of NetworkX end in a dictionary with the weight. Weights are
// decimal numbers ≥ 0, as float64; an edge of weight zero is dropped.
//
// Blank lines, and lines above the first line of data that begin with #, % or //, are skipped.
// Below it, such a line is an edge if it has the form of an edge, because ids may begin with these
// characters; otherwise it is a comment, with a warning. Quotes around a field are removed;
// between tabs, quotes that do not enclose a whole field belong to the text. A quoted field
// must end on its line.
//
// The first line identifies a KONECT file: blanks and tabs separate its fields alike, and
// the time in the fourth field is ignored.
//
// # Matrix Market
//
// The first line of a coordinate file states its type (pattern, integer or real; general, symmetric or
// skew-symmetric). Rows are numbered from 1, and all of them are nodes, with or without an edge.
// A general matrix is a directed graph unless its values are symmetric. Values that differ by less than
// 1e-10 of the larger value are averaged, because rounding causes such differences. A skew-symmetric
// matrix keeps the positive entry of each pair, or with Signed both: it is a directed graph.
//
// # Files of other tools
//
// Package graphfile reads the formats that it recognizes (SciPy matrices, METIS, BVGraph, GraphML,
// JSON lines, Parquet). Directions are as the file states, or follow from the symmetry of a matrix,
// unless Directed or Undirected is set. A file of another kind,
// for example an archive or a page of HTML, is refused by its name; see [textio.CheckRead].
// If a file numbers its nodes and there is a list of nodes, its rows get the ids of the list.
// Of the LINQS pair NAME.cites and NAME.content, or the folder
// that holds them, the first is an edge list and the second the list of nodes;
// [nodefile.ReadLabels] finds labels in it.
//
// # Ids and rows
//
// Ids are text and are written back byte for byte. Blanks around an id are kept in quotes
// and between tabs, except around integers; [Report] counts them.
// If all ids are integers as a program prints them, they are ordered by value; otherwise
// by first appearance, by input and line. Ids
// of the list of nodes come first in the order of the list. Rows are in this
// order unless [Config].Order says otherwise; outputs for every node
// are always in the order of the ids.
//
// # How
//
// A run has four stages. Values pass between them, and each stage has a type:
//
//	reader      inputs            → lines of codes, names of the nodes
//	numberer    names, lines      → the numbering; lines of ranks
//	orderer     lines of ranks    → rows in the order of the settings; lines of rows
//	storedRows  lines of rows     → sorted and merged rows, written as shards
//
// One vocabulary names the numbers of a node. An id is its text in a file. A code is one of
// the two numbers of a line while files are read: the id itself while all ids are small integers, or else a
// place in the dictionary. A rank is the position of a node in the default order of the ids. A
// row is its position in the store, which differs from the rank if [Config].Order says so.
//
// The reader parses chunks of lines with several goroutines. The writer throws the entries into
// buckets of consecutive rows, sorts each bucket by radix within a core's cache, merges the lines
// of each edge, and hands the rows to the store in order. The store has the same bytes for any
// number of workers, except for its identity.
//
// Lines that exceed the memory of [Config] go to a temporary file as packed codes, and so do the
// entries of buckets. Lines are read twice, to count their entries and to make them, and entries
// once, whatever the memory. A bucket that is too large for the memory, because one row has very
// many entries or one edge very many lines, is sorted in runs, which are merged. The store stays
// the same to the byte. The buffers of each goroutine, some bytes for each node, and the ids with
// their numbering must fit into the memory.
//
// Errors that come from data name file, line and column, and the way out; see
// [nodefile.ParseError]. A cancelled context ends the work within one chunk or bucket.
package ingest
