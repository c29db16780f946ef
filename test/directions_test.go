package test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// arcStore has arcs from each of three classes to the next class, self loops, a second component and isolated nodes.
func arcStore(t *testing.T, weighted bool, isolated int) (dir string, labels map[string]string) {
	t.Helper()
	const n = 200 // the second component has the last 20 nodes
	r := rand.New(rand.NewPCG(6, 7))
	var lines, nodes strings.Builder
	seen := map[[2]int]bool{}
	for len(seen) < 4*n {
		u, v := r.IntN(n), r.IntN(n)
		if r.IntN(20) == 0 {
			v = u
		}
		if seen[[2]int{u, v}] || u/180 != v/180 || u != v && v%3 != (u+1)%3 && r.Float64() < 0.8 {
			continue
		}
		seen[[2]int{u, v}] = true
		w := 1.0
		if weighted && u < 50 {
			w = float64(1+r.IntN(8)) / 4
		}
		fmt.Fprintf(&lines, "n%d\tn%d\t%v\n", u, v, w)
	}
	for v := range n {
		fmt.Fprintf(&nodes, "n%d\n", v)
	}
	for i := range isolated {
		fmt.Fprintf(&nodes, "isolated%d\n", i)
	}
	folder := t.TempDir()
	c := &ingest.Config{Directed: true, KeepLoops: true, Nodes: filepath.Join(folder, "nodes")}
	for path, text := range map[string]string{filepath.Join(folder, "arcs.tsv"): lines.String(), c.Nodes: nodes.String()} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(folder, "store")
	report, err := ingest.Run(t.Context(), dir, []string{filepath.Join(folder, "arcs.tsv")}, c)
	if err != nil {
		t.Fatal(err)
	}
	if report.Weighted != weighted || !report.Directed {
		t.Fatalf("weighted %t, directed %t", report.Weighted, report.Directed)
	}
	labels = map[string]string{}
	for v := 0; v < n; v += 4 {
		labels[fmt.Sprint("n", v)] = string(rune('a' + v%3))
	}
	return dir, labels
}

// A second run has the same bits.
func TestDirectionsOnSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, at := range testgraph.Sample(t, 1, []int{0, 1}) {
		isolated := []int{10, 150}[at]
		dir, labels := arcStore(t, at == 0, isolated)
		one, err := heatwalk.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		for _, name := range testgraph.Sample(t, 2, []string{"auto", "lp", "cwk:alpha=0.9:steps=10+svm"}) {
			o := &heatwalk.ClassifyOptions{Method: name}
			want, err := one.Classify(t.Context(), labels, o)
			if err != nil {
				t.Fatal(err)
			}
			var first []float32
			for run := range 2 {
				err := together(t, dir, 2+at, func(g *heatwalk.Graph) error {
					got, err := g.Classify(t.Context(), labels, o)
					if err != nil {
						return err
					}
					if run == 0 {
						first = slices.Clone(got.Prediction.Scores.Data)
					} else if !slices.Equal(first, got.Prediction.Scores.Data) {
						return fmt.Errorf("a second run has other bits")
					}
					if math.Abs(got.Accuracy-want.Accuracy) > 1e-5 || got.Unreached != want.Unreached {
						return fmt.Errorf("accuracy %v, %d nodes unreached; want %v, %d", got.Accuracy, got.Unreached, want.Accuracy, want.Unreached)
					}
					for _, id := range one.IDs() {
						for class, v := range want.Scores(id) {
							if math.Abs(got.Scores(id)[class]-v) > 1e-4 || got.Label(id) != want.Label(id) {
								return fmt.Errorf("node %s: %s with %v, want %s with %v", id, got.Label(id), got.Scores(id), want.Label(id), want.Scores(id))
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s, %d isolated nodes: %v", name, isolated, err)
				}
			}
		}
	}
}

func TestEvaluateDirectionsOnSeveralProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	dir, labels := arcStore(t, true, 150)
	one, err := heatwalk.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	entries, err := method.Parse("auto,lp")
	if err != nil {
		t.Fatal(err)
	}
	compare := func(g *heatwalk.Graph) (*evaluate.Report, error) {
		p, err := g.Problem(labels)
		if err != nil {
			return nil, err
		}
		return heatwalk.Compare(t.Context(), g, p, &evaluate.Plan{Methods: entries, Fractions: []float64{0.5}, Splits: 2, Settings: new(engine.Settings)})
	}
	want, err := compare(one)
	if err != nil {
		t.Fatal(err)
	}
	err = together(t, dir, 2, func(g *heatwalk.Graph) error {
		got, err := compare(g)
		if err != nil {
			return err
		}
		for i, w := range want.Results {
			if r := got.Results[i]; math.Abs(r.AccuracyMean-w.AccuracyMean) > 1e-9 || got.Nodes != want.Nodes || got.Unreached != want.Unreached {
				return fmt.Errorf("%s: accuracy %v, %d nodes, %d unreached; want %v, %d, %d", r.Method, r.AccuracyMean, got.Nodes, got.Unreached, w.AccuracyMean, want.Nodes, want.Unreached)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
