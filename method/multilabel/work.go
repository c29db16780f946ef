package multilabel

import (
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of [Predict], or of [Evaluate] with the given number of predictions: the
// eigenvectors, and the least squares of each prediction.
func Work(p *method.Problem, predictions int) sparse.Work {
	const (
		entry, row = 40, 235 // of an eigenvector
		product    = 0.6     // of two columns at a node, for all widths
	)
	node, _ := setsOf(p)
	n := len(p.Degrees)
	columns := float64(columnsOf(n))
	return sparse.Work{
		EntryColumns: entry*columns*float64(p.A.NNZ()) + product*float64(predictions)*float64(len(node))*columns*columns,
		RowColumns:   row * columns * float64(n),
	}
}
