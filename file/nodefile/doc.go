// Package nodefile reads the small files about the nodes of a graph: labels, lists of ids, splits into training and
// test nodes, and prior distributions over classes. It also reads tables of records, which have attributes instead of
// a graph.
//
//	labels, err := nodefile.ReadLabels(ctx, "labels.tsv", store.Nodes, nil)
//	rows, err := nodefile.ReadIDs(ctx, "rows.ids", store.Nodes, nil)
//	splits, err := nodefile.ReadSplits(ctx, "split.tsv", store.Nodes, nil)
//	table, err := nodefile.ReadAttributes(ctx, "table.csv", nil)
//
// Each line is about one node; tabs, commas, semicolons or blanks separate its id from its values. Files may be
// compressed. Ids must equal ids of the graph byte for byte, except that the integer 3 matches 3.0, because pandas
// writes integers as floats if a column has missing values. [Reader] reads the rows of any such table, delimited text
// or Parquet. Errors are [*ParseError] values with file, line, column and remedy.
package nodefile
