package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestTooManyOpenFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	ingest := []string{"ingest", "-o", "graph", "--threads", "16"}
	for i := range 40 { // inflated side by side
		name := fmt.Sprintf("part%02d.gz", i)
		if err := os.WriteFile(name, []byte(packed(t, fmt.Sprintf("%d\t%d\n", i, i+1))), 0o666); err != nil {
			t.Fatal(err)
		}
		ingest = append(ingest, name)
	}
	w, err := shard.Create("shards", &shard.WriteOptions{ShardBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1 << 18 // a frame each has at most 2^14
	for range rows {
		if err := w.Append(nil, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		stuck string // the file that cannot be opened at last
	}{
		{ingest, "part"},
		{[]string{"info", "shards"}, ".shard"},
	} {
		told := ""
		step := 1
		if !testgraph.Hunt {
			step = 3
		}
		for limit := 16; ; limit += step { // with fewer the runtime itself may fail
			if limit >= 200 {
				t.Fatalf("%s fails with %d open files too: %s", c.args[0], limit, told)
			}
			command := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, limit), os.Args[0]}, c.args...)...)
			command.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1")
			out, err := command.CombinedOutput()
			if err == nil {
				break
			}
			told = string(out)
			if !strings.HasPrefix(told, "heatwalk: ") || !strings.Contains(told, "too many open files") ||
				!strings.HasSuffix(told, "; allow more with ulimit -n\n") || strings.Count(told, "\n") != 1 {
				t.Fatalf("%s with %d open files: %s", c.args[0], limit, told)
			}
			if left, err := filepath.Glob("*openGraph*"); err != nil || left != nil {
				t.Fatalf("%d open files leave %v behind (%v)", limit, left, err)
			}
		}
		for _, made := range []string{"graph", "graph.run.json"} {
			if err := os.RemoveAll(made); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(told, c.stuck) {
			t.Errorf("%s never failed for %s: %q", c.args[0], c.stuck, told)
		}
	}
}
