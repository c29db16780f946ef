package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
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
			if err := in.checked(); err != nil {
				return err
			}
			return in.merge(args, out)
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
	case parts[0].Dtype == "float64":
		return mergeMatrix[float64](in, parts, out)
	}
	return mergeMatrix[float32](in, parts, out)
}

// partError names the command in an error about all parts together.
func partError(err error) error {
	if wrong := new(evaluate.PartError); errors.As(err, &wrong) {
		return &dataError{cmp.Or(wrong.Path, "merge"), wrong.What}
	}
	return err
}

// mergeMatrix puts the parts of a matrix together.
func mergeMatrix[T sparse.Float](in *invocation, parts []evaluate.PartFile, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return usageOf("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	in.keeps(out)
	m, err := evaluate.OpenMatrix(parts)
	if err != nil {
		return partError(err)
	}
	defer m.Close()
	files := &outputs{in: in}
	defer files.abort()
	d, err := files.beginDense(out)
	if err != nil {
		return err
	}
	size := d.bytes(axis{n: m.Rows}, axis{n: m.Cols}, bytesOf[T]())
	shape := fmt.Sprintf("%s × %s %s", formatCount(int64(m.Rows)), formatCount(int64(m.Cols)), parts[0].Dtype)
	if err := checkSpace(out, size, shape, "choose another disk"); err != nil {
		return err
	}
	rowIDs, colIDs, err := m.IDs(in.ctx)
	if err != nil {
		return partError(err)
	}
	file, err := newDenseFile[T](d, axis{m.Rows, rowIDs}, axis{m.Cols, colIDs}, lines{})
	if err != nil {
		return err
	}
	if err := copyRows(in, m, file); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := in.writeRun(d.run, parts[0].Run.Store, parts[0].Run.Parameters); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	r := &merged{Output: out, Command: parts[0].Command, Parts: len(parts), Rows: m.Rows, Cols: m.Cols, Dtype: parts[0].Dtype}
	if in.json {
		r.Closing = in.closing()
		return in.document(r)
	}
	fmt.Fprintf(in.summary(out), "%s of %s · %s\n%s · %s\n", counted(int64(r.Parts), "part"), r.Command, shape, in.cost(), out)
	return in.stdout.err
}

// copyRows writes the rows of the whole.
func copyRows[T sparse.Float](in *invocation, m *evaluate.MatrixParts, file *tablefile.Writer[T]) error {
	stage := in.progress.begin("merging", int64(m.Rows), "row")
	values, row := make([]float64, m.Cols), make([]T, m.Cols)
	for i := range m.Rows {
		if in.ctx.Err() != nil {
			return context.Cause(in.ctx)
		}
		if err := m.RowTo(values, i); err != nil {
			return err
		}
		if err := narrowTo(row, values); err != nil {
			return err
		}
		if err := file.Row(row); err != nil {
			return err
		}
		stage.set(int64(i+1), int64(m.Rows))
	}
	return nil
}

func axisOf(names []string) axis {
	return axis{len(names), func(i int) string { return names[i] }}
}

// readIDFile reads n ids, one a line.
func (in *invocation) readIDFile(path string, n int) (axis, error) {
	names, err := nodefile.ReadNames(in.ctx, path, n, in.stdin)
	if err != nil {
		return axis{}, err
	}
	if names.Len() != n {
		return axis{}, &dataError{path, fmt.Sprintf("%s, want %s; list the id of each once, in order", counted(int64(names.Len()), "id"), formatCount(int64(n)))}
	}
	return axis{n, names.Name}, nil
}
