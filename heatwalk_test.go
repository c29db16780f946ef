package heatwalk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heatwalk/heatwalk"
)

// TestOpenFolder opens a folder with the two files of a LINQS collection, as the command
// does, and a store. Nothing is left of what was made of the folder.
func TestOpenFolder(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{
		"c.cites":   "p1 9\nx p1\n",
		"c.content": "9\t0\t1\tgood\nalone\t1\t0\tbad class\np1\t0\t0\tgood\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path  string
		nodes int
	}{{dir, 4}, {filepath.Join("testdata", "format", "v1", "path"), 3}} {
		g, err := heatwalk.Open(t.Context(), c.path, nil)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if got := g.Nodes.Len(); got != c.nodes {
			t.Errorf("%s: %d nodes, want %d", c.path, got, c.nodes)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", c.path, left, err)
		}
	}
}
