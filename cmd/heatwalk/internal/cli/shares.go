package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// shareFlag is the share of --slab: number index, from 0, of several of equal size. The zero
// value is the whole.
type shareFlag struct{ index, of int }

func (in *invocation) shareVar(flags *pflag.FlagSet, s *shareFlag, of string) {
	in.variable(flags, "slab", "I/M", "", "do only share I, from 0, of M shares of "+of+"; heatwalk merge puts them together", func(text string) error {
		const most = 1 << 20
		index, of, _ := strings.Cut(text, "/")
		i, err := strconv.Atoi(index)
		m, wrong := strconv.Atoi(of)
		switch {
		case err != nil || wrong != nil || m < 1 || m > most:
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
	in.checkShare(f.share, args, f.out, trialFormats[0], slices.Concat(tablefile.PredictionEndings, trialFormats))
	switch {
	case f.labels == "-" || f.truth == "-" || f.prior == "-":
		in.problem("--slab", "heatwalk merge reads the labels again, and - can be read once; name a file")
	case f.method == nil || f.entries[0].Settings == nil:
	case f.entries[0].Settings.Grid.Size() == 1:
		in.problem("--slab", "all parameters are given, so that there is no choice to divide; leave it out")
	default:
		if shares, _ := method.ExtensionOf(f.method).Shares(f.entries[0].Settings, 2); shares == 0 {
			in.problem("--slab", "only the choices of auto and %s are divided, not that of %s; leave it out, or give --method %[1]s", cwk.Spec.Name, f.method.Name())
		}
	}
}

// tried is the JSON document of a share of classify.
type tried struct {
	Output   string       `json:"output"`
	Method   string       `json:"method"`
	Alpha    []spec.Value `json:"alpha,omitempty"` // of the share
	Folds    []int        `json:"folds,omitempty"` // of auto: the first of the share, and the one behind its last
	Settings int          `json:"settings"`        // settings that were tried
	Tested   int          `json:"tested"`
	Sweeps   int          `json:"sweeps"`
	Closing
}

// runTrials writes a part of classify: how well the settings of a share do.
func (in *invocation) runTrials(name string, f *classifyFlags) error {
	d, err := in.beginLearn(name, f.out, &f.learning)
	if err != nil {
		return err
	}
	lo, hi, err := f.share.bounds(method.ExtensionOf(f.method).Shares(f.entries[0].Settings, len(d.l.Row)))
	if err != nil {
		return err
	}
	settings, err := d.settings(f.entries[0].Settings, &f.learning, in.progress.Phases())
	if err != nil {
		return err
	}
	if err = d.take(settings, 2*runFileBytes, func() ([][]spec.Bytes, int, error) {
		list, sweeps, err := method.ExtensionOf(f.method).TryMemory(d.problem(), settings, lo, hi)
		return [][]spec.Bytes{list}, sweeps, err
	}); err != nil {
		return err
	}
	t, err := method.ExtensionOf(f.method).Try(in.ctx, d.problem(), settings, lo, hi)
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
	switch alphas := t.Grid.Values["alpha"]; {
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

// partOfBlock returns the rows and the columns of a share of a block, and its place.
func partOfBlock(s shareFlag, rows, cols []int, dtype string) (_, _ []int, shape evaluate.Shape, err error) {
	shape = evaluate.Shape{Axis: evaluate.ByColumns, Groups: 1, Dtype: dtype}
	noun, nodes := "column", &cols
	if len(rows) < len(cols) {
		shape.Axis, noun, nodes = evaluate.ByRows, "row", &rows
	}
	if shape.Whole = len(*nodes); s.of > 0 {
		shape.Lo, shape.Hi, err = s.bounds(shape.Whole, noun)
		*nodes = (*nodes)[shape.Lo:shape.Hi]
	}
	return rows, cols, shape, err
}
