package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLostIDsAreWarnedOf(t *testing.T) {
	const rounded, cut = "looks like a rounded number", "no line end"
	for text, want := range map[string]string{
		"1.58e+18\tb\nb\tc\n":                          rounded,
		"source,target\n1.58e+18,b\nb,c\n":             rounded,
		"source,target\n1.58e+18,7\n,8\n":              rounded, // pandas writes integers with a missing value so
		"source,target\n1588987262754234400.0,7\n,8\n": rounded,
		"source,target\n9007199254740993.0,7\n3,8\n":   rounded,
		"source,target\n9.007199254740993e15,7\n3,8\n": rounded,
		"source,target\n9007199254740993,7\n3,8\n":     "",
		"source,target\n71e45,7\n3,8\n":                "", // a hexadecimal number
		"source,target\n3.0,7\n,8\n":                   "",
		"a.0\tb\nb\te+1\n":                             "",
		"a\tb\nb\tc":                                   cut,
		"1 2\n2 3":                                     cut,
		"a\tb\nb\tc\n":                                 "",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "e.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), filepath.Join(dir, "s"), []string{path}, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		warnings := strings.Join(r.Warnings, "\n")
		for _, warning := range []string{rounded, cut} {
			if strings.Contains(warnings, warning) != (warning == want) {
				t.Errorf("%q: warnings %q, want %q", text, warnings, want)
			}
		}
	}
}

func TestNodesWithoutEdges(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, list := range []string{"id\na\nb\nc\n", "id\n3\n1\n2\n", ""} {
		for _, edges := range []string{"", "source,target\n", "# none\n"} {
			for _, directed := range []bool{false, true} {
				c := &Config{Nodes: put("nodes.csv", list), Directed: directed, Force: true}
				r, err := Run(t.Context(), filepath.Join(dir, "s"), []string{put("e.csv", edges)}, c)
				if list == "" {
					if err == nil {
						t.Errorf("%q: no error for a graph without nodes", edges)
					}
					continue
				}
				if err != nil || r.Nodes != 3 || r.Isolated != 3 || r.Edges != 0 || len(r.Warnings) == 0 {
					t.Errorf("%q, %q: %+v, %v", list, edges, r, err)
				}
			}
		}
	}
}
