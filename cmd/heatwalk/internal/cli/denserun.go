package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/spf13/cobra"
)

// denseRun is a run that writes a dense matrix, with all that it has read and
// has begun to write.
type denseRun struct {
	in         *invocation
	name, path string // of the graph and the output
	files      *outputs
	out        *denseOutput
	g          *openGraph
	l          *nodefile.Labels // nil: without
	rows, cols []int
}

// denseInputs are the files that a denseRun reads beside the graph, "" for
// none. Without a list of rows or columns all nodes are meant.
type denseInputs struct {
	labels     string
	seeds      bool // labels are what a walk starts from
	rows, cols string
	block      bool // there are columns that are nodes
}

// checkDenseRun notes what is wrong with the graph, the output and the other inputs of a
// denseRun.
func (in *invocation) checkDenseRun(cmd *cobra.Command, args []string, r *reading, out string, slab slabFlag, others ...string) {
	inputs := append(slices.Clone(args), others...)
	in.checkGraph(cmd, args, r)
	in.checkDense(out, inputs...)
	in.checkStdin(inputs...)
	in.checkSlab(slab, args, out, ".npy", denseFormats)
}

// beginDense begins the output and reads the inputs.
func (in *invocation) beginDense(name, path string, r *reading, inputs denseInputs) (_ *denseRun, err error) {
	in.keeps(path)
	d := &denseRun{in: in, name: name, path: path, files: &outputs{in: in}}
	begun := false
	defer func() {
		if !begun { // by an error, or a panic
			d.end()
		}
	}()
	if d.out, err = d.files.beginDense(path); err != nil {
		return nil, err
	}
	if d.g, err = in.openFor(name, r, path, true); err != nil {
		return nil, err
	}
	d.g.forward = true // walks take steps along edges alone
	if inputs.labels != "" {
		read := in.readLabels
		if inputs.seeds {
			read = in.readSeeds
		}
		if d.l, err = read(inputs.labels, d.g, r); err != nil {
			return nil, err
		}
	}
	if d.rows, err = in.rowsOf(inputs.rows, d.g); err != nil {
		return nil, err
	}
	if inputs.block {
		if d.cols, err = in.rowsOf(inputs.cols, d.g); err != nil {
			return nil, err
		}
	}
	begun = true
	return d, nil
}

// end gives up what is not finished and closes the graph.
func (d *denseRun) end() {
	d.files.abort()
	if d.g != nil {
		d.g.close()
	}
}

// needs returns the needs of the run but for its computation: what it has read,
// and the output on disk.
func (d *denseRun) needs(rows, cols axis, element int) (*needs, error) {
	n := d.g.needs()
	lists := 8 * (int64(len(d.rows)) + int64(len(d.cols)))
	if d.l != nil {
		lists += 16*int64(len(d.l.Row)) + 4*int64(len(d.g.Degrees())) // and the class of every row
	}
	n.disk += d.out.bytes(rows, cols, element) + runFileBytes
	if d.in.estimating {
		n.disk += rows.Bytes() + cols.Bytes()
	}
	return n, n.Reserve(lists, "lists of nodes")
}

// runFileBytes is about what a run file takes.
const runFileBytes = 4 << 10

// checkSpace returns an error if the output does not fit its disk.
func (d *denseRun) checkSpace(rows, cols axis, dtype string, element int, advice string) error {
	shape := fmt.Sprintf("%s × %s %s", words.Count(int64(rows.N)), words.Count(int64(cols.N)), dtype)
	return checkSpace(d.path, d.out.bytes(rows, cols, element), shape, advice)
}

// labelOf returns what LIBSVM's text has in front of row i.
func (d *denseRun) labelOf() func(i int) string {
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

// partOf describes the output if it is a part, or returns nil.
func (d *denseRun) partOf(command string, s slabFlag, parameters any, shape evaluate.Shape) (*evaluate.Part, error) {
	if s.Of == 0 {
		return nil, nil
	}
	p, err := newPart(command, s, d.g, parameters, d.l)
	if err != nil {
		return nil, err
	}
	p.Nodes, p.Matrix = evaluate.ListSum(nil, d.rows, d.cols), &shape
	return p, nil
}
