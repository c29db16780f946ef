package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

func mustRun(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main(args, nil, &stdout, &stderr); code != shell.Done {
		t.Fatalf("%s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.Bytes()
}

func TestTiledColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a graph with two million edges")
	}
	workplace(t)
	run := func(args ...string) []byte { return mustRun(t, args...) }
	run("generate", "rmat", "--scale", "17", "--edge-factor", "6", "-o", "hubs.tsv", "--quiet")
	run("ingest", "hubs.tsv", "-o", "hubs", "--quiet")
	type measured struct {
		Order    string
		Tiled    bool
		Checksum *float64
	}
	bench := func(args ...string) (v measured) {
		t.Helper()
		args = append([]string{"bench", "spmm", "hubs", "--columns", "5", "--repeat", "1", "--json"}, args...)
		if err := json.Unmarshal(run(args...), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, disk := bench(), bench("--source", "disk")
	if v.Order != "degree" || !v.Tiled || disk.Tiled || *v.Checksum != *disk.Checksum {
		t.Errorf("order %s, tiled %v, checksum %v; from disk tiled %v, checksum %v", v.Order, v.Tiled, *v.Checksum, disk.Tiled, *disk.Checksum)
	}
	for _, out := range []string{"one.npy", "other.npy"} {
		limit := map[string]string{"one.npy": "2GiB", "other.npy": "256MiB"}[out]
		run("eigen", "hubs", "--matrix", "normalized-adjacency", "--which", "largest", "--k", "3", "-o", out, "--max-memory", limit, "--quiet")
	}
	one, err := os.ReadFile("one.npy")
	other, err2 := os.ReadFile("other.npy")
	if err != nil || err2 != nil || !bytes.Equal(one, other) {
		t.Errorf("eigenvectors differ: %v, %v", err, err2)
	}
}
