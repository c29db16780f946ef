package parse

import (
	"bytes"
	"slices"
)

// Words of the first line of a KONECT file, "% asym positive" for example: how
// its edges are, and what their weights are.
var (
	konectFormats = []string{"sym", "asym", "bip"}
	konectWeights = []string{"unweighted", "positive", "posweighted", "signed", "multisigned", "weighted",
		"multiweighted", "multiposweighted", "dynamic"}
)

// Konect returns what the KONECT file that a text begins says of its edges, ""
// if it is none. Its lines hold source and target, then perhaps a weight, then
// perhaps a time.
func Konect(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	words := bytes.Fields(line)
	if len(words) != 3 || string(words[0]) != "%" ||
		!slices.Contains(konectFormats, string(words[1])) || !slices.Contains(konectWeights, string(words[2])) {
		return ""
	}
	return string(words[1])
}
