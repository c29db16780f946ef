package auto

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/tall"
	"github.com/heatwalk/heatwalk/method/internal/piece"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// arcs are the edges of a directed graph. What is learned of it is learned of the graph
// without directions, for an edge tells of both its ends, and of a few steps along and
// against the arcs.
type arcs struct {
	step    [2]*sparse.Operator[float32] // T of A and of Aᵀ
	degrees [2][]float64                 // sums of the rows of A and of Aᵀ
}

// leaveDirections puts the graph without directions in the place of a directed one.
func (r *weigher) leaveDirections(ctx context.Context) error {
	p := r.p
	r.set = r.set.withArcs(p)
	q, against, err := p.WithoutDirections(ctx, r.set.Workers, &r.out.Work)
	if err != nil {
		return err
	}
	come, err := sparse.Degrees(ctx, against, r.set.Workers)
	if err != nil {
		return err
	}
	r.p, r.arcs = q, &arcs{degrees: [2][]float64{p.Degrees, come}}
	for i, m := range []sparse.Matrix{p.A, against} {
		if err := tall.CheckScale[float32](r.arcs.degrees[i]); err != nil {
			return err
		}
		r.arcs.step[i] = sparse.NewOperator[float32](sparse.Transition, m, r.arcs.degrees[i])
		r.arcs.step[i].Workers = r.set.Workers
	}
	return nil
}

// withArcs returns the settings for the graph without directions.
func (set Settings) withArcs(p *problem.Problem) *Settings {
	set.directed = true
	_, set.Memory = p.ArcsMemory(set.Memory)
	return &set
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
	unit := tall.WeightUnit(a.degrees[0], a.step[0].A.NNZ())
	out := piece.Block[float32](len(a.degrees[0]), arcColumns)
	for v := range out.Rows {
		for i, degrees := range a.degrees {
			d := math.Log1p(degrees[v] / unit)
			out.Row(v)[2*i], out.Row(v)[2*i+1] = float32(d), float32(d*d)
		}
	}
	return out
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
	most.Graph = &graph.Graph{A: outlined{p.A, 2 * p.A.NNZ()}, Degrees: p.Degrees}
	return []*problem.Problem{&fewest, &most}
}
