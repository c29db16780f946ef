package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// gramFlags are the flags of classify for kernel values from a file.
type gramFlags struct {
	file    string
	others  []string // that its kernel is combined with
	combine string
	dtype   string
	learner *classify.Learner
	stated  spec.Values // parameters of the learner that were given
	values  spec.Values // all of them
}

// files returns the files whose kernels are combined.
func (f *gramFlags) files() []string { return append([]string{f.file}, f.others...) }

// How the kernels of several files become one. Both are kernels if these are.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

// gramFlags declares the flags of f.
func (in *invocation) gramFlags(flags *pflag.FlagSet, f *gramFlags) {
	flags.StringVar(&f.file, "gram", "", "`FILE` of kernel values to learn from in place of a graph: rows of all nodes, columns of the labelled ones; of several FILE,FILE their sum or product")
	in.choiceVar(flags, &f.combine, "combine", sumOfKernels, []string{sumOfKernels, productOfKernels}, "with --gram FILE,FILE: what becomes of the kernels")
	in.choiceVar(flags, &f.dtype, "dtype", "float32", []string{"float32", "float64"}, "with --gram or -o FILE.npy: precision of scores")
}

// checkScores notes scores that the output does not hold.
func (in *invocation) checkScores(flags *pflag.FlagSet, f *classifyFlags) {
	switch matrix := scoreFormatOf(f.out) != tablefile.Other; {
	case !matrix && (f.kind == "raw" || f.kind != "" && f.vectors.file == ""):
		in.problem("--scores", "%s scores alone are a matrix; write -o FILE.npy, or give all, none or top=K", f.kind)
	case matrix && f.kind == "" && flags.Changed("scores"):
		in.problem("--scores", "a matrix has all of them; give raw or probability")
	}
	in.refuse(flags, rule{scoreFormatOf(f.out) == tablefile.Other, "dtype", "makes a difference with --gram FILE or -o FILE.npy only; leave it out"})
}

// checkGram notes what is wrong with the flags of f together, and finds the learner
// and its parameters.
func (in *invocation) checkGram(cmd *cobra.Command, _ []string, f *classifyFlags) {
	flags := cmd.Flags()
	if !flags.Changed("output") {
		f.out = "" // which is not stdout here
	}
	if names := strings.Split(f.gram.file, ","); len(names) > 1 && !isThere(f.gram.file) {
		f.gram.file, f.gram.others = names[0], names[1:]
	}
	in.checkOutput("-o", f.out, denseFormats, append(f.gram.files(), f.labels)...)
	in.require(flags, "labels", "learner")
	in.refuse(flags,
		rule{f.gram.others == nil, "combine", "is about several kernels; give --gram FILE,FILE"},
		rule{f.gram.file == "-", "gram", "stdin can be read once, and the kernel is read twice; give a file"},
		rule{f.kind == "", "scores", "with --gram there are other ones; give raw or probability"},
	)
	l := classify.LearnerOf(f.learner)
	if l == nil {
		return
	}
	f.gram.learner = l
	own := append([]string{"gram", "labels", "learner", "scores", "dtype", "output", "unknown-ids", "combine"}, l.Takes()...)
	in.notTaken(cmd, own, func(string) string {
		return l.Name + " has no such parameter; " + itTakes(l.Takes(), "it takes nothing but labels")
	})
	_, f.gram.values = in.given(flags, &l.Spec)
}

// gramDocument is the JSON document of classify --gram.
type gramDocument struct {
	learned
	Rows       int         `json:"rows"`
	Columns    []string    `json:"columns"`
	Learner    string      `json:"learner"`
	Parameters spec.Values `json:"parameters"`
}

// runGram learns from kernel values in files, and scores all rows.
func (in *invocation) runGram(_ string, f *classifyFlags) error {
	o, err := in.beginProduct(f.out, denseFormatOf(f.out))
	if err != nil {
		return err
	}
	k, err := in.openGram(f)
	if err != nil {
		return err
	}
	g, l := &f.gram, k.Labels
	if err := in.planGram(k, o, f); err != nil {
		return err
	}
	shares := f.kind == "probability"
	m, err := k.Learn(in.ctx, g.learner, g.values, shares)
	if wrong := new(ongram.LearnError); errors.As(err, &wrong) && !wrong.Limit {
		return fault.Data(g.file, "%s", strings.TrimPrefix(err.Error(), "ongram: ")+"; are these the values of a kernel?")
	}
	if err != nil {
		return learnError(err, g.file)
	}
	columns := l.Names
	if !shares {
		columns = m.ScoreNames(l.Names)
	}
	next, stop := k.Scores(in.ctx, m, shares)
	defer stop()
	err = o.fill(g.dtype, &tablefile.Matrix{Rows: k.Rows, Cols: tablefile.AxisOf(columns)}, func(_ int, row []float64) error { return next(row) })
	if err != nil {
		return err
	}
	d := &gramDocument{learned: o.learned(l), Rows: k.Rows.N, Columns: columns, Learner: g.learner.Name, Parameters: g.values}
	return o.finish(d, nil, g.values, fmt.Sprintf("%s × %s of %s from %s%s", words.Counted(int64(d.Rows), "row"), words.Counted(int64(len(columns)), "column"),
		d.Learner, words.Counted(int64(d.Labelled), "label"), taken(&g.learner.Spec, g.values)), d.Skipped.String())
}

// taken says behind a comma with what parameters something was done, "" without any.
func taken(s *spec.Spec, v spec.Values) string {
	if text := s.Text(v); text != "" {
		return ", " + text
	}
	return ""
}

// openGram opens the kernel and reads the labels of its columns.
func (in *invocation) openGram(f *classifyFlags) (*ongram.Files, error) {
	k, err := ongram.OpenFiles(in.ctx, f.gram.files(), f.gram.combine == productOfKernels)
	if errors.Is(err, tablefile.ErrStream) {
		return nil, fault.Usage("--gram", "%s can be read once, and the kernel is read twice; give a plain file", f.gram.file)
	}
	if err != nil {
		return nil, err
	}
	if err := k.ReadLabels(in.ctx, f.labels, in.stdin, in.warnText); err != nil {
		return nil, err
	}
	if unknown := k.Labels.Unknown; unknown > 0 && f.config.UnknownIDs != ingest.SkipUnknown {
		return nil, fault.Data(f.labels, "has %s of no column of %s, such as %s; label the columns alone, or pass --unknown-ids=skip",
			words.Counted(int64(unknown), "id"), f.gram.file, quoted(k.Absent))
	}
	if err := trainable(k.Labels); err != nil {
		return nil, err
	}
	return k, k.Choose(f.gram.learner)
}

// planGram keeps the run to what it takes.
func (in *invocation) planGram(k *ongram.Files, o *product, f *classifyFlags) error {
	reading, scoring := in.progress.Showing("reading", "row"), in.progress.Showing("scoring", "row")
	k.Progress = func(phase string, done, total int) {
		if phase == "scoring" {
			scoring(done, total)
		} else if reading(done, total); done == total {
			in.progress.Begin("learning", progress.Whole, progress.Shares)
		}
	}
	classes := len(k.Labels.Names)
	disk := o.matrixBytes(k.Rows.N, max(classes, classes*(classes-1)/2), "float64") + runFileBytes + bytesOf(k.Rows)
	return in.keepWithin(in.dataNeeds(disk, k.Memory(f.gram.learner)))
}

// dataNeeds returns the plan of a run without a graph that writes files of so many bytes and
// holds what is listed.
func (in *invocation) dataNeeds(disk int64, list []spec.Bytes) func() (*budget.Needs, error) {
	return func() (*budget.Needs, error) {
		n := in.needs()
		n.Disk = disk
		if err := n.Reserve(learnerBytes, "learner"); err != nil {
			return n, err
		}
		return n, n.ReserveList(list)
	}
}
