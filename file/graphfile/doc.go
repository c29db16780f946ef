// Package graphfile reads and writes the graph files of other tools: SciPy's sparse
// matrices (.npz), METIS (.graph), tables of edges in Parquet, GraphML,
// and, only read, WebGraph's BVGraph (.graph with .properties) and JSON lines with nodes among the edges. Of
// GEXF, GML, Pajek and other JSON it knows commands that convert them, see [CheckRead].
// A format is one value, a [Format], in a file of code with its reader and its writer, and an entry
// of [Formats].
//
//	format := graphfile.Recognize(name, head)
//	summary, err := graphfile.Read(format, in, nil, func(b *graphfile.Batch) error { … })
//	…
//	without, err := graphfile.Write(ctx, graphfile.METIS, w, store, nil)
//
// Edge lists and Matrix Market files are only written here: package ingest reads them
// with its parser of lines, which works in parallel on pieces of a file.
//
// # Reading
//
// A file becomes a stream of batches in its own order: first nodes, if the
// file lists them, then edges. Numbered formats (npz,
// METIS) give numbers, and [Summary] says which numbers are nodes; other formats
// give the ids of the file, as text or, for integer columns of
// Parquet, as numbers.
//
// # Direction
//
// [Summary].Direction is the direction that the file states. A matrix states none; the
// caller decides by its symmetry. Undirected formats that list an edge at both of its
// ends (METIS) must do so for every edge, and give the edge once. In a
// directed graph, an edge that the file calls undirected is given in both
// directions.
//
// # Names
//
//   - GraphML: the attribute _nx_name, in which igraph keeps the nodes of NetworkX, else the attribute id; but if the ids
//     count n0, n1, n2 … and all nodes have a name of their own, as igraph writes it, the name.
//   - JSON lines: the member id.
//
// The weight of an edge of GraphML and JSON lines is its attribute weight, or else
// value, unless [Input].Weight names another one. These formats allow the nodes, the names of
// attributes or the direction to follow the edges, so that edges are kept until the file ends.
//
// # Writing
//
// [Write] writes a store sweep by sweep to an io.Writer, in memory for a few buffers
// (Parquet: for a group of rows; rows that are to be put in another order: as much as
// it is allowed). The same graph gives the same bytes. [WriteOptions].Attributes are values of
// nodes, for example predicted classes, that GraphML includes.
//
// # Hostile files
//
// A size that a file declares is never allocated before the data has been read, so that memory grows
// with the file and not with its header. Numbered formats and Parquet take a fixed
// amount, of a Parquet file one page of each column; no word, string or piece of
// XML or JSON has more than 1 MiB; the named formats keep
// their nodes, formats with attributes also their edges, and report this to [Input].Hold. Every fault is an
// [*input.Error] with the file and the line, byte, row or array element.
package graphfile
