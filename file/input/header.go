package input

// Header says whether the first line of data of a file holds titles of columns.
type Header int

// AutoHeader, the zero value, decides from the text.
const (
	AutoHeader Header = iota
	HasHeader
	NoHeader
)
