package main

import (
	"fmt"
	"strings"
	"time"
)

// manPages returns a man page for each command of docs/commands.md, which has the output of --help of
// all commands between lines of three backquotes, under headings with their names. A test keeps it so.
func manPages(commands, version string, at time.Time) (pages []file) {
	name := "heatwalk"
	short := map[string]string{name: "label the rest of a graph"}
	for i, text := range strings.Split(commands, "```\n") {
		if i%2 == 0 { // between the help texts
			if _, heading, found := strings.Cut(text, "\n## "); found {
				name, _, _ = strings.Cut(heading, "\n")
			}
			continue
		}
		for command, purpose := range listed(text) {
			short[name+" "+command] = purpose
		}
		dashed := strings.ReplaceAll(name, " ", "-")
		var page strings.Builder
		fmt.Fprintf(&page, ".TH %s 1 %s \"heatwalk %s\"\n", strings.ToUpper(escaped(dashed)), at.Format(time.DateOnly), escaped(version))
		fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", escaped(dashed), escaped(short[name]))
		fmt.Fprintf(&page, ".SH DESCRIPTION\n.nf\n")
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
				page.WriteString(`\&`) // because such a line would be a request
			}
			page.WriteString(escaped(line))
		}
		page.WriteString(".fi\n.SH SEE ALSO\nheatwalk(1)\n")
		pages = append(pages, file{name: "man/man1/" + dashed + ".1", data: []byte(page.String())})
	}
	return pages
}

// listed returns the commands below the heading "Commands:" of a help text, with their purposes.
func listed(help string) map[string]string {
	commands := map[string]string{}
	_, list, _ := strings.Cut(help, "\nCommands:\n")
	for line := range strings.Lines(list) {
		command, purpose, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasPrefix(line, "  ") || !found {
			break
		}
		commands[command] = strings.TrimSpace(purpose)
	}
	return commands
}

// escaped returns text for a line of a man page.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}
