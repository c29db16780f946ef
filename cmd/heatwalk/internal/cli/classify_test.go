package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

func TestDefaultOrder(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "g")
	ids := []string{"third", "first", "fourth", "second"}
	names, err := shard.StringNodes(slices.Values([]string{"first", "second", "third", "fourth"}))
	if err != nil {
		t.Fatal(err)
	}
	w, err := shard.Create(graph, nil)
	if err != nil {
		t.Fatal(err)
	}
	for row := range ids {
		if err := w.Append([]uint32{uint32((row + 2) % 4)}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.Nodes = names.Reorder("test", []uint32{2, 0, 3, 1}, nil)
	if err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	labels := filepath.Join(dir, "labels.tsv")
	if err := os.WriteFile(labels, []byte("first\ta\nthird\tb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"classify", graph, "--labels", labels, "--method", "lp", "--scores", "none"}, nil, &stdout, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	want := "node\tlabel\treached\tknown\tprobability\nfirst\ta\ttrue\ttrue\t1\nsecond\ta\ttrue\tfalse\t1\nthird\tb\ttrue\ttrue\t1\nfourth\tb\ttrue\tfalse\t1\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	features := filepath.Join(dir, "F.npy")
	if code := Main([]string{"features", graph, "--labels", labels, "--kernel", "cwk:steps=1", "-o", features}, nil, &stdout, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	got, err := os.ReadFile(filepath.Join(dir, "F.rows.ids"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "first\nsecond\nthird\nfourth\n"; string(got) != want {
		t.Errorf("rows %q, want %q", got, want)
	}
}
