package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
)

// The hub has more arcs than a piece of a row. It must be coupled with the nodes that point to some of the
// same nodes, in the first and in the last piece. One arc is stored twice, with two kinds.
func TestHubCoupling(t *testing.T) {
	const leaves = sparse.MaxRange + 1000
	var b strings.Builder
	for leaf := range leaves {
		fmt.Fprintf(&b, "hub n%d a\n", leaf)
	}
	fmt.Fprintf(&b, "hub n3 b\nx n3 a\nx n%d a\ny n%[1]d a\ny n%d a\n", leaves-1, leaves/2)
	path := filepath.Join(t.TempDir(), "arcs.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	arcs := stored(t, []string{path}, &ingest.Config{Directed: true, Kind: "3", Fields: []string{"1", "2"}})
	for _, workers := range []int{1, 7} {
		s := stored(t, nil, &ingest.Config{Sources: []*ingest.Source{Citations(arcs, false, true, workers)}})
		got := map[string]float64{}
		err := sparse.EachRow(t.Context(), s, workers, func(_, row int, col []uint32, val []float64) error {
			if id := s.Nodes.ID(row); len(col) > 0 && id != "hub" {
				for e, c := range col {
					w := 1.0
					if val != nil {
						w = val[e]
					}
					if other := s.Nodes.ID(int(c)); other > id || other == "hub" {
						got[id+" "+other] = w
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || got["x hub"] != 2 || got["y hub"] != 2 || got["x y"] != 1 {
			t.Errorf("%d goroutines: %v", workers, got)
		}
	}
}
