package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/tablefile"
)

// merged is the JSON document of merge.
type merged struct {
	matrixDocument
	Command string `json:"command"` // the command line that made the parts
	Parts   int    `json:"parts"`
}

func newMerge(in *invocation) *cobra.Command {
	var out string
	cmd := in.newCommand("merge PART... -o OUT", in.arguments("PART", 1, -1),
		"Put the parts that --slab made together",
		func(_ *cobra.Command, args []string) { in.checkOutput("-o", out, nil, args...) },
		func(args []string) error { return in.merge(args, out) })
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the whole")
	return cmd
}

func (in *invocation) merge(paths []string, out string) error {
	list, err := parts.Read(in.ctx, paths)
	if err == nil {
		err = in.mergeMatrix(list, out)
	}
	if wrong := new(parts.Error); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix writes the matrix of which the list has all parts.
func (in *invocation) mergeMatrix(list []parts.Part, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return fault.Usage("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	dtype, run := list[0].Matrix.Dtype, list[0].Run
	return parts.Merge(in.ctx, list, func(rows, cols tablefile.Axis, rowTo func(i int, dst []float64) error) error {
		o, err := in.beginProduct(out, tablefile.NPY)
		if err != nil {
			return err
		}
		if _, err := o.checkMatrix(rows, cols, dtype, "choose another disk"); err != nil {
			return err
		}
		stage := in.progress.Begin("merging", int64(rows.N), "row")
		err = o.fill(dtype, &tablefile.Matrix{Rows: rows, Cols: cols}, func(i int, row []float64) error {
			stage.Set(int64(i), int64(rows.N))
			return rowTo(i, row)
		})
		if err != nil {
			return err
		}
		r := &merged{matrixDocument{Output: out, Rows: rows.N, Cols: cols.N, Dtype: dtype}, list[0].Command, len(list)}
		return o.finish(r, run.Store, run.Parameters, fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command, shapeOf(r.Rows, r.Cols, dtype)))
	})
}
