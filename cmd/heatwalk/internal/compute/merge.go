package compute

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
)

// mergeDocument is the JSON document of merge.
type mergeDocument struct {
	shell.MatrixDocument
	Command string `json:"command"` // the command line that made the parts
	Parts   int    `json:"parts"`
	shell.Closing
}

type mergeOptions struct {
	parts []string
	out   string
}

// NewMerge returns the command heatwalk merge.
func NewMerge(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "merge PART... -o OUT", "Put the parts that --slab made together",
		func(_ *shell.CommandLine, c *mergeOptions, args []string) { c.parts = args }, runMerge)
	flags.AddOutput(&c.out, "output", "", "of the whole matrix", nil)
	return cmd
}

func runMerge(run *shell.Session, c *mergeOptions, _ string) error {
	list, err := parts.Read(run.Context, c.parts)
	if err == nil {
		err = mergeMatrix(run, list, c.out)
	}
	if wrong := new(parts.Error); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix writes the matrix that consists of the parts of list.
func mergeMatrix(run *shell.Session, list []parts.Part, out string) error {
	if shell.FormatOf(out, tablefile.MatrixEndings) != ".npy" {
		return fault.Usage("-o",
			"%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	dtype := list[0].Matrix.Dtype
	first := list[0].Run
	return parts.Merge(run.Context, list, func(rows, cols tablefile.Axis, rowTo func(i int, dst []float64) error) error {
		o, err := run.BeginOutputs(out, tablefile.NPY.Endings)
		if err != nil {
			return err
		}
		files, err := o.CheckMatrix(rows, cols, dtype, "choose another disk")
		if err != nil {
			return err
		}
		run.Costs.Disk = files
		if err := run.Costs.Begin(run.Costs.NewPlan()); err != nil {
			return err
		}
		stage := run.Progress.Begin("merging", int64(rows.N), "row")
		err = o.FillMatrix(dtype, &tablefile.Matrix{Rows: rows, Cols: cols}, func(i int, row []float64) error {
			stage.Set(int64(i), int64(rows.N))
			return rowTo(i, row)
		})
		if err != nil {
			return err
		}
		o.Store = first.Store
		run.Origin = first.Origin
		r := &mergeDocument{MatrixDocument: shell.MatrixDocument{Output: out,
			Rows: rows.N, Cols: cols.N, Dtype: dtype}, Command: list[0].Command,
			Parts: len(list)}
		return o.Finish(r, first.Parameters,
			fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command,
				shell.DescribeShape(r.Rows, r.Cols, dtype)))
	})
}
