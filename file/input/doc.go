// Package input holds the types that all readers of files share: [Text], the settings of how
// text is read, [Header], [Columns], a report of how the columns of a table are used,
// [Error], a fault in a file with its place and a remedy, and [Escape], which makes text
// from a file safe to print.
//
// Other folders of file read and write files of other tools: graphfile graphs, with formats that other modules register,
// tablefile matrices, attributes and predictions, nodefile labels, ids, splits and priors. The functions of table, textio
// and npy, on which these are built, may change in any version.
package input
