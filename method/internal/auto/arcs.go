package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// arcs are the edges of a directed graph. What is learned of it is learned of the graph
// without directions, for an edge tells of both its ends, and of a few steps along and
// against the arcs.
type arcs struct {
	steps   [2]*sparse.Operator[float32] // T of A and of Aᵀ
	degrees [2][]float64                 // their sums of rows
}

// withoutDirections returns the problem on the graph without directions, and its arcs. An
// edge weighs what its two arcs weigh together, and 1 if none has a weight, as ingest
// counts them. Cost: a sweep, and some nanoseconds for each arc.
func withoutDirections(ctx context.Context, p *problem.Problem, workers int, work *problem.Work) (*problem.Problem, *arcs, error) {
	along, err := sparse.Load(ctx, p.A, workers)
	if err != nil {
		return nil, nil, err
	}
	against := along.Transpose()
	both, err := sumOf(ctx, along, against)
	if err != nil {
		return nil, nil, err
	}
	work.Add(problem.Work{Sweeps: 1, EntryColumns: p.A.NNZ()})
	come, err := sparse.Degrees(ctx, against, workers)
	if err != nil {
		return nil, nil, err
	}
	a := &arcs{degrees: [2][]float64{p.Degrees, come}}
	for i, m := range []sparse.Matrix{p.A, against} {
		if err := tall.CheckScale[float32](a.degrees[i]); err != nil {
			return nil, nil, err
		}
		a.steps[i] = sparse.NewOperator[float32](sparse.Transition, m, a.degrees[i])
		a.steps[i].Workers = workers
	}
	q := *p
	q.A, q.Directed = both, false
	q.Degrees, err = sparse.Degrees(ctx, both, workers)
	return &q, a, err
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

// arcColumns is the number of columns of arcs.
const arcColumns = 4

// structureCount returns the number of columns that degrees make.
func structureCount(directed bool) int {
	if directed {
		return structureColumns + arcColumns
	}
	return structureColumns
}

// structure returns what arcs of a node tell by themselves: log(1 + d) of those that leave it,
// and of those that come, d in a unit of weights, and their squares.
func (a *arcs) structure() *sparse.Block[float32] {
	unit := tall.WeightUnit(a.degrees[0], a.steps[0].A.NNZ())
	out := piece.Block[float32](len(a.degrees[0]), arcColumns)
	for v := range out.Rows {
		for i, degrees := range a.degrees {
			d := math.Log1p(degrees[v] / unit)
			out.Row(v)[2*i], out.Row(v)[2*i+1] = float32(d), float32(d*d)
		}
	}
	return out
}

// leaveDirections puts the graph without directions in the place of a directed one.
func (r *weigher) leaveDirections(ctx context.Context) (err error) {
	r.set = r.set.withArcs(r.p)
	r.p, r.arcs, err = withoutDirections(ctx, r.p, r.set.Workers, &r.out.Work)
	return err
}

// withArcs returns the settings for the graph without directions.
func (set Settings) withArcs(p *problem.Problem) *Settings {
	set.directed = true
	if set.Memory > 0 {
		set.Memory = max(1, set.Memory-spec.Sum(arcMemory(p)))
	}
	return &set
}

// arcMemory lists what the graph without directions and its arcs take.
func arcMemory(p *problem.Problem) []spec.Bytes {
	n, entry := int64(len(p.Degrees)), int64(4)
	if p.Weighted {
		entry += 8
	}
	matrix := func(entries int64) int64 { return entry*entries + 9*n }
	return []spec.Bytes{
		{What: "the graph without directions", Bytes: matrix(2*p.A.NNZ()) + 8*n},
		{What: "arcs", Bytes: 2*matrix(p.A.NNZ()) + 3*16*n},
	}
}

// outlined is a matrix of which only its size is known.
type outlined struct {
	sparse.Matrix
	entries int64
}

// NNZ returns the number of entries.
func (m outlined) NNZ() int64 { return m.entries }

// outlines returns the problem on the graph without directions with the fewest and the most
// entries that it may have. Its degrees are those of the arcs.
func outlines(p *problem.Problem) []*problem.Problem {
	fewest, most := *p, *p
	fewest.Directed, most.Directed = false, false
	most.A = outlined{p.A, 2 * p.A.NNZ()}
	return []*problem.Problem{&fewest, &most}
}
