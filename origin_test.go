package heatwalk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
)

// A kept model has the factors and the window of its edges: on a graph that is opened without them it predicts the same bits,
// and it refuses a graph with another setting that cannot be given afterwards.
func TestModelsKeepTheirEdges(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	path := filepath.Join(dir, "edges.csv")
	rng := rand.New(rand.NewPCG(2, 7))
	var text strings.Builder
	text.WriteString("source,target,kind,day\n")
	for range 300 {
		u := rng.IntN(60)
		v := (u + 30*rng.IntN(2) + rng.IntN(9)) % 60
		fmt.Fprintf(&text, "n%d,n%d,%s,2024-01-%02d\n", min(u, v), max(u, v), []string{"pays", "calls"}[rng.IntN(2)], 1+rng.IntN(9))
	}
	labels := map[string]string{}
	for v := 0; v < 60; v += 2 {
		labels[fmt.Sprintf("n%d", v)] = []string{"a", "b"}[v/30]
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	if _, err := ingest.Run(ctx, store, []string{path}, &ingest.Config{Kind: "kind", Time: "day"}); err != nil {
		t.Fatal(err)
	}
	open := func(path string, o *heatwalk.Options) *heatwalk.Graph {
		g, err := heatwalk.Open(ctx, path, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() })
		return g
	}
	predict := func(g *heatwalk.Graph, m *engine.Engine, s *engine.Settings) (*heatwalk.Prediction, error) {
		p, err := g.Problem(labels)
		if err != nil {
			t.Fatal(err)
		}
		return heatwalk.Predict(ctx, g, p, m, s, nil)
	}
	keep := func(g *heatwalk.Graph, spec, weights string) (*heatwalk.Prediction, *engine.Engine) {
		entries, err := method.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := method.Settle(ctx, entries, "none"); err != nil {
			t.Fatal(err)
		}
		s := *entries[0].Settings
		s.RNGSeed, s.Weights = 1, weights
		out, err := predict(g, entries[0].Method, &s)
		if err != nil {
			t.Fatal(err)
		}
		model, err := entries[0].Method.Keep(out.Prediction, &s)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := method.Restore(model, engine.Classes)
		if err != nil {
			t.Fatal(err)
		}
		return out, kept
	}
	bare := open(store, nil)
	for name, edges := range map[string]sides.Options{
		"half-life": {HalfLife: "2d"}, "chosen half-life": {HalfLife: sides.ChosenHalfLife}, "since": {Since: "2024-01-05"},
		"until": {Until: "2024-01-05"}, "kinds": {Kinds: map[string]float64{"pays": 0.125}}, "chosen kinds": {},
		"all": {Since: "2024-01-02", Until: "2024-01-08", HalfLife: "3d", Kinds: map[string]float64{"calls": 4}},
	} {
		g := open(store, &heatwalk.Options{Edges: edges})
		for _, spec := range []string{"lp:alpha=1", "lgc:alpha=0.9", "diffusion:beta=2+rls:lambda=0.1"} {
			for _, weights := range []string{"", "none"} {
				want, kept := keep(g, spec, weights)
				got, err := predict(bare, kept, new(engine.Settings))
				if err != nil || !slices.Equal(got.Prediction.Scores.Data, want.Prediction.Scores.Data) {
					t.Errorf("%s, %s, weights %q: other scores by the model, %v", name, spec, weights, err)
				}
			}
		}
	}
	_, kept := keep(open(path, &heatwalk.Options{Reading: &ingest.Config{KeepLoops: true}}), "lp:alpha=1", "")
	difference := new(sides.Difference)
	if _, err := predict(open(path, nil), kept, new(engine.Settings)); !errors.As(err, &difference) || difference.Setting != "self_loops" {
		t.Errorf("a graph without self loops: %v", err)
	}
}

// Folds and samples follow the ids of nodes: labels by row in another order, on a graph whose rows have another order, have the same
// accuracy, and the same warning about labels of one part of the graph.
func TestFoldsFollowIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 240
	var lines []string
	for v := range n {
		for range 3 {
			lines = append(lines, fmt.Sprintf("n%d\tn%d\n", v, (v/80*80+rng.IntN(80))%n))
		}
		lines = append(lines, fmt.Sprintf("n%d\tn%d\n", v, rng.IntN(n)))
	}
	id := func(v int) string { return fmt.Sprintf("n%d", v) }
	names := []string{"a", "b", "c"}
	labelled := rng.Perm(120)[:60] // the last part of the graph has none
	accuracy := func(seed uint64) string {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		r.Shuffle(len(labelled), func(i, j int) { labelled[i], labelled[j] = labelled[j], labelled[i] })
		path := filepath.Join(t.TempDir(), "e.tsv")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := heatwalk.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var rows, classes []int
		for _, v := range labelled {
			row, _ := g.Nodes.Lookup(id(v))
			rows = append(rows, row)
			classes = append(classes, v/80)
		}
		entries, err := method.Parse("diffusion+rls")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := method.Settle(t.Context(), entries, "small"); err != nil {
			t.Fatal(err)
		}
		p, err := heatwalk.Predict(t.Context(), g, heatwalk.NewProblem(g, rows, classes, names), entries[0].Method, entries[0].Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%.6f, %v, %.6f", p.Accuracy, p.Parameters, p.Shift.Hops.Others)
	}
	first := accuracy(1)
	for seed := range uint64(3) {
		if got := accuracy(seed + 2); got != first {
			t.Errorf("in another order %s, before %s", got, first)
		}
	}
}
