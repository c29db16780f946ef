package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// BreadthFirst returns the order in which a search visits the nodes: each
// component from its node of most neighbours (the first of several), then
// level by level, the neighbours of a node in the order of the matrix.
// Components come in the order of their first nodes. Cost: two passes over the
// entries in random order, 9 bytes a node. progress, unless nil, is called with the
// approximate number of nodes in order.
func BreadthFirst(ctx context.Context, a *sparse.CSR, progress func(nodes int)) ([]uint32, error) {
	s := newSearch(ctx, a, progress)
	s.searches = 2
	for node := range s.seen {
		if s.seen[node] || s.beside[node] == 0 {
			continue
		}
		component, err := s.from(uint32(node), false)
		if err != nil {
			return nil, err
		}
		hub := component[0]
		for _, v := range component {
			if s.beside[v] > s.beside[hub] || s.beside[v] == s.beside[hub] && v < hub {
				hub = v
			}
		}
		s.forget(component)
		if _, err := s.from(hub, false); err != nil {
			return nil, err
		}
	}
	return s.withIsolated(), nil
}

// ReverseCuthillMcKee returns the order of George: a breadth-first search of
// each component from a node at its far end, the neighbours of a node by
// rising degree, all of it reversed (George & Liu, Computer Solution of Large
// Sparse Positive Definite Systems, §4.3 and §4.4). Cost: a few passes over the
// entries in random order, and a sort of each row. progress is as for [BreadthFirst].
func ReverseCuthillMcKee(ctx context.Context, a *sparse.CSR, progress func(nodes int)) ([]uint32, error) {
	s := newSearch(ctx, a, progress)
	s.searches = 5 // as most graphs take
	for node := range s.seen {
		if s.seen[node] || s.beside[node] == 0 {
			continue
		}
		end, err := s.farEnd(uint32(node))
		if err != nil {
			return nil, err
		}
		if _, err := s.from(end, true); err != nil {
			return nil, err
		}
	}
	slices.Reverse(s.order)
	return s.withIsolated(), nil
}

// search visits nodes level by level.
type search struct {
	ctx    context.Context
	a      *sparse.CSR
	beside []uint32 // how many neighbours each node has
	seen   []bool
	order  []uint32 // nodes in the order of their visits
	last   int      // where the last level of the component visited last begins in order
	depth  int      // how many levels it has

	progress func(nodes int) // may be nil
	visits   int             // of all searches
	searches int             // of each component, about
}

func newSearch(ctx context.Context, a *sparse.CSR, progress func(nodes int)) *search {
	n, cols := a.Dims()
	if n != cols {
		panic(badShape)
	}
	s := &search{ctx: ctx, a: a, progress: progress, beside: make([]uint32, n), seen: make([]bool, n), order: make([]uint32, 0, n)}
	for i := range n {
		col, _ := a.Row(i)
		s.beside[i] = uint32(len(col))
		if _, loop := slices.BinarySearch(col, uint32(i)); loop {
			s.beside[i]--
		}
	}
	return s
}

const badShape = "partition: matrix is not square"

// visitsPerCheck is how many nodes are visited between two looks at the context.
const visitsPerCheck = 1 << 12

// report reports the approximate number of nodes in order.
func (s *search) report(nodes int) {
	if s.progress != nil {
		s.progress(min(nodes, len(s.seen)))
	}
}

// from visits all nodes that can be reached from one, and returns them. With
// rising set, neighbours are visited by rising degree.
func (s *search) from(node uint32, rising bool) ([]uint32, error) {
	first := len(s.order)
	s.seen[node] = true
	s.order = append(s.order, node)
	s.last, s.depth = first, 0
	for level := first; level < len(s.order); s.depth++ {
		s.last = level
		end := len(s.order)
		for ; level < end; level++ {
			if s.visits%visitsPerCheck == 0 {
				if s.ctx.Err() != nil {
					return nil, s.ctx.Err()
				}
				s.report(s.visits / s.searches)
			}
			s.visits++
			before := len(s.order)
			col, _ := s.a.Row(int(s.order[level]))
			for _, v := range col {
				if !s.seen[v] {
					s.seen[v] = true
					s.order = append(s.order, v)
				}
			}
			if rising {
				slices.SortStableFunc(s.order[before:], func(u, v uint32) int { return cmp.Compare(s.beside[u], s.beside[v]) })
			}
		}
	}
	return s.order[first:], nil
}

// forget takes back the visits of the last component.
func (s *search) forget(component []uint32) {
	for _, v := range component {
		s.seen[v] = false
	}
	s.order = s.order[:len(s.order)-len(component)]
}

// farEnd returns a node from which the search of its component is about as
// deep as it can be: again and again the node of fewest neighbours in the last
// level, until the depth no longer grows.
func (s *search) farEnd(node uint32) (uint32, error) {
	for deepest := 0; ; {
		component, err := s.from(node, false)
		if err != nil {
			return 0, err
		}
		last := s.order[s.last:]
		next := last[0]
		for _, v := range last {
			if s.beside[v] < s.beside[next] {
				next = v
			}
		}
		s.forget(component)
		if s.depth <= deepest {
			return node, nil
		}
		deepest, node = s.depth, next
	}
}

// withIsolated returns the order with the nodes that were not visited.
func (s *search) withIsolated() []uint32 {
	for node, seen := range s.seen {
		if !seen {
			s.order = append(s.order, uint32(node))
		}
	}
	return s.order
}
