package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method/ongram"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// gramDocument is the JSON document of classify --gram.
type gramDocument struct {
	Output     string       `json:"output"`
	Rows       int          `json:"rows"`
	Labelled   int          `json:"labelled"`
	Skipped    skippedLines `json:"skipped_label_lines"`
	Classes    []string     `json:"classes"`
	Columns    []string     `json:"columns"`
	Learner    string       `json:"learner"`
	Parameters spec.Values  `json:"parameters"`
	Closing
}

// runGram learns from kernel values in files, and scores all rows.
func (in *invocation) runGram(f *classifyFlags) error {
	o, err := in.beginProduct(f.out, true)
	if err != nil {
		return err
	}
	defer o.abort()
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
		return &dataError{g.file, strings.TrimPrefix(err.Error(), "ongram: ") + "; are these the values of a kernel?"}
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
	unknown := lines{label: func(int) string { return "0" }}
	err = o.fill(g.dtype, k.Rows, tablefile.AxisOf(columns), unknown, func(_ int, row []float64) error { return next(row) })
	if err == nil {
		err = o.publish(nil, g.values)
	}
	if err != nil {
		return err
	}
	d := &gramDocument{
		Output: f.out, Rows: k.Rows.N, Labelled: len(l.Row), Skipped: skippedOf(l), Classes: l.Names,
		Columns: columns, Learner: g.learner.Name, Parameters: g.values,
	}
	return in.tell(d, func(w io.Writer) {
		taken := g.learner.Text(g.values)
		if taken != "" {
			taken = ", " + taken
		}
		fmt.Fprintf(w, "%s × %s of %s from %s%s\n", words.Counted(int64(d.Rows), "row"), words.Counted(int64(len(d.Columns)), "column"),
			d.Learner, words.Counted(int64(d.Labelled), "label"), taken)
		if skipped := d.Skipped.String(); skipped != "" {
			fmt.Fprintln(w, skipped)
		}
		if f.out != "-" {
			fmt.Fprintf(w, "%s: %s\n", f.out, in.cost())
		}
	}, f.out)
}

// openGram opens the kernel and reads the labels of its columns.
func (in *invocation) openGram(f *classifyFlags) (*ongram.Files, error) {
	k, err := ongram.OpenFiles(in.ctx, f.gram.files(), f.gram.combine == productOfKernels)
	if errors.Is(err, tablefile.ErrStream) {
		return nil, usageOf("--gram", "%s can be read once, and the kernel is read twice; give a plain file", f.gram.file)
	}
	if err != nil {
		return nil, err
	}
	if err := k.ReadLabels(in.ctx, f.labels, in.stdin, func(text string) { in.warn("%s", text) }); err != nil {
		return nil, err
	}
	if unknown := k.Labels.Unknown; unknown > 0 && f.config.UnknownIDs != ingest.SkipUnknown {
		return nil, &dataError{f.labels, fmt.Sprintf("has %s of no column of %s, such as %s; label the columns alone, or pass --unknown-ids=skip",
			words.Counted(int64(unknown), "id"), f.gram.file, quoted(k.Absent))}
	}
	if err := k.Labels.Trainable(); err != nil {
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
	return in.keepWithin(func() (*needs, error) {
		n := in.needs()
		classes := len(k.Labels.Names)
		if in.estimating {
			n.disk = o.dense.bytes(k.Rows, axis{N: max(classes, classes*(classes-1)/2)}, 8) + runFileBytes + k.Rows.Bytes()
		}
		if err := n.Reserve(learnerBytes, "ids and labels"); err != nil {
			return n, err
		}
		return n, n.reserveList(k.Memory(f.gram.learner))
	})
}
