package nodefile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// Tables of nodes whose lines have an odd form are read as if they had the usual one, at once or behind the repair that
// the error has.
func TestFormsOfNodeTables(t *testing.T) {
	readers := map[string]func(path string) (string, error){
		"labels": func(path string) (string, error) {
			l, err := ReadLabels(context.Background(), path, names(t), nil)
			if err != nil {
				return "", err
			}
			return strings.Join(l.Names, " "), nil
		},
		"values": func(path string) (string, error) {
			v, err := ReadValues(context.Background(), path, names(t), &LabelConfig{Fields: []string{"node", "value"}})
			if err != nil {
				return "", err
			}
			return strings.Join(v.Names, " "), nil
		},
		"records": func(path string) (string, error) {
			a, err := ReadAttributes(context.Background(), path, nil)
			if err != nil {
				return "", err
			}
			return strings.Join(a.IDs, " "), nil
		},
	}
	usual := file{"t.csv", "node;label;value;note\nn1;red;1;x\nn2;blue;2;y\nn3;red;1;z\nn4;blue;2;w\n"}
	for name, odd := range map[string]struct {
		text      string
		isRefused bool
	}{
		"lines above":        {"List of nodes\nof 1 May;\n\n" + usual.text, true},
		"padded lines above": {"List;;;\n;;;\n" + usual.text, true},
		"line breaks":        {strings.ReplaceAll(strings.ReplaceAll(usual.text, ";x\n", ";\"x\nx\"\n"), ";z\n", ";\"z\nx\"\n"), true},
		"titles behind #":    {"#" + usual.text, false},
		"comments above":     {"! made by x\n!\n" + usual.text, false},
		"a second header":    {usual.text + "node;label;value;note\n", false},
		"trailing separator": {strings.ReplaceAll(usual.text, "\n", ";\n"), false},
		"sep=":               {"sep=;\n" + usual.text, false},
		"byte-order mark":    {"\ufeff" + usual.text, false},
	} {
		for kind, read := range readers {
			want, err := read(write(t, usual)[0])
			if err != nil {
				t.Fatal(kind, err)
			}
			path := write(t, file{"t.csv", odd.text})[0]
			got, err := read(path)
			if fault := new(ParseError); odd.isRefused && errors.As(err, &fault) && fault.Repair != nil {
				var repaired bytes.Buffer
				if err := fault.Repair.Apply(&repaired, strings.NewReader(odd.text)); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, repaired.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				got, err = read(path)
			} else if odd.isRefused {
				t.Errorf("%s, %s: %v without a repair", name, kind, err)
				continue
			}
			if err != nil || got != want {
				t.Errorf("%s, %s: %q, want %q, %v", name, kind, got, want, err)
			}
		}
	}
}
