package chunks

import (
	"context"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse"
)

// Length is the number of nodes in one piece of work.
const Length = 4096

// Run calls do for the items lo ≤ i < hi of n, in pieces of fixed length. do may end early once the context is cancelled.
func Run(ctx context.Context, workers, n int, do func(piece, lo, hi int)) error {
	return sched.Run(ctx, workers, (n+Length-1)/Length, func(_, piece int) error {
		do(piece, piece*Length, min(n, (piece+1)*Length))
		return context.Cause(ctx)
	})
}

// Sums returns count sums over the nodes of a team, of which n are in this process; nil: n items. do adds each
// piece to sums of its own, which are added up in one order for any number of workers.
func Sums(ctx context.Context, team *sparse.Team, workers, n, count int,
	do func(sums []float64, lo, hi int)) ([]float64, error) {
	var sums sched.Sums
	sums.Begin(count)
	err := Run(ctx, workers, n, func(piece, lo, hi int) {
		for lo, hi := range team.CountingRows(lo, hi) {
			do(sums.Of(piece), lo, hi)
		}
	})
	total := make([]float64, count)
	sums.TotalTo(total)
	team.Sum(total)
	return total, err
}

// Block returns a block without padding, for values that are read row by row: no sweep gathers
// from them, so that padding would waste memory.
func Block[T sparse.Float](rows, cols int) *sparse.Block[T] {
	return sparse.BlockOf(rows, cols, system.Make[T](rows*cols))
}

// Bytes is the size of a block without padding.
func Bytes[T sparse.Float](rows, cols int) int64 {
	return int64(rows) * int64(cols) * int64(unsafe.Sizeof(T(0)))
}
