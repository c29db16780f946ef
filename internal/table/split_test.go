package table

import "testing"

func TestSeparator(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       byte
	}{
		{"e.csv", "a,b", Comma},
		{"e.csv", "a,\tb", Comma}, // a tab beside a comma is a blank
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
