package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	t.Chdir(t.TempDir())
	const esc = "\x1b[31m"
	for name, text := range map[string]string{
		"e.tsv":               "a\tb\nb\tc\nc\td\n",
		"l.tsv":               "a\t" + esc + "red\nb\t" + esc + "red\nd\tx\n",
		"titles.csv":          esc + "from,\u202eto,kind,more\n1,2,3,4\n2,3,4,5\n",
		"weight.tsv":          "a\tb\t" + esc + "\nb\tc\t\u009b31m\n",
		"unknown.tsv":         esc + "id\tred\n",
		"\u202e" + esc + ".x": "a\tb\tc\td\te\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Skip(err)
		}
	}
	for _, args := range [][]string{
		{"info", "e.tsv", "--labels", "l.tsv"},
		{"info", "titles.csv"},
		{"info", "weight.tsv"},
		{"classify", "e.tsv", "--labels", "unknown.tsv"},
		{"info", "\u202e" + esc + ".x"},
		{"info", "\x07" + esc + "missing"},
	} {
		var stdout, stderr bytes.Buffer
		Main(args, nil, &stdout, &stderr)
		text := stdout.String() + stderr.String()
		if strings.ContainsAny(text, "\x1b\x07\u202e\u009b") || !strings.Contains(text, `\x1b`) && !strings.Contains(text, `\u202e`) {
			t.Errorf("%q: %q", args, text)
		}
	}
}
