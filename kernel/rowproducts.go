package kernel

import (
	"context"

	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	lanes    = 4  // the number of features is a multiple of lanes
	jobRows  = 64 // rows of a job
	tileCols = 32 // columns whose features stay in cache while jobRows rows pass
)

func newFeatures(n, cols int) *sparse.Block[float64] {
	return sparse.NewBlock[float64](n, featureColumns(cols))
}

func featureColumns(cols int) int {
	return max(1, (cols+lanes-1)/lanes) * lanes
}

// rowProductsTo stores the values of F·Fᵀ between rows and cols in dst. f must come from newFeatures. An element
// depends on its two rows of F alone, so that bits do not depend on the number of workers.
func rowProductsTo(ctx context.Context, workers int, dst, f *sparse.Block[float64],
	rows, cols []int) error {
	row := func(nodes []int, i int) []float64 {
		// The last row replaces rows beyond the end.
		return f.Row(nodes[min(i, len(nodes)-1)])
	}
	jobs := (len(rows) + jobRows - 1) / jobRows
	return sched.Run(ctx, workers, jobs, func(_, job int) error {
		top := job * jobRows
		bottom := min((job+1)*jobRows, len(rows))
		for left := 0; left < len(cols); left += tileCols {
			for i := top; i < bottom; i += 2 {
				for j := left; j < min(left+tileCols, len(cols)); j += 4 {
					var sums [8]float64
					simd.DotPanels(&sums, row(rows, i), row(rows, i+1),
						row(cols, j), row(cols, j+1), row(cols, j+2),
						row(cols, j+3))
					for r := range min(2, bottom-i) {
						copy(dst.Row(i + r)[j:], sums[4*r:4*r+4])
					}
				}
			}
		}
		return sched.Cause(ctx)
	})
}
