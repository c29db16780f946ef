package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/commands.md")

const commandsPage = "../../../../docs/commands.md"

// flagLine matches the beginning of the description of a flag in --help.
var flagLine = regexp.MustCompile(`(?m)^ +(-\w, )?--[a-z-]+( \S+)?`)

// TestCommandsPage holds that docs/commands.md has every command and every flag of
// it, and no other; -update writes there what --help prints.
func TestCommandsPage(t *testing.T) {
	const sharedTitle = "\nFlags of every command:\n"
	helpOf := func(c *cobra.Command) (own, shared string) {
		var help bytes.Buffer
		succeed(t, nil, &help, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		own, shared, _ = strings.Cut(help.String(), sharedTitle)
		shared, _, _ = strings.Cut(shared, "\nFor more: ")
		return own, shared
	}
	root := newRoot(newSession(t.Context(), nil, nil, io.Discard, io.Discard))
	own, shared := helpOf(root)
	var page strings.Builder
	fmt.Fprintf(&page, "# Commands and flags\n\nWhat `heatwalk COMMAND --help` prints.\n\n```\n%s```\n\nFlags of every command:\n\n```\n%s```\n", own, shared)
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		own, _ := helpOf(c)
		fmt.Fprintf(&page, "\n## %s\n\n```\n%s```\n", c.CommandPath(), own)
		if c.Name() == "estimate" || c.Name() == "completion" {
			return // of which the first takes the flags of each command
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				add(sub)
			}
		}
	}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			add(c)
		}
	}
	if *update {
		if err := os.WriteFile(commandsPage, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	outline := func(page string) (list []string) {
		for _, section := range strings.Split(page, "\n## ") {
			title, text, _ := strings.Cut(section, "\n")
			list = append(list, title)
			list = append(list, flagLine.FindAllString(text, -1)...)
		}
		return list
	}
	if diff := cmp.Diff(outline(page.String()), outline(string(got))); diff != "" {
		t.Errorf("docs/commands.md has other flags than --help; run this test with -update (-want +got):\n%s", diff)
	}
}

// TestJSONPage holds that docs/json.md has every key of every document, in its
// section.
func TestJSONPage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	text, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, everywhere, _ := strings.Cut(string(text), "Every document ends with")
	everywhere, _, _ = strings.Cut(everywhere, "\n## ")
	sections := map[string]string{}
	for _, s := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		for _, command := range strings.Split(title, ", ") {
			sections[command] = everywhere + body
		}
	}
	workplace(t)
	if err := os.WriteFile("two.tsv", []byte("a\tx\nb\tx\nd\ty\ne\ty\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("two.csv", []byte("id,fur,class\na,y,x\nb,y,\nd,n,y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("few.tsv", []byte("1\tx\n2\tx\n3\ty\n4\ty\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`[^`]*`")
	for _, args := range [][]string{
		{"ingest", "e.tsv", "-o", "new"},
		{"info", "g", "--labels", "l.tsv"},
		{"verify", "g"},
		{"convert", "g", "-o", "g.mtx"},
		{"convert", "x.svm", "-o", "x.npy"},
		{"classify", "g", "--labels", "two.tsv", "--method", "cwk", "--truth", "two.tsv", "-o", "out.tsv"},
		{"classify", "g", "--labels", "two.tsv", "--method", "diffusion+rls", "-o", "out.tsv"},
		{"evaluate", "g", "--labels", "two.tsv", "--method", "lp", "--train", "0.5", "--splits", "2"},
		{"suggest", "g", "--labels", "two.tsv", "--method", "lp", "-n", "2", "-o", "next.tsv"},
		{"methods", "diffusion"},
		{"classify", "g", "--labels", "two.tsv", "--multi-label", "-o", "out.tsv"},
		{"evaluate", "g", "--labels", "two.tsv", "--multi-label", "--train", "0.5", "--splits", "2"},
		{"kernel", "g", "--kernel", "diffusion", "-o", "K.npy"},
		{"kernel", "g", "--kernel", "modularity", "-o", "K.npy"},
		{"kernel", "g", "--kernel", "cwk", "--labels", "two.tsv", "-o", "K.npy"},
		{"kernel", "g", "--kernel", "diffusion", "-o", "K.npy"},
		{"gram", "classify", "K.npy", "--labels", "two.tsv", "--learner", "svm", "-o", "S.npy"},
		{"records", "kernel", "two.csv", "-o", "K.npy"},
		{"records", "classify", "two.csv", "--truth", "two.tsv", "--unknown-ids", "skip", "--learner", "perceptron", "-o", "out.tsv"},
		{"features", "g", "--labels", "two.tsv", "-o", "F.npy"},
		{"eigen", "g", "--matrix", "laplacian", "--which", "smallest", "--k", "2", "-o", "E.npy"},
		{"eigen", "g", "--matrix", "adjacency", "--which", "interior", "--near", "1", "--k", "2", "-o", "E.npy"},
		{"estimate", "ingest", "e.tsv", "-o", "new"},
		{"generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid.tsv"},
		{"generate", "molecules", "--graphs", "20", "-o", "MOL"},
		{"graphs", "kernel", "MOL", "--kernel", "propagation", "-o", "K.npy"},
		{"graphs", "classify", "MOL", "--labels", "few.tsv", "--kernel", "tanimoto", "-o", "out.tsv"},
		{"bench", "decode", "g"},
		{"bench", "krylov", "solve", "g"},
		{"version"},
	} {
		var stdout bytes.Buffer
		succeed(t, nil, &stdout, append(args, "--json")...)
		var doc map[string]any
		if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		documented := strings.Join(word.FindAllString(sections[args[0]], -1), " ")
		for _, key := range keysOf(doc) {
			if !strings.Contains(documented, "`"+key+"`") {
				t.Errorf("%s: key %q is not in docs/json.md", strings.Join(args, " "), key)
			}
		}
	}
}

// keysOf returns the keys of a document and of its objects, except keys that are flags or data.
func keysOf(value any) (keys []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			keys = append(keys, key)
			if !strings.HasSuffix(key, "parameters") && key != "grid" {
				keys = append(keys, keysOf(value)...)
			}
		}
	case []any:
		for _, value := range v {
			keys = append(keys, keysOf(value)...)
		}
	}
	return keys
}
