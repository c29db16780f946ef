// Package file has the types that all readers of files share, for programs of other modules. Its folders read and write files
// of other tools:
//
//   - graphfile: graphs, a file of code for each format. Other modules register formats of their own.
//   - tablefile: matrices, attributes and predictions.
//   - nodefile: labels, ids, splits, priors and attributes of nodes.
//
// A program that reads or writes Parquet imports parquetfile, for example as _ "github.com/heatwalk/heatwalk/file/parquetfile".
// Other programs do without, because Parquet needs eight modules and takes 8 MB.
//
// The folders table, textio, nodetable, unread, clock, npy, market and typed are the ground of these. Their functions may
// change in any version.
package file

import "github.com/heatwalk/heatwalk/internal/input"

type (
	// Error is a fault in a file, with its place and a remedy.
	Error = input.Error
	// Text holds the settings for reading text: delimiter, decimal and thousands separators, encoding.
	Text = input.Text
	// Header says whether the first line of a table has titles.
	Header = input.Header
	// Columns lists the columns of a table with their uses.
	Columns = input.Columns
	// Column is a column of a table, with its use.
	Column = input.Column
)

// Values of [Header].
const (
	AutoHeader = input.AutoHeader
	HasHeader  = input.HasHeader
	NoHeader   = input.NoHeader
)

// ErrInput is wrapped by errors about a wrong choice of inputs or options.
var ErrInput = input.ErrInput
