package compute

import (
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/sparse"
)

// denseInputs holds the input files of a matrix besides the graph. A file that is not given is "". If rows
// or cols is not given, the rows or columns are all nodes.
type denseInputs struct {
	labels     string
	seeds      bool // labels are the seeds of a walk
	rows, cols string
	block      bool // the columns are nodes
}

func beginDense(run *shell.Session, r *shell.GraphInputs, name, path string,
	inputs denseInputs) (*shell.GraphRun, error) {
	return run.BeginRun(r, name, path, tablefile.MatrixEndings, func(d *shell.GraphRun) (err error) {
		d.Graph.SweepForward(true) // walks follow edges in their direction only
		switch {
		case inputs.labels == "":
		case inputs.seeds:
			d.Labels, err = run.ReadSeeds(r, inputs.labels, d.Graph)
		default:
			d.Labels, err = run.ReadLabels(r, inputs.labels, d.Graph, nil)
		}
		if err == nil {
			d.Rows, err = run.ReadRows(&r.Tables, inputs.rows, d.Graph)
		}
		if err == nil && inputs.block {
			d.Cols, err = run.ReadRows(&r.Tables, inputs.cols, d.Graph)
		}
		return err
	})
}

// labelOf returns a function that returns the label of row i of the matrix in LIBSVM text.
func labelOf(d *shell.GraphRun) func(i int) string {
	number := shell.ClassNumbers(d.Labels, len(d.Graph.Degrees))
	return func(i int) string { return number(d.Rows[i]) }
}

func newWriter[T sparse.Float](o *shell.Outputs,
	m *tablefile.Matrix) (*tablefile.Writer[T], error) {
	m.RowIDs = o.RowIDs
	m.ColIDs = o.ColIDs
	return tablefile.NewWriter[T](o.Writer, o.Format, m)
}

// takesPieces reports whether the format and the path of the output allow its rows to be written in any
// order.
func takesPieces(o *shell.Outputs) bool {
	return o.Format.AnyOrder && !textio.IsStream(o.Path)
}
