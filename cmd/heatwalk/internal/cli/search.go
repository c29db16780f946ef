package cli

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/docs"
)

// place is a command, flag, method or page with a text about it, and the line that help prints of it.
type place struct{ path, line, text string }

// findPlaces returns the commands, flags and methods whose names have every word of a phrase, and the pages whose titles
// have them. If there are none, it searches subjects and headings, and then the lines of texts. Whole words come before
// beginnings of words. Each place has one line.
func findPlaces(root *cobra.Command, phrase string) (found [][2]string) {
	asked := splitWords(phrase)
	if len(asked) == 0 {
		return nil
	}
	names, subjects, texts := listPlaces(root)
	for _, matches := range []func(word, asked string) bool{
		func(word, asked string) bool { return word == asked },
		func(word, asked string) bool {
			return strings.HasPrefix(word, asked[:max(min(len(asked), 5), len(asked)-3)])
		},
	} {
		for _, places := range [][]place{names, subjects, texts} {
			seen := map[string]bool{}
			for _, p := range places {
				if seen[p.path] {
					continue
				}
				words := splitWords(p.text) // only now, because few searches reach the texts
				if !slices.ContainsFunc(asked, func(a string) bool {
					return !slices.ContainsFunc(words, func(word string) bool { return matches(word, a) })
				}) {
					seen[p.path] = true
					found = append(found, [2]string{p.path, p.line})
				}
			}
			if found != nil {
				return found
			}
		}
	}
	return nil
}

// listPlaces returns all places that have a name, their subjects and the headings of pages, and the lines of all texts.
func listPlaces(root *cobra.Command) (names, subjects, texts []place) {
	add := func(path, name, subject, text string) {
		names = append(names, place{path, subject, name})
		subjects = append(subjects, place{path, subject, subject})
		for line := range strings.Lines(text) {
			line = strings.Trim(line, "#*|-> \n")
			texts = append(texts, place{path, line, line})
		}
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
		add("heatwalk methods "+d.Name, d.Name, d.Formula, "")
	}
	input, _ := helpTexts.ReadFile("help/input.txt") // embedded files
	add("heatwalk help input", "input", "reading graph files", string(input))
	files, _ := docs.Pages.ReadDir(".")
	for _, file := range files {
		text, _ := docs.Pages.ReadFile(file.Name())
		title, body, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		add("docs/"+file.Name(), title, title, body)
		for line := range strings.Lines(body) {
			if heading, isHeading := strings.CutPrefix(line, "## "); isHeading {
				subjects = append(subjects, place{"docs/" + file.Name(), strings.TrimSpace(heading), heading})
			}
		}
	}
	return names, subjects, texts
}

// splitWords returns the words of a text in small letters.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
