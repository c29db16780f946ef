package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/sparsetest"
)

// runs runs a command in two processes, and returns their exit codes and streams.
func runs(t *testing.T, args ...string) (codes [2]int, stdout, stderr [2]string) {
	t.Helper()
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads)
	err := sparsetest.Processes(2, func(n sparse.Network) error {
		var out, messages bytes.Buffer
		rank := n.Rank()
		codes[rank] = MainOn(n, args, strings.NewReader("a b\n"), &out, &messages)
		stdout[rank], stderr[rank] = out.String(), messages.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return codes, stdout, stderr
}

// One of several processes prints and writes files, with the result of one process.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	edges, alone, shared := filepath.Join(dir, "edges.tsv"), filepath.Join(dir, "alone.npy"), filepath.Join(dir, "shared.npy")
	if err := os.WriteFile(edges, []byte("a b\nb c\nc d\nd e\ne a\na c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	eigen := func(graph, to string) []string {
		return []string{"eigen", graph, "--matrix", "adjacency", "--which", "largest", "-k", "2", "--progress", "none", "-o", to}
	}
	var out, messages bytes.Buffer
	if code := Main(eigen(edges, alone), strings.NewReader(""), &out, &messages); code != fault.Done {
		t.Fatal(messages.String())
	}
	codes, stdout, stderr := runs(t, eigen(edges, shared)...)
	if codes != [2]int{} || !strings.Contains(stdout[0], shared) || stdout[1] != "" || !strings.HasPrefix(stderr[0], "heatwalk: 2 processes, ") || stderr[1] != "" {
		t.Errorf("exit codes %d\n%q\n%q", codes, stdout, stderr)
	}
	if a, b := content(t, alone), content(t, shared); !bytes.Equal(a, b) {
		t.Errorf("two processes wrote another result")
	}
	if codes, stdout, stderr = runs(t, "info", edges); codes != [2]int{} || !strings.Contains(stdout[0], "6 (undirected)") || stdout[1] != "" || stderr[1] != "" {
		t.Errorf("info: exit codes %d\n%q\n%q", codes, stdout, stderr)
	}
	codes, _, stderr = runs(t, eigen("-", shared)...)
	if want := "heatwalk: -: stdin reaches only one of several processes; give a file\n"; codes != [2]int{fault.WrongUsage, fault.WrongUsage} || !strings.HasSuffix(stderr[0], want) {
		t.Errorf("stdin: exit codes %d\n%q", codes, stderr)
	}
	if want := "heatwalk: process 1 of 2: -: stdin"; !strings.HasPrefix(stderr[1], want) {
		t.Errorf("stdin: %q", stderr[1])
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
