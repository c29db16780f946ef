package heatwalk

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/regress"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// ErrFollower is the error of a job with [Options.Network] in all processes but process 0, which has the
// result.
var ErrFollower = errors.New("heatwalk: process 0 has the result")

// Local is the part of a graph that this process computes with: the whole graph, or with
// [Options.Network] the rows of this process and those of the nodes that the job names.
type Local struct {
	*graph.Graph
	division *sparse.Division // nil: the whole graph
}

// Rows returns the rows of blocks for rows of the graph that the job has named.
func (l *Local) Rows(rows []int) []int {
	if l.division == nil {
		return rows
	}
	local := make([]int, len(rows))
	for i, row := range rows {
		var ok bool
		local[i], ok = l.Row(row)
		if !ok {
			panic("heatwalk: a row that was not named")
		}
	}
	return local
}

// Row returns the row of blocks for a row of the graph. ok is false if only another process has it.
func (l *Local) Row(row int) (local int, ok bool) {
	if l.division == nil {
		return row, true
	}
	return l.division.Local(row)
}

// Gather returns the block of all nodes of the graph in process 0, nil in others, from those of the local
// parts. Every process calls it.
func (l *Local) Gather(b *sparse.Block[float64]) *sparse.Block[float64] { return gather(l, b) }

// Part returns the rows of a block of all nodes for the local part, nil of nil.
func (l *Local) Part(b *sparse.Block[float64]) *sparse.Block[float64] {
	if l.division == nil || b == nil {
		return b
	}
	return sparse.PartOf(l.division, b)
}

// attributesOf returns the attributes of the nodes of the local part, nil of nil.
func attributesOf(l *Local, t *sparse.Table) *sparse.Table {
	if l.division == nil || t == nil {
		return t
	}
	return t.Part(l.division)
}

// gather returns the block of all nodes of the graph in process 0, nil in others, from those of the
// local parts.
func gather[T sparse.Float](l *Local, b *sparse.Block[T]) *sparse.Block[T] {
	if l.division == nil || b == nil {
		return b
	}
	return sparse.Gather(l.division, b)
}

// allDegrees returns the degrees of all nodes of the graph. Those of the store may differ from them by rounding.
func (l *Local) allDegrees() []float64 {
	if l.division == nil {
		return l.Degrees
	}
	full := sparse.GatherAll(l.division, sparse.BlockOf(len(l.Degrees), 1, l.Degrees))
	degrees := make([]float64, full.Rows)
	for v := range degrees {
		degrees[v] = full.Row(v)[0]
	}
	return degrees
}

// result returns ErrFollower in all processes but process 0.
func (l *Local) result() error {
	if l.division != nil && l.division.Team.Rank() > 0 {
		return ErrFollower
	}
	return nil
}

// prepare begins a job that needs the components of the graph, see [graph.New], and names some nodes.
// estimate plans its memory with the local part; components may be known already. memory is that of
// factors.
func prepare(ctx context.Context, g *Graph, components *sparse.Components, memory *int64, estimate func(*graph.Graph, *Plan) error, named ...[]int) (*Local, error) {
	if g.options.Network == nil {
		if err := blocks.CheckScale[float64](nil, g.Degrees); err != nil {
			return nil, err
		}
		err := Begin(ctx, g, func(plan *Plan) error {
			plan.Named = len(slices.Concat(named...))
			return estimate(g.Graph, plan)
		})
		if err == nil {
			err = finish(ctx, g, components, *memory)
		}
		return &Local{Graph: g.Graph}, err
	}
	full := &graph.Graph{A: g.A, Nodes: g.Nodes, Hyperedges: g.Hyperedges, Workers: g.options.Workers}
	var err error
	if g.Directed {
		if full.In, err = g.Store.Transpose(ctx); err != nil {
			return nil, err
		}
	}
	l, err := divide(ctx, g, full, named...)
	if err == nil {
		err = Begin(ctx, g, func(plan *Plan) error { return estimate(l.Graph, plan) })
	}
	if err == nil {
		l.Memory = *memory
	}
	return l, err
}

// LocalPart returns the local part of the graph, with its matrix and degrees alone, for a job that names some
// nodes and uses the packages below this one. The matrix of a whole graph is in memory after [Begin].
func LocalPart(ctx context.Context, g *Graph, named ...[]int) (*Local, error) {
	local := &graph.Graph{A: g.A, Signed: g.Signed, Degrees: g.Degrees, Workers: g.options.Workers}
	if g.options.Network == nil {
		return &Local{Graph: local}, nil
	}
	d := newDivision(g, g.A, named)
	a, err := sparse.Divide(ctx, g.A, d, Room(g), g.options.Workers)
	if err != nil {
		return nil, err
	}
	local.A, local.Degrees = a, sparse.RowsOf(d, g.Degrees)
	return newLocal(g, d, local), nil
}

// divide returns the local part of a graph, which is that of g or smaller.
func divide(ctx context.Context, g *Graph, full *graph.Graph, named ...[]int) (*Local, error) {
	d := newDivision(g, full.A, named)
	local, err := graph.Divide(ctx, full, d, Room(g))
	if err != nil {
		return nil, err
	}
	return newLocal(g, d, local), nil
}

// newDivision divides the rows of a matrix among the processes.
func newDivision(g *Graph, a sparse.Matrix, named [][]int) *sparse.Division {
	rows := slices.Concat(named...)
	slices.Sort(rows)
	n, _ := a.Dims()
	return sparse.NewDivision(n, g.options.Network, partition.Divide(a, g.options.Network.Size()), slices.Compact(rows))
}

// newLocal returns a local part and reserves its memory.
func newLocal(g *Graph, d *sparse.Division, local *graph.Graph) *Local {
	bytes := []float64{0}
	for _, a := range []sparse.Matrix{local.A, local.In} {
		if a, ok := a.(*sparse.Divided); ok {
			bytes[0] += float64(a.Bytes())
		}
	}
	d.Team.Max(bytes) // plans are the same in all processes
	Reserve(g, int64(bytes[0]), "rows of this process")
	return &Local{local, d}
}

// withTranspose returns the problem with Aᵀ if one of the methods needs it.
func withTranspose(ctx context.Context, g *Graph, p *method.Problem, methods ...method.Method) (*method.Problem, error) {
	if !g.Directed || !slices.ContainsFunc(methods, method.NeedsTranspose) {
		return p, nil
	}
	in, err := g.Store.Transpose(ctx)
	q := *p
	q.Graph = &graph.Graph{A: p.A, In: in, Signed: p.Signed, Degrees: p.Degrees}
	return &q, err
}

// localProblem returns the local part of a problem, whose labelled nodes are named. The prior of the
// settings becomes that of the local rows.
func localProblem(ctx context.Context, g *Graph, p *method.Problem, s *method.Settings) (*Local, *method.Problem, error) {
	if g.options.Network == nil {
		return &Local{Graph: p.Graph}, p, nil
	}
	l, err := divide(ctx, g, &graph.Graph{A: p.A, In: p.In, Workers: g.options.Workers}, p.Row)
	if err != nil {
		return nil, nil, err
	}
	q := *p
	q.Graph, q.Row = l.Graph, l.Rows(p.Row)
	q.Attributes = attributesOf(l, p.Attributes)
	q.Edges = localEdges(l, p.Edges)
	s.Prior.Given = l.Part(s.Prior.Given)
	return l, &q, nil
}

// localEdges returns edges whose rows several processes share, nil of nil.
func localEdges(l *Local, e *sides.Edges) *sides.Edges {
	if l.division == nil || e == nil {
		return e
	}
	return &sides.Edges{Store: e.Store, Options: e.Options, Weighted: e.Weighted, Streamed: e.Streamed, Division: l.division}
}

// gatherPrediction completes a prediction of the local rows to one of all nodes, in process 0.
func gatherPrediction(l *Local, out *method.Prediction) error {
	if l.division == nil {
		return nil
	}
	out.Scores, out.Raw = gather(l, out.Scores), gather(l, out.Raw)
	class := make([]float64, len(out.Class))
	for i, c := range out.Class {
		class[i] = float64(c)
	}
	class, out.Reached = gatherReached(l, class, out.Reached)
	out.Class = make([]int, len(class))
	for i, c := range class {
		out.Class[i] = int(c)
	}
	return l.result()
}

// gatherValues completes predicted values of the local rows to those of all nodes, in process 0.
func gatherValues(l *Local, out *regress.Prediction) error {
	if l.division == nil {
		return nil
	}
	out.Value, out.Reached = gatherReached(l, out.Value, out.Reached)
	return l.result()
}

// gatherReached returns the values of all nodes and the set of reached ones in process 0, nil in others, from
// those of the local rows.
func gatherReached(l *Local, values []float64, reached *roaring.Bitmap) ([]float64, *roaring.Bitmap) {
	nodes := sparse.NewBlock[float64](len(values), 2)
	for i, v := range values {
		nodes.Row(i)[0] = v
		if reached.Contains(uint32(i)) {
			nodes.Row(i)[1] = 1
		}
	}
	nodes = gather(l, nodes)
	if nodes == nil {
		return nil, nil
	}
	values = make([]float64, nodes.Rows)
	reached = roaring.New()
	for i := range values {
		values[i] = nodes.Row(i)[0]
		if nodes.Row(i)[1] == 1 {
			reached.Add(uint32(i))
		}
	}
	reached.RunOptimize()
	return values, reached
}
