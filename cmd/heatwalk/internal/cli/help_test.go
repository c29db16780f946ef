package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/spf13/cobra"
)

// eachCommand calls f with the words that call each command.
func eachCommand(t *testing.T, f func(words []string)) {
	t.Helper()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		f(strings.Fields(cmd.CommandPath())[1:])
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot(newSession(t.Context(), nil, nil, io.Discard, io.Discard)))
}

// TestWrongArguments checks that the message about too few or too many arguments has the synopsis.
func TestWrongArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	eachCommand(t, func(words []string) {
		if len(words) == 0 || words[0] == "help" || words[0] == "completion" || words[len(words)-1] == "demo" {
			return
		}
		called := "usage: heatwalk " + strings.Join(words, " ")
		step := 1
		if testing.Short() {
			step = 2
		}
		for n := 0; n < 4; n += step {
			if n == 0 && words[0] == "generate" {
				continue // which makes a graph
			}
			args := append(slices.Clone(words), slices.Repeat([]string{"nothere"}, n)...)
			var stderr bytes.Buffer
			code := Main(args, strings.NewReader(""), io.Discard, &stderr)
			text := stderr.String()
			if strings.Contains(text, "internal error") || code != fault.Done && code != fault.WrongUsage && code != fault.MachineFailed ||
				strings.Contains(text, "usage: ") && !strings.Contains(text, called) {
				t.Errorf("%s: exit code %d, stderr: %s", strings.Join(args, " "), code, text)
			}
		}
	})
}

// Help fits a screen, for every command, and names all words that a flag takes.
func TestHelpFits(t *testing.T) {
	eachCommand(t, func(words []string) {
		var text bytes.Buffer
		args := append(words, "--help")
		succeed(t, nil, &text, args...)
		lines, own := 0, 0
		for line := range strings.Lines(text.String()) {
			lines++
			if strings.HasPrefix(line, "      --") || strings.HasPrefix(line, "  -") {
				own++
			}
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth && !strings.HasPrefix(line, "Flags of every") {
				t.Errorf("%s: a line of %d columns: %s", strings.Join(args, " "), n, line)
			}
		}
		if lines > 60 || own > 20 {
			t.Errorf("%s: %d lines with %d flags; at most 60 and 20", strings.Join(args, " "), lines, own)
		}
	})
	var page bytes.Buffer
	succeed(t, nil, &page, "help", "input")
	for _, part := range []string{"--header auto|yes|no ", "--order WORD ", "locality", "--missing WORDS "} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("help input lacks %q", part)
		}
	}
	var text bytes.Buffer
	succeed(t, nil, &text, "ingest", "--help")
	for _, part := range []string{"Usage:\n  heatwalk ingest INPUT... -o DIR\n", "--codec four-widths|zstd ", "Flags of every command: --threads ", "Flags for reading graph files: heatwalk help input\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("help of ingest lacks %q:\n%s", part, text.String())
		}
	}
}

// TestHelpOnWords checks that help on an ordinary word names the commands for it.
func TestHelpOnWords(t *testing.T) {
	for place, words := range map[string]string{
		"heatwalk classify ":         "train fit learn fraud churn spam predict labelling category machine-learning GNN",
		"heatwalk evaluate ":         "compare accuracy cross-validation F1 significance",
		"heatwalk regress ":          "impute regression numeric forecast",
		"heatwalk suggest ":          "active-learning annotate uncertainty",
		"heatwalk rank ":             "similar similarity pagerank recommend anomaly neighbours",
		"heatwalk predict ":          "model deploy",
		"heatwalk eigen ":            "embedding spectral node2vec svd",
		"heatwalk features ":         "embeddings",
		"heatwalk convert ":          "gephi export networkx scipy",
		"heatwalk ingest ":           "import store",
		"heatwalk info ":             "statistics degree homophily components",
		"heatwalk estimate ":         "memory RAM disk",
		"heatwalk help input ":       "csv excel weights labels header directed columns",
		"heatwalk classify --report": "visualize plot charts",
		"does not cluster":           "cluster clustering community communities louvain",
		"no other centrality":        "centrality betweenness",
		"heatwalk methods diffusion": "beta diffusion",
		"COMMAND --threads ":         "threads",
	} {
		for word := range strings.FieldsSeq(words) {
			var text bytes.Buffer
			succeed(t, nil, &text, "help", word)
			if !strings.Contains(text.String(), place) {
				t.Errorf("help %s: no %q in\n%s", word, place, text.String())
			}
		}
	}
}
