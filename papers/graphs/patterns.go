package graphs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

const defaultCycles = 100_000

// cyclicPatterns counts common cyclic and tree patterns (Horváth, Gärtner and Wrobel 2004). A cyclic pattern is the sequence
// of labels along a simple cycle of at least three vertices, in either direction. A tree pattern is a tree, with at least one
// edge, of the forest of edges that are on no cycle. Cost of a graph: O(edges · vertices) for each simple cycle.
var cyclicPatterns = Kernel{
	Spec: param.Spec{
		Name: "cyclic-patterns", Title: "number of common cyclic and tree patterns",
		Works:  param.Graphs,
		Source: "Horváth, Gärtner and Wrobel, Cyclic pattern kernels for predictive graph mining, KDD 2004",
		Params: []param.Param{{
			Name: "cycles", Symbol: "cycles",
			Meaning: "most simple cycles that a graph may have", Kind: param.Whole,
			Range:   param.Range{Least: 1, Most: 1e9},
			Default: param.Of(defaultCycles),
		}},
	},
	New: func(ctx context.Context, c *graphfile.Collection, v param.Values, _ *Settings) (Rows, error) {
		graph, number, err := partsOf(ctx, c, "patterns", v.Int("cycles"))
		if err != nil {
			return nil, err
		}
		for i := range graph {
			ones(graph[i].value) // patterns are a set
		}
		return newFeatures(graph, len(number)), nil
	},
	Memory: func(s *graphfile.Shape, _ param.Values, _ int) int64 { return partBytes(s, "patterns") },
}

// eachPattern calls visit with the cyclic patterns of all simple cycles of a graph, as "labels
// along the cycle", and then with its tree patterns, as trees in brackets from their centres:
// "c(a)(e)(s)". The label of an edge precedes the label of the vertex to which it leads. The error
// is a [*GraphError] for a directed graph, or for more than limit simple cycles.
func eachPattern(ctx context.Context, c *graphfile.Collection, graph, limit int,
	visit func(text string)) error {
	m := &c.Graphs[graph]
	if c.Directed {
		return &GraphError{c.IDs[graph],
			"cyclic patterns are those of graphs without directions; read the collection without them"}
	}
	p := &patternFinder{ctx: ctx, c: c, m: m, limit: limit, visit: visit}
	p.bridge = bridges(m)
	if err := p.cycles(); err != nil {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		return &GraphError{c.IDs[graph],
			fmt.Sprintf("has more than %d simple cycles; allow more cycles, or leave the graph out", limit)}
	}
	p.trees()
	return nil
}

type patternFinder struct {
	ctx    context.Context
	c      *graphfile.Collection
	m      *graphfile.Member
	bridge []bool // arcs whose edge is on no cycle
	limit  int
	visit  func(text string)

	count    int
	path     []int32 // arcs from the first vertex of a cycle
	isOnPath []bool
	seen     []int // search that last reached a vertex
	clock    int
	queue    []int32
}

var errCycles = fmt.Errorf("too many cycles")

// bridges marks the arcs whose edge is on no cycle; a loop is no bridge.
func bridges(m *graphfile.Member) []bool {
	n := m.Len()
	bridge := make([]bool, len(m.To))
	order := make([]int32, n)
	low := make([]int32, n)
	next := slices.Clone(m.Ptr[:n])
	parent := make([]int32, n) // arc by which a vertex was reached
	clock := int32(0)
	for root := range n {
		if order[root] > 0 {
			continue
		}
		stack := []int32{int32(root)}
		parent[root] = -1
		clock++
		order[root] = clock
		low[root] = clock
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if next[v] < m.Ptr[v+1] {
				a := next[v]
				next[v]++
				w := m.To[a]
				switch {
				case parent[v] >= 0 && w == tail(m, parent[v]):
				case order[w] == 0:
					clock++
					order[w] = clock
					low[w] = clock
					parent[w] = a
					stack = append(stack, w)
				default:
					low[v] = min(low[v], order[w])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if a := parent[v]; a >= 0 {
				u := tail(m, a)
				low[u] = min(low[u], low[v])
				if low[v] > order[u] {
					reverse, _ := slices.BinarySearch(arcsOf(m, int(v)), u)
					bridge[a] = true
					bridge[m.Ptr[v]+int32(reverse)] = true
				}
			}
		}
	}
	return bridge
}

func tail(m *graphfile.Member, a int32) int32 {
	end, _ := slices.BinarySearch(m.Ptr, a+1)
	return int32(end - 1)
}

// cycles visits the pattern of every simple cycle once: from the smallest vertex of the cycle towards the smaller of the two
// neighbours of this vertex.
func (p *patternFinder) cycles() error {
	n := p.m.Len()
	p.isOnPath = make([]bool, n)
	p.seen = make([]int, n)
	for root := range int32(n) {
		if err := p.extend(root, root); err != nil {
			return err
		}
	}
	return nil
}

// extend visits the cycles that continue the path from root to v. It follows an arc only if root can still be reached. A cycle
// then costs at most its vertices times the edges of the graph.
func (p *patternFinder) extend(root, v int32) error {
	p.isOnPath[v] = true
	defer func() { p.isOnPath[v] = false }()
	for a := p.m.Ptr[v]; a < p.m.Ptr[v+1]; a++ {
		w := p.m.To[a]
		switch {
		case p.bridge[a] || w < root || w == v:
		case w == root && len(p.path) > 1:
			if first := p.m.To[p.path[0]]; first < v {
				if p.count++; p.count > p.limit {
					return errCycles
				}
				p.visit(p.cyclic(append(p.path, a)))
			}
		case !p.isOnPath[w] && p.reaches(w, root, v):
			p.path = append(p.path, a)
			if err := p.extend(root, w); err != nil {
				return err
			}
			p.path = p.path[:len(p.path)-1]
		}
	}
	return sched.Cause(p.ctx)
}

// reaches reports whether a walk leads from w to root through vertices that are larger than root and not on the path. If end
// is root, the arc from w to root does not count, because it goes back on the path.
func (p *patternFinder) reaches(w, root, end int32) bool {
	p.clock++
	p.queue = append(p.queue[:0], w)
	p.seen[w] = p.clock
	for head := 0; head < len(p.queue); head++ {
		x := p.queue[head]
		for a := p.m.Ptr[x]; a < p.m.Ptr[x+1]; a++ {
			y := p.m.To[a]
			if p.bridge[a] || y < root || p.seen[y] == p.clock {
				continue
			}
			if y == root {
				if x == w && end == root {
					continue
				}
				return true
			}
			if !p.isOnPath[y] {
				p.seen[y] = p.clock
				p.queue = append(p.queue, y)
			}
		}
	}
	return false
}

// cyclic returns the pattern of a cycle, given its arcs: the smallest sequence of labels over all first vertices and both
// directions.
func (p *patternFinder) cyclic(arcs []int32) string {
	k := len(arcs)
	// edge i leads from vertex i to the next
	vertex := make([]int32, k)
	edge := make([]int32, k)
	for i, a := range arcs {
		vertex[(i+1)%k], edge[i] = numberOf(p.m.Label, p.m.To[a]),
			numberOf(p.m.EdgeLabel, a)
	}
	var best []int32
	try := make([]int32, 0, 2*k)
	for start := range k {
		for _, step := range []int{1, k - 1} {
			try = try[:0]
			for i, position := 0, start; i < k; i, position = i+1, (position+step)%k {
				e := edge[position]
				if step != 1 || k == 1 {
					e = edge[(position+k-1)%k]
				}
				try = append(try, vertex[position], e)
			}
			if best == nil || slices.Compare(try, best) < 0 {
				best = slices.Clone(try)
			}
		}
	}
	var text strings.Builder
	for i, l := range best {
		p.write(&text, i%2 == 1, l)
	}
	return text.String()
}

// write appends label l of an edge or of a vertex to a pattern. It quotes labels of more than one letter, so that different
// sequences have different texts.
func (p *patternFinder) write(text *strings.Builder, edge bool, l int32) {
	names := p.c.Labels
	if edge {
		names = p.c.EdgeLabels
		if names == nil {
			return
		}
		text.WriteByte('-')
	}
	switch {
	case names == nil:
		text.WriteByte('.')
	case len(names[l]) == 1 && !strings.ContainsAny(names[l], `.-()"`):
		text.WriteString(names[l])
	default:
		fmt.Fprintf(text, "%q", names[l])
	}
	if edge {
		text.WriteByte('-')
	}
}

// trees adds the pattern of every tree of the forest of bridges with at least one edge.
func (p *patternFinder) trees() {
	n := p.m.Len()
	done := make([]bool, n)
	degree := make([]int, n)
	for a, b := range p.bridge {
		if b {
			degree[tail(p.m, int32(a))]++
		}
	}
	for root := range int32(n) {
		if done[root] || degree[root] == 0 {
			continue
		}
		tree := []int32{root}
		done[root] = true
		for head := 0; head < len(tree); head++ {
			p.eachBridge(tree[head], func(_, w int32) {
				if !done[w] {
					done[w] = true
					tree = append(tree, w)
				}
			})
		}
		var smallest string
		for _, centre := range p.centres(tree, degree) {
			if text := p.tree(centre); smallest == "" || text < smallest {
				smallest = text
			}
		}
		p.visit(smallest)
	}
}

func (p *patternFinder) eachBridge(v int32, visit func(a, w int32)) {
	for a := p.m.Ptr[v]; a < p.m.Ptr[v+1]; a++ {
		if p.bridge[a] {
			visit(a, p.m.To[a])
		}
	}
}

// centres returns the one or two centres of a tree: it removes leaves until only they are left. degree has the degree of each
// vertex, and is overwritten.
func (p *patternFinder) centres(tree []int32, degree []int) []int32 {
	left := len(tree)
	var leaves []int32
	for _, v := range tree {
		if degree[v] == 1 {
			leaves = append(leaves, v)
		}
	}
	for left > 2 {
		var next []int32
		for _, v := range leaves {
			left--
			degree[v] = 0
			p.eachBridge(v, func(_, w int32) {
				if degree[w]--; degree[w] == 1 {
					next = append(next, w)
				}
			})
		}
		leaves = next
	}
	return leaves
}
