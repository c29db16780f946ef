// Package nodetable reads files with a node in each row, delimited text or Parquet: a
// [Reader] yields their rows, and [Unknown] counts the nodes that are not in the graph.
package nodetable
