package graphfile

import (
	"cmp"
	"slices"
)

// Collection holds many small graphs, whose vertices and edges may have labels. Graphs store a label as its index in
// Labels or EdgeLabels, which are sorted by bytes.
type Collection struct {
	IDs        []string // ids of the graphs
	Class      []string // classes of the graphs, "" for none; nil: no graph has a class
	Graphs     []Member
	Labels     []string // labels of vertices; may be nil
	EdgeLabels []string // may be nil
	Directed   bool
}

// Member is a graph of a collection. Its vertices are 0 … Len()−1. No arc occurs twice. In an undirected graph an
// edge is two arcs, and a loop is one arc.
type Member struct {
	ID        []string // ids of the vertices; may be nil
	Ptr       []int32  // vertex v has the arcs Ptr[v] ≤ a < Ptr[v+1]
	To        []int32  // target of each arc, increasing for each vertex
	EdgeLabel []int32  // labels of the arcs; may be nil
	Label     []int32  // labels of the vertices; may be nil
}

// Len returns the number of vertices.
func (m *Member) Len() int { return len(m.Ptr) - 1 }

// Shape holds the sizes of a collection that determine the memory of computations.
type Shape struct {
	Graphs, Vertices int
	Arcs             int64
	Largest          int   // most vertices of a graph
	Alike            int64 // pairs of vertices with the same label, in the graph with most of them
	Pairs            int64 // Σ over graphs of (number of labels in the graph)²
	Labels           int   // labels of vertices; 0: none
	EdgeLabels       int
	Classes          int   // 0: no graph has one
	Text             int64 // bytes of labels, classes and ids
}

// Shape returns the shape of a collection.
func (c *Collection) Shape() *Shape {
	s := &Shape{Graphs: len(c.Graphs), Labels: len(c.Labels),
		EdgeLabels: len(c.EdgeLabels)}
	classes := map[string]bool{"": true}
	for _, name := range c.Class {
		classes[name] = true
	}
	s.Classes = len(classes) - 1
	texts := [][]string{c.Labels, c.EdgeLabels, c.IDs}
	count := make([]int64, max(1, len(c.Labels)))
	for i := range c.Graphs {
		m := &c.Graphs[i]
		s.Vertices, s.Arcs, s.Largest = s.Vertices+m.Len(), s.Arcs+int64(len(m.To)),
			max(s.Largest, m.Len())
		symmetric := int64(0)
		labels := int64(0)
		for v := range m.Len() { // a sum of squares grows by odd numbers
			n := &count[m.label(v)]
			if *n == 0 {
				labels++
			}
			symmetric += 2**n + 1
			*n++
		}
		for v := range m.Len() {
			count[m.label(v)] = 0
		}
		s.Alike = max(s.Alike, symmetric)
		s.Pairs += labels * labels
		texts = append(texts, m.ID)
	}
	for _, list := range texts {
		for _, text := range list {
			s.Text += 16 + int64(len(text)) + 8 // the allocator rounds up
		}
	}
	return s
}

// Bytes returns the memory of a collection of shape s.
func (s *Shape) Bytes() int64 {
	n := int64(s.Vertices)
	m := s.Arcs
	bytes := 4 * (n + m)
	if s.Labels > 0 {
		bytes += 4 * n
	}
	if s.EdgeLabels > 0 {
		bytes += 4 * m
	}
	return bytes + bytes/8 + memberBytes*int64(s.Graphs) + s.Text
}

// memberBytes is the memory of a graph without its vertices, arcs and id.
const memberBytes = 5*24 + 16 + 4*16

func (m *Member) label(v int) int32 {
	if m.Label == nil {
		return 0
	}
	return m.Label[v]
}

// NewMember returns the undirected graph whose vertices have the given labels, with the edges (u, v, label). If an
// edge is repeated, the first label counts.
func NewMember(label []int32, edges [][3]int32) Member {
	ends := make([][2]int32, len(edges))
	labels := make([]int32, len(edges))
	for i, e := range edges {
		ends[i] = [2]int32{e[0], e[1]}
		labels[i] = e[2]
	}
	first, arcs := adjacency(len(label), ends, false)
	m, _ := newMember(first, arcs, 0, labels)
	m.Label = label
	return m
}

type arc struct{ target, edge int32 }

// adjacency returns the arcs of edges, ordered by source, target and edge. The arcs first[v] ≤ a < first[v+1] leave
// vertex v.
func adjacency(n int, edges [][2]int32, directed bool) (first []int, arcs []arc) {
	first = make([]int, n+2)
	eachArc := func(visit func(source, target int32, e int)) {
		for e, ends := range edges {
			visit(ends[0], ends[1], e)
			if !directed && ends[0] != ends[1] {
				visit(ends[1], ends[0], e)
			}
		}
	}
	eachArc(func(source, _ int32, _ int) { first[source+2]++ })
	for v := range n {
		first[v+2] += first[v+1]
	}
	arcs = make([]arc, first[n+1])
	eachArc(func(source, target int32, e int) {
		arcs[first[source+1]] = arc{target, int32(e)}
		first[source+1]++
	})
	for v := range n {
		slices.SortFunc(arcs[first[v]:first[v+1]],
			func(a, b arc) int { return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.edge, b.edge)) })
	}
	return first[:n+1], arcs
}

// newMember returns the graph with the arcs of adjacency. lo is subtracted from their targets; label holds the labels
// of the edges. Of repeated arcs it keeps the first. twice holds the first two repeated arcs with different labels.
func newMember(first []int, arcs []arc, lo int32,
	label []int32) (m Member, twice []arc) {
	n := len(first) - 1
	m.Ptr = make([]int32, n+1)
	for v := range n {
		for a := first[v]; a < first[v+1]; a++ {
			switch {
			case a == first[v] || arcs[a].target != arcs[a-1].target:
				m.To = append(m.To, arcs[a].target-lo)
				if label != nil {
					m.EdgeLabel = append(m.EdgeLabel, label[arcs[a].edge])
				}
			case label != nil && twice == nil &&
				label[arcs[a].edge] != label[arcs[a-1].edge]:
				twice = arcs[a-1 : a+1]
			}
		}
		m.Ptr[v+1] = int32(len(m.To))
	}
	m.To, m.EdgeLabel = slices.Clone(m.To), slices.Clone(m.EdgeLabel) // cloned to size, because many are kept
	return m, twice
}
