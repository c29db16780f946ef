// Package input holds the types that all readers of files share: [Text], the settings of
// how text is read, [Columns], a report of how the columns of a table are used, and
// [Escape], which makes text from a file safe to print.
package input
