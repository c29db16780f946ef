package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func stored(t *testing.T, inputs []string, c *ingest.Config) *shard.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "graph")
	if _, err := ingest.Run(context.Background(), dir, inputs, c); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// dense returns the matrix of a store in the order of its ids, and the ids.
func dense(t *testing.T, s *shard.Store) (a [][]float64, ids []string) {
	t.Helper()
	place := make([]int, s.Nodes.Len())
	for row := range s.Nodes.Rows() {
		place[row] = len(ids)
		ids = append(ids, s.Nodes.ID(row))
		a = append(a, make([]float64, len(place)))
	}
	err := sparse.Sweep(context.Background(), s, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			for e, j := range col {
				v := 1.0
				if val != nil {
					v = val[e]
				}
				a[place[i]][place[j]] = v
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, ids
}

func golden(t *testing.T, graph, file string) string {
	return filepath.Join(testgraph.Root(t), "testdata", "golden", graph, file)
}

func TestCitationsGolden(t *testing.T) {
	store := stored(t, []string{golden(t, "digraph", "edges.tsv")}, &ingest.Config{Directed: true, Nodes: golden(t, "digraph", "nodes.tsv"), KeepLoops: true})
	cocitation, coupling := testgraph.Golden(t, "digraph/cocitation.npy"), testgraph.Golden(t, "digraph/coupling.npy")
	for _, c := range []struct{ cocitation, coupling bool }{{true, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			a, ids := dense(t, stored(t, nil, &ingest.Config{Sources: []*ingest.Source{Citations(store, c.cocitation, c.coupling, 2)}}))
			if ids[0] != "p0" || ids[11] != "p11" {
				t.Errorf("ids %v", ids)
			}
			for i := range a {
				for j, v := range a[i] {
					want := 0.0
					if c.cocitation {
						want += cocitation.Row(i)[j]
					}
					if c.coupling {
						want += coupling.Row(i)[j]
					}
					if v != want {
						t.Errorf("%s and %s have %v in common, want %v", ids[i], ids[j], v, want)
					}
				}
			}
		})
	}
}

func TestHyperedgesGolden(t *testing.T) {
	c := &ingest.Config{Nodes: golden(t, "hypergraph", "nodes.tsv"), KeepLoops: true}
	c.Sources = []*ingest.Source{Hyperedges([]string{golden(t, "hypergraph", "edges.tsv")}, false, c)}
	s := stored(t, nil, c)
	if s.Manifest.Options[HyperedgesOption] == "" {
		t.Error("the store does not say that it holds hyperedges")
	}
	a, ids := dense(t, s)
	shared := testgraph.Golden(t, "hypergraph/E.npy")
	n := shared.Rows
	if ids[n] != HyperedgePrefix+"1" || ids[0] != "h0" || len(ids) != n+7 {
		t.Errorf("ids %v", ids)
	}
	for u := range n {
		for v := range n {
			both := 0.0
			for e := n; e < len(a); e++ {
				both += a[u][e] * a[v][e]
			}
			if both != shared.Row(u)[v] {
				t.Errorf("%s and %s share %v hyperedges, want %v", ids[u], ids[v], both, shared.Row(u)[v])
			}
		}
	}
}

func TestSharedHyperedgesGolden(t *testing.T) {
	c := &ingest.Config{Nodes: golden(t, "hypergraph", "nodes.tsv"), KeepLoops: true}
	c.Sources = []*ingest.Source{Hyperedges([]string{golden(t, "hypergraph", "edges.tsv")}, true, c)}
	a, ids := dense(t, stored(t, nil, c))
	shared := testgraph.Golden(t, "hypergraph/E.npy")
	if len(ids) != shared.Rows {
		t.Fatalf("ids %v", ids)
	}
	for u := range a {
		for v, both := range a[u] {
			if u != v && both != shared.Row(u)[v] {
				t.Errorf("%s and %s share %v hyperedges, want %v", ids[u], ids[v], both, shared.Row(u)[v])
			}
		}
	}
}

func TestHyperedgeVerticesThatAreNumbersAreInTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.csv")
	if err := os.WriteFile(path, []byte("# teams\n10,9,-2\n9, 100\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &ingest.Config{}
	c.Sources = []*ingest.Source{Hyperedges([]string{path}, false, c)}
	_, ids := dense(t, stored(t, nil, c))
	want := []string{"-2", "9", "10", "100", "hyperedge:1", "hyperedge:2"}
	if !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
}

func TestBadHyperedges(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a b\nc\n", `:2: a hyperedge with the single vertex "c"; keep it with option self-loops=keep, or leave the line out`},
		{"a b\n\nc d\n", ":2: a hyperedge without vertices"},
		{"a b c a\n", `:1:7: a hyperedge that names "a" twice`},
		{"a hyperedge:1\n", `:1:3: a vertex with an id of a hyperedge`},
		{"a,,b\n", `:1:3: an empty id`},
		{"", "no edges"},
	} {
		path := filepath.Join(t.TempDir(), "h.txt")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		set := &ingest.Config{}
		set.Sources = []*ingest.Source{Hyperedges([]string{path}, false, set)}
		dir := filepath.Join(t.TempDir(), "graph")
		_, err := ingest.Run(context.Background(), dir, nil, set)
		if parse := (*nodefile.ParseError)(nil); !errors.As(err, &parse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.text, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "manifest")); err == nil {
			t.Errorf("%q left a store", c.text)
		}
	}
}

func TestHyperedgesNeedMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.txt")
	var text strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&text, "a%d b%d c%d d%d\n", i, i, i/2, i/3)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	set := &ingest.Config{Memory: 12 << 20, Workers: 1}
	set.Sources = []*ingest.Source{Hyperedges([]string{path}, false, set)}
	_, err := ingest.Run(context.Background(), filepath.Join(t.TempDir(), "graph"), nil, set)
	if over := (*ingest.LimitError)(nil); !errors.As(err, &over) {
		t.Errorf("error %v, want one of memory", err)
	}
}

func TestNeighboursAreAGraph(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var entries []sparse.Triplet
	ids := make([]string, 80)
	for i := range ids {
		ids[i] = fmt.Sprintf("page %d", i)
		for range 6 {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(rng.IntN(40)), Val: 1})
		}
	}
	x, err := sparse.FromTriplets(len(ids), 40, entries)
	if err != nil {
		t.Fatal(err)
	}
	s := &NeighbourSettings{Neighbours: 3}
	want := make([][]float64, len(ids))
	for i := range want {
		want[i] = make([]float64, len(ids))
	}
	err = nearestRows(context.Background(), x, s, func(i int, j []uint32, v []float64) error {
		for k, other := range j {
			want[i][other], want[other][i] = 0.5*v[k], 0.5*v[k]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, got := dense(t, stored(t, nil, &ingest.Config{Sources: []*ingest.Source{Neighbours(x, ids, &NeighbourSettings{Neighbours: 3, Weight: 0.5})}}))
	if !slices.Equal(got, ids) {
		t.Errorf("ids %v", got)
	}
	for i := range a {
		for j, v := range a[i] {
			if math.Abs(v-want[i][j]) > 0 {
				t.Errorf("weight %v between %d and %d, want %v", v, i, j, want[i][j])
			}
		}
	}
}

func TestSourcesEndWhereBatchesFail(t *testing.T) {
	store := stored(t, []string{golden(t, "digraph", "edges.tsv")}, &ingest.Config{Directed: true, Nodes: golden(t, "digraph", "nodes.tsv")})
	x, err := sparse.FromTriplets(3, 2, []sparse.Triplet{{Row: 0, Col: 0, Val: 1}, {Row: 1, Col: 0, Val: 1}, {Row: 2, Col: 1, Val: 1}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "h.txt")
	if err := os.WriteFile(path, []byte("a b c\nb c d\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	set, full := &ingest.Config{Workers: 1}, errors.New("full")
	for _, s := range []*ingest.Source{
		Citations(store, true, true, 1),
		Neighbours(x, []string{"a", "b", "c"}, &NeighbourSettings{Neighbours: 1, Weight: 1}),
		Hyperedges([]string{path}, false, set),
		Hyperedges([]string{path}, true, set),
	} {
		read := func(fails int) (sent int, err error) {
			_, err = s.Read(t.Context(), func(*graphfile.Batch) error {
				if sent++; sent == fails {
					return full
				}
				return nil
			}, func(int64) error { return nil })
			return sent, err
		}
		batches, err := read(0)
		if err != nil || batches < 2 {
			t.Fatalf("%s: %d batches, %v", s.Name, batches, err)
		}
		for fails := 1; fails <= batches; fails++ {
			if sent, err := read(fails); sent != fails || !errors.Is(err, full) {
				t.Errorf("%s: batch %d of %d fails, %d are sent: %v", s.Name, fails, batches, sent, err)
			}
		}
	}
}

// The limit in the error must suffice for the whole run: for the data of the source, and for its ids and
// edges.
func TestRefusedSourcesSayWhatIsEnough(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(7, 8))
	var entries []sparse.Triplet
	ids := make([]string, n)
	for i := range n {
		ids[i] = fmt.Sprintf("a node with a long name, %d", i)
		for range 4 {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(rng.IntN(n)), Val: 1})
		}
	}
	x, err := sparse.FromTriplets(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	arcs := filepath.Join(t.TempDir(), "arcs.tsv")
	var text strings.Builder
	for i, e := range entries {
		fmt.Fprintf(&text, "%s\t%s\n", ids[e.Row], ids[entries[len(entries)-1-i].Col])
	}
	if err := os.WriteFile(arcs, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	directed := stored(t, []string{arcs}, &ingest.Config{Directed: true})
	for name, made := range map[string]*ingest.Source{
		"neighbours": Neighbours(x, ids, &NeighbourSettings{Neighbours: 5, Weight: 1, Workers: 2}),
		"citations":  Citations(directed, true, true, 2),
	} {
		for _, limit := range testgraph.Sample(t, 2, []int64{1 << 20, 12 << 20, 20 << 20}) {
			c := &ingest.Config{Sources: []*ingest.Source{made}, Memory: limit, Workers: 2}
			_, err := ingest.Run(t.Context(), filepath.Join(t.TempDir(), "low"), nil, c)
			over := new(*ingest.LimitError)
			if err == nil && limit > 1<<20 {
				continue
			}
			if !errors.As(err, over) {
				t.Fatalf("%s with %d bytes: error %v, want a LimitError", name, limit, err)
			}
			for try := 0; errors.As(err, over) && try < 3; try++ {
				c.Memory = (*over).Need
				_, err = ingest.Run(t.Context(), filepath.Join(t.TempDir(), "enough"), nil, c)
			}
			if err != nil {
				t.Errorf("%s with the %d bytes that were asked for with a limit of %d: %v", name, c.Memory, limit, err)
			}
		}
	}
}

func TestNeighboursCountTheirAttributes(t *testing.T) {
	const n = 2000
	var entries []sparse.Triplet
	for i := range n {
		for j := range 50 {
			entries = append(entries, sparse.Triplet{Row: uint32(i), Col: uint32(j), Val: float64(1 + (i*j)%7)})
		}
	}
	x, err := sparse.FromTriplets(n, 50, entries)
	if err != nil {
		t.Fatal(err)
	}
	made := Neighbours(x, make([]string, n), &NeighbourSettings{Neighbours: 1, Weight: 1})
	if least := 12 * x.NNZ(); made.Bytes < least {
		t.Errorf("%d bytes, want those of the entries, %d, at least", made.Bytes, least)
	}
}
