package generate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
)

// SBM is a degree-corrected stochastic block model. The zero value is the
// benchmark of this project: 100,000 nodes and 374,480 edges in 5 classes, the
// largest of which holds half of the nodes, where hardly any edge joins two
// nodes of one class.
//
// An edge starts at a random node, drawn by weight; with probability Noise its
// other end is any node, else with probability Homophily one of the same class,
// and else one of the next class (the last is followed by the first). Every
// node has an edge if there are enough of them.
type SBM struct {
	Nodes     int         // 0 means 100,000
	Edges     int         // distinct, without self loops; 0 means 374,480, or 3.7448 for each node if Nodes is set
	Classes   int         // 0 means 5
	Shares    []float64   // of the nodes, by class; nil: a half, a quarter and so on, the last two alike
	Homophily float64     // 0 to 1; 0 links each class to the next, 1 to itself
	Noise     float64     // 0 to 1; 0 means 0.2, a negative number none
	Mixing    [][]float64 // probability of an edge from a class to another, up to a factor; replaces Homophily and Noise
	Exponent  float64     // of the power law of node weights, above 2; 0 means 2.5, +Inf equal weights
	RNGSeed   uint64
}

// maxNodes is how many nodes a pair of them has room for.
const maxNodes = math.MaxUint32

// withDefaults returns the settings in full.
func (g SBM) withDefaults() SBM {
	if g.Nodes == 0 {
		g.Nodes = 100_000
	}
	if g.Edges == 0 {
		g.Edges = int(min(math.Round(3.7448*float64(g.Nodes)), float64(g.Nodes)*float64(g.Nodes-1)/2))
	}
	if g.Classes == 0 {
		g.Classes = 5
		if n := max(len(g.Shares), len(g.Mixing)); n > 0 {
			g.Classes = n
		}
	}
	switch {
	case g.Noise == 0:
		g.Noise = 0.2
	case g.Noise < 0:
		g.Noise = 0
	}
	if g.Exponent == 0 {
		g.Exponent = 2.5
	}
	if g.Shares == nil {
		share := 1.0
		for range g.Classes - 1 {
			share /= 2
			g.Shares = append(g.Shares, share)
		}
		g.Shares = append(g.Shares, share)
	}
	return g
}

// Validate reports all problems of the settings at once.
func (g SBM) Validate() error {
	if g.Classes < 0 || g.Nodes < 0 || g.Edges < 0 {
		return errors.New("generate: negative numbers of nodes, edges or classes")
	}
	g = g.withDefaults()
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf("generate: "+format, args...)) }
	if g.Nodes < 2 || g.Nodes > maxNodes {
		bad("%d nodes, want 2 to %d", g.Nodes, maxNodes)
	} else if pairs := float64(g.Nodes) * float64(g.Nodes-1) / 2; float64(g.Edges) > pairs {
		bad("%d edges, but %d nodes have %.0f pairs", g.Edges, g.Nodes, pairs)
	}
	if g.Classes > g.Nodes {
		bad("%d classes for %d nodes", g.Classes, g.Nodes)
	}
	if len(g.Shares) != g.Classes {
		bad("%d shares for %d classes", len(g.Shares), g.Classes)
	}
	if !positive(g.Shares) {
		bad("shares %v, want numbers ≥ 0 and not all 0", g.Shares)
	}
	if !(g.Homophily >= 0 && g.Homophily <= 1) {
		bad("homophily %v, want 0 to 1", g.Homophily)
	}
	if !(g.Noise <= 1) {
		bad("noise %v, want at most 1", g.Noise)
	}
	if !(g.Exponent > 2) {
		bad("exponent %v, want above 2", g.Exponent)
	}
	if g.Mixing != nil && len(g.Mixing) != g.Classes {
		bad("%d rows of mixing for %d classes", len(g.Mixing), g.Classes)
	}
	for c, row := range g.Mixing {
		if len(row) != g.Classes || !positive(row) {
			bad("mixing of class %d is %v, want %d numbers ≥ 0 and not all 0", c, row, g.Classes)
		}
	}
	return errors.Join(all...)
}

// positive reports whether weights can be drawn from.
func positive(weights []float64) bool {
	var sum float64
	for _, w := range weights {
		if !(w >= 0) {
			return false
		}
		sum += w
	}
	return sum > 0 && !math.IsInf(sum, 0)
}

// classes returns the class of each node: exact shares in random order. A
// class with a share has one node at least. The error is the context's.
func (g SBM) classes(ctx context.Context) ([]int, error) {
	var total float64
	for _, s := range g.Shares {
		total += s
	}
	class := make([]int, 0, g.Nodes)
	var sum float64
	for c, s := range g.Shares {
		sum += s
		end := int(math.Round(sum / total * float64(g.Nodes)))
		if s > 0 {
			end = max(end, len(class)+1)
		}
		left := 0 // nodes that later classes must get
		for _, later := range g.Shares[c+1:] {
			if later > 0 {
				left++
			}
		}
		for end = min(end, g.Nodes-left); len(class) < end; {
			class = append(class, c)
		}
	}
	r := source(g.RNGSeed, classStream)
	for i := len(class) - 1; i > 0; i-- {
		if err := now(ctx, i); err != nil {
			return nil, err
		}
		j := r.Uint64N(uint64(i + 1))
		class[i], class[j] = class[j], class[i]
	}
	return class, nil
}

// now returns the context's error, if it is time to look: i counts cheap steps.
func now(ctx context.Context, i int) error {
	if i%(1<<14) != 0 {
		return nil
	}
	return ctx.Err()
}

// LabelsTo writes a line node<TAB>class for a share of the nodes, drawn at
// random: 1 for all. Every class that has nodes has one of them there. Nodes
// are in increasing order; the classes are called c0, c1 and so on.
func (g SBM) LabelsTo(ctx context.Context, w io.Writer, share float64) error {
	if err := g.Validate(); err != nil {
		return err
	}
	if !(share > 0 && share <= 1) {
		return fmt.Errorf("generate: a share of %v of the labels, want above 0, at most 1", share)
	}
	g = g.withDefaults()
	class, err := g.classes(ctx)
	if err != nil {
		return err
	}
	order := source(g.RNGSeed, labelStream).Perm(len(class))
	chosen := make([]bool, len(class))
	some := make([]bool, g.Classes)
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
func (g SBM) EdgesTo(ctx context.Context, w io.Writer) error {
	if err := g.Validate(); err != nil {
		return err
	}
	g = g.withDefaults()
	r := source(g.RNGSeed, edgeStream)
	b, err := g.blocks(ctx, r)
	if err != nil {
		return err
	}
	out := newLines(ctx, w)
	seen := newPairSet(g.Edges)
	touched := make([]bool, g.Nodes)
	add := func(u, v int) error {
		if u == v || !seen.add(u, v) {
			return nil
		}
		touched[u], touched[v] = true, true
		return out.edge(u, v)
	}
	for u := 0; u < g.Nodes && seen.n < g.Edges; u++ {
		for tries := 0; !touched[u] && seen.n < g.Edges; tries++ {
			v := b.partner(r, u)
			if tries > maxTries {
				v = r.IntN(g.Nodes)
			}
			if err := add(u, v); err != nil {
				return err
			}
		}
	}
	// Where the classes have no pair left that is likely, any pair will do.
	for missed := 0; seen.n < g.Edges; missed++ {
		before := seen.n
		u, v := r.IntN(g.Nodes), r.IntN(g.Nodes)
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

func (g SBM) blocks(ctx context.Context, r *rand.Rand) (*blocks, error) {
	class, err := g.classes(ctx)
	if err != nil {
		return nil, err
	}
	b := &blocks{class: class, of: make([]urn, g.Classes), next: make([]urn, g.Classes)}
	most := math.Sqrt(float64(g.Nodes)) * 6 // beyond it the same pairs are drawn again and again
	for node, c := range b.class {
		if err := now(ctx, node); err != nil {
			return nil, err
		}
		w := min(most, math.Pow(1-r.Float64(), -1/(g.Exponent-1)))
		b.all.put(node, w)
		b.of[c].put(node, w)
	}
	for c := range b.next {
		for d := range g.Classes {
			if len(b.of[d].item) > 0 {
				b.next[c].put(d, g.mix(c, d, &b.of[d], &b.all))
			}
		}
	}
	return b, nil
}

// mix returns the probability of an edge from class c to class d, up to a
// factor.
func (g SBM) mix(c, d int, of, all *urn) float64 {
	if g.Mixing != nil {
		return g.Mixing[c][d]
	}
	p := g.Noise * of.total() / all.total()
	if d == c {
		p += float64((1 - g.Noise) * g.Homophily) // rounded first, as on every machine
	}
	if d == (c+1)%g.Classes {
		p += float64((1 - g.Noise) * (1 - g.Homophily))
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
