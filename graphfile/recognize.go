package graphfile

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// Extension returns the ending of a name that says what is in the file, in
// lower case: the last one that is not that of a compression.
func Extension(name string) string {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".bgz"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name)
}

// Recognize returns the format of a file that [Read] reads from the first bytes of its
// content, a few kilobytes if it has as many, or else from its name. It is EdgeList for
// everything else: text with an edge on each line, and Matrix Market.
func Recognize(name string, head []byte) Format {
	for f, t := range fileTypes {
		if t.begins != nil && t.begins(head) {
			return Format(f)
		}
	}
	ending := Extension(name)
	for f, t := range fileTypes {
		if slices.Contains(t.endings, ending) {
			return Format(f)
		}
	}
	return EdgeList
}

// trimmed returns the first bytes of a text without what may stand before it.
func trimmed(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), blank)
}
