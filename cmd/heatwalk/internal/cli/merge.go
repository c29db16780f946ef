package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
)

// mergeDocument is the JSON document of merge.
type mergeDocument struct {
	matrixDocument
	Command string `json:"command"` // the command line that made the parts
	Parts   int    `json:"parts"`
	Closing
}

type mergeOptions struct {
	parts []string
	out   string
}

func newMerge(run *session) *cobra.Command {
	cmd, c := newCommand(run, "merge PART... -o OUT", "Put the parts that --slab made together",
		func(_ *session, c *mergeOptions, _ *cobra.Command, args []string) { c.parts = args }, runMerge)
	outputFlag(cmd.Flags(), &c.out, "output", "", "`OUT` is the file of the whole matrix", nil)
	return cmd
}

func runMerge(run *session, c *mergeOptions, _ string) error {
	list, err := parts.Read(run.ctx, c.parts)
	if err == nil {
		err = mergeMatrix(run, list, c.out)
	}
	if wrong := new(parts.Error); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix writes the matrix that consists of the parts of list.
func mergeMatrix(run *session, list []parts.Part, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return fault.Usage("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	dtype, origin := list[0].Matrix.Dtype, list[0].Run
	return parts.Merge(run.ctx, list, func(rows, cols tablefile.Axis, rowTo func(i int, dst []float64) error) error {
		o, err := beginOutputs(run, out, tablefile.NPY)
		if err != nil {
			return err
		}
		if _, err := checkMatrix(o, rows, cols, dtype, "choose another disk"); err != nil {
			return err
		}
		stage := run.progress.Begin("merging", int64(rows.N), "row")
		err = fillMatrix(o, dtype, &tablefile.Matrix{Rows: rows, Cols: cols}, func(i int, row []float64) error {
			stage.Set(int64(i), int64(rows.N))
			return rowTo(i, row)
		})
		if err != nil {
			return err
		}
		r := &mergeDocument{matrixDocument: matrixDocument{Output: out, Rows: rows.N, Cols: cols.N, Dtype: dtype}, Command: list[0].Command, Parts: len(list)}
		return o.finish(r, origin.Store, origin.Parameters, fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command, shapeOf(r.Rows, r.Cols, dtype)))
	})
}
