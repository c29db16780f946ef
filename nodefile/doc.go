// Package nodefile reads the small files about the nodes of a graph: labels, lists of
// ids, splits into nodes for training and testing, and distributions over classes; and
// tables of attributes, whose records take the place of nodes.
//
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//	rows, err := nodefile.ReadIDs(ctx, "rows.ids", store.Nodes, nil)
//	train, test, err := nodefile.ReadSplit(ctx, "split.tsv", store.Nodes, nil)
//	table, err := nodefile.ReadAttributes(ctx, "table.csv", nil)
//
// A node has a line, with tabs, commas, semicolons or blanks between its id and its values.
// Files may be compressed. Ids are those of the graph, byte for byte, but whole numbers
// match as 3 and as 3.0. Errors in the data have file, line, column and remedy; see
// [ParseError].
package nodefile
