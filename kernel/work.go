package kernel

import (
	"slices"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// The typical work of a column for each stored entry and for each row, of a function of a matrix and of a
// solve, with the defaults; measured on R-MAT graphs of 174,000 nodes and a block model of 100,000.
const (
	columnEntries = 10
	functionRows  = 25
	solveRows     = 35
	halfStep      = 0.5 // share of the work if nodes among themselves take half steps
	functionGrid  = 6   // columns that all kernels of a usual grid cost, if they share products
	solveGrid     = 10  // columns that all kernels of a usual grid cost, if each is solved
)

// Work returns the typical work of a block of the kernel with complete values between the given rows and
// columns, on a graph with the given degrees and number of entries.
func (f *Family) Work(v param.Values, degrees []float64, entries int64, rows, cols []int) sparse.Work {
	columns := float64(min(len(rows), len(cols)))
	if slices.Equal(rows, cols) && f.work != nil && f.work(v, describe(nil, degrees)).half {
		columns *= halfStep
	}
	return f.ColumnWork(v, degrees, entries).Times(columns)
}

// ColumnWork returns the typical work of a column of the kernel with complete values.
func (f *Family) ColumnWork(v param.Values, degrees []float64, entries int64) sparse.Work {
	rows := float64(solveRows)
	if f.work != nil && f.work(v, describe(nil, degrees)).function {
		rows = functionRows
	}
	return sparse.Work{EntryColumns: columnEntries * float64(entries), RowColumns: rows * float64(len(degrees))}
}

// GridWork returns the typical work of the kernels of a grid between the given number of nodes.
func (f *Family) GridWork(grid []param.Values, degrees []float64, entries int64, nodes int) sparse.Work {
	most := float64(solveGrid)
	if f.work != nil && f.work(grid[0], describe(nil, degrees)).function {
		most = functionGrid
	}
	return f.ColumnWork(grid[0], degrees, entries).Times(float64(nodes) * min(most, halfStep*float64(len(grid))))
}
