package nodefile

import (
	"bytes"
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
)

func TestSeparator(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       byte
	}{
		{"e.csv", "a,b", table.Comma},
		{"e.csv", "a,\tb", table.Comma}, // a tab next to a comma is a blank
		{"e.csv", "a\t,\tb,\t1", table.Comma},
		{"e.csv", "Doe, J.\tRoe, R.", table.Tab}, // commas of names
		{"e.csv", "a\tb,c", table.Tab},
		{"e.csv", "a\tb,", table.Tab},
		{"e.csv.gz", "a,\tb", table.Comma},
		{"e.txt", "a,\tb", table.Tab},
		{"e.csv", "a;b;1,5", table.Semicolon}, // the comma of a number
		{"e.txt", "a;b;1,5", table.Semicolon},
		{"e.csv", "http://a/?x=1;2,http://b", table.Comma},
		{"e.csv", "a;1,5", table.Comma},
		{"e.txt", "x,y z", table.Blanks},
		{"e.txt", "a, b", table.Comma},
	} {
		if got := table.Separator(c.name, []byte(c.line)); got != c.want {
			t.Errorf("%s: %q is separated by %s, want %s", c.name, c.line, table.SeparatorName(got), table.SeparatorName(c.want))
		}
	}
}

func TestExtension(t *testing.T) {
	for name, want := range map[string]string{
		"e.tsv": ".tsv", "E.TSV.gz": ".tsv", "l.ids.bgz": ".ids", "a.b.csv.zst": ".csv", "gz": "", "e.gz": "",
	} {
		if got := table.Extension(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAppendField(t *testing.T) {
	for _, text := range []string{"a", "a b", "a,b", `"`, `a "b" c`, "#a", "%", "//x", "a;b", "é", "", "a\r"} {
		line := table.AppendField(nil, []byte(text))
		line = table.AppendField(append(line, ','), []byte("x"))
		var f table.Fields
		if err := f.Split(line, table.Comma); err != nil || len(f.Text) != 2 || string(f.Text[0]) != text || string(f.Text[1]) != "x" || table.IsComment(line) {
			t.Errorf("%q: %s is read as %s, %v", text, line, bytes.Join(f.Text, []byte("|")), err)
		}
	}
}
