// Package table reads delimited text as fields, and says what the titles of its
// columns mean: which hold the ends of an edge and its weight, which a node and its
// label, which only rows' numbers or times; those of other tables have the same titles. It
// also says which words stand for a value that is missing.
//
//	sep := table.Separator(name, line)
//	var f table.Fields
//	err := f.Split(line, sep)
//	edges, named := table.FindEdges(f.Strings())
//
// # Fields
//
// Tabs, commas, semicolons or runs of blanks separate. Between tabs the text is
// kept to the byte, but for blanks around an integer. Else quotes are taken off,
// two of them within stand for one, and what they hold is kept; blanks around a
// field without quotes are taken off. [Fields.Padded] tells of either.
//
// # Titles
//
// Case and what stands between words (_, -, blanks, or a capital) do not matter:
// FromNodeId, from_node_id and "from node id" are one title. Two titles are those of
// an edge's ends if they differ in one word of a usual pair (source and target, from
// and to, …), or in the 1 and 2 behind a word for a node. Neo4j's types behind a
// colon are passed over, but for :START_ID, :END_ID, :ID and :LABEL.
package table
