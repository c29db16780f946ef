package heatwalk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// openBlocks opens a block model: a node v has the class v mod 4.
func openBlocks(t *testing.T, nodes int) *heatwalk.Graph {
	r := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	for range 5 * nodes {
		u := r.IntN(nodes)
		v := r.IntN(nodes)
		if r.Float64() < 0.35 { // else of any class
			v += u%4 - v%4
		}
		fmt.Fprintf(&text, "%d\t%d\n", u, v)
	}
	path := filepath.Join(t.TempDir(), "edges.tsv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := heatwalk.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func drawBlocks(g *heatwalk.Graph, nodes, number int, draw uint64) map[string]string {
	labels := map[string]string{}
	for _, v := range rand.New(rand.NewPCG(draw, uint64(number))).Perm(nodes)[:number] {
		if id := strconv.Itoa(v); slices.Contains(g.IDs(), id) {
			labels[id] = strconv.Itoa(v % 4)
		}
	}
	return labels
}

// coverageOf also returns the share of nodes whose likeliest class is right.
func coverageOf(g *heatwalk.Graph, sets *heatwalk.Sets, labels map[string]string) (covered, right float64) {
	hidden := 0.0
	for _, id := range g.IDs() {
		v, _ := strconv.Atoi(id)
		class := strconv.Itoa(v % 4)
		set := sets.Classes(id)
		if labels[id] != "" || len(set) == 0 {
			continue
		}
		hidden++
		if set[0] == class {
			right++
		}
		if slices.Contains(set, class) {
			covered++
		}
	}
	return covered / hidden, right / hidden
}

// lawOf returns the distribution of the coverage of sets, given the labels.
func lawOf(sets *heatwalk.Sets) distuv.Beta {
	rank := float64(sets.Tested+1) * sets.Coverage
	return distuv.Beta{Alpha: rank, Beta: float64(sets.Tested) + 1 - rank}
}

func predictBlocks(t *testing.T, g *heatwalk.Graph, labels map[string]string, name string) *heatwalk.Prediction {
	t.Helper()
	entries, err := method.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := g.Problem(labels)
	if err != nil {
		t.Fatal(err)
	}
	p, err := heatwalk.Predict(t.Context(), g, q, entries[0].Method,
		&engine.Settings{RNGSeed: 1, Effort: engine.LowEffort, Given: entries[0].Own, Fixed: name != "auto"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The coverage follows the beta law of the held-out labels.
func TestSetsCover(t *testing.T) {
	const nodes = 1600
	g := openBlocks(t, nodes)
	draws := map[int]int{100: 8, 300: 2, 1000: 1}
	if testing.Short() {
		draws = map[int]int{100: 2}
	}
	outside := 0
	for number, times := range draws {
		for draw := range times {
			labels := drawBlocks(g, nodes, number, uint64(draw))
			p := predictBlocks(t, g, labels, "auto")
			for _, coverage := range []float64{0.8, 0.9, 0.95} {
				sets, err := p.Sets(t.Context(), coverage)
				if err != nil {
					t.Fatal(err)
				}
				law := lawOf(sets)
				found, right := coverageOf(g, sets, labels)
				const noise = 0.02 // noise of hidden labels; the final model has learned from more labels
				if found < law.Quantile(0.025)-noise || found > max(right, law.Quantile(0.975))+noise {
					outside++
					t.Logf("%d labels, draw %d, coverage %v: %.3f, mean size %.2f", number, draw, coverage, found, sets.MeanSize)
				}
			}
		}
	}
	if outside > 3 {
		t.Errorf("%d coverages are outside of 95 %% of their law", outside)
	}
}

func TestMethodsHaveSets(t *testing.T) {
	const nodes = 400
	g := openBlocks(t, nodes)
	text, err := os.ReadFile("docs/methods.md")
	if err != nil {
		t.Fatal(err)
	}
	labels := drawBlocks(g, nodes, 120, 1)
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(.+)` \\| yes").FindAllStringSubmatch(string(text), -1) {
		names = append(names, strings.Split(row[1], "`, `")...)
	}
	for _, name := range testgraph.Sample(t, 10, names) {
		name = strings.Replace(name, "KERNEL", "diffusion", 1)
		p := predictBlocks(t, g, labels, name)
		sets, err := p.Sets(t.Context(), 0.8)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const noise = 0.06 // noise of 280 hidden labels
		law := lawOf(sets)
		found, right := coverageOf(g, sets, labels)
		if found < law.Quantile(0.01)-noise || found > max(right, law.Quantile(0.99))+noise {
			t.Errorf("%s: coverage %.3f, accuracy %.3f, mean size %.2f, %d held out", name, found, right, sets.MeanSize, sets.Tested)
		}
	}
}
