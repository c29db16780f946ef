package cli

import (
	"regexp"
	"strings"

	"github.com/heatwalk/heatwalk/docs"
)

// synonyms maps words that users search for to regular expressions for words on the pages.
var synonyms = map[string]string{
	"heterogeneous": "kind", "relation": "kind", "relations": "kind", "multiplex": "kind", "temporal": "dates?", "window": "dates?",
	"negative": "sign(s|ed)", "reason": "explain", "reasons": "explain", "why": "explain",
}

// findLines returns pairs of a place and a line. A place is a command or a page, with at most three lines.
// The lines are the formula of the method or kernel called phrase, and lines of the documentation that
// contain phrase or a synonym, each once.
func findLines(phrase string) (found [][2]string) {
	phrase = strings.ToLower(strings.Trim(phrase, "-"))
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(phrase, "s")), " ", "[ -]")
	if synonym := synonyms[phrase]; synonym != "" {
		pattern += "|" + synonym
	}
	matcher := regexp.MustCompile(`(?i)(^|[^\pL\pN])(` + pattern + ")")
	for _, d := range declarations() {
		if d.Name == phrase {
			found = append(found, [2]string{"heatwalk methods " + d.Name, d.Formula})
		}
	}
	seen := map[string]int{}
	pages, _ := docs.Pages.ReadDir(".") // embedded files
	for _, page := range pages {
		text, _ := docs.Pages.ReadFile(page.Name())
		place := "docs/" + page.Name()
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "## heatwalk ") { // a title in commands.md
				place = strings.TrimSpace(line[3:])
			}
			line = strings.Trim(line, "#*|> \n")
			if seen[line] == 0 && seen[place] < 3 && matcher.MatchString(line) {
				seen[line]++
				seen[place]++
				found = append(found, [2]string{place, line})
			}
		}
	}
	return found
}
