package bench

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/explain"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var explainData = flag.String("explain-data", "", "folder of polbooks, cora and debian, with edges.tsv.gz and labels.tsv.gz in each")

type graphOfClasses struct {
	near  [][]int
	links map[[2]int]bool
	class []int // −1: none
	names []string
}

func (g *graphOfClasses) add(u, v int) {
	if link := [2]int{min(u, v), max(u, v)}; u != v && !g.links[link] {
		g.links[link] = true
		g.near[u], g.near[v] = append(g.near[u], v), append(g.near[v], u)
	}
}

// blockModel returns a block model of five classes with mean degree 10.
func blockModel(n int) *graphOfClasses {
	rng := rand.New(rand.NewPCG(1, 1))
	g := &graphOfClasses{links: map[[2]int]bool{}, near: make([][]int, n), class: make([]int, n), names: []string{"a", "b", "c", "d", "e"}}
	for v := range n {
		g.class[v] = v % 5
	}
	for range 5 * n {
		u := rng.IntN(n)
		v := rng.IntN(n)
		if rng.Float64() < 0.5 {
			v = v/5*5 + u%5
		}
		if v < n {
			g.add(u, v)
		}
	}
	return g
}

func readClasses(t *testing.T, folder string) *graphOfClasses {
	t.Helper()
	lines := func(name string, take func(a, b string)) {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(text); s.Scan(); {
			if cells := strings.Split(s.Text(), "\t"); len(cells) > 1 && s.Text()[0] != '#' {
				take(cells[0], cells[1])
			}
		}
	}
	g, number, classes := &graphOfClasses{links: map[[2]int]bool{}}, map[string]int{}, map[string]int{}
	node := func(id string) int {
		v, ok := number[id]
		if !ok {
			v = len(number)
			number[id], g.near, g.class = v, append(g.near, nil), append(g.class, -1)
		}
		return v
	}
	lines("labels.tsv.gz", func(id, label string) {
		c, ok := classes[label]
		if !ok {
			c = len(classes)
			classes[label], g.names = c, append(g.names, label)
		}
		g.class[node(id)] = c
	})
	lines("edges.tsv.gz", func(a, b string) { g.add(node(a), node(b)) })
	return g
}

func (g *graphOfClasses) problem(t *testing.T, without [][2]int, rows []int) *engine.Problem {
	ptr, col := []int64{0}, []uint32(nil)
	degrees := make([]float64, len(g.near))
	for u, near := range g.near {
		for _, v := range slices.Sorted(slices.Values(near)) {
			if !slices.Contains(without, [2]int{min(u, v), max(u, v)}) {
				col = append(col, uint32(v))
			}
		}
		ptr = append(ptr, int64(len(col)))
		degrees[u] = float64(ptr[u+1] - ptr[u])
	}
	a, err := sparse.NewCSR(len(g.near), len(g.near), ptr, col, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &engine.Problem{Graph: &graph.Graph{A: a, Degrees: degrees}, Row: rows, Names: g.names}
	for _, v := range rows {
		p.Class = append(p.Class, g.class[v])
	}
	return p
}

// around returns the links near a node, at least the given number if there are so many, and the nearest nodes by
// distance.
func (g *graphOfClasses) around(v, links int) (list [][2]int, order []int) {
	seen, listed := map[int]bool{v: true}, map[[2]int]bool{}
	order = []int{v}
	for i := 0; i < len(order) && (len(list) < links || len(order) < 3000); i++ {
		u := order[i]
		for _, w := range g.near[u] {
			link := [2]int{min(u, w), max(u, w)}
			if (i <= len(g.near[v]) || len(list) < links) && !listed[link] {
				list, listed[link] = append(list, link), true
			}
			if !seen[w] {
				seen[w], order = true, append(order, w)
			}
		}
	}
	return list, order
}

type effect struct {
	flips, lower, nodes int
	fall                float64
}

// deletions are the effects of removing the named links or labelled nodes, random ones, and links of large degrees.
type deletions struct{ named, random, degree, labels, randomLabels effect }

func remove(t *testing.T, g *graphOfClasses, name string, nodes int) *deletions {
	const number = 10
	rng := rand.New(rand.NewPCG(7, 7))
	var rows, rest []int
	for _, v := range rng.Perm(len(g.near)) {
		switch {
		case g.class[v] < 0:
		case len(rows) < max(30, len(g.near)/10):
			rows = append(rows, v)
		default:
			rest = append(rest, v)
		}
	}
	slices.Sort(rows)
	predict := func(p *engine.Problem) *engine.Prediction {
		entries, err := method.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := method.Settle(context.Background(), entries, "none")
		if err != nil {
			t.Fatal(err)
		}
		set = cmp.Or(entries[0].Settings, set)
		set.Raw, set.Explain = true, true
		out, err := entries[0].Method.Predict(t.Context(), p, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	p := g.problem(t, nil, rows)
	before := predict(p)
	rest = slices.DeleteFunc(rest, func(v int) bool { return !before.Reached.Contains(uint32(v)) })
	rest = rest[:min(nodes, len(rest))]
	list, err := before.Explain(t.Context(), p, rest, &explain.Settings{Number: number})
	if err != nil {
		t.Fatal(err)
	}
	out := new(deletions)
	for i, v := range rest {
		class := before.Class[v]
		note := func(e *effect, p *engine.Problem) {
			after := predict(p)
			fall := float64(before.Scores.Row(v)[class] - after.Scores.Row(v)[class])
			e.nodes++
			e.fall += fall
			isFlipped := after.Class[v] != class || !after.Reached.Contains(uint32(v))
			if isFlipped {
				e.flips++
			}
			if isFlipped || fall > 0.01 {
				e.lower++
			}
		}
		links, order := g.around(v, 3*number)
		var named [][2]int
		for _, l := range list[i].Links {
			named = append(named, [2]int{min(l.Rows[0], l.Rows[1]), max(l.Rows[0], l.Rows[1])})
		}
		note(&out.named, g.problem(t, named, rows))
		rng.Shuffle(len(links), func(a, b int) { links[a], links[b] = links[b], links[a] })
		note(&out.random, g.problem(t, links[:min(number, len(links))], rows))
		product := func(l [2]int) int { return len(g.near[l[0]]) * len(g.near[l[1]]) }
		slices.SortStableFunc(links, func(a, b [2]int) int { return product(b) - product(a) })
		note(&out.degree, g.problem(t, links[:min(number, len(links))], rows))

		var gone, near []int
		for _, l := range list[i].Labels {
			gone = append(gone, p.Row[l.Position])
		}
		for _, u := range order {
			if _, isLabelled := slices.BinarySearch(rows, u); isLabelled && len(near) < 3*number {
				near = append(near, u)
			}
		}
		rng.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
		without := func(gone []int) *engine.Problem {
			return g.problem(t, nil, slices.DeleteFunc(slices.Clone(rows), func(u int) bool { return slices.Contains(gone, u) }))
		}
		note(&out.labels, without(gone))
		note(&out.randomLabels, without(near[:min(number, len(near))]))
	}
	return out
}

// TestExplainByDeletion compares the predictions that change if ten named links or labelled nodes are removed, or ten
// random ones of the same neighbourhood, or the ten links with the largest product of degrees. With -explain-data it
// prints the table of results/explain.md.
func TestExplainByDeletion(t *testing.T) {
	if testing.Short() {
		t.Skip("predicts a block model some hundred times")
	}
	graphs := map[string]*graphOfClasses{"block model": blockModel(500)}
	nodes := map[string]int{"block model": 10, "polbooks": 30, "cora": 30, "debian": 10}
	if *explainData != "" {
		nodes["block model"] = 30
		for _, name := range []string{"polbooks", "cora", "debian"} {
			graphs[name] = readClasses(t, filepath.Join(*explainData, name))
		}
	}
	fmt.Println("| graph | method | nodes | named links | random links | largest degrees | named labels | random labels |\n|---|---|---|---|---|---|---|---|")
	for _, name := range []string{"block model", "polbooks", "cora", "debian"} {
		if graphs[name] == nil {
			continue
		}
		for _, m := range testgraph.Sample(t, 1, []string{"lp:center=false", "lgc:alpha=0.9", "beliefs"}) {
			if m == "beliefs" && name == "debian" {
				continue
			}
			d := remove(t, graphs[name], m, nodes[name])
			text := func(e effect) string { return fmt.Sprintf("%d, %d, %.3f", e.flips, e.lower, e.fall/float64(e.nodes)) }
			fmt.Printf("| %s | %s | %d | %s | %s | %s | %s | %s |\n", name, m, d.named.nodes, text(d.named), text(d.random), text(d.degree), text(d.labels), text(d.randomLabels))
			if 2*d.named.flips < 3*d.random.flips || d.named.flips < d.degree.flips || m != "beliefs" && 2*d.labels.flips < 3*d.randomLabels.flips {
				t.Errorf("%s, %s: explanations name links or labels that change few predictions: %+v", name, m, *d)
			}
		}
	}
}
