package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/learn"
)

func TestPageOfFewReasons(t *testing.T) {
	defer func(before int64) { learn.ReasonValues = before }(learn.ReasonValues)
	t.Chdir(t.TempDir())
	var edges strings.Builder
	for i := range 40 {
		fmt.Fprintf(&edges, "n%d\tn%d\nn%d\tn%d\n", i, (i+1)%40, i, (i+7)%40)
	}
	for name, text := range map[string]string{"e.tsv": edges.String(), "l.tsv": "n0\tx\nn20\ty\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for values, want := range map[int64]bool{1: true, 1e9: false} {
		learn.ReasonValues = values
		var stdout, stderr bytes.Buffer
		if code := Main(strings.Fields("classify e.tsv --labels l.tsv --method lp -o o.tsv --report p.html"), nil, &stdout, &stderr); code != 0 {
			t.Fatal(stderr.String())
		}
		page, err := os.ReadFile("p.html")
		if err != nil || strings.Contains(string(page), "has reasons for 0 nodes") != want {
			t.Errorf("bound of %d: %v, the page says that it has reasons for 0 nodes: %v, want %v", values, err, !want, want)
		}
	}
}

func TestPageFails(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"e.tsv": "a\tb\nb\tc\nc\td\n", "l.tsv": "a\tx\nd\ty\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/full", "p.html"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := Main(strings.Fields("classify e.tsv --labels l.tsv -o o.tsv --report p.html"), nil, &stdout, &stderr)
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; code != 1 || !strings.HasPrefix(last, "heatwalk: p.html: the predictions in o.tsv are complete, and the page was not made: ") {
		t.Errorf("exit code %d, %s", code, last)
	}
	for _, name := range []string{"o.tsv", "o.tsv.run.json"} {
		if text, err := os.ReadFile(name); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}
