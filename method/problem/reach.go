package problem

import (
	"context"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/sparse"
)

// Components returns the connected components of the graph, whatever the
// direction of its edges. The first call finds them in one sweep, which it
// counts in work, and keeps them; it must not run beside other calls with p.
func (p *Problem) Components(ctx context.Context, workers int, work *Work) (*sparse.Components, error) {
	if p.Parts == nil {
		parts, err := sparse.FindComponents(ctx, p.A, workers)
		if err != nil {
			return nil, err
		}
		p.Parts = parts
		work.Add(Work{Sweeps: 1, EntryColumns: p.A.NNZ()})
	}
	return p.Parts, nil
}

// Reached returns the nodes from which a walk can end in one of rows, such as the labelled
// ones. Cost: that of Components; of a directed graph that of [sparse.Reached].
func (p *Problem) Reached(ctx context.Context, rows []int, workers int, work *Work) (*roaring.Bitmap, error) {
	if p.Directed {
		a := &counter{Matrix: p.A}
		reached, err := sparse.Reached(ctx, a, rows, workers)
		work.Add(Work{Sweeps: a.total(), EntryColumns: int64(a.total()) * p.A.NNZ()})
		return reached, err
	}
	parts, err := p.Components(ctx, workers, work)
	if err != nil {
		return nil, err
	}
	return parts.Reached(rows), nil
}

// Unreached counts the nodes that are not in reached, and the components that they are
// in. Cost: none if there are no such nodes, else that of Components.
func (p *Problem) Unreached(ctx context.Context, reached *roaring.Bitmap, workers int, work *Work) (nodes, components int, err error) {
	unreached := roaring.Flip(reached, 0, uint64(len(p.Degrees)))
	if unreached.IsEmpty() {
		return 0, 0, nil
	}
	parts, err := p.Components(ctx, workers, work)
	if err != nil {
		return 0, 0, err
	}
	counted := make([]bool, len(parts.Sizes))
	for row := range roaring.Values(unreached) {
		if part := parts.Of[row]; !counted[part] {
			counted[part] = true
			components++
		}
	}
	return int(unreached.GetCardinality()), components, nil
}

// counter counts the sweeps over a matrix.
type counter struct {
	sparse.Matrix
	sweeps atomic.Int64 // several walks may go on at once
}

func (c *counter) total() int { return int(c.sweeps.Load()) }

// Sweep implements [sparse.Matrix].
func (c *counter) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	c.sweeps.Add(1)
	return c.Matrix.Sweep(ctx, workers, visit)
}

// Steps of walks are doubled until walks from at most the share MostMissed of the reached nodes
// miss all labels, or the walks that find this out have taken MissedWork entries ×
// columns, some seconds.
const (
	MostMissed = 0.01
	MissedWork = 1_000_000_000
)
