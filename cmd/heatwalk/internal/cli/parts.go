package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/spec"
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
	parts, trials, err := evaluate.ReadParts(paths)
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

// shareFlag is the share of --slab: number index, from 0, of several of equal size. The zero
// value is the whole.
type shareFlag struct{ index, of int }

// maxShares bounds the number of shares.
const maxShares = 1 << 20

func (in *invocation) shareVar(flags *pflag.FlagSet, s *shareFlag, of string) {
	in.variable(flags, "slab", "I/M", "", "do only share I, from 0, of M shares of "+of+"; heatwalk merge puts them together", func(text string) error {
		index, of, _ := strings.Cut(text, "/")
		i, err := strconv.Atoi(index)
		m, wrong := strconv.Atoi(of)
		switch {
		case err != nil || wrong != nil || m < 1 || m > maxShares:
			return fmt.Errorf("%q is no share; give I/M, as in 0/8 for the first of eight", text)
		case i < 0 || i >= m:
			return fmt.Errorf("%q is no share; shares of %d are numbered 0 to %d", text, m, m-1)
		}
		*s = shareFlag{i, m}
		return nil
	})
}

// bounds returns what of n things, called as in "column", belongs to the share:
// lo ≤ i < hi.
func (s shareFlag) bounds(n int, noun string) (lo, hi int, err error) {
	if s.of == 0 {
		return 0, n, nil
	}
	if s.of > n {
		return 0, 0, fault.Usage("--slab", "there are only %s; give at most %d shares", words.Counted(n, noun), n)
	}
	edge := func(i int) int { return int(int64(n) * int64(i) / int64(s.of)) }
	return edge(s.index), edge(s.index + 1), nil
}

// checkShare notes what is wrong with a share: all shares are to read the same
// store, and write files in one form.
func (in *invocation) checkShare(s shareFlag, graph []string, out, format string, formats []string) {
	if s.of == 0 {
		return
	}
	if len(graph) > 0 && !ingest.IsStore(graph[0]) {
		in.problem("--slab", "%s is not a store, and all shares are to read the same one; run heatwalk ingest first", graph[0])
	}
	if out != "" && (out == "-" || formatOf(out, formats) != format) {
		in.problem("--slab", "a part is a file in the form %s; write -o PART%s", format, format)
	}
}

// trialFormats are the endings of a part of classify.
var trialFormats = []string{".trials"}

// checkTrials notes why a choice cannot be divided.
func (in *invocation) checkTrials(args []string, f *classifyFlags) {
	in.checkShare(f.share, args, f.out, trialFormats[0], slices.Concat(predictionFormats, trialFormats))
	switch {
	case f.labels == "-" || f.truth == "-" || f.prior == "-":
		in.problem("--slab", "heatwalk merge reads the labels again, and - can be read once; name a file")
	case f.method == nil || f.entries[0].Settings == nil:
	case f.entries[0].Settings.Grid.Size() == 1:
		in.problem("--slab", "all parameters are given, so that there is no choice to divide; leave it out")
	default:
		if _, _, err := method.Divided(f.method, f.entries[0].Settings, 2); err != nil {
			in.problem("--slab", "%s; leave it out, or give --method %s", withoutUsage(err), cwk.Spec.Name)
		}
	}
}

// tried is the JSON document of a share of classify.
type tried struct {
	Output   string    `json:"output"`
	Method   string    `json:"method"`
	Alpha    []float64 `json:"alpha,omitempty"` // of the share
	Folds    []int     `json:"folds,omitempty"` // of auto: the first of the share, and the one behind its last
	Settings int       `json:"settings"`        // settings that were tried
	Tested   int       `json:"tested"`
	Sweeps   int       `json:"sweeps"`
	Closing
}

// runTrials writes a part of classify: how well the settings of a share do.
func (in *invocation) runTrials(name string, f *classifyFlags) error {
	d, err := in.beginLearn(name, f.out, &f.learning)
	if err != nil {
		return err
	}
	shares, noun, err := method.Divided(f.method, f.entries[0].Settings, len(d.l.Row))
	if err != nil {
		return err
	}
	lo, hi, err := f.share.bounds(shares, noun)
	if err != nil {
		return err
	}
	settings, err := d.settings(f.entries[0].Settings, &f.learning, in.progress.Phases())
	if err != nil {
		return err
	}
	err = d.take(settings, 2*runFileBytes, func() ([][]spec.Bytes, int, error) {
		list, sweeps, err := method.TryMemory(f.method, d.problem(), settings, lo, hi)
		return [][]spec.Bytes{list}, sweeps, err
	})
	if err != nil {
		return err
	}
	t, err := method.Try(in.ctx, f.method, d.problem(), settings, lo, hi)
	if err != nil {
		return err
	}
	if err := encode(d.w, t); err != nil {
		return err
	}
	part := evaluate.Part{Command: classifyCommand, Share: f.share.index, Of: f.share.of, Store: d.g.Manifest.Identity}
	if d.part, err = evaluate.NewPart(part, f.parameters(in.seed), d.l, d.problem().Attributes, nil, nil); err != nil {
		return err
	}
	r := &tried{Output: f.out, Method: f.method.Name(), Tested: t.Tested, Sweeps: t.Work.Sweeps, Folds: []int{lo, hi}}
	share := fmt.Sprintf("folds %d to %d", lo, hi-1)
	switch alphas := t.Grid.Alpha; {
	case t.Hits != nil:
		r.Folds, r.Alpha, r.Settings = nil, alphas[lo:hi], t.Grid.Size()/len(alphas)*(hi-lo)
		share = "α = " + strings.Trim(fmt.Sprint(r.Alpha), "[]")
	case t.Folds != nil: // there are enough labels to learn from
		r.Settings = len(t.Folds[lo].Rows)
	}
	return d.finish(r, storeOf(d.g.Manifest), f.parameters(in.seed), fmt.Sprintf("%s tried on %s · %s", words.Counted(r.Settings, "setting"),
		words.Counted(r.Tested, "labelled node"), share))
}

// classifyCommand is the name of the command whose parts are trials.
const classifyCommand = "classify"

// parameters returns what all parts of one prediction have in common.
func (f *classifyFlags) parameters(seed int64) any {
	return struct {
		Method    string       `json:"method"`
		Grid      *method.Grid `json:"grid"`
		Given     spec.Values  `json:"given,omitempty"`
		Prior     string       `json:"prior"`
		Seed      int64        `json:"seed"`
		Scores    int          `json:"scores"`
		Unreached string       `json:"unreached"`
		Truth     string       `json:"truth,omitempty"`
		Effort    string       `json:"effort"`
		Features  []string     `json:"node_features,omitempty"`
	}{f.method.Name(), f.entries[0].Settings.Grid, f.entries[0].Settings.Given, f.prior, seed, f.scores, f.unreached, f.truth,
		f.effort, slices.DeleteFunc([]string{f.attributes.file, f.attributes.ids}, func(s string) bool { return s == "" })}
}

// mergeTrials ends the command whose parts have the given outcomes, of which the first is
// given: it chooses, and predicts.
func (in *invocation) mergeTrials(first *evaluate.Part, trials *method.Trials, out string) error {
	if !slices.Contains(predictionFormats, strings.ToLower(filepath.Ext(out))) && out != "-" {
		return fault.Usage("-o", "%s has no ending that names a format; give one of %s", out, strings.Join(predictionFormats, " "))
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
	if err != nil || flags.NArg() != 2 {
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
