// Package ingest converts graph files to a store. Package nodefile reads the small files that belong to a
// graph.
//
//	report, err := ingest.Run(ctx, "graph", []string{"edges.tsv.gz"}, nil)
//	store, err := shard.Open(ctx, "graph", nil)
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//
// # Edge lists
//
// An edge list has one edge on each line: source, target and perhaps a weight, separated by tabs, commas,
// semicolons or blanks. The first data line determines the separator and the number of columns. A line that
// differs is an error. The titles in a header determine the columns, see package table and docs/tables.md.
// Lines of NetworkX end in a dictionary with the weight. Weights are decimal numbers ≥ 0, read as float64.
// An edge of weight zero is dropped.
//
// Blank lines, and lines above the first line of data that begin with #, %, ! or //, are skipped. Ids may begin
// with these characters too. A later line that begins with them is therefore an edge if it has the form of an
// edge; otherwise it is a comment, with a warning. Quotes around a field are removed; between tabs, quotes
// that do not enclose a whole field belong to the text. A quoted field must end on its line.
//
// The first line identifies a KONECT file: blanks and tabs separate its fields alike, and the time in the
// fourth field is ignored.
//
// # Matrix Market
//
// The first line of a coordinate file states its type (pattern, integer or real; general, symmetric or
// skew-symmetric). Rows are numbered from 1, and all of them are nodes, with or without an edge. A general
// matrix is an undirected graph if its values are symmetric, and otherwise a directed graph. Two symmetric
// values that differ by less than 1e-10 of the larger value, as rounding causes, are averaged. A
// skew-symmetric matrix is a directed graph with a positive and a negative entry for each pair, and Signed must be
// set.
//
// # Files of other tools
//
// Package graphfile reads other formats (SciPy matrices, BVGraph, GraphML, JSON lines, Parquet).
// Directed and Undirected set the direction of edges. By default the file states the direction, or it follows
// from the symmetry of a matrix. The error about any other kind of file names the kind; see
// [textio.CheckRead]. If a file numbers its nodes and there is a list of nodes, the rows get the ids in the
// list. A LINQS collection has the files NAME.cites, which is an edge list, and NAME.content, which is the
// list of nodes and contains the labels for [nodefile.ReadLabels]. The folder of both may be given instead.
//
// # Ids and rows
//
// Ids are text and are written back byte for byte. Blanks around an id are kept in quotes and between tabs,
// except around integers; [Report] counts such ids. Ids in the list of nodes come first, in the order of the
// list. Other ids are ordered by value if all ids are integers as a program prints them, and otherwise by
// first appearance in the inputs. Rows are in the order of the ids by default, see [Config].Order. Outputs
// for every node are always in the order of the ids.
//
// # Stages
//
// A run has four stages. Values pass between them, and each stage has a type:
//
//	reader      inputs            → lines of codes, names of the nodes
//	numberer    names, lines      → the numbering; lines of ranks
//	orderer     lines of ranks    → rows in the order of the settings; lines of rows
//	storedRows  lines of rows     → sorted and merged rows, written as shards
//
// A node has an id, which is its text in a file, and several numbers. A code is the number of a node while
// files are read; a line has two codes. While all ids are small integers, a code is the id itself, and
// otherwise a place in the dictionary. The rank is the position of the node in the default order of the ids.
// The row is its position in the store, which differs from the rank if [Config].Order is not the default
// order.
//
// Lines and entries that exceed the memory of [Config] go to a temporary file. A bucket of rows that is too
// large for the memory is sorted in runs, which are then merged. The buffers of each goroutine, some bytes
// for each node, and the ids with their numbering must fit into the memory. The store has the same bytes for
// any memory and for any number of workers, except for its identity.
//
// Errors about data contain file, line, column and remedy; see [nodefile.ParseError]. A cancelled context
// ends the work within one chunk or bucket.
package ingest
