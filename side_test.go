package heatwalk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/ingest"
)

// The side of the labels has every node but those that edges join to the nodes of the side, in components with a label.
// An edge within a side, a label on the other side, or few labels, leave no side.
func TestLabelledSide(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "rng seed"), 1))
		cards := rapid.IntRange(40, 80).Draw(t, "cards")
		shops := rapid.IntRange(2, 9).Draw(t, "shops")
		hasTitles := rapid.Bool().Draw(t, "titles")
		isMixed := rapid.Bool().Draw(t, "edge within a side") && !hasTitles
		card := func(i int) string { return fmt.Sprintf("c%d", i) }
		shop := func(i int) string { return fmt.Sprintf("s%d", i) }
		var lines strings.Builder
		lines.WriteString("card,shop\n")
		for i := range cards {
			fmt.Fprintf(&lines, "%s,%s\n%[1]s,%s\n", card(i), shop(0), shop(rng.IntN(shops)))
		}
		if isMixed {
			fmt.Fprintf(&lines, "%s,%s\n", card(1), card(2))
		}
		path := filepath.Join(dir, "e.csv")
		if err := os.WriteFile(path, []byte(lines.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := heatwalk.Open(t.Context(), path, &heatwalk.Options{Reading: &ingest.Config{Bipartite: hasTitles, Fields: []string{"card", "shop"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		prefix := func(title string) string {
			if hasTitles {
				return title + ":"
			}
			return ""
		}
		rowsOf := func(n int, id func(int) string, title string) (rows []int) {
			for i := range n {
				row, isNode := g.Nodes.Lookup(prefix(title) + id(i))
				if !isNode {
					t.Fatalf("no node %s", id(i))
				}
				rows = append(rows, row)
			}
			return rows
		}
		labels := rowsOf(rapid.SampledFrom([]int{1, 15, 16, 40}).Draw(t, "labels"), card, "card")
		hasSide := hasTitles || len(labels) > 15 && !isMixed
		side, err := g.LabelledSide(t.Context(), labels)
		if err != nil || (side != nil) != hasSide {
			t.Fatalf("side %v, want one: %v; %v", side, hasSide, err)
		}
		if hasSide && (len(side.Rows) != cards || len(side.Rows)+side.Others != len(g.Degrees) || hasTitles != (side.Name == "card" && side.Other == "shop")) {
			t.Errorf("side %+v of %d cards", side, cards)
		}
		if side, err = g.LabelledSide(t.Context(), append(labels, rowsOf(1, shop, "shop")...)); side != nil || err != nil {
			t.Errorf("labels on both sides have the side %v, %v", side, err)
		}
	})
}
