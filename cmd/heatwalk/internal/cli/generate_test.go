package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func succeed(t *testing.T, stdin io.Reader, stdout io.Writer, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	if code := Main(args, stdin, stdout, &stderr); code != shell.Done {
		t.Fatalf("heatwalk %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
}

func stored(t *testing.T, dir string) (*sparse.CSR, []string) {
	t.Helper()
	s, err := shard.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := sparse.Load(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, s.Nodes.Len())
	for i := range ids {
		ids[i] = s.Nodes.ID(i)
	}
	return a, ids
}

func TestGenerateStore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a second")
	}
	for _, model := range [][]string{
		{"rmat", "--scale", "13", "--edge-factor", "9"},
		{"sbm", "--nodes", "3000"},
		{"er", "--nodes", "500", "--edges", "800"},
		{"grid", "--rows", "40", "--columns", "7", "--torus"},
	} {
		dir := t.TempDir()
		from := func(args ...string) []string { return append(append([]string{"generate"}, model...), args...) }
		var text bytes.Buffer
		succeed(t, nil, &text, from("--quiet")...)
		succeed(t, &text, io.Discard, "ingest", "-", "-o", filepath.Join(dir, "text"))
		want, wantIDs := stored(t, filepath.Join(dir, "text"))
		for _, threads := range []string{"1", "2", "7"} {
			path := filepath.Join(dir, threads)
			succeed(t, nil, io.Discard, from("-o", path+"/", "--threads", threads)...)
			got, ids := stored(t, path)
			if !slices.Equal(ids, wantIDs) {
				t.Errorf("%s, %s threads: other ids", model[0], threads)
			}
			n, _ := want.Dims()
			for i := range n {
				col, _ := got.Row(i)
				wantCol, _ := want.Row(i)
				if !slices.Equal(col, wantCol) {
					t.Fatalf("%s, %s threads: row %d is %v, want %v", model[0], threads, i, col, wantCol)
				}
			}
		}
	}
}

func TestInterruptGenerate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	succeed(t, nil, io.Discard, "generate", "grid", "-o", filepath.Join(dir, "g")+"/")
	before, inside := names(t, dir), names(t, filepath.Join(dir, "g"))
	for _, args := range [][]string{
		{"generate", "rmat", "--scale", "28", "-o", "g/", "--force"},
		{"generate", "rmat", "--scale", "28", "-o", "e.tsv"},
		{"generate", "sbm", "--nodes", "5000000", "-o", "e.tsv.gz"},
	} {
		t.Log(strings.Join(args, " "))
		message := interrupted(t, program(t, dir, args...), 15)
		if !strings.HasPrefix(message, "heatwalk: interrupted after ") || args[5] == "g/" && !strings.HasSuffix(message, "; g/ is unchanged\n") {
			t.Errorf("%s: stderr: %s", strings.Join(args, " "), message)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s left %s, want %s", strings.Join(args, " "), after, before)
		}
		if after := names(t, filepath.Join(dir, "g")); after != inside {
			t.Errorf("the store holds %s, want %s", after, inside)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "e.tsv")); err == nil {
		t.Error("half a file is there")
	}
}
