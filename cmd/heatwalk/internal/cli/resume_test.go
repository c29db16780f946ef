package cli

import (
	"bytes"
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

// untimed are the lines of a report that differ from run to run.
var untimed = regexp.MustCompile(`"(seconds|peak_memory_bytes)": [^\n]*`)

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
		"t.json": "evaluate " + edges + " --labels " + labels + " --method cwk:alpha=0.5:cost=1,cwk+perceptron:alpha=0.5:steps=5 --train 0.2 --splits 2 --tuning-splits 12",
		"r.html": "evaluate " + edges + " --labels " + labels + " --method lp --train 0.3,0.5 --splits 40",
		"g.json": "graphs evaluate " + graphs + " --kernel propagation,tanimoto --steps 2 --learner svm,rls --cost 1 --parts edges --train 0.3,0.5 --splits 20",
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
			_ = cmd.Wait()         // the files tell all
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
		if filepath.Ext(report) == ".json" { // which tells how long it took
			got, want = untimed.ReplaceAll(got, nil), untimed.ReplaceAll(want, nil)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", report, got, want)
		}
	}
	if got, want := names(t, dir), "M.run.json M_A.txt M_edge_labels.txt M_graph_indicator.txt M_graph_labels.txt M_node_labels.txt e.tsv e.tsv.run.json g.json g.json.run.json l.tsv r.html r.html.run.json r.txt r.txt.run.json t.json t.json.run.json whole-g.json whole-g.json.run.json whole-r.html whole-r.html.run.json whole-r.txt whole-r.txt.run.json whole-t.json whole-t.json.run.json"; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
}
