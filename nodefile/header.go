package nodefile

// Header says whether the first data line of a file is one.
type Header int

// The zero value decides from the text, see the package documentation.
const (
	AutoHeader Header = iota
	HasHeader
	NoHeader
)
