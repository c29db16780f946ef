package method

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// withoutTrial returns the choice where nothing can be tried.
func withoutTrial(ctx context.Context, p *Problem, set *Settings) (*Choice, error) {
	g := set.grid
	c := &Choice{Parameters: g.at(g.usual()), Settings: 1}
	if len(g.steps) == 1 {
		return c, nil
	}
	c.setSteps(g.last())
	reached, err := p.Reached(ctx, p.Row, set.Workers, &c.Work)
	if err != nil {
		return nil, err
	}
	for {
		missed, err := c.missed(ctx, p, set, reached)
		if err != nil || missed <= problem.MostMissed || c.Work.EntryColumns > problem.MissedWork || 2*c.steps() > cwk.MaxSteps {
			return c, err
		}
		c.setSteps(2 * c.steps())
	}
}

// missed returns the share of the reached nodes from which a walk with the steps
// of the choice hardly ever meets a label. On a path a walk needs about the square
// of the distance in steps.
func (c *Choice) missed(ctx context.Context, p *Problem, set *Settings, reached *roaring.Bitmap) (float64, error) {
	const label, none = 0, 1
	n := len(p.Degrees)
	start := sparse.NewBlock[float64](n, 2)
	for i := range n {
		start.Row(i)[none] = 1
	}
	w := walkOf[float32](p, set, c.steps())
	w.Prior = cwk.Prior{Given: start}
	w.Seeds.Class, w.Seeds.Classes = make([]int, len(p.Row)), 2
	w.Variants = []cwk.Variant{{Absorb: c.alpha()}}
	misses := make([]bool, n)
	err := w.Run(ctx, 0, 2, func(_ int, rows sparse.Rows, x *sparse.Block[float32]) {
		for i := rows.Lo; i < rows.Hi; i++ {
			misses[i] = x.Row(i)[label] < leastShown
		}
	}, nil)
	c.Work.Add(problem.Work{Sweeps: c.steps(), EntryColumns: sparse.EntriesOf(p.A) * int64(c.steps()) * 2})
	missed := roaring.New()
	for i := range roaring.Values(reached) {
		if misses[i] {
			missed.Add(i)
		}
	}
	return float64(p.CountOf(missed)) / float64(max(1, p.CountOf(reached))), err
}

// leastShown is the smallest probability of meeting a label that float32 walks
// distinguish from zero.
const leastShown = 1e-5

// neutral sets the bias of every classifier so that it is undecided about a node whose walk
// meets no label, that is, whose features all have the given value. The fitted bias between
// single labels depends on how long walks stay at them, and would outvote the label that is
// nearest to a distant node.
func neutral(m *classify.LinearModel, feature float64) {
	for i := range m.Pairs {
		sum := 0.0
		for _, w := range m.Weights[i*m.Features : (i+1)*m.Features] {
			sum += w
		}
		m.Bias[i] = -feature * sum
	}
}
