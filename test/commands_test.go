package test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/command"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func run(t *testing.T, args ...string) string {
	t.Helper()
	var out, messages bytes.Buffer
	if code := command.Main(append(args, "--quiet"), strings.NewReader(""), &out, &messages); code != 0 {
		t.Fatalf("heatwalk %s: exit code %d\n%s", strings.Join(args, " "), code, messages.String())
	}
	return out.String()
}

// readTable returns the rows by node, with columns by title.
func readTable(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for k, title := range lines[0] {
			row[title] = line[k]
		}
		out[line[0]] = row
	}
	return out
}

func numberIn(t *testing.T, document string, path ...string) float64 {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	for _, key := range path {
		switch m := v.(type) {
		case map[string]any:
			v = m[key]
		case []any:
			k, _ := strconv.Atoi(key)
			v = m[k]
		}
	}
	x, ok := v.(float64)
	if !ok {
		t.Fatalf("no number at %q in %s", path, document)
	}
	return x
}

var commandMethods = []string{"auto", "lp", "lgc", "poisson", "beliefs", "cwk+svm", "diffusion+rls", "lp:center=false", "lgc:alpha=0.9", "wvrn", "majority"}

// TestCommands compares the predictions of classify with Go, a kept model, explain, evaluate with the same split, and
// several processes.
func TestCommands(t *testing.T) {
	turn := 0
	for i, shape := range Shapes {
		for _, codes := range []bool{false, true} {
			c := Draw(shape, 3000+uint64(i))
			if !codes {
				c = c.Merged()
			} else if !hasCodes(c) {
				continue
			}
			t.Run(fmt.Sprintf("%s, kinds %v", shape.Name, codes), func(t *testing.T) {
				store, files := c.Store(t, nil)
				path := func(name string) string { return filepath.Join(files, name) }
				writeSplit(t, c, path("split.tsv"))
				for _, name := range commandMethods {
					if turn++; !selected("command/"+name) || !testgraph.Hunt && turn%211 != 0 {
						continue
					}
					t.Run(name, func(t *testing.T) { compareCommands(t, c, store, path, name) })
				}
			})
		}
	}
}

// The training nodes are the labelled nodes.
func writeSplit(t *testing.T, c *Graph, path string) {
	t.Helper()
	var text strings.Builder
	for v, id := range c.IDs {
		word := "test"
		if _, known := c.Labels[v]; known {
			word = "train"
		}
		fmt.Fprintf(&text, "%s\t%s\n", id, word)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func compareCommands(t *testing.T, c *Graph, store string, path func(name string) string, name string) {
	g := openPath(t, store, nil)
	want, err := g.Classify(t.Context(), labels(c), &heatwalk.ClassifyOptions{Method: name})
	args := []string{"classify", store, "--labels", path("labels.csv"), "--truth", path("truth.csv"), "--method", name, "-o", path("out.csv"), "--json"}
	if name != "majority" {
		args = append(args, "--unreached", "prior")
	}
	if err != nil {
		var out, messages bytes.Buffer
		if code := command.Main(args, strings.NewReader(""), &out, &messages); code == 0 {
			t.Errorf("Go: %v; the command predicts", err)
		}
		return
	}
	document := run(t, args...)
	printed := readTable(t, path("out.csv"))
	compareTables(t, "Go", printed, tableOf(g, c, want))
	if hasEstimate := strings.Contains(document, `"accuracy_estimate"`); hasEstimate != (want.Tested > 0) {
		t.Errorf("an estimated accuracy of the command: %v, of Go %d tested labels", hasEstimate, want.Tested)
	} else if hasEstimate {
		equal(t, "estimated accuracy of Go", want.Accuracy, numberIn(t, document, "accuracy_estimate"))
		equal(t, "standard error of Go", want.Stderr, numberIn(t, document, "accuracy_stderr"))
	}

	// A second call on one graph, with other labels between.
	fewer := labels(c)
	for v := range c.Labels {
		if len(fewer) > 12 {
			delete(fewer, c.IDs[v])
		}
	}
	_, _ = g.Classify(t.Context(), fewer, &heatwalk.ClassifyOptions{Method: name}) // may have too few labels
	again, err := g.Classify(t.Context(), labels(c), &heatwalk.ClassifyOptions{Method: name})
	if err != nil {
		t.Fatal(err)
	}
	compareTables(t, "a second call", tableOf(g, c, again), tableOf(g, c, want))
	report := run(t, "evaluate", store, "--labels", path("truth.csv"), "--method", name, "--split", path("split.tsv"), "--json")
	measures := map[string]string{"accuracy": "accuracy_mean", "macro_f1": "macro_f1", "accuracy_reached": "accuracy_reached", "nodes_reached": "nodes_reached"}
	blank := run(t, append(slices.Clone(args[:8]), "-o", path("blank.csv"), "--json")...)
	for printed, measured := range measures {
		equal(t, printed+" of evaluate --split", numberIn(t, report, "results", "0", measured), numberIn(t, document, "truth", printed))
		if strings.HasSuffix(printed, "reached") || want.UnreachedComponents == 0 {
			equal(t, printed+" with blanks", numberIn(t, blank, "truth", printed), numberIn(t, document, "truth", printed))
		}
	}
	compareLabels(t, "Label of Go", want, readTable(t, path("blank.csv")))

	var out, messages bytes.Buffer
	if code := command.Main(append(args, "--save-model", path("model")), strings.NewReader(""), &out, &messages); code == 0 {
		_ = os.Remove(path("kept.csv"))
		run(t, "predict", store, "--model", path("model"), "-o", path("kept.csv"), "--unreached", "prior")
		compareTables(t, "a kept model", readTable(t, path("kept.csv")), printed)
	}

	err = testgraph.Processes(2, func(n sparse.Network) error {
		var out, messages bytes.Buffer
		several := slices.Clone(args)
		several[9] = path("several.csv")
		if code := command.MainOn(n, several, strings.NewReader(""), &out, &messages); code != 0 {
			return fmt.Errorf("exit code %d: %s", code, messages.String())
		}
		return nil
	})
	if err != nil {
		t.Errorf("2 processes: %v", err)
		return
	}
	compareWithin(t, "2 processes", readTable(t, path("several.csv")), printed, 0.005) // a fit ends elsewhere
}

func tableOf(g *heatwalk.Graph, c *Graph, p *heatwalk.Prediction) map[string]map[string]string {
	out := map[string]map[string]string{}
	for v, id := range c.IDs {
		row := map[string]string{"label": p.Classes[p.Class[row(g, c, v)]], "reached": strconv.FormatBool(p.Reached.Contains(uint32(row(g, c, v))))}
		for class, score := range p.Scores(id) {
			row[class] = fmt.Sprint(score)
		}
		out[id] = row
	}
	return out
}

func compareLabels(t *testing.T, name string, p *heatwalk.Prediction, table map[string]map[string]string) {
	t.Helper()
	for id, row := range table {
		if label := p.Label(id); label != row["label"] {
			t.Errorf("%s of %s: %q, the command prints %q", name, id, label, row["label"])
			return
		}
	}
}

func compareTables(t *testing.T, name string, got, want map[string]map[string]string) {
	t.Helper()
	compareWithin(t, name, got, want, 1e-5)
}

func compareWithin(t *testing.T, name string, got, want map[string]map[string]string, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d nodes, want %d", name, len(got), len(want))
		return
	}
	differ, worst, example := 0, 0.0, ""
	for id, w := range want {
		for title, text := range w {
			other, has := got[id][title]
			if !has || other == text {
				continue
			}
			x, err1 := strconv.ParseFloat(text, 64)
			y, err2 := strconv.ParseFloat(other, 64)
			if err1 == nil && err2 == nil {
				if d := math.Abs(x - y); d > worst {
					worst = d
					example = fmt.Sprintf("%s of %s is %v, want %v", title, id, other, text)
				}
				continue
			}
			differ++
			example = fmt.Sprintf("%s of %s is %v, want %v", title, id, other, text)
		}
	}
	if differ > 0 || worst > tolerance {
		t.Errorf("%s: %d labels differ, and numbers by %.3g; %s", name, differ, worst, example)
	}
}

func equal(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}
