package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestProgramsAreSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../examples/clustering").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path := range strings.Lines(string(out)) {
		if strings.Contains(path, "parquet") || strings.Contains(path, "heatwalk/cmd/") || strings.TrimSpace(path) == "net/http" {
			t.Errorf("examples/clustering depends on %s", path)
		}
	}
}

// The module registers a kernel, a learner, a method and a file format with the command.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "extension")
	module, err := filepath.Abs("../../examples/extension")
	if err != nil {
		t.Fatal(err)
	}
	build := func(workspace string, args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOWORK="+workspace)
		out, err := cmd.CombinedOutput()
		if err != nil && isOffline.Match(out) {
			t.Skipf("%q needs modules that are not on this machine, and cannot download them:\n%s", args, out)
		}
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	build("off", "list", "-deps", ".") // its go.mod and go.sum are complete
	// In a workspace the packages are the compiled packages of this test, also with -trimpath.
	workspace := filepath.Join(dir, "go.work")
	build(workspace, "work", "init", ".", "../..")
	build(workspace, "build", "-ldflags=-s -w", "-o", program, ".")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, stderr.String())
		}
		return stdout.String()
	}
	golden, err := filepath.Abs("../../testdata/golden/sbm300")
	if err != nil {
		t.Fatal(err)
	}
	graph, labels := filepath.Join(golden, "edges.tsv"), filepath.Join(golden, "labels.tsv")
	listed := run("methods")
	for _, name := range []string{"votes", "nearest", "signless", "damped"} {
		if !strings.Contains(listed, name) || !strings.Contains(run("methods", name), name) {
			t.Errorf("heatwalk methods does not list %s:\n%s", name, listed)
		}
	}
	for _, name := range extensionMethods {
		// Parameters have grids and are chosen by cross-validation.
		var chosen struct {
			Method     string         `json:"method"`
			Settings   int            `json:"settings"`
			Parameters map[string]any `json:"parameters"`
			Accuracy   float64        `json:"accuracy_estimate"`
		}
		saved, want := filepath.Join(dir, "saved"), filepath.Join(dir, "out.tsv")
		text := run("classify", graph, "--labels", filepath.Join(golden, "train.tsv"), "--method", name, "--save-model", saved, "-o", "out.tsv", "--json")
		if err := json.Unmarshal([]byte(text), &chosen); err != nil {
			t.Fatal(err)
		}
		least := 0.5
		if strings.HasPrefix(name, "signless") {
			least = 0.35 // neighbours have values of opposite signs; chance is 0.25
		}
		if chosen.Method != name || chosen.Settings < 2 || len(chosen.Parameters) < 2 || chosen.Accuracy < least {
			t.Errorf("%s: %+v", name, chosen)
		}
		if text, err := os.ReadFile(want); err != nil || run("predict", graph, "--model", saved, "-o", "-", "--quiet") != string(text) {
			t.Errorf("%s: the saved model predicts otherwise (%v)", name, err)
		}
		if text := run("classify", graph, "--labels", labels, "--method", name, "-o", "x.tsv", "--dry-run"); !strings.Contains(text, "learning and predictions") {
			t.Errorf("plan of %s:\n%s", name, text)
		}
	}
	// An engine with every field is chosen, measured, kept and explained, and has sets of classes.
	train := filepath.Join(golden, "train.tsv")
	text := run("classify", graph, "--labels", train, "--method", "counts", "--sets", "0.8", "--save-model", "counts", "-o", "counts.tsv")
	for _, part := range []string{"chosen from 3 settings", "largest class", "sets"} {
		if !strings.Contains(text, part) {
			t.Errorf("the summary of counts does not have %q:\n%s", part, text)
		}
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "counts.tsv")); err != nil || run("predict", graph, "--model", "counts", "--sets", "0.8", "-o", "-", "--quiet") != string(kept) {
		t.Errorf("the model of counts predicts otherwise (%v)", err)
	}
	if model, err := os.ReadFile(filepath.Join(dir, "counts")); err != nil || !strings.Contains(string(model), `"auto":{"pull":1}`) {
		t.Errorf("the model of counts does not have its mixture (%v)", err)
	}
	if text := run("explain", graph, "s1", "--labels", train, "--method", "counts", "-o", "-", "--quiet"); !strings.Contains(text, "label") {
		t.Errorf("counts has no reasons:\n%s", text)
	}
	// A model for numbers is compared with others.
	numbers := filepath.Join(dir, "numbers.tsv")
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "s%d\t%d\n", i, i*i%17)
	}
	if err := os.WriteFile(numbers, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if text := run("regress", graph, "--values", numbers, "--method", "harmonic,damped", "-o", "numbers-out.tsv"); !strings.Contains(text, " · damped ") {
		t.Errorf("regress does not compare the model damped:\n%s", text)
	}
	// A kind of items is a command.
	var spelled strings.Builder
	for i, prefix := range []string{"an", "ba", "ce"} {
		for j, class := range []string{"p", "q"} {
			for k, end := range []string{"ab", "bb", "cb", "db"} {
				fmt.Fprintf(&spelled, "%s%s%s\t%s\n", prefix, []string{"xy", "uv"}[j], end, []string{class, class, class, ""}[(i+k)%4])
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "words.txt"), []byte(spelled.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var classified struct {
		Labelled int
		Method   string
		Accuracy float64 `json:"accuracy_estimate"`
	}
	if err := json.Unmarshal([]byte(run("words", "classify", "words.txt", "-o", "words.tsv", "--learner", "nearest", "--json")), &classified); err != nil {
		t.Fatal(err)
	}
	if classified.Labelled != 18 || classified.Method != "spectrum+nearest" || classified.Accuracy < 0.9 {
		t.Errorf("words: %+v", classified)
	}
	if text := run("words", "evaluate", "words.txt", "--learner", "nearest,svm", "--folds", "3"); !strings.Contains(text, "spectrum+svm") {
		t.Errorf("the report on words does not have spectrum+svm:\n%s", text)
	}
	if text := run("words", "kernel", "words.txt", "--kernel", "spectrum:length=1", "--lower", "-o", "words.npy"); !strings.Contains(text, "spectrum between 24 words, length = 1\n24 × 24 float32") {
		t.Errorf("kernel of words: %s", text)
	}
	if text := run("words", "classify", "words.txt", "-o", "x.tsv", "--dry-run"); !strings.Contains(text, "data and learner") {
		t.Errorf("plan of words: %s", text)
	}
	if text := run("__complete", "words", "kernel", "words.txt", "--kernel", "s"); !strings.Contains(text, "spectrum") || !strings.Contains(listed, "words kernel") {
		t.Errorf("no completion %q, or no method in\n%s", text, listed)
	}
	// A format has an ending, and its errors have the line.
	for name, text := range map[string]string{"a.arrows": "ann -> bob\nbob -> cid\n", "bad.arrows": "ann -> bob\nbob\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text := run("info", "a.arrows"); !strings.Contains(text, "edges                2 (directed)") {
		t.Errorf("info of the format arrows:\n%s", text)
	}
	if text := run("convert", "a.arrows", "--to", "arrows", "-o", "-", "--quiet"); text != "ann -> bob\nbob -> cid\n" {
		t.Errorf("converted to arrows: %q", text)
	}
	bad := exec.Command(program, "info", "bad.arrows")
	bad.Dir = dir
	if out, _ := bad.CombinedOutput(); string(out) != "heatwalk: bad.arrows:2: no arrow; write SOURCE -> TARGET\n" {
		t.Errorf("info of a bad file: %s", out)
	}
	// The methods are compared with others, and get parameters by name.
	list := strings.Join(append([]string{"lp", "votes:beta=0.7"}, extensionMethods...), ",")
	karate, err := filepath.Abs("../../testdata/golden/karate")
	if err != nil {
		t.Fatal(err)
	}
	report := run("evaluate", filepath.Join(karate, "edges.tsv"), "--labels", filepath.Join(karate, "labels.tsv"), "--method", list, "--train", "0.4", "--splits", "2", "--tuning-splits", "0")
	for _, name := range extensionMethods {
		if !strings.Contains(report, name) {
			t.Errorf("the report does not have %s:\n%s", name, report)
		}
	}
}

var isOffline = regexp.MustCompile(`dial tcp|no such host|i/o timeout|GOPROXY=off`)

var extensionMethods = []string{"votes", "cwk+nearest", "diffusion+nearest", "signless", "signless+nearest"}
