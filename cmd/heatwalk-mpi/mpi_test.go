//go:build petsc && cgo

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func mpirun(t *testing.T, processes int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed, see scripts/mpi-packages")
	}
	words := []string{"-n", strconv.Itoa(processes), "--oversubscribe", "--bind-to", "none", os.Args[0]}
	cmd := exec.Command("mpirun", append(words, args...)...)
	cmd.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	_ = cmd.Run()
	return out.String(), messages.String(), cmd.ProcessState.ExitCode()
}

func sample(t *testing.T, to, from string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var some []byte
	lines := bufio.NewScanner(z)
	for n := 0; lines.Scan(); n++ {
		if n%10 == 0 {
			some = append(append(some, lines.Bytes()...), '\n')
		}
	}
	if err := os.WriteFile(to, some, 0o666); err != nil || lines.Err() != nil {
		t.Fatal(err, lines.Err())
	}
}

func TestClassify(t *testing.T) {
	dir := t.TempDir()
	const cora = "../heatwalk/internal/learn/cora/"
	graph, labels := filepath.Join(dir, "graph"), filepath.Join(dir, "labels.tsv")
	if stdout, stderr, code := mpirun(t, 2, "ingest", cora+"edges.tsv.gz", "-o", graph); code != 0 || strings.Count(stdout, "2,708 nodes") != 1 {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	sample(t, labels, cora+"labels.tsv.gz")
	var want []byte
	for processes := 1; processes <= 3; processes++ {
		to := filepath.Join(dir, strconv.Itoa(processes)+".tsv")
		stdout, stderr, code := mpirun(t, processes, "classify", graph, "--labels", labels, "--method", "lp:steps=20", "--scores", "none", "--progress", "none", "-o", to)
		if code != 0 || strings.Count(stdout, to) != 1 {
			t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
		}
		got, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if processes == 1 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("%d processes predict other labels", processes)
		}
	}
	_, stderr, code := mpirun(t, 2, "classify", graph, "--labels", "nowhere.tsv", "-o", filepath.Join(dir, "none.tsv"))
	if code != 2 || strings.Count(stderr, "nowhere.tsv: no such file") != 1 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
