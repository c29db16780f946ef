package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func runs(t *testing.T, args ...string) (codes [2]int, stdout, stderr [2]string) {
	t.Helper()
	c, out, messages := runsOn(t, 2, args...)
	return [2]int(c), [2]string(out), [2]string(messages)
}

func runsOn(t *testing.T, size int, args ...string) (codes []int, stdout, stderr []string) {
	t.Helper()
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads)
	codes, stdout, stderr = make([]int, size), make([]string, size), make([]string, size)
	err := testgraph.Processes(size, func(n sparse.Network) error {
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

func TestProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges, alone, shared := filepath.Join(dir, "edges.tsv"), filepath.Join(dir, "alone.npy"), filepath.Join(dir, "shared.npy")
	if err := os.WriteFile(edges, []byte("a b\nb c\nc d\nd e\ne a\na c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	eigen := func(graph, to string) []string {
		return []string{"eigen", graph, "--matrix", "adjacency", "--which", "largest", "-k", "2", "--progress", "none", "-o", to}
	}
	var out, messages bytes.Buffer
	if code := Main(eigen(edges, alone), strings.NewReader(""), &out, &messages); code != shell.Done {
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
	if codes, stdout, _ = runs(t, append(eigen(edges, shared), "--dry-run")...); codes != [2]int{} || !strings.Contains(stdout[0], "\nmemory ") || stdout[1] != "" {
		t.Errorf("a dry run: exit codes %d\n%q", codes, stdout)
	}
	codes, _, stderr = runs(t, eigen("-", shared)...)
	if want := "heatwalk: -: stdin reaches only one of several processes; give a file\n"; codes != [2]int{shell.WrongUsage, shell.WrongUsage} || !strings.HasSuffix(stderr[0], want) {
		t.Errorf("stdin: exit codes %d\n%q", codes, stderr)
	}
	if want := "heatwalk: process 1 of 2: -: stdin"; !strings.HasPrefix(stderr[1], want) {
		t.Errorf("stdin: %q", stderr[1])
	}
	labels := filepath.Join(dir, "labels.tsv")
	if err := os.WriteFile(labels, []byte("a\tx\nb\tx\nc\ty\nd\ty\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	codes, _, stderr = runs(t, "classify", edges, "--labels", labels, "--method", "cwk:steps=2+dkm")
	if want := edges + ": dkm needs all rows of the graph in one process; run heatwalk without mpirun, or take another --method\n"; codes[0] != shell.WrongUsage || !strings.HasSuffix(stderr[0], want) {
		t.Errorf("dkm: exit codes %d\n%q", codes, stderr)
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

func TestApplyOnSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var edges, ids strings.Builder
	for i := range 300 {
		fmt.Fprintf(&edges, "n%d n%d\nn%d n%d\n", i, (i*i+7)%300, i, (5*i+1)%200)
	}
	for i := range 250 {
		fmt.Fprintf(&ids, "n%d\n", 299-i)
	}
	for name, text := range map[string]string{"edges.tsv": edges.String(), "ids.txt": ids.String()} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	block := append(npy.Header("<f8", 250, 3), make([]byte, 8*250*3)...)
	for i := range 250 * 3 {
		binary.LittleEndian.PutUint64(block[len(block)-8*(i+1):], math.Float64bits(math.Sin(float64(i))))
	}
	if err := os.WriteFile(at("block.npy"), block, 0o666); err != nil {
		t.Fatal(err)
	}
	for i, function := range []string{"laplacian", "exp:t=-1,-2:matrix=normalized-laplacian", "solve:shift=0.1"} {
		args := func(to string) []string {
			return []string{"apply", at("edges.tsv"), "--function", function, "--block", at("block.npy"), "--block-ids", at("ids.txt"), "--quiet", "-o", to}
		}
		var out, messages bytes.Buffer
		if code := Main(args(at("one.npy")), strings.NewReader(""), &out, &messages); code != shell.Done {
			t.Fatal(messages.String())
		}
		codes, stdout, stderr := runsOn(t, 2+i%2, args(at("several.npy"))...)
		if slices.Max(codes) != shell.Done || slices.Max(stdout[1:]) != "" {
			t.Fatalf("%s: exit codes %d\n%q\n%q", function, codes, stdout, stderr)
		}
		want, got := numbersOf(t, at("one.npy")), numbersOf(t, at("several.npy"))
		if len(got) != len(want) || floats.Distance(got, want, 2) > 1e-9*floats.Norm(want, 2) {
			t.Errorf("%s: another result", function)
		}
	}
}

// Arcs have weights that span ten decades.
func TestClassifyOnSeveralProcesses(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 9))
	edges := "source,target,weight\n"
	labels := "node,label\n"
	const n = 99
	for v := range n {
		for range 3 {
			u := 3*rng.IntN(n/3) + v%3
			if rng.IntN(3) == 0 {
				u = rng.IntN(n)
			}
			edges += fmt.Sprintf("n%d,n%d,%g\n", v, u, math.Pow(10, 10*rng.Float64()-5))
		}
		if rng.IntN(2) == 0 {
			labels += fmt.Sprintf("n%d,c%d\n", v, v%3)
		}
	}
	for name, text := range map[string]string{"e.csv": edges, "l.csv": labels} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range testgraph.Sample(t, 2, []string{"--directed --edge-weights=none", "--directed --edge-weights=given", "--undirected --edge-weights=given", "--directed"}) {
		args := func(to string) []string {
			return append([]string{"classify", "e.csv", "--labels=l.csv", "--duplicates=sum", "--progress=none", "--scores=probability", "--dtype=float64", "-o", to}, strings.Fields(flags)...)
		}
		var out, messages bytes.Buffer
		if code := Main(args("one.npy"), strings.NewReader(""), &out, &messages); code != shell.Done {
			t.Fatal(messages.String())
		}
		codes, stdout, stderr := runs(t, args("two.npy")...)
		if codes[0] != shell.Done {
			t.Fatalf("%s: exit codes %d\n%q", flags, codes, stderr)
		}
		if a, b := summaryOf(out.String()), summaryOf(stdout[0]); a != b {
			t.Errorf("%s: %s, and on two processes %s", flags, a, b)
		}
		if d := floats.Distance(numbersOf(t, "one.npy"), numbersOf(t, "two.npy"), math.Inf(1)); d > 1e-3 {
			t.Errorf("%s: probabilities differ by %v", flags, d)
		}
	}
}

func summaryOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func numbersOf(t *testing.T, path string) []float64 {
	t.Helper()
	a, err := npy.Read(path, bytes.NewReader(content(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]float64, a.Len)
	if err := a.Floats(numbers); err != nil {
		t.Fatal(err)
	}
	return numbers
}
