package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/docs"
)

// topic is a place of help: its name, its subject in a line, and the title, summary and text in which words are searched.
type topic struct {
	place, subject       string
	title, summary, text string
}

// mostPlaces is the number of places of help that are printed for words.
const mostPlaces = 8

// helpOn returns the places of help on words, each with its subject, the best first: those with every word, or else
// those with any.
func helpOn(root *cobra.Command, phrase []string) (places [][2]string) {
	type match struct {
		topic
		found int // words with a match
		score float64
	}
	var matches []match
	words := strings.FieldsFunc(strings.ToLower(strings.Join(phrase,
		" ")), isBetween)
	for _, t := range topics(root) {
		m := match{topic: t}
		for _, word := range words {
			if score := t.score(word); score > 0 {
				m.found++
				m.score += score
			}
		}
		if m.found > 0 {
			matches = append(matches, m)
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.found, a.found), cmp.Compare(b.score, a.score))
	})
	seen := map[string]bool{} // pages
	for _, m := range matches {
		page, _, isSection := strings.Cut(m.place, ", ")
		if m.found < matches[0].found || m.score < matches[0].score/4 ||
			len(places) == mostPlaces {
			break
		}
		if !isSection || !seen[page] {
			places = append(places, [2]string{m.place, m.subject})
		}
		seen[page] = true
	}
	return places
}

// score rates how much of a topic is about a word.
func (t topic) score(word string) float64 {
	inTitle, _ := search(t.title, word)
	inSummary, _ := search(t.summary, word)
	_, inText := search(t.text, word)
	if word == t.title { // --until for until, not --until-eof
		inTitle += 0.1
	}
	return 8*inTitle + 4*inSummary + inText/(inText+1+float64(len(t.text))/700)
}

// search returns the largest likeness of the words of a text to a word, and the sum over all.
func search(text, word string) (most, sum float64) {
	for _, candidate := range strings.FieldsFunc(strings.ToLower(text), isBetween) {
		x := likeness(word, candidate)
		most = max(most, x)
		sum += x
	}
	return most, sum
}

// isBetween reports whether a rune separates words.
func isBetween(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// likeness is 1 for equal words, a part of it for words of one stem (label, labelled) and for the beginning of a word,
// and 0 for others.
func likeness(a, b string) float64 {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	endA, endB := a[n:], b[n:]
	switch {
	case endA+endB == "":
		return 1
	case n < min(len(a), 4):
		return 0
	case n > 2 && (endA+endB == "s" || endA+endB == "es"): // a plural
		return 0.9
	case n > 3 && strings.Contains(endings, " "+endA+" ") &&
		strings.Contains(endings, " "+endB+" "):
		return 0.6
	case n > 5 && len(endA)+len(endB) <= n:
		return 0.4
	case n > 3 && endA == "":
		return 0.3
	}
	return 0
}

// endings are those of words of one stem.
const endings = "  s es d ed r er ing e ly al y ies "

// topics returns the places of help: commands, flags, methods, and the sections of pages.
func topics(root *cobra.Command) (list []topic) {
	seen := map[string]bool{} // flags
	addFlags := func(command string, flags *pflag.FlagSet) {
		flags.VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			first, _, _ := strings.Cut(usage, ";")
			first, _, _ = strings.Cut(first, " (")
			if !seen[f.Name] {
				seen[f.Name] = true
				list = append(list, topic{command + " --" + f.Name, first, f.Name,
					first, usage})
			}
		})
	}
	var addCommands func(cmd *cobra.Command)
	addCommands = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.Name() != "help" && c.Parent().Name() != "estimate" &&
				c.Parent().Name() != "completion" {
				list = append(list, topic{c.CommandPath(), c.Short, c.Name(),
					c.Short, c.Long})
				addCommands(c)
			}
		}
	}
	addCommands(root)
	addFlags("heatwalk COMMAND", root.PersistentFlags())
	for _, c := range root.Commands()[1:] { // demo has flags of others
		addFlags(c.CommandPath(), c.LocalNonPersistentFlags())
	}
	for _, d := range declarations() {
		title, text := d.Name, ""
		for _, p := range d.Parameters {
			title += " " + p.Name
			text += " " + p.Meaning
		}
		list = append(list, topic{"heatwalk methods " + d.Name, d.Formula, title,
			d.Formula, text})
	}
	files, _ := docs.Pages.ReadDir(".") // embedded files
	for _, file := range files {
		text, _ := docs.Pages.ReadFile(file.Name())
		page, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		for _, section := range sectionStart.Split("\n"+string(text), -1)[1:] {
			title, body, _ := strings.Cut(section, "\n")
			place := "docs/" + file.Name()
			if title != page {
				place += ", " + title
			}
			list = append(list, topic{place, page, title, "", body})
		}
	}
	return list
}

// sectionStart matches the beginning of a section of a page, before its title.
var sectionStart = regexp.MustCompile(`\n##? `)
