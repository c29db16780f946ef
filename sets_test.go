package heatwalk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/method"
)

// openBlocks opens a generated block model: a node v has the class v mod 4.
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

// The coverage of sets of auto on a block model is at least that of the beta law of the held-out labels, and at most it where
// labels alone are right less often. Sets are the same with another number of threads.
func TestSetsCover(t *testing.T) {
	const nodes = 1600
	g := openBlocks(t, nodes)
	entries, err := method.Parse("auto")
	if err != nil {
		t.Fatal(err)
	}
	draws := map[int]int{100: 8, 300: 2, 1000: 1}
	if testing.Short() {
		draws = map[int]int{100: 2}
	}
	outside := 0
	for number, times := range draws {
		for draw := range times {
			labels := map[string]string{}
			for _, v := range rand.New(rand.NewPCG(uint64(draw), uint64(number))).Perm(nodes)[:number] {
				if id := strconv.Itoa(v); slices.Contains(g.IDs(), id) {
					labels[id] = strconv.Itoa(v % 4)
				}
			}
			q, err := g.Problem(labels)
			if err != nil {
				t.Fatal(err)
			}
			p, err := heatwalk.Predict(t.Context(), g, q, entries[0].Method, &method.Settings{RNGSeed: 1, LowEffort: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, coverage := range []float64{0.8, 0.9, 0.95} {
				sets, err := p.Sets(coverage)
				if err != nil {
					t.Fatal(err)
				}
				hidden := 0.0
				covered := 0.0
				right := 0.0
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
				rank := float64(sets.Tested+1) * coverage
				law := distuv.Beta{Alpha: rank, Beta: float64(sets.Tested) + 1 - rank}
				const noise = 0.02 // of hidden labels, and because the final model has learned from more labels
				found := covered / hidden
				if found < law.Quantile(0.025)-noise || found > max(right/hidden, law.Quantile(0.975))+noise {
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
