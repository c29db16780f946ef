package main

import (
	"fmt"
	"strings"
	"time"
)

// manPages returns a man page for each command of docs/commands.md, which has the output of --help of
// all commands between lines of three backquotes, under headings with their names. A test keeps it so.
func manPages(commands, version string, at time.Time) (pages []file) {
	parts := strings.Split(commands, "```\n")
	names, help := []string{}, map[string]string{}
	short := map[string]string{"heatwalk": "label the rest of a graph"}
	name := "heatwalk"
	for i := 0; i+1 < len(parts); i += 2 {
		before, text := parts[i], parts[i+1]
		if _, heading, found := strings.Cut(before, "\n## "); found {
			name, _, _ = strings.Cut(heading, "\n")
		}
		if help[name] == "" {
			names = append(names, name)
		} else {
			help[name] += "\n" + strings.TrimSpace(before) + "\n\n"
		}
		help[name] += text
		for command, purpose := range listed(text) {
			short[name+" "+command] = purpose
		}
	}
	for _, name := range names {
		dashed := strings.ReplaceAll(name, " ", "-")
		var page strings.Builder
		fmt.Fprintf(&page, ".TH %s 1 %s \"heatwalk %s\"\n", strings.ToUpper(escaped(dashed)), at.Format(time.DateOnly), escaped(version))
		fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", escaped(dashed), escaped(short[name]))
		page.WriteString(".SH DESCRIPTION\n.nf\n")
		for line := range strings.Lines(help[name]) {
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
