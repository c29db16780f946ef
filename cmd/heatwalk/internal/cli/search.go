package cli

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/docs"
)

// findNames returns the commands, flags and methods whose names have every word of a phrase, and the pages whose titles
// have them, each with its subject.
func findNames(root *cobra.Command, phrase string) (places [][2]string) {
	words := splitWords(phrase)
	add := func(place, name, subject string) {
		names := splitWords(name)
		if len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(names, word) }) {
			places = append(places, [2]string{place, subject})
		}
	}
	seen := map[string]bool{} // flags
	addFlags := func(command string, flags *pflag.FlagSet) {
		flags.VisitAll(func(f *pflag.Flag) {
			if !seen[f.Name] {
				_, usage := pflag.UnquoteUsage(f)
				add(command+" --"+f.Name, f.Name, usage)
			}
			seen[f.Name] = true
		})
	}
	var addCommands func(cmd *cobra.Command)
	addCommands = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			add(c.CommandPath(), c.Name(), c.Short)
			addFlags(c.CommandPath(), c.LocalNonPersistentFlags())
			addCommands(c)
		}
	}
	addFlags("heatwalk COMMAND", root.PersistentFlags())
	addCommands(root)
	for _, d := range declarations() {
		add("heatwalk methods "+d.Name, d.Name, d.Formula)
	}
	files, _ := docs.Pages.ReadDir(".") // embedded files
	for _, file := range files {
		text, _ := docs.Pages.ReadFile(file.Name())
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		add("docs/"+file.Name(), title, title)
	}
	return places
}

// splitWords returns the words of a text in small letters.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
