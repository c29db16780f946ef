package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestAdvisedCommands runs the commands in messages about files, and reads their outputs.
func TestAdvisedCommands(t *testing.T) {
	command := regexp.MustCompile(`\b((?:gzip -dc .*\| )?iconv|awk|sed|tail|jq|PYTHONIOENCODING=latin-1 (?:python3)) .* > ('new-x y.csv'|\S+)`)
	for _, c := range []struct{ file, text, edges string }{
		{"x.csv", "payer;payee;amount\na;b;179.26 €\nb;c;1200.00 €\n", "a,b,179.26 b,c,1200"},
		{"x.csv", "payer;payee;amount\na;b;€ 179.26\nb;c;€ 12\n", "a,b,179.26 b,c,12"},
		{"x.csv", "payer;payee;amount\na;b;12 %\nb;c;3%\n", "a,b,12 b,c,3"},
		{"x.csv", "payer,payee,amount\na,b,$12.50\nb,c,0\n", "a,b,12.5"},
		{"x.csv", "payer,payee,amount\na,b,Fr. 12.50\nb,c,Fr. 3.00\n", ""}, // no currency that is known
		{"x.csv", "payer;payee;note\na;b;\"Zürich, \"\"x\"\"\nand;c\"\nb;c;plain\n", "a,b b,c"},
		{"x.tsv", "\"payer\"\t\"payee\"\t\"note\"\n" + strings.Repeat("\"a\"\t\"b\"\t\"x\nb\nc\"\n", 3), "a,b"},
		{"x.json", `{"payments": [{"payer": "a", "payee": "b", "amount": 2.5}, {"payer": "b", "payee": "c", "amount": null}]}`, "a,b,2.5"},
		{"x.csv", "payer,payee\nM\xfcller,b\nb,M\xfcller\n", "Müller,b"},
		{"x y.csv.gz", packed(t, "payer,payee\nM\xfcller,b\nb,\x80\n"), "Müller,b b,€"},
		{"x.graphml", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<graphml><graph edgedefault=\"directed\"><node id=\"\xfc\"/><node id=\"b\"/><edge source=\"\xfc\" target=\"b\"/></graph></graphml>\n", "ü,b"},
		{"x.graphml", "<graphml><graph edgedefault=\"directed\"><node id=\"\xfc\"/><node id=\"b\"/><edge source=\"\xfc\" target=\"b\"/></graph></graphml>\n", "ü,b"},
		{"x.csv", ";A;B;C\nA;0;1;0\nB;1;0;2.5\nC;0;2.5;0\n", "A,B,1 B,C,2.5"},
		{"x.txt", "0 1 0 0\n1 0 3 0\n0 3 0 1\n0 0 1 0\n", "0,1,1 1,2,3 2,3,1"},
		{"x.csv", "payments of May,,\npayer,payee,amount\na,b,2\nb,c,3\n", "a,b,2 b,c,3"},
	} {
		t.Chdir(t.TempDir())
		text := []byte(c.text)
		if err := os.WriteFile(c.file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		convert := func(name string) (edges, problems string) {
			var stdout, stderr bytes.Buffer
			args := []string{"convert", name, "-o", "-", "--to", "csv", "--duplicates", "max"}
			Main(args, nil, &stdout, &stderr)
			_, edges, _ = strings.Cut(strings.TrimSpace(stdout.String()), "\n")
			return strings.ReplaceAll(edges, "\n", " "), stderr.String()
		}
		_, problems := convert(c.file)
		advice := command.FindStringSubmatch(problems)
		if (advice == nil) != (c.edges == "") {
			t.Errorf("%q: %s", c.text, problems)
		}
		if strings.Contains(problems, "weight 0 or none") {
			t.Errorf("%q: a count that is not of all lines: %s", c.text, problems)
		}
		if advice == nil {
			continue
		}
		if _, err := exec.LookPath(advice[1][strings.LastIndexByte(advice[1], ' ')+1:]); err != nil {
			continue
		}
		if out, err := exec.Command("sh", "-c", strings.ReplaceAll(advice[0], "NAME", "payments")).CombinedOutput(); err != nil {
			t.Errorf("%s: %v, %s", advice[0], err, out)
		}
		if edges, problems := convert(strings.Trim(advice[2], "'")); edges != c.edges || strings.Contains(problems, "UTF-8") {
			t.Errorf("%q by %s gives %q: %s", c.text, advice[0], edges, problems)
		}
	}
}
