// Package ingest turns files of the outside world into a store. The small files that go
// with a graph are read by package nodefile.
//
//	report, err := ingest.Run(ctx, "graph", []string{"edges.tsv.gz"}, nil)
//	store, err := shard.Open(ctx, "graph", nil)
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//
// # Edge lists
//
// One edge a line: source, target and perhaps a weight, separated by tabs,
// commas, semicolons or blanks. The first data line decides which, and how
// many columns there are; a line that differs is an error. Blank lines are skipped, and
// lines above the first line of data that begin with #, % or //. Below it, such a line is
// an edge if it has the form of one, since ids may begin with these characters; else it is
// a comment and warned of. Under a header the columns go by
// their titles, see package table; a header is a first line with titles of an edge's
// ends that occur nowhere below, or one, with a warning, whose ids are no integers
// while those of the next hundred lines are, or whose weight is no number while theirs
// are. Without one, a third column of times is no weight. Lines of NetworkX end in a
// dictionary with the weight. Quotes around a field are removed;
// between tabs, those that do not enclose a whole field belong to the text. A quoted field
// ends on its line. Weights are decimal numbers ≥ 0,
// as float64; an edge of weight zero is dropped. A KONECT file says so in its first line; blanks
// and tabs separate its fields alike, and the time in the fourth is passed over.
//
// # Matrix Market
//
// Coordinate files (pattern, integer or real; general, symmetric or
// skew-symmetric) say so in their first line. Rows are numbered from 1 and all
// of them are nodes, with or without an edge. A general matrix is a directed
// graph unless its values are symmetric, or differ by less than 1e-10 of the larger, as
// rounding leaves them: such values are averaged. Of a skew-symmetric one, the positive
// entry of each pair is kept, and with Signed both: a directed graph.
//
// # Files of other tools
//
// What package graphfile recognizes (SciPy matrices, METIS, BVGraph, GraphML,
// JSON lines, Parquet) is read by it. Directions are those that a file states, or those that follow
// from the symmetry of a matrix, unless Directed or Undirected is set. A file of another kind,
// for example an archive or a page of HTML, is refused by its name; see [textio.CheckRead].
// The rows of a file that numbers its own nodes get the ids of the list of nodes,
// if there is one. Of the LINQS pair NAME.cites and NAME.content, or the folder
// that holds them, the first is an edge list and the second the list of nodes;
// [nodefile.ReadLabels] finds labels in it.
//
// # Ids and rows
//
// Ids are text and are written back byte for byte. Blanks around it are kept in quotes
// and between tabs, but for those around integers; [Report] counts them.
// If all of them are integers as a program prints them, the order of the ids is
// that of their values; else that of first appearance, by input and line. Ids
// of the list of nodes come first in the order of the list. Rows are in this
// order unless [Config].Order says otherwise; outputs for every node
// are in the order of the ids, whatever the order of rows.
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
