package textio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readLines(t *testing.T, content string) (lines []string, warnings []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Open(context.Background(), path, &Options{
		Warn: func(w error) { warnings = append(warnings, strings.ReplaceAll(w.Error(), path, "f")) }})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for line, err := range in.Lines() {
		if err != nil {
			return lines, warnings, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "f"))
		}
		if len(line.Text) > 0 {
			lines = append(lines, fmt.Sprintf("%d %s", line.Number, line.Text))
		}
	}
	return lines, warnings, nil
}

func TestRecords(t *testing.T) {
	const head = "0 \"a\"\t\"b\""
	for _, test := range []struct{ text, want, fault string }{
		{"{\"a\": \"x\", \"b\": 1.50}\n\n{\"b\": null, \"a\": true}\n", head + "|1 \"x\"\t\"1.50\"|3 \"true\"\t\"\"", ""},
		{"\ufeff[\n  {\n \"a\": \"x\ty\\\"\\n\",\n \"b\": 2\n },\n {\"a\": [1,\n2]}]", head + "|2 \"x\\ty\"\"\\n\"\t\"2\"|6 \"\"\t\"\"", ""},
		{`[{"a": 1}, {"a": 2, "b": "é"}, {"b": "\u00e9"}]`, head + "|1 \"1\"\t\"\"|2 \"2\"\t\"é\"|3 \"\"\t\"é\"", ""},
		{"[{\"a\": 1, \"b\": 2},\n{\"a\": 3", "", "f:2: the file ends within a list or an object; fetch the file again"},
		{"[{\"a\": 1, \"b\": 2}\n", "", "f:1: the file ends within a list or an object; fetch the file again"},
		{"{\"a\": 1, \"b\": 2}\n{\"a\": 1}\n{\"a\": 1,}", "", "f:3: no well-formed JSON: invalid character '}' looking for beginning of object key string; correct it"},
		{"{\"a\": 1, \"b\": 2}\n{\"a\": 1}\n4\n", "", "f:3: text between the objects of a table; correct it"},
		{"{\"a\": 1}", "1 {\"a\": 1}", ""},
		{"{\"a\": {\"x\": 1}}\n{\"a\": 2, \"b\": 1}", head + "|1 \"\"\t\"\"|2 \"2\"\t\"1\"", ""},
		{"{a: 1}\n{a: 2}", "1 {a: 1}|2 {a: 2}", ""},
	} {
		text := strings.ReplaceAll(test.text, "x\ty", `x\ty`)
		lines, _, err := readLines(t, text)
		if got := strings.Join(lines, "|"); got != test.want && test.want != "" {
			t.Errorf("%q: lines\n got %s\nwant %s", text, got, test.want)
		}
		if got := fmt.Sprint(err); got != test.fault && (test.fault != "" || err != nil) {
			t.Errorf("%q: error\n got %s\nwant %s", text, got, test.fault)
		}
	}
	many := strings.Repeat("{\"a\": 1}\n", HeadBytes)
	_, warnings, err := readLines(t, many+"{\"a\": 1, \"c\": 2}\n{\"c\": 2}")
	want := fmt.Sprintf("f:%d: \"c\" is in none of the objects at the beginning, and is left out", HeadBytes+1)
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
		t.Errorf("a late key: %q, %v", warnings, err)
	}
	if _, _, err := readLines(t, "{\"a\": 1}\n{\"a\": 2}\n{\"a\": \""+strings.Repeat("x", 3*MaxLine)); err == nil || !strings.Contains(err.Error(), errLong.Msg) {
		t.Errorf("a long object: %v", err)
	}
}
