package table

import (
	"slices"
	"strings"
)

// distances are words of titles of numbers that are small for strong edges. German and other languages are not known.
var distances = strings.Fields("distance dist length len latency delay rtt ping cost hop km kilometer kilometre mile meter metre traveltime dissimilarity resistance")

// IsDistance reports whether a title names distances, lengths, costs or travel times, which are small for strong
// edges: a word of the title is one of the list distances, as in length_m or tripDistance.
func IsDistance(title string) bool {
	titleWords := splitTitle(title)
	for i, word := range titleWords {
		if word == "travel" && i+1 < len(titleWords) && strings.HasPrefix(titleWords[i+1], "time") {
			return true
		}
		if slices.Contains(distances, word) || slices.Contains(distances, strings.TrimSuffix(word, "s")) {
			return true
		}
	}
	return false
}

// SplitWeight splits the setting COLUMN or 1/COLUMN of the weight into the column and whether weights are its
// reciprocals.
func SplitWeight(setting string) (column string, isReciprocal bool) {
	return strings.CutPrefix(setting, "1/")
}

// NoReciprocal is the fault of the weight 0 if weights are reciprocals.
const NoReciprocal = "has no reciprocal"

// Reciprocal returns 1/w, and 0 for 0 if the text of w is blank, which means no weight. fault says what is wrong, or is
// "".
func Reciprocal(w float64, text []byte) (weight float64, fault string) {
	if w == 0 && len(text) > 0 {
		return 0, NoReciprocal
	}
	if w == 0 {
		return 0, ""
	}
	return 1 / w, WeightFault(1/w, true)
}

// DistanceFault is the fault of a column of weights whose title names distances. DistanceFix returns its remedy.
const DistanceFault = "names distances, and a weight is large for strong edges"

// DistanceFix returns the remedy for weights whose title names distances. setting is the setting of the column.
func DistanceFix(setting string) string {
	return "pass {weight=1/" + setting + "}, or rename the column if strong edges have large values"
}
