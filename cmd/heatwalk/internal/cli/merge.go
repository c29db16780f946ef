package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/tablefile"
	"github.com/heatwalk/heatwalk/validate"
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
	parts, trials, err := evaluate.ReadParts(in.ctx, paths)
	switch {
	case err != nil:
	case trials != nil:
		err = in.mergeTrials(&parts[0], trials, out)
	default:
		err = in.mergeMatrix(parts, out)
	}
	if wrong := new(evaluate.FileError); errors.As(err, &wrong) {
		return fault.Data(cmp.Or(wrong.Path, "merge"), "%s", wrong.What)
	}
	return err
}

// mergeMatrix puts the parts of a matrix together.
func (in *invocation) mergeMatrix(parts []evaluate.Part, out string) error {
	if formatOf(out, denseFormats) != ".npy" {
		return fault.Usage("-o", "%s is not in the form of its parts; give a file with the ending .npy", out)
	}
	dtype, run := parts[0].Matrix.Dtype, parts[0].Run
	return evaluate.MergeMatrix(in.ctx, parts, func(rows, cols tablefile.Axis, rowTo func(i int, dst []float64) error) error {
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
		r := &merged{matrixDocument{Output: out, Rows: rows.N, Cols: cols.N, Dtype: dtype}, parts[0].Command, len(parts)}
		return o.finish(r, run.Store, run.Parameters, fmt.Sprintf("%s of %s · %s", words.Counted(r.Parts, "part"), r.Command, shapeOf(r.Rows, r.Cols, dtype)))
	})
}

// mergeTrials ends the command whose parts have the given outcomes, of which the first is
// given: it chooses, and predicts.
func (in *invocation) mergeTrials(first *evaluate.Part, trials *method.Trials, out string) error {
	if !slices.Contains(tablefile.PredictionEndings, strings.ToLower(filepath.Ext(out))) && out != "-" {
		return fault.Usage("-o", "%s has no ending that names a format; give one of %s", out, strings.Join(tablefile.PredictionEndings, " "))
	}
	graph, f, err := in.commandOf(first)
	if err != nil {
		return err
	}
	in.checkOutput("-o", out, nil, graph, f.labels, f.truth, f.prior)
	if err := in.checked(); err != nil {
		return err
	}
	f.part, f.trials, f.out = first, trials, out
	if err = in.runClassify(graph, f); errors.Is(err, validate.ErrUsage) {
		return fault.Data(first.Path, "these parts are of another version, or damaged; make them again")
	}
	return err
}

// commandOf reads the command line that made a part of classify, and takes its
// rng seed.
func (in *invocation) commandOf(p *evaluate.Part) (graph string, f *classifyFlags, err error) {
	again := newInvocation(in.ctx, p.Run.Arguments, in.stdin, io.Discard, io.Discard)
	f = new(classifyFlags)
	flags := pflag.NewFlagSet(classifyCommand, pflag.ContinueOnError)
	again.sharedFlags(flags)
	again.classifyFlags(flags, f)
	if err = flags.Parse(p.Run.Arguments); err == nil {
		again.checkMethod(flags, f)
		err = again.checked()
	}
	switch {
	case in.ctx.Err() != nil:
		return "", nil, context.Cause(in.ctx)
	case err != nil || flags.NArg() != 2:
		return "", nil, fault.Data(p.Path+".run.json", "has no command line that this version reads; make the part again")
	}
	in.seed = again.seed
	at := func(path string) string { // where it lies that the command line has
		if here, err := os.Getwd(); path == "" || filepath.IsAbs(path) || err == nil && here == p.Run.Directory {
			return path
		}
		return filepath.Join(p.Run.Directory, path)
	}
	f.labels, f.truth, f.attributes.file, f.attributes.ids = at(f.labels), at(f.truth), at(f.attributes.file), at(f.attributes.ids)
	if !slices.Contains(cwk.PriorParam.Words, f.prior) {
		f.prior = at(f.prior)
	}
	return at(flags.Arg(1)), f, nil
}
