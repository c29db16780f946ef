package test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// A graph with a line for each day of a pair predicts like the graph with a line for each pair whose weight is the
// number of days, and like a window of twice as many days.
func TestDaysArePairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 90
	rng, dir := rand.New(rand.NewPCG(4, 2)), t.TempDir()
	days, pairs := &strings.Builder{}, &strings.Builder{}
	fmt.Fprintln(days, "a,b,day")
	fmt.Fprintln(pairs, "a,b,weight")
	labels := map[string]string{}
	for u := range n {
		if rng.IntN(2) == 0 {
			labels[fmt.Sprint("n", u)] = string("AB"[u%2])
		}
		for v := range u {
			if rng.IntN(12) > 0 || u%2 != v%2 && rng.IntN(3) > 0 {
				continue
			}
			count := 1 + rng.IntN(9)
			fmt.Fprintf(pairs, "n%d,n%d,%d\n", u, v, count)
			for day := range 2 * count {
				fmt.Fprintf(days, "n%d,n%d,%d\n", u, v, 100*(day%2)+day)
			}
		}
	}
	open := func(name, text string, reading *ingest.Config, edges sides.Options) *heatwalk.Graph {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: reading, Edges: edges, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = g.Close() })
		return g
	}
	byDay := open("days.csv", days.String(), &ingest.Config{Time: "day"}, sides.Options{Until: "50"})
	byPair := open("pairs.csv", pairs.String(), nil, sides.Options{})
	if byDay.A.NNZ() != byPair.A.NNZ() || !byDay.Weighted {
		t.Errorf("%d entries, want %d; weighted %t", byDay.A.NNZ(), byPair.A.NNZ(), byDay.Weighted)
	}
	for _, name := range testgraph.Sample(t, 3, []string{"lp", "lgc", "beliefs", "wvrn", "poisson", "auto", "cwk"}) {
		for _, weights := range engine.Weightings() {
			predict := func(g *heatwalk.Graph) *heatwalk.Prediction {
				p, err := g.Problem(labels)
				if err != nil {
					t.Fatal(err)
				}
				entries, err := method.Parse(name)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := method.Settle(t.Context(), entries, "small"); err != nil {
					t.Fatal(err)
				}
				entries[0].Settings.RNGSeed = 1
				entries[0].Settings.Weights = weights
				out, err := heatwalk.Predict(t.Context(), g, p, entries[0].Method, entries[0].Settings, nil)
				if err != nil {
					t.Fatal(name, err)
				}
				return out
			}
			got, want := predict(byDay), predict(byPair)
			for u := range n {
				id := fmt.Sprint("n", u)
				i, _ := byDay.Nodes.Lookup(id)
				j, _ := byPair.Nodes.Lookup(id)
				if d := math.Abs(float64(got.Prediction.Scores.At(i, 0) - want.Prediction.Scores.At(j, 0))); !(d < 1e-4) {
					t.Errorf("%s, weights %s: node %s differs by %v", name, weights, id, d)
					break
				}
			}
		}
	}
}
