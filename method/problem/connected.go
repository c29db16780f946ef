package problem

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// leastIsolated is the share of nodes from which leaving them out pays: renumbering the columns
// of a sweep costs about a tenth of it.
const leastIsolated = 0.25

// WithoutIsolated returns a problem without most of the nodes that have neither an entry nor a label, and for each node
// of p the row that has its prediction: its own, or that of the isolated node that is kept. Every method gives
// all isolated nodes the same scores, so that one of them is enough: a graph of a million isolated nodes and a
// thousand edges takes the time and the memory of the edges.
//
// It returns nil if these nodes are fewer than a quarter of all, if attributes distinguish them, or if several processes
// share the rows. The graph has In if that of p has. Cost: a pass over the degrees and, if many are 0, a sweep: nodes
// that have entries of value 0 stay.
func WithoutIsolated(ctx context.Context, p *Problem, workers int) (q *Problem, rows []uint32, err error) {
	n, isolated := len(p.Degrees), 0
	for _, d := range p.Degrees {
		if d == 0 {
			isolated++
		}
	}
	if p.Attributes != nil || sparse.TeamOf(p.A) != nil || float64(isolated) < leastIsolated*float64(n) {
		return nil, nil, nil
	}
	used := make([]atomic.Bool, n)
	for _, row := range p.Row {
		used[row].Store(true)
	}
	err = p.A.Sweep(ctx, workers, func(_ int, panel sparse.Panel) error {
		for i := panel.Lo; i < panel.Hi; i++ {
			columns, _ := panel.Row(i - panel.Lo)
			if len(columns) > 0 {
				used[i].Store(true)
			}
			for _, c := range columns {
				if p.Degrees[c] == 0 { // others have entries of their own
					used[c].Store(true)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	rank, rows := make([]uint32, n+1), make([]uint32, n)
	var degrees []float64
	isolatedRow := -1 // of the isolated node that is kept
	for v := range n {
		rank[v] = uint32(len(degrees))
		if rows[v] = rank[v]; !used[v].Load() {
			if isolatedRow >= 0 {
				rows[v] = uint32(isolatedRow)
				continue
			}
			isolatedRow = len(degrees)
		}
		degrees = append(degrees, p.Degrees[v])
	}
	rank[n] = uint32(len(degrees))
	if float64(n-len(degrees)) < leastIsolated*float64(n) {
		return nil, nil, nil
	}
	sub := *p
	sub.Graph, sub.Row = &graph.Graph{A: newConnectedRows(p.A, rank), Signed: p.Signed, Degrees: degrees}, make([]int, len(p.Row))
	if p.In != nil {
		sub.In = newConnectedRows(p.In, rank)
	}
	for i, row := range p.Row {
		sub.Row[i] = int(rank[row])
	}
	return &sub, rows, nil
}

// connectedRows is a matrix without rows and columns that have no entry. Its ranges are those
// of the whole, so that rows are summed in the same order.
type connectedRows struct {
	sparse.Matrix
	rank   []uint32       // rows that are kept before each row of the whole, and all of them
	ranges []sparse.Range // of the kept rows
	index  []int          // of each range of the whole; −1 if no row of it is kept
	panels sync.Pool      // of *panelCopy
}

type panelCopy struct {
	ptr []int64
	col []uint32
}

func newConnectedRows(a sparse.Matrix, rank []uint32) *connectedRows {
	m := &connectedRows{Matrix: a, rank: rank}
	for _, r := range m.Matrix.Ranges() {
		r.Lo, r.Hi = int(m.rank[r.Lo]), int(m.rank[r.Hi])
		if r.Lo == r.Hi {
			m.index = append(m.index, -1)
			continue
		}
		m.index = append(m.index, len(m.ranges))
		m.ranges = append(m.ranges, r)
	}
	return m
}

// Dims implements [sparse.Matrix].
func (m *connectedRows) Dims() (r, c int) {
	n := int(m.rank[len(m.rank)-1])
	return n, n
}

// Ranges implements [sparse.Matrix].
func (m *connectedRows) Ranges() []sparse.Range { return m.ranges }

// Resident implements [sparse.Resident].
func (m *connectedRows) Resident() bool {
	r, ok := m.Matrix.(sparse.Resident)
	return !ok || r.Resident()
}

// Sweep implements [sparse.Matrix].
func (m *connectedRows) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	return m.Matrix.Sweep(ctx, workers, m.keep(visit))
}

// keep returns a visitor of the whole that calls visit with the kept rows.
func (m *connectedRows) keep(visit func(worker int, p sparse.Panel) error) func(worker int, p sparse.Panel) error {
	return func(worker int, p sparse.Panel) error {
		index := m.index[p.Index]
		if index < 0 {
			return nil
		}
		b, _ := m.panels.Get().(*panelCopy)
		if b == nil {
			b = new(panelCopy)
		}
		defer m.panels.Put(b)
		b.ptr, b.col = b.ptr[:0], b.col[:0]
		for i, start := range p.Ptr[:p.Hi-p.Lo] {
			if m.rank[p.Lo+i+1] > m.rank[p.Lo+i] {
				b.ptr = append(b.ptr, start)
			}
		}
		b.ptr = append(b.ptr, p.Ptr[p.Hi-p.Lo])
		for _, c := range p.Col {
			b.col = append(b.col, m.rank[c])
		}
		return visit(worker, sparse.Panel{Range: m.ranges[index], Index: index, Ptr: b.ptr, Col: b.col, Val: p.Val})
	}
}
