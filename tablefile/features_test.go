package tablefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A matrix with ids beside it, with ids in a file that is named, and a table say the same
// of nodes.
func TestFeaturesOfMatrix(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"x.svm": "0 1:2\n0 2:3\n", "x.rows.ids": "c\na\n",
		"y.svm": "0 1:2\n0 2:3\n", "named.ids": "c\na\n",
		"z.csv": "id,p,q\nc,2,0\na,0,3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"stream.npy", "stream"} {
		if err := os.Symlink(os.DevNull, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := shard.StringNodes(slices.Values([]string{"a", "b", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		name, ids string
		err       error
	}{
		{name: "x.svm"}, {name: "y.svm", ids: "named.ids"}, {name: "z.csv"},
		{name: "y.svm", err: ErrNoIDs}, {name: "z.csv", ids: "named.ids", err: ErrTable},
		{name: "stream.npy", err: ErrStream}, {name: "stream", ids: "named.ids", err: ErrStream}, // not a table, nor an archive to unpack
	} {
		if of.ids != "" {
			of.ids = filepath.Join(dir, of.ids)
		}
		f, err := ReadFeatures(t.Context(), filepath.Join(dir, of.name), nodes, &FeatureConfig{IDs: of.ids})
		if of.err != nil || err != nil {
			if !errors.Is(err, of.err) || of.err == nil {
				t.Errorf("%s %s: %v, want %v", of.name, of.ids, err, of.err)
			}
			continue
		}
		if _, missing := f.Table.Row(1); f.Table.Present != 2 || missing != nil || f.Table.Entries != 2 {
			t.Errorf("%s: %d nodes, %d values", of.name, f.Table.Present, f.Table.Entries)
		}
		if _, values := f.Table.Row(0); values[0] != 0 || values[1] != 3 {
			t.Errorf("%s: node a has %v, want 0 and 3", of.name, values)
		}
	}
}
