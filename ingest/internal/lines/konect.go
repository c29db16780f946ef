package lines

import (
	"bytes"
	"slices"
	"strings"
)

// The first line of a KONECT file is, for example, "% asym positive": the direction of edges, and the kind of
// weights.
var (
	konectFormats = []string{"sym", "asym", "bip"}
	konectWeights = strings.Fields("unweighted positive posweighted signed multisigned weighted multiweighted multiposweighted dynamic")
)

// konectKind returns the direction in the first line of a KONECT file, or "" for other files.
func konectKind(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	words := bytes.Fields(line)
	if len(words) != 3 || string(words[0]) != "%" ||
		!slices.Contains(konectFormats, string(words[1])) ||
		!slices.Contains(konectWeights, string(words[2])) {
		return ""
	}
	return string(words[1])
}
