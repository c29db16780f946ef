package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// A page that cannot be written leaves the predictions, and the message names the missing file.
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
