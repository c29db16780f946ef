package suggest

import (
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of [Nodes], without the prediction: a solve for each candidate.
func Work(p *problem.Problem, count int) sparse.Work {
	const entry, row = 4, 14 // of a solve
	n := len(p.Degrees)
	columns := float64(min(n, candidates+each*count) + 1)
	return sparse.Work{EntryColumns: entry * columns * float64(p.A.NNZ()), RowColumns: row * columns * float64(n)}
}
