package cli

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/spf13/cobra"
)

// denseInputs are the files that a run which writes a matrix reads beside the graph, "" for
// none. Without a list of rows or columns all nodes are meant.
type denseInputs struct {
	labels     string
	seeds      bool // labels are what a walk starts from
	rows, cols string
	block      bool // there are columns that are nodes
}

// checkDenseRun notes what is wrong with the graph, the output and the other inputs of a
// run that writes a matrix.
func (in *invocation) checkDenseRun(cmd *cobra.Command, args []string, r *reading, out string, slab slabFlag, others ...string) {
	inputs := append(slices.Clone(args), others...)
	in.checkGraph(cmd, args, r)
	in.checkDense(out, inputs...)
	in.checkStdin(inputs...)
	in.checkSlab(slab, args, out, ".npy", denseFormats)
}

// beginDense begins the output and reads the inputs.
func (in *invocation) beginDense(name, path string, r *reading, inputs denseInputs) (*graphRun, error) {
	return in.beginRun(name, path, true, r, func(d *graphRun) (err error) {
		d.g.forward = true // walks take steps along edges alone
		read := in.readLabels
		if inputs.seeds {
			read = in.readSeeds
		}
		if inputs.labels != "" {
			d.l, err = read(inputs.labels, d.g, r)
		}
		if err == nil {
			d.rows, err = in.rowsOf(inputs.rows, d.g)
		}
		if err == nil && inputs.block {
			d.cols, err = in.rowsOf(inputs.cols, d.g)
		}
		return err
	})
}

// needs returns the needs of a run but for its computation: what it has read, and files of so
// many bytes.
func (d *graphRun) needs(files int64) (*needs, error) {
	n := d.g.needs()
	lists := 8 * (int64(len(d.rows)) + int64(len(d.cols)))
	if d.l != nil {
		lists += 16*int64(len(d.l.Row)) + 4*int64(len(d.g.Degrees())) // and the class of every row
	}
	n.disk += files
	return n, n.Reserve(lists, "lists of nodes")
}

// runFileBytes is about what a run file takes.
const runFileBytes = 4 << 10

// labelOf returns what LIBSVM's text has in front of row i.
func (d *graphRun) labelOf() func(i int) string {
	number := classNumbers(d.l, len(d.g.Degrees()))
	return func(i int) string { return number(d.rows[i]) }
}

// writeRows writes consecutive rows.
func writeRows[T sparse.Float](ctx context.Context, file *tablefile.Writer[T], rows *sparse.Block[T]) error {
	for i := range rows.Rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := file.Row(rows.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

// setPart notes that the output is a slab of a matrix.
func (d *graphRun) setPart(command string, s slabFlag, parameters any, shape evaluate.Shape) (err error) {
	if s.Of == 0 {
		return nil
	}
	if d.part, err = newPart(command, s, d.g, parameters, d.l); err == nil {
		d.part.Nodes, d.part.Matrix = evaluate.ListSum(nil, d.rows, d.cols), &shape
	}
	return err
}
