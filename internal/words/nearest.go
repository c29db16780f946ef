package words

import "strings"

// Nearest returns the first name with the smallest distance from a mistyped word: the number of insertions, deletions,
// replacements and swaps of neighbours (Damerau 1964). A name that begins with the word has distance 1 at most. If the
// distance is above two, or above half of the letters of the word, it returns "".
func Nearest(word string, names []string) string {
	best := ""
	smallest := min(2, len(word)/2) + 1
	for _, name := range names {
		d := editDistance(strings.ToLower(word), strings.ToLower(name))
		if word != "" && strings.HasPrefix(name, word) {
			d = min(d, 1)
		}
		if d < smallest {
			best = name
			smallest = d
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a
// into b.
func editDistance(a, b string) int {
	older := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, last, row = last, row, older
	}
	return last[len(b)]
}
