package test

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/ingest"
)

type Line struct {
	From, To int // positions in IDs
	Weight   float64
	Kind     string
	Day      int // days since 2024-01-01
}

type Shape struct {
	Name     string
	Nodes    int
	Isolated int // number of isolated nodes among Nodes
	Lines    int // approximate number of lines per node that is not isolated
	Parts    int // components, about; 0: 1

	Text     bool // ids are text, otherwise numbers
	Directed bool
	Signed   bool
	Loops    bool    // some lines join a node to itself, and loops are kept
	Decades  float64 // powers of ten over which weights range; 0: all weights are 1
	Repeats  int     // lines of a pair at the most; 0: 1
	Kinds    int     // kinds of edges; 0: none
	Days     int     // days of edges; 0: none
	Hub      int     // lines of the first node, as many for each of its neighbours; 0: no hub
}

// If weights have decades, the sum of the lines of a pair is rounded.
var Shapes = []Shape{
	{Name: "plain", Nodes: 60, Lines: 3},
	{Name: "parallel", Nodes: 60, Lines: 3, Decades: 1, Repeats: 3, Kinds: 3},
	{Name: "parts", Nodes: 70, Isolated: 4, Parts: 3, Lines: 3, Text: true, Decades: 1, Repeats: 3, Kinds: 2, Days: 40},
	{Name: "loops", Nodes: 50, Isolated: 1, Lines: 3, Loops: true, Decades: 1, Repeats: 4, Kinds: 3, Days: 3},
	{Name: "decades", Nodes: 40, Lines: 3, Text: true, Decades: 12, Repeats: 3, Kinds: 2},
	{Name: "decades with loops", Nodes: 40, Isolated: 2, Lines: 3, Loops: true, Decades: 12, Repeats: 3, Kinds: 2, Days: 9},
	{Name: "signed", Nodes: 60, Isolated: 2, Parts: 2, Lines: 3, Signed: true, Decades: 1, Repeats: 3, Kinds: 3, Days: 5},
	{Name: "signed with loops", Nodes: 40, Lines: 3, Text: true, Signed: true, Loops: true, Decades: 2, Repeats: 3, Kinds: 3},
	{Name: "directed", Nodes: 60, Isolated: 2, Lines: 4, Text: true, Directed: true, Decades: 1, Repeats: 3, Kinds: 3, Days: 5},
	{Name: "directed with loops", Nodes: 60, Lines: 4, Directed: true, Loops: true, Decades: 6, Repeats: 3, Kinds: 2},
	{Name: "hub", Nodes: 110, Lines: 2, Text: true, Decades: 1, Repeats: 2, Kinds: 2, Days: 200, Hub: 18000},
	{Name: "hub with loops", Nodes: 400, Isolated: 3, Lines: 2, Loops: true, Decades: 3, Repeats: 2, Kinds: 5, Days: 50, Hub: 17000},
	{Name: "signed hub", Nodes: 90, Lines: 2, Signed: true, Decades: 1, Repeats: 2, Kinds: 2, Days: 300, Hub: 18000},
	{Name: "directed hub", Nodes: 90, Lines: 2, Directed: true, Decades: 1, Repeats: 2, Kinds: 2, Days: 300, Hub: 18000},
	{Name: "large", Nodes: 1200, Isolated: 10, Parts: 3, Lines: 4, Text: true, Decades: 1, Repeats: 2, Kinds: 3, Days: 10},
	{Name: "large decades", Nodes: 1100, Isolated: 3, Lines: 3, Decades: 12, Repeats: 2, Kinds: 2},
	{Name: "large signed", Nodes: 1100, Lines: 3, Signed: true, Decades: 1, Repeats: 2, Kinds: 2},
	{Name: "large directed", Nodes: 1100, Isolated: 5, Lines: 4, Directed: true, Decades: 1, Repeats: 2, Kinds: 2},
}

// Graph is a graph as lines, with classes, numbers and seeds.
type Graph struct {
	Shape
	IDs    []string
	Listed []int // the order of the nodes in files
	Edges  []Line

	Labels map[int]string  // labels of some nodes
	Truth  []string        // labels of all nodes
	Values map[int]float64 // values of some nodes
	Seeds  []int
}

func Draw(s Shape, seed uint64) *Graph {
	rng := rand.New(rand.NewPCG(seed, uint64(s.Nodes)))
	g := &Graph{Shape: s, Labels: map[int]string{}, Values: map[int]float64{}}
	classes := 2 + rng.IntN(2)
	parts := max(1, s.Parts)
	part := make([]int, s.Nodes)
	for v := range s.Nodes {
		g.Listed = append(g.Listed, v)
		id := strconv.Itoa(v)
		if s.Text {
			id = fmt.Sprintf("n%d %c", v, 'é')
		}
		g.IDs = append(g.IDs, id)
		g.Truth = append(g.Truth, string(rune('a'+rng.IntN(classes))))
		part[v] = rng.IntN(parts * parts) // the first part is the largest
		if part[v] >= parts {
			part[v] = 0
		}
	}
	joined := s.Nodes - s.Isolated
	for len(g.Edges) < s.Lines*joined {
		v := rng.IntN(joined)
		u := rng.IntN(joined)
		if s.Loops && rng.IntN(15) == 0 {
			u = v
		}
		likely := g.Truth[u] == g.Truth[v] || rng.IntN(4) == 0
		if part[u] != part[v] || !likely || (u == v && !s.Loops) {
			continue
		}
		g.addPair(rng, v, u, 1+rng.IntN(max(1, s.Repeats)))
	}
	if s.Hub > 0 {
		for u := 1; u < joined; u++ {
			g.addPair(rng, 0, u, s.Hub/joined+1)
		}
	}
	for _, v := range rng.Perm(s.Nodes)[:min(s.Nodes*2/5, 60)] {
		g.Labels[v] = g.Truth[v]
		g.Values[v] = float64(g.Truth[v][0]-'a') + rng.Float64()
	}
	g.Seeds = append(g.Seeds, rng.Perm(joined)[:4]...)
	return g
}

// addPair draws at most one line of a kind and a day, so that lines are entries of the store with kinds.
func (g *Graph) addPair(rng *rand.Rand, v, u, lines int) {
	type code struct{ kind, day int }
	drawn := map[code]bool{}
	for range lines {
		c := code{rng.IntN(max(1, g.Kinds)), rng.IntN(max(1, g.Days))}
		l := Line{From: v, To: u, Weight: 1, Day: c.day}
		if g.Kinds > 0 {
			l.Kind = fmt.Sprintf("kind%d", c.kind)
		}
		if g.Decades > 0 {
			l.Weight = math.Pow(10, g.Decades*(rng.Float64()-0.5))
		}
		if g.Signed && (g.Truth[u] != g.Truth[v] || rng.IntN(8) == 0) {
			l.Weight = -l.Weight
		}
		if drawn[c] && g.Decades == 0 {
			continue
		}
		if !g.Directed && rng.IntN(2) == 0 {
			l.From, l.To = u, v
		}
		drawn[c] = true
		g.Edges = append(g.Edges, l)
	}
}

func (g *Graph) Permuted(seed uint64) *Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := *g
	out.Listed = rng.Perm(len(g.IDs))
	out.Edges = slices.Clone(g.Edges)
	rng.Shuffle(len(out.Edges), func(i, j int) { out.Edges[i], out.Edges[j] = out.Edges[j], out.Edges[i] })
	return &out
}

// Merged returns the graph with one line for each pair, with the sum of its weights, and without kinds and days.
func (g *Graph) Merged() *Graph {
	out := *g
	out.Kinds, out.Days, out.Edges = 0, 0, nil
	place := map[[2]int]int{}
	for _, l := range g.Edges {
		if !g.Directed && l.From > l.To {
			l.From, l.To = l.To, l.From
		}
		l.Kind, l.Day = "", 0
		pair := [2]int{l.From, l.To}
		i, known := place[pair]
		if !known {
			i = len(out.Edges)
			place[pair] = i
			out.Edges = append(out.Edges, l)
			continue
		}
		out.Edges[i].Weight += l.Weight
	}
	return &out
}

func (g *Graph) Twice() *Graph {
	out := *g
	out.Edges = nil
	for _, l := range g.Edges {
		l.Weight /= 2
		out.Edges = append(out.Edges, l, l)
	}
	return &out
}

func (g *Graph) Scaled(factor float64) *Graph {
	out := *g
	out.Edges = slices.Clone(g.Edges)
	for i := range out.Edges {
		out.Edges[i].Weight *= factor
	}
	return &out
}

func (g *Graph) Padded(nodes int) *Graph {
	out := *g
	out.Nodes += nodes
	out.Isolated += nodes
	out.IDs, out.Listed, out.Truth = slices.Clone(g.IDs), slices.Clone(g.Listed), slices.Clone(g.Truth)
	for v := len(g.IDs); v < out.Nodes; v++ {
		out.IDs = append(out.IDs, fmt.Sprintf("%d", v))
		out.Listed = append(out.Listed, v)
		out.Truth = append(out.Truth, "a")
	}
	return &out
}

func (g *Graph) WithoutKinds() *Graph {
	out := *g
	out.Kinds, out.Days = 0, 0
	return &out
}

func (g *Graph) Config(dir string) *ingest.Config {
	c := &ingest.Config{
		Directed: g.Directed, Undirected: !g.Directed, KeepLoops: g.Loops, Signed: g.Signed,
		Nodes: filepath.Join(dir, "nodes.ids"), Duplicates: ingest.SumDuplicates, Fields: []string{"from", "to", "weight"},
	}
	if g.Kinds > 0 {
		c.Kind = "kind"
	}
	if g.Days > 0 {
		c.Time = "day"
	}
	return c
}

func Day(day int) string {
	return time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

func (g *Graph) Write(t testing.TB, dir string) {
	t.Helper()
	edges := [][]string{{"from", "to", "weight", "kind", "day"}}
	for _, l := range g.Edges {
		edges = append(edges, []string{g.IDs[l.From], g.IDs[l.To], strconv.FormatFloat(l.Weight, 'g', -1, 64), cmp.Or(l.Kind, "none"), Day(l.Day)})
	}
	var nodes, seeds [][]string
	labels, truth, values := [][]string{{"node", "label"}}, [][]string{{"node", "label"}}, [][]string{{"node", "value"}}
	for _, v := range g.Listed {
		nodes = append(nodes, []string{g.IDs[v]})
		truth = append(truth, []string{g.IDs[v], g.Truth[v]})
		if label, known := g.Labels[v]; known {
			labels = append(labels, []string{g.IDs[v], label})
		}
		if value, known := g.Values[v]; known {
			values = append(values, []string{g.IDs[v], strconv.FormatFloat(value, 'g', -1, 64)})
		}
	}
	for _, v := range g.Seeds {
		seeds = append(seeds, []string{g.IDs[v]})
	}
	for name, rows := range map[string][][]string{
		"edges.csv": edges, "nodes.ids": nodes, "labels.csv": labels, "truth.csv": truth, "values.csv": values, "seeds.ids": seeds,
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		w := csv.NewWriter(f)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Store returns the folders of the store and of its files. change, if not nil, changes the settings.
func (g *Graph) Store(t testing.TB, change func(c *ingest.Config)) (store, files string) {
	t.Helper()
	files = t.TempDir()
	g.Write(t, files)
	c := g.Config(files)
	if change != nil {
		change(c)
	}
	store = filepath.Join(files, "store")
	if _, err := ingest.Run(context.Background(), store, []string{filepath.Join(files, "edges.csv")}, c); err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	return store, files
}

// Dense returns A, with rows in the order of the ids. Each element is rounded once.
func (g *Graph) Dense() *mat.Dense {
	n := len(g.IDs)
	a := mat.NewDense(n, n, nil)
	for _, l := range g.Merged().Edges {
		if l.From == l.To && !g.Loops {
			continue
		}
		a.Set(l.From, l.To, l.Weight)
		if !g.Directed {
			a.Set(l.To, l.From, l.Weight)
		}
	}
	return a
}
