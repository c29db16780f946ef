package nodefile

import (
	"fmt"
	"slices"
)

// Header says whether the first data line of a file is one.
type Header int

// The zero value decides from the text, see the package documentation.
const (
	AutoHeader Header = iota
	HasHeader
	NoHeader
)

var headerNames = []string{"auto", "yes", "no"}

// String returns the word of the command line.
func (h Header) String() string { return headerNames[h] }

// Set takes a word of the command line.
func (h *Header) Set(word string) error {
	i := slices.Index(headerNames, word)
	if i < 0 {
		return fmt.Errorf("%q is none of auto, yes, no", word)
	}
	*h = Header(i)
	return nil
}
