package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// moving matches text that differs from run to run or machine to machine.
var moving = regexp.MustCompile(`[ 0-9.]+ s\b|[0-9.]+ [MG] entry|peak [0-9.]+ [MG]B( of [0-9.]+ GB)?|an error of [0-9.e-]+`)

// TestPages runs the commands of pages, which are indented and begin with $, in the folder of demo --save,
// and compares the lines below them with the output, except for moving numbers. A line … is the rest of an
// output. -update writes them.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all commands of six pages")
	}
	for _, page := range []string{"README.md", "docs/tour.md", "docs/kinds.md", "docs/explain.md", "docs/run.md", "docs/items.md"} {
		t.Run(page, func(t *testing.T) { checkPage(t, page) })
	}
}

func saveExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	succeed(t, nil, io.Discard, "demo", "--save", "example")
	t.Chdir("example")
}

func checkPage(t *testing.T, page string) {
	file, err := filepath.Abs("../../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if page == "README.md" {
		t.Chdir(t.TempDir()) // the page writes the folder itself
	} else {
		saveExamples(t)
	}
	lines, written := strings.SplitAfter(string(text), "\n"), ""
	for i := 0; i < len(lines); {
		line := lines[i]
		written += line
		i++
		command, isCommand := strings.CutPrefix(line, "    $ ")
		if !isCommand {
			continue
		}
		var shown, printed string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "    ") && !strings.HasPrefix(lines[i], "    $ "); i++ {
			shown += lines[i]
		}
		for text := range strings.Lines(outputOf(t, strings.TrimSuffix(command, "\n"))) {
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
	if *update && written != string(text) {
		if err := os.WriteFile(file, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// outputOf returns the standard output of a command, or its messages if it fails. It knows heatwalk …, cd
// DIR, head -N FILE, and head -N FILE | cut -f1-K.
func outputOf(t *testing.T, command string) string {
	t.Helper()
	if arguments, isOurs := strings.CutPrefix(command, "heatwalk "); isOurs {
		var output, problems bytes.Buffer
		if Main(strings.Fields(arguments), strings.NewReader(""), &output, &problems) != 0 {
			return problems.String()
		}
		return output.String()
	}
	if dir, isChange := strings.CutPrefix(command, "cd "); isChange {
		t.Chdir(dir)
		return ""
	}
	var n, columns int
	var name string
	if _, err := fmt.Sscanf(command, "head -%d %s | cut -f1-%d", &n, &name, &columns); n == 0 || name == "" {
		t.Fatalf("%s: %v", command, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for _, line := range strings.SplitN(string(text), "\n", n+1)[:n] {
		cells := strings.Split(line, "\t")
		if columns > 0 {
			cells = cells[:min(columns, len(cells))]
		}
		head.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return head.String()
}
