package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
)

// labelFlags declares the flag of a file of labels, and those that say how such
// files are read.
func (in *invocation) labelFlags(flags *pflag.FlagSet, p *string, usage string) {
	c := &in.labelling
	flags.StringVar(p, "labels", "", usage)
	in.variable(flags, "label-fields", "COLUMNS", "", "columns of node and label, numbers or titles (default: by their titles, or 1,2)", func(s string) error {
		return parseFields(&c.Fields, s, 2, 2, "1,4 or id,class")
	})
	in.variable(flags, "missing", "WORDS", "", "words that stand for no label, joined by commas (default -1, NA, NaN, None, null and the like); '' for none", func(s string) error {
		c.Missing = strings.Split(s, ",")
		return nil
	})
}

// readLabels reads a file of labels for the nodes of g.
func (in *invocation) readLabels(path string, g *openGraph, r *reading) (*nodefile.Labels, error) {
	return in.readLabelsOf(path, g.Nodes(), r, g.temp == nil)
}

// readLabelsOf reads a file of labels for nodes, which may be those of a store, or for
// what stands in their place.
func (in *invocation) readLabelsOf(path string, nodes nodefile.Lookup, r *reading, stored bool) (*nodefile.Labels, error) {
	c := in.labelling
	c.SkipUnknown, c.Stored, c.Stdin = r.config.UnknownIDs == ingest.SkipUnknown, stored, in.stdin
	c.Warn = func(text string) { in.warn("%s", text) }
	return nodefile.ReadLabels(in.ctx, path, nodes, &c)
}

// classNumbers returns what LIBSVM's text has in front of each of n rows: the number of
// its class from 1, 0 without one. nil are no labels.
func classNumbers(l *nodefile.Labels, n int) func(row int) string {
	if l == nil {
		return func(int) string { return "0" }
	}
	class := evaluate.ClassOfRow(l, n)
	return func(row int) string { return strconv.Itoa(int(class[row]) + 1) }
}

// readSeeds reads the labels that a walk starts from: at least two classes.
func (in *invocation) readSeeds(path string, g *openGraph, r *reading) (*nodefile.Labels, error) {
	l, err := in.readLabels(path, g, r)
	if parse := (*nodefile.ParseError)(nil); errors.Is(err, nodefile.ErrSeveral) && errors.As(err, &parse) {
		parse.Fix += ", or pass --multi-label"
	}
	if err != nil {
		return nil, err
	}
	return l, l.Trainable()
}

// skippedLines counts the lines of a file of labels that label nothing.
type skippedLines struct {
	Unlabelled int `json:"unlabelled"` // empty, or a word that stands for none
	Unknown    int `json:"unknown"`    // of nodes that are not in the graph
}

func skippedOf(l *nodefile.Labels) skippedLines { return skippedLines{l.Unlabelled, l.Unknown} }

// String says what was skipped, "" if nothing.
func (s skippedLines) String() string {
	var parts []string
	if s.Unlabelled > 0 {
		parts = append(parts, words.Count(int64(s.Unlabelled))+" without a label")
	}
	if s.Unknown > 0 {
		parts = append(parts, words.Count(int64(s.Unknown))+" of nodes that are not in the graph")
	}
	if parts == nil {
		return ""
	}
	return "skipped " + words.Counted(int64(s.Unlabelled+s.Unknown), "label line") + ": " + strings.Join(parts, ", ")
}

// problemOf returns what is to be learned.
func problemOf(g *openGraph, l *nodefile.Labels) *method.Problem {
	p := &method.Problem{
		A: g.matrix, Degrees: g.Degrees(), Directed: g.Manifest().Directed, Row: l.Row, Class: l.Class, Names: l.Names,
	}
	if g.attributes != nil {
		p.Attributes = g.attributes.Table
	}
	return p
}
