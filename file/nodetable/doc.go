// Package nodetable reads tables with a node in each row, delimited text or Parquet:
// labels, splits, lists of ids and attributes. A [Reader] decides by the first lines which
// columns hold the node and the value, skips the header and the column of row numbers, and
// yields the rows; it reports in [Reader.Columns] how every column is used. [Unknown] counts
// the nodes that are not in the graph.
package nodetable
