package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
)

// merged is the JSON document of merge.
type merged struct {
	matrixDocument
	Command string `json:"command"` // that made the parts
	Parts   int    `json:"parts"`
}

func newMerge(in *invocation) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge PART... -o OUT",
		Short: "Put the parts that --slab made together",
		Args:  in.arguments("PART", 1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				in.problem("-o", "the output is missing; write -o OUT")
			} else {
				in.checkOutput("-o", out, args...)
			}
			return in.then(func() error { return in.merge(args, out) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` of the whole")
	return cmd
}

func (in *invocation) merge(paths []string, out string) error {
	parts, err := evaluate.ReadParts(paths)
	if err == nil {
		put := in.mergeMatrix
		if parts[0].Matrix == nil {
			put = in.mergeTrials
		}
		err = put(parts, out)
	}
	if wrong := new(evaluate.FileError); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix puts the parts of a matrix together.
func (in *invocation) mergeMatrix(parts []evaluate.PartFile, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return fault.Usage("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	m, err := evaluate.OpenMatrix(in.ctx, parts)
	if err != nil {
		return err
	}
	defer m.Close()
	o, err := in.beginProduct(out, true)
	if err != nil {
		return err
	}
	defer o.abort()
	dtype := parts[0].Dtype
	if _, err := o.checkMatrix(m.Rows, m.Cols, dtype, "choose another disk"); err != nil {
		return err
	}
	stage := in.progress.Begin("merging", int64(m.Rows.N), "row")
	err = o.fill(dtype, m.Rows, m.Cols, lines{}, func(i int, row []float64) error {
		stage.Set(int64(i), int64(m.Rows.N))
		return m.RowTo(row, i)
	})
	if err != nil {
		return err
	}
	run := parts[0].Run
	r := &merged{matrixDocument{Output: out, Rows: m.Rows.N, Cols: m.Cols.N, Dtype: dtype}, parts[0].Command, len(parts)}
	return o.finish(r, run.Store, run.Parameters, fmt.Sprintf("%s of %s · %s", words.Counted(int64(r.Parts), "part"), r.Command, shapeOf(m.Rows, m.Cols, dtype)))
}
