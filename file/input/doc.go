// Package input holds the types that all readers of files share: [Text], the settings of how
// text is read, [Header], [Columns], a report of how the columns of a table are used,
// [Error], a fault in a file with its place and a remedy, and [Escape], which makes text
// from a file safe to print.
package input
