package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
)

// mustRun runs a command that ends well and returns what it printed.
func mustRun(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main(args, nil, &stdout, &stderr); code != fault.Done {
		t.Fatalf("%s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.Bytes()
}

// TestReorderedColumns: where the columns of a graph are reordered its sweeps give the
// same bytes as from disk, and the plan counts the copy and holds.
func TestReorderedColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a graph with nine million edges")
	}
	workplace(t)
	run := func(args ...string) []byte { return mustRun(t, args...) }
	run("generate", "rmat", "--scale", "20", "--edge-factor", "9", "-o", "scattered.tsv", "--quiet")
	run("ingest", "scattered.tsv", "--order", "none", "-o", "scattered", "--quiet")
	bench := func(args ...string) (v benchmark) {
		t.Helper()
		if err := json.Unmarshal(run(append([]string{"bench", "spmm", "scattered", "--repeat", "1", "--json"}, args...)...), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	disk := bench("--columns", "4", "--source", "disk")
	coded := bench("--columns", "4", "--ids", "coded")
	if coded.IDs != "coded" || coded.Reordered || coded.Tiled || coded.Source != "memory" || *coded.Checksum != *disk.Checksum {
		t.Errorf("%s ids from %s, reordered %v, checksum %v; from disk %v", coded.IDs, coded.Source, coded.Reordered, *coded.Checksum, *disk.Checksum)
	}
	for _, flags := range [][]string{nil, {"--ids", "raw"}} { // in tiles where the last cache has room for the block
		v := bench(append(flags, "--columns", "4")...)
		if !v.Reordered && !v.Tiled || disk.Reordered || *v.Checksum != *disk.Checksum || v.IDs != "raw" || v.Source != "memory" {
			t.Errorf("%q: reordered %v, %s ids from %s, checksum %v; from disk %v, checksum %v", flags, v.Reordered, v.IDs, v.Source, *v.Checksum, disk.Reordered, *disk.Checksum)
		}
	}
	if err := os.WriteFile("labels.tsv", []byte("1\ta\n2\tb\n3\tc\n40\ta\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("rows.txt", []byte("0\n4\n8\n16\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	features := func(out, steps string, args ...string) (data int64) {
		t.Helper()
		args = append([]string{"features", "scattered", "--labels", "labels.tsv", "--unknown-ids", "skip", "--rows", "rows.txt", "--steps", steps, "-o", out, "--json"}, args...)
		var plan struct {
			Memory int64 `json:"memory_bytes"`
		}
		if err := json.Unmarshal(run(append([]string{"estimate"}, args...)...), &plan); err != nil {
			t.Fatal(err)
		}
		run(args...)
		return plan.Memory
	}
	features("disk.npy", "9", "--max-memory", "128MiB")
	// Seven sweeps do not make up for reordering, nine do.
	with, without := features("reordered.npy", "9"), features("short.npy", "7")
	const least = 32 * 500_000 // a row for each of more nodes than that
	if more := with - without; more < least || more > 2*least {
		t.Errorf("a plan with reordered columns takes %d bytes more than one without, want %d to %d", more, least, 2*least)
	}
	one, err := os.ReadFile("reordered.npy")
	other, err2 := os.ReadFile("disk.npy")
	if err != nil || err2 != nil || !bytes.Equal(one, other) {
		t.Errorf("features differ: %v, %v", err, err2)
	}
}

// TestTiledColumns: a graph that is ingested by degree is swept in tiles, and gives
// the same bytes as from disk.
func TestTiledColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a graph with two million edges")
	}
	workplace(t)
	run := func(args ...string) []byte { return mustRun(t, args...) }
	run("generate", "rmat", "--scale", "17", "-o", "hubs.tsv", "--quiet")
	run("ingest", "hubs.tsv", "-o", "hubs", "--quiet")
	bench := func(args ...string) (v benchmark) {
		t.Helper()
		args = append([]string{"bench", "spmm", "hubs", "--columns", "5", "--repeat", "1", "--json"}, args...)
		if err := json.Unmarshal(run(args...), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, disk := bench(), bench("--source", "disk")
	if v.Order != "degree" || !v.Tiled || v.Reordered || disk.Tiled || *v.Checksum != *disk.Checksum {
		t.Errorf("order %s, tiled %v, reordered %v, checksum %v; from disk tiled %v, checksum %v", v.Order, v.Tiled, v.Reordered, *v.Checksum, disk.Tiled, *disk.Checksum)
	}
	for _, out := range []string{"one.npy", "other.npy"} {
		limit := map[string]string{"one.npy": "2GiB", "other.npy": "64MiB"}[out]
		run("eigen", "hubs", "--matrix", "normalized-adjacency", "--which", "largest", "--k", "3", "-o", out, "--max-memory", limit, "--quiet")
	}
	one, err := os.ReadFile("one.npy")
	other, err2 := os.ReadFile("other.npy")
	if err != nil || err2 != nil || !bytes.Equal(one, other) {
		t.Errorf("eigenvectors differ: %v, %v", err, err2)
	}
}
