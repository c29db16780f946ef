package blocks

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// NodeChunk is the number of nodes in one piece of work of a loop over nodes.
const NodeChunk = 4096

// EachNodeChunk calls do with pieces lo ≤ i < hi of [NodeChunk] items, which cover 0 ≤ i < n. If the context is
// cancelled, do may return early.
func EachNodeChunk(ctx context.Context, workers, n int, do func(piece, lo, hi int)) error {
	return sched.Run(ctx, workers, (n+NodeChunk-1)/NodeChunk, func(_, piece int) error {
		do(piece, piece*NodeChunk, min(n, (piece+1)*NodeChunk))
		return sched.Cause(ctx)
	})
}

// NodeSums returns a vector of count sums over all rows of a team, of which n are in this process. If team is nil, the
// sums are over n items. do must add the contributions of the items lo ≤ i < hi to sums. The bits of the result do not
// depend on the number of workers.
func NodeSums(ctx context.Context, team *sparse.Team, workers, n, count int,
	do func(sums []float64, lo, hi int)) ([]float64, error) {
	var sums sched.Sums
	sums.Begin(count)
	err := EachNodeChunk(ctx, workers, n, func(piece, lo, hi int) {
		for lo, hi := range team.CountingRows(lo, hi) {
			do(sums.Of(piece), lo, hi)
		}
	})
	total := make([]float64, count)
	sums.TotalTo(total)
	team.Sum(total)
	return total, err
}

// NewDense returns a block without padding, for values that are read row by row. No sweep should gather from it.
func NewDense[T sparse.Float](rows, cols int) *sparse.Block[T] {
	return sparse.BlockOf(rows, cols, system.Make[T](rows*cols))
}
