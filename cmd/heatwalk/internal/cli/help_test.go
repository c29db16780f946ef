package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

func eachCommand(t *testing.T, f func(words []string)) {
	t.Helper()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		f(strings.Fields(cmd.CommandPath())[1:])
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot(shell.NewSession(t.Context(), nil, nil, nil, io.Discard, io.Discard)))
}

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
				continue // demo makes a graph
			}
			args := append(slices.Clone(words), slices.Repeat([]string{"nothere"}, n)...)
			var stderr bytes.Buffer
			code := Main(args, strings.NewReader(""), io.Discard, &stderr)
			text := stderr.String()
			if strings.Contains(text, "internal error") || code != shell.Done && code != shell.WrongUsage && code != shell.MachineFailed ||
				strings.Contains(text, "usage: ") && !strings.Contains(text, called) {
				t.Errorf("%s: exit code %d, stderr: %s", strings.Join(args, " "), code, text)
			}
		}
	})
}

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
	for _, part := range []string{"Usage:\n  heatwalk ingest INPUT... -o DIR\n", "Flags of every command: --threads ", "Flags for reading files: heatwalk help input\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("help of ingest lacks %q:\n%s", part, text.String())
		}
	}
}

func TestHelpOnWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"Features": "heatwalk features", "threads": "docs/commands.md", "node features": "heatwalk classify",
		"diffusion": "heatwalk methods diffusion", "tables": "docs/tables.md", "featur": "heatwalk features", "fraud": "docs/kinds.md",
		"embedding": "heatwalk eigen", "recommendation": "docs/README.md", "gnn": "docs/README.md", "gpu": "docs/README.md",
		"nan": "heatwalk help input", "neo4j": "docs/formats.md", "auc": "heatwalk rank", "imbalance": "docs/README.md",
		"api": "docs/README.md", "clusters": "docs/README.md", "link prediction": "docs/README.md", "node2vec": "docs/README.md",
		"knowledge graph": "docs/README.md", "active learning": "docs/README.md", "resume": "docs/README.md",
		"cross validation": "heatwalk evaluate", "exit code": "heatwalk predict", "docker": "docs/run.md",
		"probability": "heatwalk predict", "gzip": "heatwalk help input", "roc": "docs/README.md", "unicode": "docs/README.md",
		"heterogeneous": "docs/kinds.md", "rdf": "docs/kinds.md", "triples": "docs/kinds.md", "temporal": "docs/kinds.md", "negative": "docs/kinds.md", "why": "heatwalk explain",
	} {
		lines := findLines(word)
		if !slices.ContainsFunc(lines, func(line [2]string) bool { return line[0] == want }) {
			t.Errorf("help %s: no %s in %q", word, want, lines)
		}
	}
	for line, want := range map[string]string{
		"help zebra":        "heatwalk: help: nothing on \"zebra\"; docs/README.md lists pages by task\n",
		"help clasify":      "heatwalk: clasify: no such command; did you mean classify?\n",
		"help zebra quagga": "heatwalk: help: nothing on \"zebra quagga\"; docs/README.md lists pages by task\n",
	} {
		var stderr bytes.Buffer
		if code := Main(strings.Fields(line), nil, io.Discard, &stderr); code != shell.WrongUsage || stderr.String() != want {
			t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
		}
	}
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"classify g --method l":           "lp lgc",
		"classify g --method diffusion+r": "diffusion+rls",
		"evaluate g --method auto,b":      "auto,beliefs",
		"regress g --method h":            "harmonic hops heat-pagerank",
		"regress g --method diffusion+":   "diffusion+rls",
		"rank g --kernel pa":              "pagerank",
		"graphs kernel X --kernel t":      "tanimoto",
		"records kernel X --kernel h":     "hypercube hamming",
		"gram classify K --learner sv":    "svm",
		"classify g --weights s":          "signed",
		"classify g --progress p":         "plain",
		"eigen g --matrix tr":             "transition",
		"apply g --function pers":         "personalized-pagerank",
		"methods hyp":                     "hypercube",
		"help cla":                        "classify",
	} {
		var stdout bytes.Buffer
		succeed(t, nil, &stdout, append([]string{"__complete"}, strings.Fields(line)...)...)
		var names []string
		for offered := range strings.Lines(stdout.String()) {
			if name, _, _ := strings.Cut(strings.TrimSpace(offered), "\t"); name != ":4" {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: offers %q, want %q", line, got, want)
		}
	}
}
