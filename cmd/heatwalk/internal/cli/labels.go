package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// labelFlags declares the flag of a label file and the flags for reading it.
func labelFlags(in *inputs, flags *flagSet, p *string, usage string) {
	flags.addText(p, "labels", usage)
	fieldsFlag(in, flags, "label")
}

// fieldsFlag declares the flags for reading a table with the given kind of a value for each node.
func fieldsFlag(in *inputs, flags *flagSet, kind string) {
	variable(flags, "label-fields", "COLUMNS", "", "columns of node and "+kind+", numbers or titles (default: by their titles, or 1,2)", func(s string) error {
		return parseFields(&in.labelling.Fields, s, 2, 2, "1,4 or id,class")
	})
	missingFlag(in, flags)
}

// missingFlag declares the flag for the words that mean a missing label or a missing end of an edge.
func missingFlag(in *inputs, flags *flagSet) {
	if flags.Lookup("missing") != nil {
		return
	}
	variable(flags, "missing", "WORDS", "", "words, joined by commas, that are no label and no node (default for labels: -1, NA, NaN, None, null, unknown, ?, - and the like; for nodes: none); '' for none", func(s string) error {
		in.labelling.Missing = strings.Split(s, ",")
		return nil
	})
	markInput(flags.Lookup("missing"))
}

// nodeLabels returns the settings for files of labels of the nodes of g.
func nodeLabels(console *streams, r *graphInputs, g *openGraph) *nodefile.LabelConfig {
	fix := ""
	if g.Report == nil {
		fix = "ingest again with --nodes for nodes without edges, or pass --unknown-ids=skip to go on"
	}
	return labelConfig(console, &r.tables, fix)
}

// readLabels reads a file of labels for the nodes of g, in the columns of other labels if it has these.
func readLabels(run *session, r *graphInputs, path string, g *openGraph,
	like *nodefile.Labels) (*nodefile.Labels, error) {
	c := nodeLabels(run.console, r, g)
	c.Like = like
	l, err := nodefile.ReadLabels(run.ctx, path, g.Nodes, c)
	if err == nil {
		noteColumns(run.console, path, l.Columns)
		noteClasses(run.console, path, l)
	}
	return l, err
}

// noteClasses prints the largest classes of labels with the numbers of their nodes.
func noteClasses(console *streams, path string, l *nodefile.Labels) {
	const most = 5
	size := sizesOf(l)
	order := sched.UpTo(len(size))
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	var list []string
	for _, class := range order[:min(most, len(order))] {
		list = append(list, fmt.Sprintf("%s (%s)", input.Escape(l.Names[class]),
			words.Count(size[class])))
	}
	text := strings.Join(list, ", ")
	if len(order) > most {
		text += ", …"
	}
	console.note(fmt.Sprintf("%s: %s: %s", input.Escape(path),
		words.Counted(len(order), "class"), text))
}

// warnLeaks warns about attributes that determine the labels.
func warnLeaks(console *streams, r *graphInputs, f *attributeFlags, g *openGraph,
	l *nodefile.Labels) {
	if g.attributes == nil || g.unread != nil {
		return
	}
	for _, title := range g.attributes.FindLeaks(l) {
		console.warn("%s: column %s determines the labels of %s; if it was derived from them, name the other columns with --attribute-fields, because the reported accuracy is then too high", f.file, quote(title), l.File)
	}
}

// listConfig returns the settings for lists of ids and splits.
func listConfig(console *streams, in *inputs, path string) *nodefile.ListConfig {
	return &nodefile.ListConfig{Text: in.text, SkipUnknown: in.skipsUnknown(),
		Set:   in.labelling.Set,
		Stdin: console.stdin, Warn: console.warnOf,
		Columns: func(c input.Columns) { noteColumns(console, path, c) }}
}

// labelConfig returns the settings for label files. fix is the remedy for unknown nodes.
func labelConfig(console *streams, in *inputs, fix string) *nodefile.LabelConfig {
	c := in.labelling
	c.Text = in.text
	c.SkipUnknown = in.skipsUnknown()
	c.Fix = fix
	c.Stdin = console.stdin
	c.Warn = console.warnOf
	return &c
}

// classNumbers returns the label of each of n rows for LIBSVM text: the number of its class from 1, or
// 0 without a class.
func classNumbers(l *nodefile.Labels, n int) func(row int) string {
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

// readSeeds reads the labels at which a walk starts: at least two classes.
func readSeeds(run *session, r *graphInputs, path string,
	g *openGraph) (*nodefile.Labels, error) {
	l, err := readLabels(run, r, path, g, nil)
	if parse := (*nodefile.ParseError)(nil); errors.Is(err, nodefile.ErrSeveral) &&
		errors.As(err, &parse) {
		parse.Fix += ", or pass --multi-label"
	}
	if err != nil {
		return nil, err
	}
	return l, l.Trainable()
}

// skippedLines counts the lines of a label file without effect.
type skippedLines struct {
	Unlabelled int `json:"unlabelled"` // empty, or a word for a missing label
	Unknown    int `json:"unknown"`    // nodes that are not in the graph

	Missing []string `json:"missing,omitempty"` // the words for missing labels that occurred
}

func skippedOf(l *nodefile.Labels) skippedLines {
	return skippedLines{l.Unlabelled, l.Unknown, l.MissingWords}
}

// String returns the summary of skipped lines, or "".
func (s skippedLines) String() string { return s.text("label") }

// text returns the summary for a file of the given values of nodes.
func (s skippedLines) text(noun string) string {
	reason := " without a " + noun
	if len(s.Missing) > 0 && noun == "label" {
		reason = " with label " + input.Escape(strings.Join(s.Missing, ", ")) +
			" (--missing '' keeps such classes)"
	}
	parts := words.Parts([]words.Part{{N: int64(s.Unlabelled), Rest: reason},
		{N: int64(s.Unknown), Rest: " of nodes that are not in the graph"}})
	if parts == "" {
		return ""
	}
	return "skipped " + words.Counted(s.Unlabelled+s.Unknown, noun+" line") +
		": " + parts
}

// problemOf returns the learning problem: graph, labels and attributes.
func problemOf(g *openGraph, l *nodefile.Labels) *method.Problem {
	p := heatwalk.NewProblem(g.Graph, l.Row, l.Class, l.Names)
	if g.attributes != nil {
		p.Attributes = g.attributes.Table
	}
	return p
}

// attributeFlags holds the flags for attributes of nodes.
type attributeFlags struct {
	file   string
	ids    string
	fields []string // columns of a table; nil: all that can be attributes
	names  []string // of a model, see [tablefile.FeatureConfig]
	means  []float64
	unused bool // no method uses attributes, so that those of a store are not read
}

func (f *attributeFlags) declare(flags *flagSet) {
	flags.addText(&f.file, "node-features", "`FILE` of attributes of nodes: a matrix .npz, .npy or LIBSVM, or a table with a column of ids")
	variable(flags, "attribute-fields", "COLUMNS", "", "columns of a table of --node-features that are attributes, numbers or titles (default: all but ids, labels, dates and names)", func(s string) error {
		return parseFields(&f.fields, s, 1, 1<<17, "3,4 or age,country")
	})
	markInput(flags.Lookup("attribute-fields"))
	flags.addText(&f.ids, "feature-ids", "`FILE` of ids, one for each row of a matrix of --node-features (default: X.rows.ids for X.npy)")
	flags.addCheck(func(line *commandLine, _ []string) {
		line.refuse(rule{f.file == "", "feature-ids",
			"there is no matrix; give it with --node-features"},
			rule{f.file == "", "attribute-fields",
				"there is no table; give it with --node-features"},
			rule{f.file == "-", "node-features",
				"stdin can be read once, and attributes are read several times; give a file"},
		)
	})
}

// attributesDocument describes attributes in JSON documents.
type attributesDocument struct {
	Nodes   int      `json:"nodes"` // nodes with attributes
	Columns int      `json:"columns"`
	Values  int64    `json:"values"`            // nonzero values
	Unknown int      `json:"unknown,omitempty"` // rows of nodes that are not in the graph
	Passed  []string `json:"passed_over,omitempty"`
}

// attributesOf returns the description of the attributes of g, or nil.
func attributesOf(g *openGraph) *attributesDocument {
	if g.attributes == nil {
		return nil
	}
	t := g.attributes.Table
	var ignored []string
	for _, c := range g.attributes.Columns {
		if c.Use == "" {
			ignored = append(ignored, c.Title)
		}
	}
	return &attributesDocument{t.Present, t.Cols, t.Entries,
		g.attributes.Unknown, ignored}
}

// String returns the description as a line, "" of nil.
func (d *attributesDocument) String() string {
	if d == nil {
		return ""
	}
	text := fmt.Sprintf("%s of %s", words.Counted(d.Columns, "attribute"),
		words.Counted(d.Nodes, "node"))
	if d.Unknown > 0 {
		text += fmt.Sprintf(" · %s of nodes that are not in the graph passed over",
			words.Counted(d.Unknown, "row"))
	}
	return text
}

// readAttributes reads the attributes of the nodes of g: of the file that is given, or those of the store. A column of
// labels, which may be nil, is no attribute.
func readAttributes(run *session, r *graphInputs, f *attributeFlags, g *openGraph,
	l *nodefile.Labels) (err error) {
	stored := g.Store.Manifest.Attributes
	if f.file == "" && (f.unused || stored == nil) {
		return nil
	}
	c := &tablefile.FeatureConfig{
		IDs: f.ids, Fields: f.fields, Names: f.names, Means: f.means, Labels: l, Text: r.tables.text,
		SkipUnknown: r.tables.skipsUnknown(), Memory: g.Plan().Room(),
		Stdin: run.console.stdin, Warn: run.console.warnOf,
	}
	c.Fix = nodeLabels(run.console, r, g).Fix
	if f.file == "" {
		run.progress.Begin("reading attributes of the store", 0, progress.Bytes)
		if f.file, err = shard.AttributesOf(run.ctx, g.Store.Store); err != nil {
			return err
		}
		nodes := g.Store.Store.Nodes
		// nodes outside the largest component
		c.Rows = &tablefile.Axis{N: nodes.Len(), ID: nodes.ID}
		c.SkipUnknown = true
		run.console.note("attributes of the store: " + stored.Name)
	}
	run.progress.Begin("reading "+f.file, 0, progress.Bytes)
	g.attributes, err = tablefile.ReadFeatures(run.ctx, f.file, g.Nodes, c)
	if err == nil {
		noteColumns(run.console, f.file, g.attributes.Columns)
	}
	if g.attributes != nil {
		run.atEnd(func() { _ = g.attributes.Close() }) // it was only read
		g.Graph = g.Leave(g.attributes.Table.Bytes, "attributes")
	}
	missing := new(nodefile.ParseError)
	switch {
	case err != nil && g.attributes != nil: // the refusal reports the memory of the whole run
		g.unread = err
		return nil
	case errors.Is(err, tablefile.ErrTable):
		return fault.Usage("--feature-ids",
			"%s is a table, whose ids stand in a column; leave it out", f.file)
	case errors.Is(err, tablefile.ErrMatrix):
		return fault.Usage("--attribute-fields",
			"%s is a matrix, whose columns have no titles; leave it out", f.file)
	case errors.Is(err, tablefile.ErrNoIDs) && errors.As(err, &missing):
		return fault.Usage("--node-features", "cannot map the rows of %s to nodes: %s is missing; write the ids there, one a line, or name their file with --feature-ids",
			f.file, missing.File)
	}
	return err
}

// markLabelled reports for each of n rows whether it has a label.
func markLabelled(l *nodefile.Labels, n int) []bool {
	rows := make([]bool, n)
	for _, row := range l.Row {
		rows[row] = true
	}
	return rows
}

// sizesOf returns the number of labels of each class.
func sizesOf(l *nodefile.Labels) []int {
	size := make([]int, len(l.Names))
	for _, c := range l.Class {
		size[c]++
	}
	return size
}
