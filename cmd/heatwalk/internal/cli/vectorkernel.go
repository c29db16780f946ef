package cli

import (
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel/closed"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/spec"
)

// checkVectorKernel notes what is wrong with the flags of f together.
func (in *invocation) checkVectorKernel(cmd *cobra.Command, f *kernelFlags) {
	in.checkDense(f.out, f.vectors.file, f.rows, f.cols)
	in.checkStdin(f.vectors.file, f.rows, f.cols)
	in.checkVectors(cmd, &f.vectors, f.name, []string{"rows", "cols"})
}

// runVectorKernel writes a block of kernel values between the records of a table.
func (in *invocation) runVectorKernel(f *kernelFlags) error {
	o, err := in.beginProduct(f.out, true)
	if err != nil {
		return err
	}
	defer o.abort()
	a, err := in.readVectors(&f.vectors, f.config.Header)
	if err != nil {
		return err
	}
	rows, err := in.recordsOf(f.rows, a)
	if err != nil {
		return err
	}
	cols, err := in.recordsOf(f.cols, a)
	if err != nil {
		return err
	}
	rowAxis, colAxis := axis{N: len(rows), ID: func(i int) string { return a.IDs[rows[i]] }}, axis{N: len(cols), ID: func(i int) string { return a.IDs[cols[i]] }}
	files, err := o.checkMatrix(rowAxis, colAxis, f.dtype, fewerNodes)
	if err != nil {
		return err
	}
	list := []spec.Bytes{{What: "table", Bytes: a.Bytes()}, {What: "kernel values", Bytes: 16 * int64(len(cols))}}
	if err := in.keepWithin(in.dataNeeds(files, list)); err != nil {
		return err
	}
	in.warnNumbers(&f.vectors, a)
	g, err := f.vectors.kernel.Of(a.Columns, f.vectors.values)
	if err != nil {
		return recordError(err, a)
	}
	classes, _ := a.Labels() // there are none where no column has them
	number := classNumbers(classes, a.Len())
	stage := in.progress.Begin("comparing", int64(len(rows)), "row")
	err = o.fill(f.dtype, rowAxis, colAxis, lines{kernel: true, label: func(i int) string { return number(rows[i]) }}, func(i int, row []float64) error {
		stage.Set(int64(i), int64(len(rows)))
		g.PartTo(row, rows[i], cols)
		return nil
	})
	if err != nil {
		return err
	}
	d := &matrixDocument{
		Output: f.out, Rows: len(rows), Cols: len(cols), Dtype: f.dtype, Kernel: f.vectors.kernel.Name,
		Attributes: len(a.Columns), Parameters: f.vectors.values,
	}
	return o.finish(d, nil, f.vectors.values, shapeOf(rowAxis, colAxis, f.dtype)+" · "+kernelOf(f.vectors.kernel, f.vectors.values, a))
}

// kernelOf names a kernel, its parameters and the attributes.
func kernelOf(k *closed.Kernel, v spec.Values, a *nodefile.Attributes) string {
	return k.Name + " of " + words.Counted(int64(len(a.Columns)), "attribute") + taken(&k.Spec, v)
}

// recordsOf reads a list of ids of records; without one, all records.
func (in *invocation) recordsOf(path string, a *nodefile.Attributes) ([]int, error) {
	if path == "" {
		all := make([]int, a.Len())
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	list, err := nodefile.ReadIDs(in.ctx, path, a, in.stdin)
	if err == nil && len(list) == 0 {
		err = fault.Data(path, "no ids; give one a line")
	}
	return list, err
}
