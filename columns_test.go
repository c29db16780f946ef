package heatwalk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// A node of the graph without a label, extended from its neighbours, has the label of the run, and the scores if they solve the equation
// of a new node. Other methods say that they have no columns.
func TestColumns(t *testing.T) {
	g := openKarate(t, nil)
	labels := map[string]string{"1": "a", "2": "a", "4": "a", "33": "b", "34": "b", "30": "b"}
	for _, m := range method.All() {
		isExact := !slices.Contains([]string{"wvrn", "beliefs", "auto"}, m.Name)
		p, err := g.Classify(t.Context(), labels, &ClassifyOptions{Method: m.Name, Columns: true})
		if m.Extension == nil && errors.Is(err, engine.ErrNoColumns) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c := reopen(t, p)
		for _, wrong := range [][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
			if _, err := m.Extension.Restore(c.header.Kept, len(p.Classes)+wrong[0], c.header.Columns-1+wrong[1]); !errors.Is(err, engine.ErrChanged) {
				t.Errorf("%s: %v more classes and columns: %v", m.Name, wrong, err)
			}
		}
		links := linksOf(t, g, c)
		for row := range links {
			id := g.Nodes.ID(row)
			if labels[id] != "" {
				continue
			}
			list, err := c.pool.Get().(*newNodePredictor).predictAll(t.Context(), [][]newLink{links[row]}, func(int) *NewNode { return new(NewNode) })
			if err != nil {
				t.Fatal(err)
			}
			for class, got := range list[0].Scores {
				if want := p.Prediction.Scores.At(row, class); math.Abs(got-want) > 1e-5 && isExact {
					t.Errorf("%s, node %s: score %g of class %d, run %g", m.Name, id, got, class, want)
				}
			}
			if got := list[0].Label; got != p.Label(id) {
				t.Errorf("%s, node %s: %s, run %s", m.Name, id, got, p.Label(id))
			}
		}
	}
}

// At a node without a label, the columns solve the equation of a new node.
func TestColumnsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.IntRange(4, 40).Draw(rt, "nodes")
		name := rapid.SampledFrom([]string{"lp", "lgc", "poisson"}).Draw(rt, "method")
		text := "source,target,weight\n"
		labels := map[string]string{"u0": "a", "u1": "b"}
		for i := 1; i < n; i++ {
			text += fmt.Sprintf("u%d,u%d,%g\n", i, rng.IntN(i), math.Exp(2*rng.NormFloat64()))
			if i > 1 && rng.IntN(4) == 0 {
				labels[fmt.Sprint("u", i)] = string("abc"[rng.IntN(3)])
			}
		}
		path := filepath.Join(t.TempDir(), "edges.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			rt.Fatal(err)
		}
		g, err := Open(t.Context(), path, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer g.Close()
		p, err := g.Classify(t.Context(), labels, &ClassifyOptions{Method: name, Columns: true})
		if err != nil {
			rt.Fatal(err)
		}
		kept, err := json.Marshal(p.Columns.Kept)
		if err != nil {
			rt.Fatal(err)
		}
		values := p.Columns.Values
		steps, err := p.engine.Extension.Restore(kept, len(p.Classes), values.Cols)
		if err != nil {
			rt.Fatal(err)
		}
		step := steps()
		err = sparse.EachRow(t.Context(), g.A, 1, func(_, row int, col []uint32, weight []float64) error {
			if labels[g.Nodes.ID(row)] != "" {
				return nil
			}
			x := &engine.NewNode{Mean: make([]float64, values.Cols), Columns: make([]float64, values.Cols), Scores: make([]float64, len(p.Classes)), Reached: true}
			for j, u := range col {
				x.Degree += weight[j]
				for k, y := range values.Row(int(u)) {
					x.Mean[k] += weight[j] * float64(y)
				}
			}
			floats.Scale(1/x.Degree, x.Mean)
			step(x)
			for k, want := range values.Row(row) {
				if math.Abs(x.Columns[k]-float64(want)) > 1e-6*max(1, math.Abs(x.Columns[k])) {
					rt.Errorf("%s, node %d, column %d: %g, run %g", name, row, k, x.Columns[k], want)
				}
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// A file that is cut short or has another byte is refused.
func TestDamagedColumns(t *testing.T) {
	g := openKarate(t, nil)
	p, err := g.Classify(t.Context(), map[string]string{"1": "a", "34": "b"}, &ClassifyOptions{Method: "lgc", Columns: true})
	if err != nil {
		t.Fatal(err)
	}
	c := reopen(t, p)
	whole, err := os.ReadFile(c.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged")
	refuse := func(b []byte, what string, i int) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := c.model.OpenColumns(path)
		if !errors.Is(err, shard.ErrCorrupt) && !errors.As(err, new(*input.Error)) {
			t.Errorf("%s at %d: %v", what, i, err)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		refuse(b, "another byte", i)
		refuse(whole[:i], "cut", i)
	}
}

// Concurrent predictions of new nodes agree, and new nodes follow new nodes.
func TestNewNodes(t *testing.T) {
	g := openKarate(t, nil)
	p, err := g.Classify(t.Context(), map[string]string{"1": "a", "34": "b"}, &ClassifyOptions{Method: "lp", Columns: true})
	if err != nil {
		t.Fatal(err)
	}
	c := reopen(t, p)
	nodes := []NewNode{{ID: "far", Edges: []NewEdge{{ID: "near"}}, Explain: true}, {ID: "near", Edges: []NewEdge{{ID: "9", Weight: 3}, {ID: "34"}}, Explain: true}, {ID: "alone", Explain: true}}
	want := p.Scores("9")["a"] * 3 / 4
	share := p.Scores("9")["b"] * 3 / (p.Scores("9")["b"]*3 + 1) // node 34 has the label b
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			list, err := c.Predict(t.Context(), nodes)
			if err != nil {
				t.Error(err)
				return
			}
			if r := list[1].Reasons; len(r) != 2 || r[0].ID != "9" || math.Abs(r[0].Share-share) > 1e-6 || math.Abs(r[1].Share-1+share) > 1e-6 {
				t.Errorf("reasons %v", r)
			}
			if r := list[0].Reasons; len(r) != 1 || r[0].ID != "near" || r[0].Share != 1 || list[2].Reasons != nil {
				t.Errorf("reasons %v", r)
			}
			for i, steps := range []int{2, 1, 0} {
				if q := list[i]; q.Steps != steps || q.Reached != (steps > 0) || steps > 0 && math.Abs(q.Scores[0]-want) > 1e-6 {
					t.Errorf("node %d: %+v", i, q)
				}
			}
		})
	}
	group.Wait()
	for _, wrong := range [][]NewNode{{{ID: "1"}}, {{ID: "x"}, {ID: "x"}}, {{Edges: []NewEdge{{ID: "y"}}}}, {{Attributes: []float32{1}}},
		{{Edges: []NewEdge{{ID: "1", Weight: -1}}}}, {{Edges: []NewEdge{{ID: "1", Weight: math.Inf(1)}}}}} {
		if _, err := c.Predict(t.Context(), wrong); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}

// New nodes have the same predictions from a list and from a table, for all kinds of edges.
func TestNewEdgesAgree(t *testing.T) {
	const count = 40
	rng := rand.New(rand.NewPCG(7, 1))
	labels := map[string]string{}
	known, list := "source,target,weight,kind\n", "source,target,weight,kind\n"
	for i := range count {
		if i%2 == 0 {
			labels[fmt.Sprint("u", i)] = string("ab"[i/2%2])
		}
		for _, step := range []int{1, 3, 7, 12} {
			known += fmt.Sprintf("u%d,u%d,%d,%s\n", i, (i+step)%count, 1+rng.IntN(5), []string{"call", "mail"}[rng.IntN(2)])
		}
	}
	edges := []NewNode{
		{ID: "x", Edges: []NewEdge{{ID: "u3", Weight: 3, Kind: "call"}, {ID: "u4", Weight: 4, Kind: "fax"}, {ID: "u8", Weight: 1, Kind: "mail"}}},
		{ID: "y", Edges: []NewEdge{{ID: "u30", Weight: 2, Kind: "call"}, {ID: "u39", Weight: 3, Kind: "mail"}}},
		{ID: "z", Edges: []NewEdge{{ID: "x", Weight: 2, Kind: "call"}, {ID: "y", Weight: 3, Kind: "mail"}}},
		{ID: "far", Edges: []NewEdge{{ID: "z", Weight: 1, Kind: "mail"}}},
	}
	for _, x := range edges {
		for _, e := range x.Edges {
			list += fmt.Sprintf("%s,%s,%g,%s\n", x.ID, e.ID, e.Weight, e.Kind)
		}
	}
	for name, o := range map[string]struct {
		reading ingest.Config
		edges   sides.Options
		weights string
		signed  bool
	}{
		"undirected": {}, "directed": {reading: ingest.Config{Directed: true}}, "log": {weights: "log"}, "none": {weights: "none"},
		"kinds":     {reading: ingest.Config{Kind: "kind"}, edges: sides.Options{Kinds: map[string]float64{"call": 3, "mail": 0.5}}},
		"log kinds": {reading: ingest.Config{Kind: "kind"}, edges: sides.Options{Kinds: map[string]float64{"call": 3}}, weights: "log"},
		"signed":    {reading: ingest.Config{Signed: true}, signed: true},
	} {
		t.Run(name, func(t *testing.T) {
			open := func(text string, edges sides.Options) *Graph {
				path := filepath.Join(t.TempDir(), "edges.csv")
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				reading := o.reading
				reading.Fields = []string{"source", "target", "weight"}
				g, err := Open(t.Context(), path, &Options{Reading: &reading, Edges: edges})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { g.Close() })
				return g
			}
			nodes, text, learned := edges, list, known
			if o.signed {
				learned = strings.ReplaceAll(known, ",5,", ",-2,")
				text = strings.ReplaceAll(list, ",3,", ",-3,")
				nodes = nil
				for _, x := range edges {
					x.Edges = slices.Clone(x.Edges)
					for j := range x.Edges {
						if x.Edges[j].Weight == 3 {
							x.Edges[j].Weight = -3
						}
					}
					nodes = append(nodes, x)
				}
			}
			g := open(learned, o.edges)
			table := open(text, sides.Options{})
			tested := 0
			for _, m := range method.All() {
				if m.Extension == nil || strings.HasPrefix(m.Name, "cwk+") && m.Name != "cwk+centroid" { // learners have one formula
					continue
				}
				p, err := g.Classify(t.Context(), labels, &ClassifyOptions{Method: m.Name, Columns: true, EdgeWeights: o.weights})
				if err != nil {
					continue // the method takes no such graph
				}
				tested++
				c := reopen(t, p)
				got, err := c.Predict(t.Context(), nodes)
				if err != nil {
					t.Fatal(err)
				}
				e, err := c.Engine(true, nil)
				if err != nil {
					t.Fatal(err)
				}
				want, err := Predict(t.Context(), table, NewProblem(table, nil, nil, c.model.Classes), e, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range nodes {
					for class, name := range c.model.Classes {
						if y := want.Scores(x.ID)[name]; math.Abs(got[i].Scores[class]-y) > 1e-6 {
							t.Errorf("%s, node %s: %v, from a table %v", m.Name, x.ID, got[i].Scores, want.Scores(x.ID))
						}
					}
				}
				if !o.reading.Directed || m.Name != "lp" && m.Name != "cwk+centroid" {
					continue
				}
				// No walk of the graph goes along arcs from new nodes.
				all := open(known+strings.TrimPrefix(list, "source,target,weight,kind\n"), sides.Options{})
				run, err := c.model.Predict(t.Context(), all, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range nodes[:2] {
					if y := run.Scores(x.ID)[c.model.Classes[0]]; math.Abs(got[i].Scores[0]-y) > 1e-5 {
						t.Errorf("%s, node %s: %g, run %g", m.Name, x.ID, got[i].Scores[0], y)
					}
				}
			}
			if tested < 2 {
				t.Errorf("%d methods", tested)
			}
		})
	}
}

// A call allocates its answer alone.
func TestNewNodeAllocations(t *testing.T) {
	g := openKarate(t, nil)
	labels := map[string]string{"1": "a", "2": "a", "4": "a", "33": "b", "34": "b", "30": "b"}
	nodes := []NewNode{{ID: "x"}}
	for i := range 10 {
		nodes[0].Edges = append(nodes[0].Edges, NewEdge{ID: strconv.Itoa(i + 1)})
	}
	for _, m := range method.All() {
		p, err := g.Classify(t.Context(), labels, &ClassifyOptions{Method: m.Name, Columns: true})
		if err != nil {
			continue
		}
		c := reopen(t, p)
		if count := testing.AllocsPerRun(20, func() {
			if _, err := c.Predict(t.Context(), nodes); err != nil {
				t.Error(err)
			}
		}); count > 3 {
			t.Errorf("%s: %v allocations", m.Name, count)
		}
	}
}

func BenchmarkNewNode(b *testing.B) {
	g, err := Open(b.Context(), karateEdges, nil)
	if err != nil {
		b.Fatal(err)
	}
	p, err := g.Classify(b.Context(), map[string]string{"1": "a", "34": "b"}, &ClassifyOptions{Method: "lp", Columns: true})
	if err != nil {
		b.Fatal(err)
	}
	c := reopen(b, p)
	node := []NewNode{{}}
	for i := range 10 {
		node[0].Edges = append(node[0].Edges, NewEdge{ID: strconv.Itoa(i + 1)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Predict(b.Context(), node); err != nil {
			b.Fatal(err)
		}
	}
}

func reopen(t testing.TB, p *Prediction) *Columns {
	model, columns := filepath.Join(t.TempDir(), "model"), filepath.Join(t.TempDir(), "columns")
	if err := p.Save(model); err != nil {
		t.Fatal(err)
	}
	if err := p.SaveColumns(columns); err != nil {
		t.Fatal(err)
	}
	f, err := LoadModel(model)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.OpenColumns(columns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func linksOf(t *testing.T, g *Graph, c *Columns) [][]newLink {
	links := make([][]newLink, len(g.Degrees))
	err := sparse.EachRow(context.Background(), g.A, 1, func(_, row int, col []uint32, weight []float64) error {
		for j, u := range col {
			known, isKnown := c.nodes.Lookup(g.Nodes.ID(int(u)))
			if !isKnown {
				return fmt.Errorf("node %d is missing", u)
			}
			w := 1.0
			if weight != nil {
				w = weight[j]
			}
			links[row] = append(links[row], newLink{row: known, other: -1, weight: w})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return links
}
