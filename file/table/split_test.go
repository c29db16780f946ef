package table

import (
	"bytes"
	"testing"
)

func TestSeparator(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       byte
	}{
		{"e.csv", "a,b", Comma},
		{"e.csv", "a,\tb", Comma}, // a tab next to a comma is a blank
		{"e.csv", "a\t,\tb,\t1", Comma},
		{"e.csv", "Doe, J.\tRoe, R.", Tab}, // commas of names
		{"e.csv", "a\tb,c", Tab},
		{"e.csv", "a\tb,", Tab},
		{"e.csv.gz", "a,\tb", Comma},
		{"e.txt", "a,\tb", Tab},
		{"e.csv", "a;b;1,5", Semicolon}, // the comma of a number
		{"e.txt", "a;b;1,5", Semicolon},
		{"e.csv", "http://a/?x=1;2,http://b", Comma},
		{"e.csv", "a;1,5", Comma},
		{"e.txt", "x,y z", Blanks},
		{"e.txt", "a, b", Comma},
	} {
		if got := Separator(c.name, []byte(c.line)); got != c.want {
			t.Errorf("%s: %q is separated by %s, want %s", c.name, c.line, SeparatorName(got), SeparatorName(c.want))
		}
	}
}

func TestExtension(t *testing.T) {
	for name, want := range map[string]string{
		"e.tsv": ".tsv", "E.TSV.gz": ".tsv", "l.ids.bgz": ".ids", "a.b.csv.zst": ".csv", "gz": "", "e.gz": "",
	} {
		if got := Extension(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A field that is written is read back.
func TestAppendField(t *testing.T) {
	for _, text := range []string{"a", "a b", "a,b", `"`, `a "b" c`, "#a", "%", "//x", "a;b", "é", "", "a\r"} {
		line := AppendField(nil, []byte(text))
		line = AppendField(append(line, ','), []byte("x"))
		var f Fields
		if err := f.Split(line, Comma); err != nil || len(f.Text) != 2 || string(f.Text[0]) != text || string(f.Text[1]) != "x" || IsComment(line) {
			t.Errorf("%q: %s is read as %s, %v", text, line, bytes.Join(f.Text, []byte("|")), err)
		}
	}
}
