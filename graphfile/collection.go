package graphfile

import (
	"cmp"
	"slices"
)

// Collection is many small graphs whose vertices and edges may have labels. Numbers of
// labels are positions in Labels and EdgeLabels, which are in byte order.
type Collection struct {
	IDs        []string // of the graphs
	Class      []string // of each graph, "" for none; nil: no graph has one
	Graphs     []Member
	Labels     []string // of vertices; nil: there are none
	EdgeLabels []string // nil: there are none
	Attributes int      // numbers that each vertex has
	Directed   bool
}

// Member is a graph of a collection. Its vertices are 0 … Len()−1. No arc is there
// twice; without directions an edge is an arc at each of its ends, a loop once.
type Member struct {
	ID         []string  // of the vertices; nil: they have none
	Ptr        []int32   // the arcs of vertex v are those from Ptr[v] up to Ptr[v+1]
	To         []int32   // where each arc leads, increasing for each vertex
	EdgeLabel  []int32   // of each arc; nil: there are none
	Label      []int32   // of each vertex; nil: there are none
	Attributes []float64 // of the vertices, one after the other
}

// Len returns the number of vertices.
func (m *Member) Len() int { return len(m.Ptr) - 1 }

// Arcs returns where the arcs of a vertex lead.
func (m *Member) Arcs(v int) []int32 { return m.To[m.Ptr[v]:m.Ptr[v+1]] }

// Bytes returns about what a collection takes.
func (c *Collection) Bytes() int64 {
	var bytes int64
	for i := range c.Graphs {
		m := &c.Graphs[i]
		bytes += 200 + 4*int64(len(m.Ptr)+len(m.To)+len(m.EdgeLabel)+len(m.Label)) + 8*int64(len(m.Attributes)) + 24*int64(len(m.ID))
	}
	return bytes
}

// LabelledEdge is an edge between two vertices.
type LabelledEdge struct{ From, To, Label int32 }

// NewMember returns the graph without directions that has vertices with the given labels
// and the given edges, of each pair of vertices the first.
func NewMember(label []int32, edges []LabelledEdge) Member {
	list := make([]edge, 0, 2*len(edges))
	seen := map[[2]int32]bool{}
	for _, e := range edges {
		if ends := [2]int32{min(e.From, e.To), max(e.From, e.To)}; !seen[ends] {
			seen[ends] = true
			list = append(list, edge{from: e.From, to: e.To, label: e.Label})
		}
	}
	m, _ := newMember(len(label), list, false, true)
	m.Label = label
	return m
}

// edge is one of a graph in a collection.
type edge struct {
	from, to int32
	label    int32
	line     int64
}

// newMember makes a graph with n vertices of its edges, which it puts in order. It
// returns two edges between the same vertices whose labels differ, if there are any.
func newMember(n int, edges []edge, directed, labelled bool) (m Member, twice []edge) {
	if !directed {
		for _, e := range edges {
			if e.from != e.to {
				edges = append(edges, edge{e.to, e.from, e.label, e.line})
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.line, b.line))
	})
	m.Ptr = make([]int32, n+1)
	for i, e := range edges {
		if i > 0 && e.from == edges[i-1].from && e.to == edges[i-1].to {
			if e.label != edges[i-1].label {
				return m, edges[i-1 : i+1]
			}
			continue
		}
		m.To = append(m.To, e.to)
		if labelled {
			m.EdgeLabel = append(m.EdgeLabel, e.label)
		}
		m.Ptr[e.from+1] = int32(len(m.To))
	}
	for v := range n {
		m.Ptr[v+1] = max(m.Ptr[v+1], m.Ptr[v])
	}
	m.To, m.EdgeLabel = slices.Clip(m.To), slices.Clip(m.EdgeLabel)
	return m, nil
}

// words numbers texts.
type words struct {
	number map[string]int32
	text   []string
}

// of returns the number of a text.
func (w *words) of(text []byte) int32 {
	n, ok := w.number[string(text)]
	if !ok {
		if w.number == nil {
			w.number = map[string]int32{}
		}
		n = int32(len(w.text))
		w.text = append(w.text, string(text))
		w.number[w.text[n]] = n
	}
	return n
}

// sorted puts the texts in byte order and returns the new number of each.
func (w *words) sorted() (rank []int32) {
	order := make([]int32, len(w.text))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(w.text[a], w.text[b]) })
	rank = make([]int32, len(order))
	text := make([]string, len(order))
	for at, i := range order {
		rank[i], text[at] = int32(at), w.text[i]
	}
	w.text, w.number = text, nil
	return rank
}
