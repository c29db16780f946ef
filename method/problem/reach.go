package problem

import (
	"context"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/sparse"
)

// FindComponents returns the connected components of the graph, ignoring the direction of edges. It stores them in the
// graph; the first call costs one sweep, counted in work. No other call with the graph may run at the same time.
func (p *Problem) FindComponents(ctx context.Context, workers int,
	work *graph.Work) (*sparse.Components, error) {
	if p.Components == nil {
		parts, err := (&graph.Graph{A: p.A, Symmetric: p.Symmetric && !p.Directed, Workers: workers}).FindComponents(ctx)
		if err != nil {
			return nil, err
		}
		p.Components = parts
		work.Sweeps++
	}
	return p.Components, nil
}

// Whole returns the graph of an undirected problem with everything that [graph.New] computes except ids. Its sweeps are
// counted in work. No other call with the graph may run at the same time. It returns the errors of graph.New.
func (p *Problem) Whole(ctx context.Context, workers int,
	work *graph.Work) (*graph.Graph, error) {
	sweeps := graph.Sweeps
	if p.Components != nil {
		sweeps--
	}
	g, err := graph.New(ctx, p.A,
		&graph.Settings{Components: p.Components, Symmetric: p.Symmetric, Workers: workers})
	if err != nil {
		return nil, err
	}
	p.Components = g.Components
	work.Sweeps += sweeps
	return g, nil
}

// Reachable returns the nodes from which a walk can end in one of rows; without a graph it returns all items. Entries of
// value 0 lead nowhere. Cost: FindComponents; on a directed graph a sweep for each edge of the longest shortest path to
// rows, and one more.
func (p *Problem) Reachable(ctx context.Context, rows []int, workers int,
	work *graph.Work) (*roaring.Bitmap, error) {
	if p.A == nil {
		items := roaring.New()
		items.AddRange(0, uint64(p.Rows()))
		return items, nil
	}
	if p.Directed {
		return reachedAlong(ctx, p, rows, workers, work)
	}
	parts, err := p.FindComponents(ctx, workers, work)
	if err != nil {
		return nil, err
	}
	return parts.Select(componentsOf(p, parts, rows)), nil
}

// MissedComponents returns the number of components of the whole graph with a node that is not in reached. Cost:
// FindComponents if some node is not reached, else nothing.
func (p *Problem) MissedComponents(ctx context.Context, reached *roaring.Bitmap,
	workers int, work *graph.Work) (int, error) {
	if p.CountOf(reached) == p.Nodes() {
		return 0, nil
	}
	parts, err := p.FindComponents(ctx, workers, work)
	if err != nil {
		return 0, err
	}
	team := p.Team()
	missed := roaring.New()
	for lo, hi := range team.CountingRows(0, len(parts.Of)) {
		for v := lo; v < hi; v++ {
			if !reached.Contains(uint32(v)) {
				missed.Add(parts.Of[v])
			}
		}
	}
	var list []float64
	for component := range roaring.Values(missed) {
		list = append(list, float64(component))
	}
	for _, component := range team.Concat(list) {
		missed.Add(uint32(component))
	}
	return int(missed.GetCardinality()), nil
}

// componentsOf reports for each component whether it contains one of the rows of any process.
func componentsOf(p *Problem, parts *sparse.Components, rows []int) []bool {
	team := p.Team()
	holds := make([]bool, len(parts.Sizes))
	var list []float64 // components with a row that other processes lack
	for _, row := range rows {
		component := parts.Of[row]
		if !holds[component] && team != nil && !team.IsNamed(row) {
			list = append(list, float64(component))
		}
		holds[component] = true
	}
	for _, component := range team.Concat(list) {
		holds[int(component)] = true
	}
	return holds
}

// reachedAlong returns the result of Reachable on a directed graph. It repeats sweeps until nothing changes.
func reachedAlong(ctx context.Context, p *Problem, rows []int, workers int,
	work *graph.Work) (*roaring.Bitmap, error) {
	team := p.Team()
	n, _ := p.A.Dims()
	// a 1 at reached nodes
	now := sparse.NewBlock[float32](n, 1)
	next := sparse.NewBlock[float32](n, 1)
	for _, row := range rows {
		now.Row(row)[0] = 1
	}
	for grew := true; grew; {
		var hasChanged atomic.Bool
		copy(next.Data, now.Data)
		err := sparse.EachRowWith(ctx, p.A, next, now, workers, func(row int, col []uint32, val []float64, x *sparse.Block[float32]) error {
			if now.Row(row)[0] == 0 && leadsTo(x, col, val) {
				next.Row(row)[0] = 1
				hasChanged.Store(true)
			}
			return nil
		})
		work.Sweeps++
		if err != nil {
			return nil, err
		}
		any := []float64{0}
		if hasChanged.Load() {
			any[0] = 1
		}
		team.Max(any)
		grew, now, next = any[0] > 0, next, now
	}
	reached := roaring.New()
	for i := range n {
		if now.Row(i)[0] == 1 {
			reached.Add(uint32(i))
		}
	}
	reached.RunOptimize()
	return reached, nil
}

func leadsTo(x *sparse.Block[float32], col []uint32, val []float64) bool {
	for e, c := range col {
		if (val == nil || val[e] != 0) && x.Row(int(c))[0] == 1 {
			return true
		}
	}
	return false
}

// The steps of walks are doubled while walks from more than the share MostMissed of the reached nodes miss all labels.
// If walks cost more than MissedWork entries × columns, some seconds, they are not doubled.
const (
	MostMissed = 0.01
	MissedWork = 1_000_000_000
)
