package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/internal/testgraph"
)

// untimed matches the times and the memory in a report, which differ from run to run.
var untimed = regexp.MustCompile(`"(seconds|peak_memory_bytes)": [^\n]*|"seconds_by_phase": \{[^}]*\}`)

// TestKilledEvaluate kills runs of evaluate and graphs evaluate at random moments: taken up again and again
// they end with the bytes of a run that was not killed, and leave nothing else.
func TestKilledEvaluate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	kills := 3
	if testgraph.Hunt {
		kills = 10
	}
	seed := rand.Uint64()
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if code := Main(args, nil, io.Discard, os.Stderr); code != 0 {
			t.Fatal(code)
		}
	}
	edges, labels := filepath.Join(dir, "e.tsv"), filepath.Join(dir, "l.tsv")
	run("generate", "sbm", "--nodes", "1500", "-o", edges, "--labels", labels, "--quiet")
	graphs := filepath.Join(dir, "M")
	run("generate", "molecules", "--graphs", "150", "-o", graphs, "--quiet")
	for report, command := range map[string]string{
		"r.txt":  "evaluate " + edges + " --labels " + labels + " --method lp --train 0.3,0.5 --splits 40",
		"t.json": "evaluate " + edges + " --labels " + labels + " --method cwk:alpha=0.5:cost=1,cwk:alpha=0.5:steps=5+perceptron --train 0.2 --splits 2 --tuning-splits 12",
		"g.json": "graphs evaluate " + graphs + " --kernel propagation:steps=2,tanimoto:parts=edges --learner svm:cost=1,rls:cost=1 --train 0.3,0.5 --splits 20",
	} {
		args := append(strings.Fields(command), "--quiet")
		whole := filepath.Join(dir, "whole-"+report)
		start := time.Now()
		run(append(slices.Clone(args), "--report", whole)...)
		took := time.Since(start)
		at := filepath.Join(dir, report)
		args = append(args, "--report", at)
		journals := 0
		for range kills {
			cmd := program(t, dir, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(took / 2))))
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // the files are checked below
			if _, err := os.Stat(at + ".journal"); err == nil {
				journals++
			}
			if args[len(args)-1] != "--resume" {
				args = append(args, "--resume")
			}
		}
		t.Logf("%s: %d of %d killed runs left a journal (a run takes %v)", report, journals, kills, took)
		run(args...)
		want, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(report) == ".json" { // it has the seconds of the run
			got, want = untimed.ReplaceAll(got, nil), untimed.ReplaceAll(want, nil)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", report, got, want)
		}
	}
	if got, want := names(t, dir), "M.run.json M_A.txt M_edge_labels.txt M_graph_indicator.txt M_graph_labels.txt M_node_labels.txt e.tsv e.tsv.run.json g.json g.json.run.json l.tsv r.txt r.txt.run.json t.json t.json.run.json whole-g.json whole-g.json.run.json whole-r.txt whole-r.txt.run.json whole-t.json whole-t.json.run.json"; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
}

// TestKilledMatrix kills runs of kernel and features at random moments. Resumed with other
// numbers of threads, they end with the bytes of a run that was not killed and with the same
// report except for sweeps, error bounds and error estimates, and leave nothing else. An estimate
// follows the last steps of an iteration, which a resumed run does not repeat.
func TestKilledMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seed := rand.Uint64()
	t.Logf("rng seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	edges, labels := matrixInputs(t, dir)
	store := filepath.Join(dir, "S")
	if code := Main([]string{"ingest", edges, "-o", store, "--quiet"}, nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	untold := regexp.MustCompile(`"(seconds|peak_memory_bytes|output|sweeps|error_bound|relative_error_bound|error_estimate)": [^\n]*`)
	kept, kills := 0, 1
	if testgraph.Hunt {
		kills = 3
	}
	for _, command := range []string{
		"kernel " + edges + " --kernel diffusion:laplacian=combinatorial:beta=3 --rows " + labels + " --cols " + labels,
		"kernel " + store + " --kernel pseudo-inverse --cols " + labels + " --slab 1/2",
		"kernel " + edges + " --kernel modularity:rank=20 --rows " + labels,
		"kernel " + edges + " --kernel vertex --rows " + labels + " --dtype float64",
		"kernel " + edges + " --kernel cwk:steps=300 --labels " + labels + " --cols " + labels,
		"features " + edges + " --labels " + labels + " --features honest --kernel cwk:steps=1500:min-steps=1400",
	} {
		args := append(strings.Fields(command), "--quiet", "--json")
		var document bytes.Buffer
		whole := filepath.Join(dir, "whole.npy")
		start := time.Now()
		if code := Main(append(slices.Clone(args), "-o", whole), nil, &document, os.Stderr); code != 0 {
			t.Fatal(code)
		}
		took := time.Since(start)
		args = append(args, "-o", filepath.Join(dir, "m.npy"), "--resume", "--threads")
		for range kills {
			cmd := program(t, dir, append(args, []string{"1", "2", "7"}[rng.IntN(3)])...)
			cmd.Env = append(os.Environ(), "HEATWALK_TEST_KILLED=1")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = cmd.Wait() // the files are checked below
			}()
			for end := time.Now().Add(2 * took); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if _, err := os.Stat(filepath.Join(dir, "m.npy.journal")); err == nil {
					break
				}
			}
			time.Sleep(time.Duration(rng.Int64N(int64(took) / 4)))
			_ = cmd.Process.Kill() // it may have ended
			<-ended
			if _, err := os.Stat(filepath.Join(dir, "m.npy.journal")); err == nil {
				kept++
			}
		}
		var again bytes.Buffer
		if code := Main(append(args, "2"), nil, &again, os.Stderr); code != 0 {
			t.Fatal(command, code)
		}
		if got, want := untold.ReplaceAll(again.Bytes(), nil), untold.ReplaceAll(document.Bytes(), nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
		for _, ending := range []string{".npy", ".rows.ids", ".cols.ids"} {
			want, err := os.ReadFile(strings.TrimSuffix(whole, ".npy") + ending)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "m"+ending)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, or another %s", command, err, ending)
			}
		}
		for _, path := range []string{"m.npy.journal", "m.npy.partial", ".m.npy"} {
			if left, _ := filepath.Glob(filepath.Join(dir, path+"*")); len(left) > 0 {
				t.Errorf("%s leaves %v", command, left)
			}
		}
	}
	if t.Logf("%d kills left a journal", kept); kept == 0 {
		t.Error("none did")
	}
}

// matrixInputs makes a graph and labels of some of its nodes, which also are a list of ids.
func matrixInputs(t *testing.T, dir string) (edges, labels string) {
	t.Helper()
	edges, labels = filepath.Join(dir, "e.tsv"), filepath.Join(dir, "l.tsv")
	if code := Main([]string{"generate", "sbm", "--nodes", "6000", "-o", edges, "--labels", labels, "--quiet"}, nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	return edges, labels
}

// TestRefusedJournal checks that the message of an interrupted run has the remedy --resume, and that the
// journal of another run, or a damaged one, is refused.
func TestRefusedJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	edges, labels := matrixInputs(t, dir)
	other := filepath.Join(dir, "other.tsv")
	lines, err := os.ReadFile(edges)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(lines, "17\t4711\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	var ids strings.Builder
	for i := range 4000 {
		fmt.Fprintln(&ids, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "cols.txt"), []byte(ids.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "K.npy.journal")
	args := func(edges string, more ...string) []string {
		return append([]string{"kernel", edges, "--kernel", "regularized-laplacian", "--cols", "cols.txt", "-o", "K.npy", "--quiet"}, more...)
	}
	cmd := program(t, dir, args(edges)...)
	cmd.Env = append(os.Environ(), "HEATWALK_TEST_KILLED=1")
	go func() { // which interrupts it once it has kept something
		for range 1000 {
			if _, err := os.Stat(journal); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}()
	out, _ := cmd.CombinedOutput() // and the exit code 130
	if !strings.HasSuffix(string(out), "; K.npy was not made; the same command with --resume continues from here\n") {
		t.Fatalf("it says %s", out)
	}
	refused := func(code int, text string, args []string) {
		t.Helper()
		cmd := program(t, dir, append(args, "--resume")...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code || string(out) != text {
			t.Errorf("%v: exit code %d: %s, want %d: %s", args, cmd.ProcessState.ExitCode(), out, code, text)
		}
	}
	for what, args := range map[string][]string{
		"edges": args(other), "labels or nodes": args(edges, "--rows", labels), "options": args(edges, "--kernel", "regularized-laplacian:alpha=3"),
	} {
		refused(2, "heatwalk: --resume: K.npy.journal is of a run with other "+what+"; repeat the command line of that run, or leave out --resume to begin again\n", args)
	}
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/3] ^= 1
	if err := os.WriteFile(journal, text, 0o666); err != nil {
		t.Fatal(err)
	}
	refused(3, "heatwalk: K.npy.journal: is damaged, or no journal; leave out --resume to begin again\n", args(edges))
	refused(2, "heatwalk: --resume: a run is resumed from the journal of its output; give -o FILE\n",
		[]string{"features", edges, "--labels", labels, "-o", "-"})
}
