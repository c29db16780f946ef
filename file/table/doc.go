// Package table splits delimited text into fields and interprets the titles of columns: the
// ends of an edge and its weight, a node and its label, row numbers, times. It also lists
// the words for missing values and separates comments from rows.
//
//	sep := table.Separator(name, line)
//	var f table.Fields
//	err := f.Split(line, sep)
//	sample := &table.Sample{Titles: f.Strings(), Rows: rows}
//	edges, err := sample.ChooseEdges(table.EdgeOptions{})
//
// # Fields
//
// Tabs, commas, semicolons or runs of blanks separate. Quotes around a field are removed,
// two quotes within become one, and the text between them is kept. Between tabs other text
// is kept to the byte, except for blanks around an integer, and a quote that does not
// enclose a whole field is part of the text. Elsewhere blanks around a field without quotes
// are removed. [Fields.Padded] reports both.
//
// # Titles
//
// Case, and the characters between words (_, -, blanks, or a capital) do not matter:
// FromNodeId, from_node_id and "from node id" are one title. Two titles are those of
// an edge's ends if they differ in one word of a usual pair (source and target, from
// and to, …), or in the 1 and 2 behind a word for a node. Neo4j's types behind a
// colon are ignored, except for :START_ID, :END_ID, :ID and :LABEL.
package table
