package tablefile

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Rows wider than the memory limit are refused before they are allocated.
func TestFeaturesOfOddMatrices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"square.npz": string(sparseFile("csr", [2]int64{2, 2}, []int64{0, 1, 1}, []int32{1}, []float64{3})),
		"wide.svm":   "0 2147483647:1\n0 1:1\n", "ids": "a\nb\n", "long.svm": "0 1:2\n0 2:3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := shard.StringNodes(slices.Values([]string{"a", "b"}))
	if err != nil {
		t.Fatal(err)
	}
	ids := filepath.Join(dir, "ids")
	f, err := ReadFeatures(t.Context(), filepath.Join(dir, "square.npz"), nodes, &FeatureConfig{IDs: ids})
	if err != nil || f.Table.Present != 2 || f.Table.Entries != 1 {
		t.Errorf("a square matrix: %+v, %v", f, err)
	}
	over := new(budget.Error)
	wide := filepath.Join(dir, "wide.svm")
	if _, err := ReadFeatures(t.Context(), wide, nodes, &FeatureConfig{IDs: ids, Memory: 1 << 28}); !errors.As(err, &over) || over.Need < 4<<31-1<<28 {
		t.Errorf("a wide row: %v, want the required bytes", err)
	}
	w, err := Inspect(t.Context(), wide, nil)
	if err != nil {
		t.Fatal(err)
	}
	full, required := errors.New("full"), int64(0)
	_, _, err = ReadCSR(t.Context(), w, ids, nil, func(_, bytes int64) error { required = bytes; return full })
	if !errors.Is(err, full) || required < 8*math.MaxInt32 {
		t.Errorf("a wide row of %d bytes: %v, want %v", required, err, full)
	}
	x, err := Inspect(t.Context(), filepath.Join(dir, "long.svm"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	err = Read(ctx, x, func([]byte, []float64) error { rows++; cancel(); return nil })
	if rows != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows and %v, want 1 and %v", rows, err, context.Canceled)
	}
}

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
		{name: "stream.npy", err: ErrStream}, {name: "stream", ids: "named.ids", err: ErrStream}, // neither a table nor an archive to unpack
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
		if _, missing := f.Table.Reader().Row(1); f.Table.Present != 2 || missing != nil || f.Table.Entries != 2 {
			t.Errorf("%s: %d nodes, %d values", of.name, f.Table.Present, f.Table.Entries)
		}
		if _, values := f.Table.Reader().Row(0); values[0] != 0 || values[1] != 3 {
			t.Errorf("%s: node a has %v, want 0 and 3", of.name, values)
		}
	}
}
