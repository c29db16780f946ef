package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
)

// merged is the JSON document of merge.
type merged struct {
	Output  string `json:"output"`
	Command string `json:"command"` // that made the parts
	Parts   int    `json:"parts"`
	Rows    int    `json:"rows"`
	Cols    int    `json:"cols"`
	Dtype   string `json:"dtype"`
	Closing
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
	switch {
	case err != nil:
		return partError(err)
	case parts[0].Matrix == nil:
		return in.mergeTrials(parts, out)
	}
	return in.mergeMatrix(parts, out)
}

// partError names the command in an error about all parts together.
func partError(err error) error {
	if wrong := new(evaluate.PartError); errors.As(err, &wrong) {
		return &dataError{cmp.Or(wrong.Path, "merge"), wrong.What}
	}
	return err
}

// mergeMatrix puts the parts of a matrix together.
func (in *invocation) mergeMatrix(parts []evaluate.PartFile, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return usageOf("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	m, err := evaluate.OpenMatrix(parts)
	if err != nil {
		return partError(err)
	}
	defer m.Close()
	o, err := in.beginProduct(out, true)
	if err != nil {
		return err
	}
	defer o.abort()
	dtype, shape := parts[0].Dtype, fmt.Sprintf("%s × %s %s", words.Count(int64(m.Rows)), words.Count(int64(m.Cols)), parts[0].Dtype)
	if err := checkSpace(out, o.dense.bytes(axis{N: m.Rows}, axis{N: m.Cols}, elementOf(dtype)), shape, "choose another disk"); err != nil {
		return err
	}
	rowIDs, colIDs, err := m.IDs(in.ctx)
	if err != nil {
		return partError(err)
	}
	stage := in.progress.Begin("merging", int64(m.Rows), "row")
	err = o.fill(dtype, rowIDs, colIDs, lines{}, func(i int, row []float64) error {
		stage.Set(int64(i), int64(m.Rows))
		return m.RowTo(row, i)
	})
	if err != nil {
		return err
	}
	if err := o.publish(parts[0].Run.Store, parts[0].Run.Parameters); err != nil {
		return err
	}
	r := &merged{Output: out, Command: parts[0].Command, Parts: len(parts), Rows: m.Rows, Cols: m.Cols, Dtype: dtype}
	return in.tell(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s of %s · %s\n", words.Counted(int64(r.Parts), "part"), r.Command, shape)
		in.printCost(w, out)
	}, out)
}
