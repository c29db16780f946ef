package heatwalk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/method"
)

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
