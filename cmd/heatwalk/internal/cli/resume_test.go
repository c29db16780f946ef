package cli

import (
	"bytes"
	"errors"
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
var untimed = regexp.MustCompile(`"(seconds|seconds_prediction|peak_memory_bytes)": [^\n]*|"seconds_by_phase": \{[^}]*\}`)

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
	for report, command := range map[string]string{
		"r.txt":  "evaluate " + edges + " --labels " + labels + " --method lp --train 0.3,0.5 --splits 400",
		"t.json": "evaluate " + edges + " --labels " + labels + " --method cwk:alpha=0.5:cost=1,cwk:alpha=0.5:steps=5+perceptron --train 0.2 --splits 2 --tuning-splits 12",
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
	if got, want := names(t, dir), "e.tsv e.tsv.run.json l.tsv r.txt r.txt.run.json t.json t.json.run.json whole-r.txt whole-r.txt.run.json whole-t.json whole-t.json.run.json"; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
}

// TestRefusedJournal checks that the message of an interrupted run has the remedy --resume, and that the
// journal of another run, or a damaged one, is refused.
func TestRefusedJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	edges, labels, journal := filepath.Join(dir, "e.tsv"), filepath.Join(dir, "l.tsv"), filepath.Join(dir, "r.txt.journal")
	if code := Main([]string{"generate", "sbm", "--nodes", "6000", "-o", edges, "--labels", labels, "--quiet"}, nil, io.Discard, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	changed := func(name, file, line string) string {
		text, err := os.ReadFile(file)
		other := filepath.Join(dir, name)
		if err = errors.Join(err, os.WriteFile(other, append(text, line...), 0o666)); err != nil {
			t.Fatal(err)
		}
		return other
	}
	args := func(edges, labels string, more ...string) []string {
		return append([]string{"evaluate", edges, "--labels", labels, "--method", "lp", "--train", "0.3", "--splits", "100000", "--report", "r.txt", "--quiet"}, more...)
	}
	cmd := program(t, dir, args(edges, labels)...)
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
	if !strings.HasSuffix(string(out), "; r.txt was not made; the same command with --resume continues from here\n") {
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
		"edges": args(changed("other.tsv", edges, "17\t4711\n"), labels), "options": args(edges, labels, "--seed", "7"),
	} {
		refused(2, "heatwalk: --resume: r.txt.journal is of a run with other "+what+"; repeat the command line of that run, or leave out --resume to begin again\n", args)
	}
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/3] ^= 1
	if err := os.WriteFile(journal, text, 0o666); err != nil {
		t.Fatal(err)
	}
	refused(3, "heatwalk: r.txt.journal: is damaged, or no journal; leave out --resume to begin again\n", args(edges, labels))
}
