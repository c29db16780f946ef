package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/sparse"
)

// BreadthFirst returns the order in which a breadth-first search visits the nodes. The search
// of a component starts at its node of largest degree (the first of several) and visits the
// neighbours of a node in the order of the matrix. Components are in the order of their first
// nodes. Cost: two passes over the entries in random order, 9 bytes a node. progress, unless
// nil, is called with the approximate number of nodes that have a place.
func BreadthFirst(ctx context.Context, a *sparse.CSR, progress func(nodes int)) ([]uint32, error) {
	s := newSearch(ctx, a, progress)
	s.searches = 2 // to find the component, and from its hub
	for node := range s.seen {
		if s.seen[node] || s.neighbours[node] == 0 {
			continue
		}
		component, err := s.from(uint32(node), false)
		if err != nil {
			return nil, err
		}
		hub := component[0]
		for _, v := range component {
			if s.neighbours[v] > s.neighbours[hub] || s.neighbours[v] == s.neighbours[hub] && v < hub {
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

// ReverseCuthillMcKee returns the order of Cuthill and McKee, reversed as George proposed: a
// breadth-first search of each component from a peripheral node, with the neighbours of a node
// in the order of increasing degree (George and Liu, Computer Solution of Large Sparse Positive
// Definite Systems, §4.3 and §4.4). Cost: a few passes over the entries in random order, and
// sorting each row. progress is as for [BreadthFirst].
func ReverseCuthillMcKee(ctx context.Context, a *sparse.CSR, progress func(nodes int)) ([]uint32, error) {
	s := newSearch(ctx, a, progress)
	s.searches = 5 // the number for most graphs
	for node := range s.seen {
		if s.seen[node] || s.neighbours[node] == 0 {
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

// search is a breadth-first search.
type search struct {
	ctx        context.Context
	a          *sparse.CSR
	neighbours []uint32 // number of neighbours of each node
	seen       []bool
	order      []uint32 // nodes in the order of their visits
	last       int      // index in order of the first node of the last level
	depth      int      // number of levels of the last search

	progress func(nodes int) // may be nil
	visits   int             // visits of all searches
	searches int             // approximate number of searches of a component
}

func newSearch(ctx context.Context, a *sparse.CSR, progress func(nodes int)) *search {
	n, cols := a.Dims()
	if n != cols {
		panic(badShape)
	}
	s := &search{ctx: ctx, a: a, progress: progress, neighbours: make([]uint32, n), seen: make([]bool, n), order: make([]uint32, 0, n)}
	for i := range n {
		col, _ := a.Row(i)
		s.neighbours[i] = uint32(len(col))
		if _, loop := slices.BinarySearch(col, uint32(i)); loop {
			s.neighbours[i]--
		}
	}
	return s
}

const badShape = "partition: matrix is not square"

// visitsPerCheck is the number of visits between two checks of the context.
const visitsPerCheck = 1 << 12

// report calls progress with the approximate number of nodes that have a place.
func (s *search) report(nodes int) {
	if s.progress != nil {
		s.progress(min(nodes, len(s.seen)))
	}
}

// from visits all nodes of the component of a node, and returns them. With rising set, the
// neighbours of a node are visited in the order of increasing degree.
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
			length := len(s.order)
			col, _ := s.a.Row(int(s.order[level]))
			for _, v := range col {
				if !s.seen[v] {
					s.seen[v] = true
					s.order = append(s.order, v)
				}
			}
			if rising {
				slices.SortStableFunc(s.order[length:], func(u, v uint32) int { return cmp.Compare(s.neighbours[u], s.neighbours[v]) })
			}
		}
	}
	return s.order[first:], nil
}

// forget removes the last component from the order, so that another search can visit it.
func (s *search) forget(component []uint32) {
	for _, v := range component {
		s.seen[v] = false
	}
	s.order = s.order[:len(s.order)-len(component)]
}

// farEnd returns a pseudo-peripheral node: it repeatedly searches from the node of smallest
// degree in the last level, until the depth no longer grows.
func (s *search) farEnd(node uint32) (uint32, error) {
	for deepest := 0; ; {
		component, err := s.from(node, false)
		if err != nil {
			return 0, err
		}
		last := s.order[s.last:]
		next := last[0]
		for _, v := range last {
			if s.neighbours[v] < s.neighbours[next] {
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

// withIsolated returns the order, completed by the nodes without neighbours.
func (s *search) withIsolated() []uint32 {
	for node, seen := range s.seen {
		if !seen {
			s.order = append(s.order, uint32(node))
		}
	}
	return s.order
}
