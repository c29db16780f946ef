// Package graphfile reads and writes the graph files of other tools: SciPy's sparse matrices (.npz), METIS (.graph),
// tables of edges in Parquet, and GraphML. It only reads WebGraph's BVGraph (.graph with .properties), and JSON lines
// with nodes among the edges. For GEXF, GML, Pajek and other JSON it returns commands that convert them, see
// [CheckRead]. [Formats] lists the formats.
//
//	format := graphfile.Recognize(name, head)
//	summary, err := graphfile.Read(format, in, nil, func(b *graphfile.Batch) error { … })
//	…
//	without, err := graphfile.Write(ctx, graphfile.METIS, w, store, nil)
//
// Edge lists and Matrix Market files are only written here; package ingest reads them, in parallel.
//
// # Reading
//
// [Read] makes batches in the order of the file: first nodes, if the file lists nodes, and then edges. For formats
// that number their nodes (npz, METIS) a batch has numbers, and [Summary] says which numbers are nodes. For other
// formats it has the ids in the file, as text or, for integer columns of Parquet, as numbers.
//
// # Direction
//
// [Summary].Direction is the direction that the file states. A matrix states no direction; the caller decides by its
// symmetry. An undirected format that lists an edge at both of its ends (METIS) must do so for every edge, and
// batches contain the edge once. In a directed graph, batches contain an edge that the file calls undirected in both
// directions.
//
// # Names
//
// The id of a node is
//
//   - in GraphML the attribute _nx_name, in which igraph keeps the nodes of NetworkX, or else the attribute id. If the
//     ids are n0, n1, n2 … and all nodes have distinct names, as igraph writes them, it is the name.
//   - in JSON lines the member id.
//
// In GraphML and JSON lines, the weight of an edge is the attribute that [Input].Weight names. By default it is the
// attribute weight, or else value. In these formats edges are kept in memory until the file ends, because the nodes,
// the names of attributes or the direction may follow.
//
// # Writing
//
// [Write] writes a store to an io.Writer in a few sweeps. It needs memory for a few buffers, for Parquet for a group
// of rows, and to put rows in another order the memory that it is allowed. The same graph gives the same bytes.
// GraphML files contain values of nodes, for example predicted classes: [WriteOptions].Attributes.
//
// # Hostile files
//
// A size that a file declares is never allocated before the data has been read, so that memory grows with the file
// and not with its header. Formats that number their nodes need a fixed amount of memory, and Parquet one page of
// each column. A word, a string or a piece of XML or JSON must not exceed 1 MiB. Formats with named nodes keep the
// nodes in memory, and formats with attributes also the edges; they report this memory to [Input].Hold. Every fault
// is an [*input.Error] with the file and the line, byte, row or array element.
package graphfile
