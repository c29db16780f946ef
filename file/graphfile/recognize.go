package graphfile

import (
	"bytes"
	"slices"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// Recognize returns the format of a file by head, the first kilobytes of the content, or else by the ending of the
// name. For all other files it returns EdgeList, which stands for edge lists and Matrix Market.
func Recognize(name string, head []byte) *Format {
	if areEdges(head) {
		return EdgeList
	}
	for _, f := range Formats {
		if f.Begins != nil && f.Begins(head) {
			return f
		}
	}
	ending := table.Extension(name)
	for _, f := range Formats {
		if f.Read != nil && slices.Contains(f.Endings, ending) {
			return f
		}
	}
	return EdgeList
}

// areEdges reports whether the JSON objects of head are rows of a table of edges. All or none of the objects must
// have ends of edges, and neither ends nor attributes may be nested objects.
func areEdges(head []byte) bool {
	objects := 0
	edges := 0
	arePlain := true
	titles := textio.RecordTitles(head, func(members []textio.Member) {
		objects++
		var keys, nested []string
		for _, m := range members {
			if m.Nested == nil {
				keys = append(keys, m.Key)
			} else {
				nested = append(nested, m.Key)
			}
		}
		hasEnds := table.NamesEnds(keys)
		if hasEnds {
			edges++
		}
		for _, key := range nested {
			arePlain = arePlain && hasEnds && !slices.Contains(containers, key)
		}
	})
	return titles != nil && arePlain && (edges == 0 || edges == objects)
}

func trimStart(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), blank)
}
