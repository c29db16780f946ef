// Package table splits delimited text into fields and chooses the columns of a table: the ends of an edge and its
// weight, a node and its label.
//
//	sep := table.Separator(name, line)
//	var f table.Fields
//	err := f.Split(line, sep)
//	sample := &table.Sample{Titles: f.Strings(), Rows: rows}
//	choice, err := sample.Choose(&table.Request{IsEdges: true})
//
// # Fields
//
// Tabs, commas, semicolons or runs of blanks separate fields. Quotes around a field are removed, and two quotes
// within become one. Between tabs other text is kept to the byte, except for blanks around an integer, and a quote
// that does not enclose a whole field is part of the text. Elsewhere blanks around a field without quotes are
// removed. [Fields.Padded] reports both kinds of blanks.
//
// # Columns
//
// The rules are in docs/tables.md, and the titles in titles.txt. A column has a role by a setting, by its title, or
// by its position; if a role does not have exactly one column, the user is asked.
package table
