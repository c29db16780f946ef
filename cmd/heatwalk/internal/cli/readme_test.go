package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// moving finds what differs from run to run: times, speeds and memory.
var moving = regexp.MustCompile(`[ 0-9.]+ s\b|[0-9.]+ [MG] entry|peak [0-9.]+ [MG]B( of [0-9.]+ GB)?`)

// TestReadme holds what README.md shows of the demo and of a first classification to what
// they print, moving numbers apart; -update writes it there where it differs.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the demo and a classification of Cora")
	}
	file, err := filepath.Abs("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var demo, classified bytes.Buffer
	succeed(t, nil, &demo, "demo")
	t.Chdir(t.TempDir())
	writeCora(t)
	succeed(t, nil, &classified, "classify", "edges.tsv.gz", "--labels", "known.tsv", "-o", "predictions.tsv")
	for _, s := range []struct{ begin, printed string }{
		{"The demo prints\n\n```\n", demo.String()},
		{"$ heatwalk classify edges.tsv.gz --labels known.tsv -o predictions.tsv\n",
			classified.String() + "$ head -3 predictions.tsv\n" + firstScores(t)},
	} {
		_, shown, begun := strings.Cut(page, s.begin)
		shown, _, ended := strings.Cut(shown, "```")
		if !begun || !ended {
			t.Fatalf("README.md has no block behind %q", s.begin)
		}
		diff := cmp.Diff(moving.ReplaceAllString(s.printed, ""), moving.ReplaceAllString(shown, ""))
		if diff != "" && *update {
			page = strings.Replace(page, s.begin+shown, s.begin+s.printed, 1)
		} else if diff != "" {
			t.Errorf("README.md shows other lines; run this test with -update (-printed +README):\n%s", diff)
		}
	}
	if page != string(text) {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeCora writes the links of Cora, and the subjects of every tenth paper as known.tsv.
func writeCora(t *testing.T) {
	r, err := gzip.NewReader(bytes.NewReader(coraLabels))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var known strings.Builder
	for i, line := range strings.SplitAfter(string(labels), "\n") {
		if i%10 == 0 {
			known.WriteString(line)
		}
	}
	for name, content := range map[string][]byte{"edges.tsv.gz": coraEdges, "known.tsv": []byte(known.String())} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// firstScores returns the first three lines of predictions.tsv, with the scores of three
// classes.
func firstScores(t *testing.T) string {
	predictions, err := os.ReadFile("predictions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for _, line := range strings.SplitN(string(predictions), "\n", 4)[:3] {
		head.WriteString(strings.Join(strings.Split(line, "\t")[:6], "\t") + "\t…\n")
	}
	return head.String()
}

// TestGraphsPage runs the commands of docs/graphs.md and compares the lines that it shows with those that they print,
// moving numbers apart; a line … is the rest of an output. -update writes them.
func TestGraphsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("compares kernels of 300 graphs")
	}
	file, err := filepath.Abs("../../../../docs/graphs.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	lines, written := strings.SplitAfter(string(page), "\n"), ""
	for i := 0; i < len(lines); {
		line := lines[i]
		written += line
		i++
		command, isCommand := strings.CutPrefix(line, "    $ heatwalk ")
		if !isCommand {
			continue
		}
		var shown, printed string
		var output, problems bytes.Buffer
		for ; i < len(lines) && strings.HasPrefix(lines[i], "    ") && !strings.HasPrefix(lines[i], "    $ "); i++ {
			shown += lines[i]
		}
		if Main(strings.Fields(command), strings.NewReader(""), &output, &problems) != 0 {
			output = problems
		}
		for text := range strings.Lines(output.String()) {
			if printed += "    " + text; strings.Count(printed, "\n") == strings.Count(shown, "\n")-1 && strings.HasSuffix(shown, "    …\n") {
				printed += "    …\n"
				break
			}
		}
		if moving.ReplaceAllString(shown, "") == moving.ReplaceAllString(printed, "") {
			printed = shown
		} else if !*update {
			t.Errorf("%s: run this test with -update (-printed +page):\n%s", command, cmp.Diff(printed, shown))
		}
		written += printed
	}
	if *update && written != string(page) {
		if err := os.WriteFile(file, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
