package generate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"

	"github.com/heatwalk/heatwalk/spec"
)

// blockModel is a degree-corrected stochastic block model. Its defaults are the
// benchmark of this project: 100,000 nodes and 374,480 edges in 5 classes, the
// largest of which holds half of the nodes, where hardly any edge joins two
// nodes of one class.
//
// An edge starts at a random node, drawn by weight; with probability noise its
// other end is any node, else with probability homophily one of the same class,
// and else one of the next class (the last is followed by the first). Every
// node has an edge if there are enough of them.
var blockModel = &Model{
	Spec: spec.Spec{Name: "sbm", Title: "A block model: classes, and edges that depend on them", Works: spec.Undirected, Params: []spec.Param{
		{Name: "nodes", Symbol: "nodes", Meaning: "nodes", Kind: spec.Whole, Range: fewNodes, Default: spec.Of(100_000)},
		{Name: "edges", Symbol: "edges", Meaning: "distinct edges, none from a node to itself; auto: 3.7448 for each node", Kind: spec.Whole,
			Words: []string{"auto"}, Range: spec.From(1), Default: spec.Of("auto"),
			Check: func(v spec.Values) error {
				if v["edges"] == spec.Of("auto") {
					return nil
				}
				return checkPairs(v.Number("edges"), v.Number("nodes"))
			}},
		{Name: "classes", Symbol: "classes", Meaning: "classes; the first holds half of the nodes, the next a quarter and so on, the last two as many",
			Kind: spec.Whole, Range: spec.Range{Least: 1, Most: 1 << 20}, Default: spec.Of(5),
			Check: func(v spec.Values) error {
				if v.Int("classes") > v.Int("nodes") {
					return fmt.Errorf("%d for %d nodes; give as many at the most", v.Int("classes"), v.Int("nodes"))
				}
				return nil
			}},
		{Name: "homophily", Symbol: "homophily", Meaning: "1 links a class to itself, 0 to the next one", Range: spec.Range{Least: 0, Most: 1}},
		{Name: "noise", Symbol: "noise", Meaning: "share of edges that do not depend on the classes", Range: spec.Range{Least: 0, Most: 1}, Default: spec.Of(0.2)},
		{Name: "exponent", Symbol: "exponent", Meaning: "of the power law of degrees", Range: spec.Above(2), Default: spec.Of(2.5)},
	}},
	HasClasses: true,
	graph: func(v spec.Values, d draws) Graph {
		g := sbm{
			nodes: v.Int("nodes"), classes: v.Int("classes"), rngSeed: d.rngSeed,
			homophily: v.Number("homophily"), noise: v.Number("noise"), exponent: v.Number("exponent"),
		}
		if n := float64(g.nodes); v["edges"] == spec.Of("auto") {
			g.edges = int(min(math.Round(3.7448*n), n*(n-1)/2))
		} else {
			g.edges = v.Int("edges")
		}
		return g
	},
}

type sbm struct {
	nodes, edges, classes      int
	homophily, noise, exponent float64
	rngSeed                    uint64
}

// Size implements [Graph].
func (g sbm) Size() Size {
	const node = 1 + 8 + 2*16*5/4 // touched, class, and two urns that have grown
	return sizeOf(int64(g.nodes), int64(g.edges), node*int64(g.nodes)+pairSetBytes(g.edges), false)
}

// shares returns the share of the nodes that each class holds.
func (g sbm) shares() []float64 {
	list := make([]float64, g.classes)
	share := 1.0
	for c := range list {
		if c < g.classes-1 {
			share /= 2
		}
		list[c] = share
	}
	return list
}

// drawClasses returns the class of each node: exact shares in random order. A
// class with a share has one node at least. The error is the context's.
func (g sbm) drawClasses(ctx context.Context) ([]int, error) {
	shares := g.shares()
	var total float64
	left := 0 // nodes that later classes must get
	for _, s := range shares {
		if total += s; s > 0 {
			left++
		}
	}
	class := make([]int, 0, g.nodes)
	var sum float64
	for c, s := range shares {
		sum += s
		end := int(math.Round(sum / total * float64(g.nodes)))
		if s > 0 { // it is not, once halves of halves are too small for a number
			end = max(end, len(class)+1)
			left--
		}
		for end = min(end, g.nodes-left); len(class) < end; {
			class = append(class, c)
		}
	}
	return class, shuffle(ctx, source(g.rngSeed, classStream), class)
}

// shuffle brings a list into random order. The error is the context's.
func shuffle(ctx context.Context, r *rand.Rand, list []int) error {
	for i := len(list) - 1; i > 0; i-- {
		if err := now(ctx, i); err != nil {
			return err
		}
		j := r.Uint64N(uint64(i + 1))
		list[i], list[j] = list[j], list[i]
	}
	return nil
}

// now returns the context's error, if it is time to look: i counts cheap steps.
func now(ctx context.Context, i int) error {
	if i%(1<<14) != 0 {
		return nil
	}
	return ctx.Err()
}

const badShare = "generate: share of the labels not above 0, at most 1"

// LabelsTo implements [Graph].
func (g sbm) LabelsTo(ctx context.Context, w io.Writer, share float64) error {
	if !(share > 0 && share <= 1) {
		panic(badShare)
	}
	class, err := g.drawClasses(ctx)
	if err != nil {
		return err
	}
	order := make([]int, len(class))
	for i := range order {
		order[i] = i
	}
	if err := shuffle(ctx, source(g.rngSeed, labelStream), order); err != nil {
		return err
	}
	chosen := make([]bool, len(class))
	some := make([]bool, g.classes)
	most := int(math.Ceil(share * float64(len(class))))
	for i, node := range order {
		if i < most || !some[class[node]] {
			chosen[node], some[class[node]] = true, true
		}
	}
	out := bufio.NewWriter(w)
	for node, is := range chosen {
		if err := now(ctx, node); err != nil {
			return err
		}
		if is {
			fmt.Fprintf(out, "%d\tc%s\n", node, strconv.Itoa(class[node]))
		}
	}
	return out.Flush()
}

// EdgesTo writes the edges, in random order. It keeps them all in memory, 16 to
// 32 bytes each.
func (g sbm) EdgesTo(ctx context.Context, w io.Writer) error {
	r := source(g.rngSeed, edgeStream)
	b, err := g.blocks(ctx, r)
	if err != nil {
		return err
	}
	out := newLines(ctx, w)
	seen := newPairSet(g.edges)
	touched := make([]bool, g.nodes)
	add := func(u, v int) error {
		if u == v || !seen.add(u, v) {
			return nil
		}
		touched[u], touched[v] = true, true
		return out.edge(u, v)
	}
	for u := 0; u < g.nodes && seen.n < g.edges; u++ {
		for tries := 0; !touched[u] && seen.n < g.edges; tries++ {
			v := b.partner(r, u)
			if tries > maxTries {
				v = r.IntN(g.nodes)
			}
			if err := add(u, v); err != nil {
				return err
			}
		}
	}
	// Where the classes have no pair left that is likely, any pair will do.
	for missed := 0; seen.n < g.edges; missed++ {
		before := seen.n
		u, v := r.IntN(g.nodes), r.IntN(g.nodes)
		if missed < maxTries {
			u = b.all.draw(r)
			v = b.partner(r, u)
		}
		if err := add(u, v); err != nil {
			return err
		}
		if seen.n > before {
			missed = 0
		}
	}
	return out.w.Flush()
}

// maxTries is how many pairs in a row may be there already before others are
// drawn.
const maxTries = 1000

// blocks draws the ends of edges.
type blocks struct {
	class []int
	all   urn
	of    []urn // by class
	next  []urn // the class of the other end, by class
}

func (g sbm) blocks(ctx context.Context, r *rand.Rand) (*blocks, error) {
	class, err := g.drawClasses(ctx)
	if err != nil {
		return nil, err
	}
	b := &blocks{class: class, of: make([]urn, g.classes), next: make([]urn, g.classes)}
	most := math.Sqrt(float64(g.nodes)) * 6 // beyond it the same pairs are drawn again and again
	for node, c := range b.class {
		if err := now(ctx, node); err != nil {
			return nil, err
		}
		w := min(most, math.Pow(1-r.Float64(), -1/(g.exponent-1)))
		b.all.put(node, w)
		b.of[c].put(node, w)
	}
	for c := range b.next {
		for d := range g.classes {
			if len(b.of[d].item) > 0 {
				b.next[c].put(d, g.mix(c, d, &b.of[d], &b.all))
			}
		}
	}
	return b, nil
}

// mix returns the probability of an edge from class c to class d, up to a
// factor.
func (g sbm) mix(c, d int, of, all *urn) float64 {
	p := g.noise * of.total() / all.total()
	if d == c {
		p += float64((1 - g.noise) * g.homophily) // rounded first, as on every machine
	}
	if d == (c+1)%g.classes {
		p += float64((1 - g.noise) * (1 - g.homophily))
	}
	return p
}

// partner draws the other end of an edge from u.
func (b *blocks) partner(r *rand.Rand, u int) int {
	next := &b.next[b.class[u]]
	if next.total() <= 0 {
		return b.all.draw(r) // its classes are empty
	}
	return b.of[next.draw(r)].draw(r)
}

// urn holds weighted items.
type urn struct {
	item []int
	sum  []float64 // of the weights up to each item
}

func (u *urn) put(item int, weight float64) {
	u.item = append(u.item, item)
	u.sum = append(u.sum, u.total()+weight)
}

func (u *urn) total() float64 {
	if len(u.sum) == 0 {
		return 0
	}
	return u.sum[len(u.sum)-1]
}

func (u *urn) draw(r *rand.Rand) int {
	x := r.Float64() * u.total()
	i := sort.Search(len(u.sum), func(i int) bool { return u.sum[i] > x })
	return u.item[min(i, len(u.item)-1)]
}
