package graphfile

import (
	"bytes"
	"slices"

	"github.com/heatwalk/heatwalk/internal/table"
)

// Recognize returns the format of a file that [Read] reads from the first bytes of its
// content, a few kilobytes if it has as many, or else from its name. It is EdgeList for
// everything else: text with an edge on each line, and Matrix Market.
func Recognize(name string, head []byte) Format {
	for _, t := range fileTypes {
		if t.begins != nil && t.begins(head) {
			return t.name
		}
	}
	ending := table.Extension(name)
	for _, t := range fileTypes {
		if slices.Contains(t.endings, ending) {
			return t.name
		}
	}
	return EdgeList
}

// trimmed returns the first bytes of a text without what may stand before it.
func trimmed(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), blank)
}
