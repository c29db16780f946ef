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
	q, rows, err := problem.WithoutIsolated(ctx, p, set.Workers)
	if err != nil || q == nil {
		return p, identity, err
	}
	return q, func(out *Prediction) {
		class, reached := make([]int, len(rows)), roaring.New()
		for v, row := range rows {
			class[v] = out.Class[row]
			if out.Reached.Contains(row) {
				reached.Add(uint32(v))
			}
		}
		reached.RunOptimize()
		out.Class, out.Reached = class, reached
		out.Scores, out.Raw = extended(out.Scores, rows), extended(out.Raw, rows)
		if out.Tested > 0 {
			out.Unreached += len(rows) - len(q.Degrees)
		}
	}, nil
}

// extended returns a block with the given rows of b; nil of nil.
func extended[T sparse.Float](b *sparse.Block[T], rows []uint32) *sparse.Block[T] {
	if b == nil {
		return nil
	}
	out := sparse.BlockOf(len(rows), b.Cols, make([]T, len(rows)*b.Cols))
	for v, row := range rows {
		copy(out.Row(v), b.Row(int(row)))
	}
	return out
}
