package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// mergeDocument is the JSON document of merge.
type mergeDocument struct {
	matrixDocument
	Command string `json:"command"` // the command line that made the parts
	Parts   int    `json:"parts"`
}

func newMerge(run *session) *cobra.Command {
	var out string
	cmd := run.newCommand("merge PART... -o OUT", arguments(run, "PART", 1, -1),
		"Put the parts that --slab made together",
		func(_ *cobra.Command, args []string) {
			if !slices.ContainsFunc(args, ingest.IsShare) {
				checkOutput(run, "-o", out, nil, args...)
			} else if out == "" || isThere(out) && !isDir(out) {
				run.problem("-o", "the store's directory is missing; write -o DIR")
			}
		},
		func(args []string) error { return mergeParts(run, args, out) })
	cmd.Flags().StringVarP(&out, "output", "o", "", "`OUT` is the file of the whole matrix, or the directory of the store")
	return cmd
}

func mergeParts(run *session, paths []string, out string) (err error) {
	if slices.ContainsFunc(paths, ingest.IsShare) {
		err = mergeStore(run, paths, out)
	} else {
		var list []parts.Part
		if list, err = parts.Read(run.ctx, paths); err == nil {
			err = mergeMatrix(run, list, out)
		}
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
	dtype, made := list[0].Matrix.Dtype, list[0].Run
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
		r := &mergeDocument{matrixDocument{Output: out, Rows: rows.N, Cols: cols.N, Dtype: dtype}, list[0].Command, len(list)}
		return o.finish(r, made.Store, made.Parameters, fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command, shapeOf(r.Rows, r.Cols, dtype)))
	})
}

// mergedStore is the JSON document of merge for shares of the input files of ingest.
type mergedStore struct {
	*ingestDocument
	Parts int `json:"parts"`
}

// mergeStore writes the store of the shares of ingest in paths.
func mergeStore(run *session, paths []string, out string) error {
	shares := make(map[string]*ingest.Share)
	defer func() {
		for _, s := range shares {
			_ = s.Close() // opened for reading only
		}
	}()
	list := make([]parts.Part, len(paths))
	for i, path := range paths {
		s, err := ingest.OpenShare(run.ctx, path)
		if err != nil {
			return err
		}
		if shares[path] != nil {
			_ = shares[path].Close()
		}
		shares[path] = s
		p := parts.Part{Path: path, Command: "ingest", Share: s.Index, Of: s.Of, Inputs: checkpoint.ListSum(s.Inputs)}
		of, err := parts.New(p, s.Settings, nil, nil, nil)
		if err != nil {
			return err
		}
		list[i] = *of
	}
	list, err := parts.Check(list)
	if err != nil {
		return err
	}
	run.keeps(out)
	o := newOutputs(run, out)
	if o.runFile, err = o.companion(withoutSeparator(out), "", ".run.json"); err != nil {
		return err
	}
	in := newGraphInputs(run)
	config := in.ingestConfig()
	config.Store = &shard.WriteOptions{Around: func(m *shard.Manifest, put func() error) error { return o.publish(storeOf(m), nil, put) }}
	limitHeap(config.Memory)
	ordered := make([]*ingest.Share, len(list))
	for i, p := range list {
		ordered[i] = shares[p.Path]
	}
	report, err := ingest.Merge(run.ctx, out, ordered, config)
	run.progress.End()
	if errors.Is(err, shard.ErrNotStore) { // about the output
		err = fault.Usage("-o", "%v", err)
	}
	if err != nil {
		return err
	}
	run.doing = ""
	return run.printResult(&mergedStore{documentOf(report), len(list)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s · %s\n%s · %s\n", words.Counted(len(list), "part"), madeStore(report), run.cost(), out)
	})
}
