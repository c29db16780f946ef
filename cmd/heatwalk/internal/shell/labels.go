package shell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
)

func (in *Inputs) DeclareLabels(flags *FlagSet, p *string, usage string) {
	flags.AddInput(p, "labels", usage)
	in.DeclareFields(flags, "label")
}

// DeclareFields declares the flags for reading a table with a value of the given kind for each node.
func (in *Inputs) DeclareFields(flags *FlagSet, kind string) {
	flags.AddValue("label-fields", "COLUMNS", "", "columns of node and "+kind+", numbers or titles (default: by their titles, or 1,2)", func(s string) error {
		return ParseFields(&in.Labelling.Fields, s, 2, 2, "1,4 or id,class")
	})
	MarkReading(flags.Lookup("label-fields"))
	in.DeclareMissing(flags)
}

// DeclareMissing declares the flag for the words that mean a missing label or a missing end of an edge.
func (in *Inputs) DeclareMissing(flags *FlagSet) {
	if flags.Lookup("missing") != nil {
		return
	}
	flags.AddValue("missing", "WORDS", "", "comma-separated words to treat as missing (default: -1, NA, NaN and null among numbers; none among text and nodes)", func(s string) error {
		in.Labelling.Missing = strings.Split(s, ",")
		return nil
	})
	MarkReading(flags.Lookup("missing"))
}

func (console *Console) NodeLabels(r *GraphInputs, g *OpenGraph) *nodefile.LabelConfig {
	fix := ""
	if g.Report == nil {
		fix = "ingest again with --nodes for nodes without edges, or pass {unknown-ids=skip} to go on"
	}
	c := console.LabelConfig(&r.Tables, fix)
	c.SkipBad = r.Config.SkipBadLines
	return c
}

// ReadLabels reads the labels of the nodes of g from the file path. If like is not nil and the file has the columns
// from which like was read, ReadLabels reads these columns.
func (run *Session) ReadLabels(r *GraphInputs, path string, g *OpenGraph,
	like *nodefile.Labels) (*nodefile.Labels, error) {
	c := run.Console.NodeLabels(r, g)
	c.Like = like
	l, err := nodefile.ReadLabels(run.Context, path, g.Nodes, c)
	if err == nil {
		run.Console.NoteColumns(path, l.Columns)
		run.Console.NoteClasses(path, l)
	}
	return l, err
}

// NoteClasses prints the largest classes of labels with the numbers of their nodes.
func (console *Console) NoteClasses(path string, l *nodefile.Labels) {
	const most = 5
	size := l.Sizes()
	order := sched.Descending(size)
	var list []string
	for _, class := range order[:min(most, len(order))] {
		list = append(list, fmt.Sprintf("%s (%s)", input.Escape(l.Names[class]),
			words.Count(size[class])))
	}
	text := strings.Join(list, ", ")
	if len(order) > most {
		text += ", …"
	}
	console.Note(fmt.Sprintf("%s: %s: %s", input.Escape(path),
		words.Counted(len(order), "class"), text))
}

func (console *Console) ListConfig(in *Inputs, path string) *nodefile.ListConfig {
	return &nodefile.ListConfig{Text: in.Text, SkipUnknown: in.SkipsUnknown(),
		Set:   in.Labelling.Set,
		Stdin: console.Stdin, Warn: console.WarnOfError,
		Columns: func(c input.Columns) { console.NoteColumns(path, c) }}
}

// LabelConfig returns the settings for label files. fix is the remedy for unknown nodes.
func (console *Console) LabelConfig(in *Inputs, fix string) *nodefile.LabelConfig {
	c := in.Labelling
	c.Text = in.Text
	c.SkipUnknown = in.SkipsUnknown()
	c.Fix = fix
	c.Stdin = console.Stdin
	c.Warn = console.WarnOfError
	return &c
}

// ClassNumbers returns the label of each of n rows for LIBSVM text: the number of its class from 1, or
// 0 without a class.
func ClassNumbers(l *nodefile.Labels, n int) func(row int) string {
	if l == nil {
		return func(int) string { return "0" }
	}
	_, place := l.ByName()
	number := make([]int32, n)
	for i, row := range l.Row {
		number[row] = int32(place[l.Class[i]]) + 1
	}
	return func(row int) string { return strconv.Itoa(int(number[row])) }
}

// ReadSeeds reads labels of at least two classes.
func (run *Session) ReadSeeds(r *GraphInputs, path string,
	g *OpenGraph) (*nodefile.Labels, error) {
	l, err := run.ReadLabels(r, path, g, nil)
	if parse := (*nodefile.ParseError)(nil); errors.Is(err, nodefile.ErrSeveral) &&
		errors.As(err, &parse) {
		parse.Fix += ", or pass --multi-label"
	}
	if err != nil {
		return nil, err
	}
	return l, l.Trainable()
}

// SkippedLines counts the lines of a label file without effect.
type SkippedLines struct {
	Unlabelled int `json:"unlabelled"` // empty, or a word for a missing label
	Unknown    int `json:"unknown"`    // nodes that are not in the graph

	Missing []string `json:"missing,omitempty"` // words for missing labels that occurred
}

func CountSkipped(l *nodefile.Labels) SkippedLines {
	return SkippedLines{l.Unlabelled, l.Unknown, l.MissingWords}
}

// Describe returns a summary of the skipped lines, or "". noun names the values in the file.
func (s SkippedLines) Describe(noun string) string {
	reason := " without a " + noun
	if len(s.Missing) > 0 {
		reason += " (" + input.Escape(strings.Join(s.Missing, ", ")) + ")"
	}
	parts := words.Parts([]words.Part{{N: int64(s.Unlabelled), Rest: reason},
		{N: int64(s.Unknown), Rest: " of nodes that are not in the graph"}})
	if parts == "" {
		return ""
	}
	return "skipped " + words.Counted(s.Unlabelled+s.Unknown, noun+" line") +
		": " + parts
}
