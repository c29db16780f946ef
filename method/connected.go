package method

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// WithoutIsolated returns the problem that methods are run on, without most of the nodes that have
// neither an edge nor a label, and a function that extends a prediction to the whole graph. Both
// are those of p itself if there are few such nodes, or if attributes or a prior of each node
// distinguish them. Positions of labels are the same in both problems.
func WithoutIsolated(ctx context.Context, p *Problem, s *Settings) (*Problem, func(*Prediction), error) {
	identity := func(*Prediction) {}
	set := s.WithDefaults()
	if set.Prior.Given != nil || p.Graph == nil {
		return p, identity, nil
	}
	c, err := p.Connected(ctx, set.Workers)
	if err != nil || c == nil {
		return p, identity, err
	}
	return c.Problem, func(out *Prediction) { extend(out, c) }, nil
}

// extend gives the nodes that were left out the scores of the isolated node that was kept.
func extend(out *Prediction, c *problem.Connected) {
	class, reached := make([]int, c.Whole()), roaring.New()
	for v, position := 0, 0; v < c.Whole(); v++ {
		var source int
		source, position = c.Source(v, position)
		class[v] = out.Class[source]
		if out.Reached.Contains(uint32(source)) {
			reached.Add(uint32(v))
		}
	}
	reached.RunOptimize()
	out.Class, out.Reached = class, reached
	out.Scores, out.Raw = extended(out.Scores, c), extended(out.Raw, c)
	if out.Tested > 0 {
		out.Unreached += c.Whole() - len(c.Problem.Degrees)
	}
}

// extended returns a block with a row for each node of the whole graph; nil of nil.
func extended[T sparse.Float](b *sparse.Block[T], c *problem.Connected) *sparse.Block[T] {
	if b == nil {
		return nil
	}
	out := sparse.BlockOf(c.Whole(), b.Cols, make([]T, c.Whole()*b.Cols))
	for v, position := 0, 0; v < c.Whole(); v++ {
		var source int
		source, position = c.Source(v, position)
		copy(out.Row(v), b.Row(source))
	}
	return out
}
