// Package graphfile reads and writes the graph files of other tools: SciPy's sparse matrices (.npz),
// tables of edges in Parquet, and GraphML. It only reads WebGraph's BVGraph (.graph with .properties), and JSON lines
// with nodes among the edges. For GEXF, GML, Pajek, METIS and other JSON it returns commands that convert them, see
// [CheckRead]. [Formats] lists the formats.
//
//	format := graphfile.Recognize(name, head)
//	summary, err := graphfile.Read(format, in, func(b *graphfile.Batch) error { … })
//	…
//	without, err := graphfile.Write(ctx, graphfile.GraphML, w, store, nil)
//
// Package ingest reads edge lists and Matrix Market files; this package only writes them.
//
// # Reading
//
// [Read] makes batches in the order of the file: first nodes, if the file lists nodes, and then edges. For formats
// that number their nodes (npz, BVGraph) a batch has numbers, and [Summary] says which numbers are nodes. For other
// formats it has the ids in the file, as text or, for integer columns of Parquet, as numbers.
//
// # Direction
//
// [Summary].Direction is the direction that the file states. A matrix states no direction; the caller decides by its
// symmetry. In a directed graph, batches contain an edge that the file calls undirected in both directions.
//
// # Names
//
// The id of a node is
//
//   - in GraphML the attribute _nx_name, in which igraph keeps the nodes of NetworkX, or else the attribute id. If the
//     ids are n0, n1, n2 … and all nodes have distinct names, as igraph writes them, it is the name.
//   - in JSON lines the member id.
//
// In GraphML and JSON lines, the weight of an edge is the attribute that [Input].Weight names, by default weight or
// else value. Edges of these formats stay in memory until the file ends.
//
// # Writing
//
// [Write] writes a store in a few sweeps. It needs memory for a few buffers, for a group of rows of Parquet, and up to
// [WriteOptions].Memory to put rows in order. The same graph gives the same bytes.
//
// # Hostile files
//
// Memory grows with the data of a file, not with the sizes that its header declares. Formats that number their nodes
// need a fixed amount of memory, and Parquet one page of each column. Formats with named nodes keep the nodes in
// memory, and formats with attributes also the edges; they report this memory to [Input].Hold. A word, a string or a
// piece of XML or JSON must not exceed 1 MiB. Every fault is an [*input.Error] with the file and the line, byte, row
// or array element.
package graphfile
