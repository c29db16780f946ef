// Package nodefile reads the small files about the nodes of a graph: labels, lists of
// ids, splits into nodes for training and testing, and distributions over classes; and
// tables of attributes, whose records stand in place of nodes.
//
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//	rows, err := nodefile.ReadIDs(ctx, "rows.ids", store.Nodes, nil)
//	train, test, err := nodefile.ReadSplit(ctx, "split.tsv", store.Nodes, nil)
//	table, err := nodefile.ReadAttributes(ctx, "table.csv", nil)
//
// A node has a line, with tabs, commas, semicolons or blanks between its id and what is
// said of it. Files may be compressed. Ids are those of the graph, byte for byte. Errors
// that come from data name file, line and column, and the way out; see [ParseError].
package nodefile
