package heatwalk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
)

// TestKindsChosenAlike predicts from the same store, labels and method in several ways: opened at once, opened with Defer, and by
// a graph that has already predicted from other labels. All give the same labels.
func TestKindsChosenAlike(t *testing.T) {
	if os.Getenv("HEATWALK_KNOWN") == "" {
		t.Skip("known failure: weights of kinds are chosen by the first Predict of a graph with Defer only. Without Defer they stay equal, " +
			"and a second call keeps those of the first; evaluate does not choose them either. HEATWALK_KNOWN=1 shows it")
	}
	const nodes = 600
	rng := rand.New(rand.NewPCG(3, 1))
	class := make([]string, nodes)
	for v := range class {
		class[v] = "honest"
		if rng.Float64() < 0.25 {
			class[v] = "fraud"
		}
	}
	lines := []string{"source,target,relation"}
	for i, kind := range []string{"device", "pays", "calls"} {
		same := []float64{0.97, 0.5, 0.5}[i]
		for count := 0; count < 900; {
			u, v := rng.IntN(nodes), rng.IntN(nodes)
			if u != v && (rng.Float64() < same) == (class[u] == class[v]) {
				lines = append(lines, fmt.Sprintf("n%d,n%d,%s", u, v, kind))
				count++
			}
		}
	}
	path := filepath.Join(t.TempDir(), "edges.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	labels, others := map[string]string{}, map[string]string{}
	for v := range 200 {
		labels[fmt.Sprint("n", v)] = class[v]
		others[fmt.Sprint("n", v)] = class[(v+7)%nodes] // which no kind of edges explains
	}
	var want []int
	for _, way := range []string{"Defer", "Open", "second call"} {
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Defer: way != "Open", Reading: &ingest.Config{Kind: "relation", Duplicates: ingest.SumDuplicates}})
		if err != nil {
			t.Fatal(err)
		}
		if way == "second call" {
			if _, err := g.Classify(t.Context(), others, &heatwalk.ClassifyOptions{Method: "lgc"}); err != nil {
				t.Fatal(err)
			}
		}
		p, err := g.Classify(t.Context(), labels, &heatwalk.ClassifyOptions{Method: "lgc"})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = p.Class
		}
		differing := 0
		for v, c := range p.Class {
			if c != want[v] {
				differing++
			}
		}
		if differing > 0 {
			t.Errorf("%s: %d labels differ from those with Defer", way, differing)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
