package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTriples runs the command of docs/kinds.md that reads triples of RDF.
func TestTriples(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil {
		t.Skip("no awk")
	}
	page, err := os.ReadFile("../../../../docs/kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(page), "    awk -v OFS")
	command, _, _ = strings.Cut(command, " | heatwalk ingest - --fields 1,3 --kind 2")
	const want = "source,target\n<a>,<b>\n<b>,_:c\n_:c,<d>\n"
	for _, text := range []string{
		"<a> <p> <b> .\n<b> <p> _:c .\n_:c <q> <d> .\n<a> <name> \"x . y\" .\n",
		"# comment\n<a>\t<p>\t<b>\t.\n\n<b>\t<p>\t_:c .\r\n_:c\t<q>\t<d>\t<graph> .\n",
		"<a><p><b>.\n<b> <p>_:c.\n_:c <q><d>.\n",
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("t.nt", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		table, err := exec.Command("sh", "-c", "awk -v OFS"+command).Output()
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		Main(strings.Fields("convert - --fields 1,3 -o - --to csv"), bytes.NewReader(table), &stdout, &stderr)
		if stdout.String() != want {
			t.Errorf("%q: %q, want %q: %s", text, stdout.String(), want, stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	code := Main(strings.Fields("convert - --fields 1,3 -o - --to csv"), strings.NewReader("<a>\t\t<p>\t\t<b>\n<b>\t\t<p>\t\t<c>\n"), &stdout, &stderr)
	if code != 3 || !strings.Contains(stderr.String(), "column 2 of these triples is empty") {
		t.Errorf("two tabs: code %d, %s", code, stderr.String())
	}
}
