package ingest

import (
	"fmt"
	"runtime"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// reorder numbers the rows in the order of the settings: the codes of all
// parts become the new rows, and the dictionary knows both.
func (r *run) reorder() error {
	if r.c.Order == DefaultOrder {
		return nil
	}
	order, err := r.order()
	if err != nil {
		return err
	}
	row := make([]uint32, len(order))
	for i, old := range order {
		row[old] = uint32(i)
	}
	// The graph that it was found on would otherwise be there while entries are
	// sorted.
	runtime.GC()
	err = r.mapCodes(func(code []uint32) {
		for j, c := range code {
			if c != noRow {
				code[j] = row[c]
			}
		}
	})
	r.nodes = r.nodes.Reorder(r.c.Order.String(), order)
	return err
}

// order returns the row that comes i-th for each i.
func (r *run) order() ([]uint32, error) {
	r.progress(Progress{Phase: "ordering", Total: int64(r.nodes.Len()), Lines: r.report.Lines})
	if r.c.Order == DegreeOrder {
		count, err := r.mentions()
		return partition.Degree(count), err
	}
	a, err := r.pattern()
	if err != nil {
		return nil, err
	}
	switch r.c.Order {
	case BreadthFirstOrder:
		return partition.BreadthFirst(r.ctx, a)
	case CuthillMcKeeOrder:
		return partition.ReverseCuthillMcKee(r.ctx, a)
	}
	return partition.Locality(r.ctx, a)
}

// mentions counts the lines of each row, those that will be merged with others
// too: each source and each target of an edge that is kept is one.
func (r *run) mentions() ([]uint32, error) {
	counts := make([][]uint32, sched.Workers(r.workers))
	err := r.eachPart(func(worker int, _ *part, code []uint32, weight []float64) error {
		if counts[worker] == nil {
			counts[worker] = make([]uint32, r.nodes.Len())
		}
		count := counts[worker]
		for e := 0; e < len(code); e += 2 {
			u, v := code[e], code[e+1]
			if u == noRow || v == noRow || u == v || weight != nil && weight[e/2] == 0 {
				continue
			}
			count[u]++
			count[v]++
		}
		return nil
	})
	sum := make([]uint32, r.nodes.Len())
	for _, count := range counts {
		for row, n := range count {
			sum[row] += n
		}
	}
	return sum, err
}

// pattern returns the undirected graph of the edges, without weights and self
// loops.
func (r *run) pattern() (*sparse.CSR, error) {
	s := r.sorter(undirected)
	s.values, s.keepLoops = false, false
	s.merge = merger{policy: MaxDuplicates}
	entries, rows := 0, r.nodes.Len() // at most
	for _, p := range r.parts {
		entries += 2 * p.edges
	}
	each := int64(4)
	if r.c.Order == LocalityOrder {
		each += 8 // see there
	}
	graph := int64(entries)*each + 8*int64(rows+1)
	if need := r.beside() + graph; r.c.Memory > 0 && need >= r.c.Memory {
		return nil, &MemoryError{Need: need + leastBytes, Limit: r.c.Memory}
	}
	if _, err := r.planSort(s, graph); err != nil {
		return nil, err
	}
	ptr, col := make([]int64, 1, rows+1), make([]uint32, 0, s.entries())
	err := s.each(func(b *sorted) error {
		for _, end := range b.ptr[1:] {
			ptr = append(ptr, int64(len(col)+end))
		}
		col = append(col, b.col...)
		return nil
	})
	if err != nil {
		return nil, r.explain(err)
	}
	a, err := sparse.NewCSR(rows, rows, ptr, col, nil)
	if err != nil {
		return nil, fmt.Errorf("ingest: order: %w", err)
	}
	return a, nil
}
