package cli

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/docs"
)

// place is a command, a flag, a method or a section of a page.
type place struct {
	path, subject string
	texts         [searchLevels][]string // words of its name, of its subject, of its text
}

const (
	searchLevels = 3
	maxTextHits  = 8 // places that have a phrase in their text alone
	minStem      = 5 // letters of a word that is the beginning of another one
)

// otherWords has words of the field that the texts have under other names.
var otherWords = map[string]string{
	"active": "suggest", "anomaly": "rank", "bandwidth": "bench", "benchmark": "bench", "calibration": "sets", "cluster": "eigen",
	"clustering": "eigen", "communities": "eigen", "community": "eigen", "custom": "extension", "imbalance": "prior",
	"inductive": "predict", "interpretability": "explain", "overfitting": "evaluate", "parallel": "threads", "plugin": "extension",
	"ram": "memory", "recommender": "bipartite", "reproducible": "seed", "roofline": "scaling", "shap": "explain",
	"sparsifier": "cholesky", "uncertainty": "sets", "unicode": "encoding",
}

// findPlaces returns the commands, flags, methods and sections of pages that have every word of a phrase in their names, else in
// their subjects, else in their texts. Beginnings of words count only where no place has the words.
func findPlaces(root *cobra.Command, phrase string) (found [][2]string) {
	words := splitWords(phrase)
	if len(words) == 0 {
		return nil
	}
	for i, word := range words {
		words[i] = cmp.Or(otherWords[word], word)
	}
	places := listPlaces(root)
	for _, matches := range []func(a, b string) bool{func(a, b string) bool { return a == b }, isSameStem} {
		for level := range searchLevels {
			counts := map[int]int{}
			for i := range places {
				if n := countMatches(places[i].texts[level], words, matches); n > 0 {
					counts[i] = n
				}
			}
			if len(counts) == 0 {
				continue
			}
			var order []int
			for i := range places {
				if counts[i] > 0 {
					order = append(order, i)
				}
			}
			if level == searchLevels-1 {
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
				order = order[:min(len(order), maxTextHits)]
			}
			for _, i := range order {
				found = append(found, [2]string{places[i].path, places[i].subject})
			}
			return found
		}
	}
	return nil
}

// countMatches returns how often words are in a text, 0 if one is missing.
func countMatches(text, words []string, matches func(a, b string) bool) int {
	total := 0
	for _, word := range words {
		n := 0
		for _, w := range text {
			if matches(w, word) {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		total += n
	}
	return total
}

// isSameStem reports whether a word of a text begins one that was asked for, or is a plural or the like of it.
func isSameStem(w, asked string) bool {
	return len(w) >= minStem && strings.HasPrefix(asked, w) ||
		len(asked) >= minStem && strings.HasPrefix(w, asked) && len(w) <= len(asked)+2
}

// listPlaces lists all that findPlaces searches.
func listPlaces(root *cobra.Command) (places []place) {
	add := func(path, name, subject, text string) {
		places = append(places, place{path, subject,
			[searchLevels][]string{splitWords(name), splitWords(subject), splitWords(text)}})
	}
	seen := map[string]bool{} // flags
	addFlags := func(command string, flags *pflag.FlagSet) {
		flags.VisitAll(func(f *pflag.Flag) {
			if !seen[f.Name] {
				_, usage := pflag.UnquoteUsage(f)
				add(command+" --"+f.Name, f.Name, usage, "")
			}
			seen[f.Name] = true
		})
	}
	var addCommands func(cmd *cobra.Command)
	addCommands = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			add(c.CommandPath(), c.Name(), c.Short, c.Long)
			addFlags(c.CommandPath(), c.LocalNonPersistentFlags())
			addCommands(c)
		}
	}
	addFlags("heatwalk COMMAND", root.PersistentFlags())
	addCommands(root)
	for _, d := range declarations() {
		add("heatwalk methods "+d.Name, d.Name, d.Formula, d.Source)
	}
	files, _ := docs.Pages.ReadDir(".") // embedded files
	for _, file := range files {
		text, _ := docs.Pages.ReadFile(file.Name())
		for _, section := range strings.Split("\n"+string(text), "\n#")[1:] {
			title, body, _ := strings.Cut(strings.TrimLeft(section, "# "), "\n")
			add("docs/"+file.Name(), title, title, body)
		}
	}
	return places
}

// splitWords returns the words of a text in small letters.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
