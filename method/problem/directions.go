package problem

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse"
)

// WithoutDirections returns the problem on the graph of a directed one without its
// directions, A + Aᵀ, and Aᵀ. An edge weighs what its two arcs weigh together, and 1 if none
// has a weight, as ingest counts them. Cost: a sweep, which it counts in work, and some
// nanoseconds for each arc.
func (p *Problem) WithoutDirections(ctx context.Context, workers int, work *Work) (q *Problem, against *sparse.CSR, err error) {
	along, err := sparse.Load(ctx, p.A, workers)
	if err != nil {
		return nil, nil, err
	}
	work.Add(Work{Sweeps: 1, EntryColumns: p.A.NNZ()})
	against = along.Transpose()
	both, err := sumOf(ctx, along, against)
	if err != nil {
		return nil, nil, err
	}
	degrees, err := sparse.Degrees(ctx, both, workers)
	of := *p
	of.Graph, of.Directed = &graph.Graph{A: both, Degrees: degrees, Components: p.Components}, false
	return &of, against, err
}

// ArcsBytes is the memory of the matrices of [Problem.WithoutDirections]: the graph without
// directions, and the arcs in both directions. left is a limit without it; 0 means none.
func (p *Problem) ArcsBytes(limit int64) (bytes, left int64) {
	n, entry := int64(len(p.Degrees)), int64(4)
	if p.Weighted {
		entry += 8
	}
	matrix := func(entries int64) int64 { return entry*entries + 9*n }
	bytes = matrix(2*p.A.NNZ()) + 8*n + 2*matrix(p.A.NNZ()) + 3*16*n
	return bytes, budget.Remaining(limit, bytes)
}

// sumOf returns A + Aᵀ, of ones alone if A is.
func sumOf(ctx context.Context, a, b *sparse.CSR) (*sparse.CSR, error) {
	rows, cols := a.Dims()
	ptr, col, val := make([]int64, 1, rows+1), make([]uint32, 0, a.NNZ()+b.NNZ()), []float64(nil)
	for i := range rows {
		if i%sparse.MaxRange == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x, of := a.Row(i)
		y, with := b.Row(i)
		weighted := of != nil
		for len(x) > 0 || len(y) > 0 {
			first, v := uint32(math.MaxUint32), 0.0
			if len(x) > 0 {
				first = x[0]
			}
			if len(y) > 0 {
				first = min(first, y[0])
			}
			if len(x) > 0 && x[0] == first {
				x = x[1:]
				if weighted {
					v, of = v+of[0], of[1:]
				}
			}
			if len(y) > 0 && y[0] == first {
				y = y[1:]
				if weighted {
					v, with = v+with[0], with[1:]
				}
			}
			col = append(col, first)
			if weighted {
				val = append(val, v)
			}
		}
		ptr = append(ptr, int64(len(col)))
	}
	return sparse.NewCSR(rows, cols, ptr, col, val)
}
