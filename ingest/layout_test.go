package ingest

import "testing"

// A blank or tab at the end of the first line separates nothing.
func TestBlankBehindTheFirstLine(t *testing.T) {
	want, _ := read(t, nil, file{"e.txt", "1 2\n2 3\n"})
	for _, text := range []string{"1 2\t\n2 3\n", "1 2 \t\r\n2 3\t\r\n"} {
		got, _ := read(t, nil, file{"e.txt", text})
		same(t, got, want)
	}
}

func TestSeparator(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       byte
	}{
		{"e.csv", "a,b", comma},
		{"e.csv", "a,\tb", comma}, // a tab beside a comma is a blank
		{"e.csv", "a\t,\tb,\t1", comma},
		{"e.csv", "Doe, J.\tRoe, R.", tab}, // commas of names
		{"e.csv", "a\tb,c", tab},
		{"e.csv", "a\tb,", tab},
		{"e.csv.gz", "a,\tb", comma},
		{"e.txt", "a,\tb", tab},
		{"e.csv", "a;b;1,5", semicolon}, // the comma of a number
		{"e.txt", "a;b;1,5", semicolon},
		{"e.csv", "http://a/?x=1;2,http://b", comma},
		{"e.csv", "a;1,5", comma},
		{"e.txt", "x,y z", blanks},
		{"e.txt", "a, b", comma},
	} {
		if got := separator(c.name, []byte(c.line)); got != c.want {
			t.Errorf("%s: %q is separated by %s, want %s", c.name, c.line, separatorName(got), separatorName(c.want))
		}
	}
}
