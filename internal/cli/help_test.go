package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Help fits a terminal, for every command, and names all words that a flag takes.
func TestHelpFits(t *testing.T) {
	root := newRoot(newInvocation(t.Context(), nil, nil, io.Discard, io.Discard))
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var text bytes.Buffer
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		succeed(t, nil, &text, args...)
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%s: a line of %d columns: %s", strings.Join(args, " "), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	var text bytes.Buffer
	succeed(t, nil, &text, "ingest", "--help")
	for _, part := range []string{"Usage:\n  heatwalk ingest INPUT... -o DIR\n", "--header auto|yes|no ", "--order WORD ", "rcm, locality", "  -h, --help ", "Flags of every command:\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("help of ingest lacks %q:\n%s", part, text.String())
		}
	}
}
