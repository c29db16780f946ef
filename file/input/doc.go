// Package input holds the types that all readers of files share: [Text], the settings of how text is read, [Header],
// [Columns], a report of how the columns of a table are used, [Error], a fault in a file with its place and a remedy,
// and [Escape], which makes text from a file safe to print.
//
// Other folders of file read and write files: graphfile graphs, with formats that other modules register; tablefile
// matrices, attributes and predictions; nodefile labels, ids, splits and priors. The packages table, textio and npy
// below them may change in any version.
package input
