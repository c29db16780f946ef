package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/sparse"
)

// Locality returns an order in which communities, and the communities within them, are runs of consecutive nodes
// (Rabbit Order; Arai et al., IPDPS 2016, Algorithms 2 and 3, sequential). In the order of increasing degree, each node
// joins the neighbouring community with the largest increase of modularity,
//
//	ΔQ = w_uv/m − d_u·d_v/(2m²),
//
// if this increase is positive. The order is a depth-first traversal of the tree of these joins. If progress is not
// nil, it is called with the approximate number of nodes that have joined. Cost: a few passes over the entries in
// random order, 8 bytes an entry.
func Locality(ctx context.Context, a *sparse.CSR, progress func(nodes int)) ([]uint32, error) {
	g := newMerging(a)
	for i, node := range g.rising {
		if i%visitsPerCheck == 0 {
			if ctx.Err() != nil {
				return nil, sched.Cause(ctx)
			}
			if progress != nil {
				progress(i)
			}
		}
		g.join(node)
	}
	for isolated := range 2 {
		for node, parent := range g.parent {
			if parent == uint32(node) && (g.neighbours[node] == 0) == (isolated == 1) {
				g.visit(uint32(node))
			}
		}
	}
	return g.order, nil
}

// link is the total weight of the edges to another community.
type link struct {
	target uint32
	weight float32
}

// merging is a forest of communities, each a tree with its root.
type merging struct {
	a          *sparse.CSR
	neighbours []uint32  // number of neighbours of each node
	order      []uint32  // nodes in the order of their visits
	rising     []uint32  // nodes in the order of increasing degree
	parent     []uint32  // parent of each node; a root is its own parent
	child      []uint32  // child that joined last, or the node itself
	sibling    []uint32  // previous child of the same parent, or the node itself
	links      [][]link  // links of a processed node that has not been absorbed since
	degree     []float64 // degree of the community of a root
	total      float64   // sum of all degrees, 2m

	weight  []float32 // scratch: weight of the edges to each community
	touched []uint32  // scratch: communities with a weight
}

func newMerging(a *sparse.CSR) *merging {
	n, cols := a.Dims()
	if n != cols {
		panic(badShape)
	}
	g := &merging{
		a: a, neighbours: make([]uint32, n), order: make([]uint32, 0, n), rising: make([]uint32, n),
		parent: make([]uint32, n), child: make([]uint32, n),
		sibling: make([]uint32, n),
		links:   make([][]link, n), degree: make([]float64, n),
		weight: make([]float32, n),
	}
	for i := range n {
		col, _ := a.Row(i)
		d := uint32(len(col))
		if _, loop := slices.BinarySearch(col, uint32(i)); loop {
			d--
		}
		g.neighbours[i] = d
		g.parent[i] = uint32(i)
		g.child[i] = uint32(i)
		g.sibling[i] = uint32(i)
		g.rising[i] = uint32(i)
		g.degree[i] = float64(d)
		g.total += float64(d)
	}
	slices.SortStableFunc(g.rising,
		func(a, b uint32) int { return cmp.Compare(g.neighbours[a], g.neighbours[b]) })
	return g
}

// root returns the root of the tree of a node, and halves the path to it, as in union-find.
func (g *merging) root(node uint32) uint32 {
	for g.parent[node] != node {
		g.parent[node] = g.parent[g.parent[node]]
		node = g.parent[node]
	}
	return node
}

// join joins the community of a node to the neighbouring community with the largest gain.
func (g *merging) join(node uint32) {
	col, _ := g.a.Row(int(node))
	for _, v := range col {
		g.touch(g.root(v), 1)
	}
	var links []link // reuses the memory of absorbed links
	for c, next := g.child[node], g.child[node] == node; !next; {
		for _, l := range g.links[c] {
			g.touch(g.root(l.target), l.weight)
		}
		if cap(g.links[c]) > cap(links) {
			links = g.links[c][:0]
		}
		g.links[c] = nil
		next = g.sibling[c] == c
		c = g.sibling[c]
	}
	if cap(links) < len(g.touched) {
		links = make([]link, 0, len(g.touched))
	}
	best := node
	gain := 0.0
	for _, v := range g.touched {
		w := g.weight[v]
		g.weight[v] = 0
		if v == node {
			continue
		}
		links = append(links, link{v, w})
		if q := float64(w) - float64(g.degree[node]*g.degree[v])/g.total; q > gain || q == gain && q > 0 && v < best {
			best = v
			gain = q
		}
	}
	g.touched = g.touched[:0]
	g.links[node] = links
	if best == node {
		return
	}
	g.parent[node] = best
	g.degree[best] += g.degree[node]
	if g.child[best] != best {
		g.sibling[node] = g.child[best]
	}
	g.child[best] = node
}

func (g *merging) touch(community uint32, weight float32) {
	if g.weight[community] == 0 {
		g.touched = append(g.touched, community)
	}
	g.weight[community] += weight
}

// visit appends a tree to the order, parents before children.
func (g *merging) visit(root uint32) {
	for stack := []uint32{root}; len(stack) > 0; {
		node := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		g.order = append(g.order, node)
		if node != root && g.sibling[node] != node {
			stack = append(stack, g.sibling[node])
		}
		if g.child[node] != node {
			stack = append(stack, g.child[node])
		}
	}
}

const badShape = "partition: matrix is not square"

const visitsPerCheck = 1 << 12
