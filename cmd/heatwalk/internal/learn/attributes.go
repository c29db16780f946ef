package learn

import (
	"cmp"
	"errors"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/engine"
)

func warnLeaks(console *shell.Console, f *attributeFlags, g *shell.OpenGraph,
	l *nodefile.Labels) {
	if g.Attributes == nil || g.Unread != nil {
		return
	}
	for _, title := range g.Attributes.FindLeaks(l) {
		console.Warn("%s: column %s determines the labels of %s; if it was derived from them, name the other columns with --attribute-fields, because the reported accuracy is then too high", f.file, shell.Quote(title), l.File)
	}
}

func problemOf(d *shell.GraphRun) *engine.Problem {
	l := d.Labels
	p := heatwalk.NewProblem(d.Graph.Graph, l.Row, l.Class, l.Names)
	if d.Graph.Attributes != nil {
		p.Attributes = d.Graph.Attributes.Table
	}
	if d.HeldOut != nil {
		d.HeldOut.AddTo(p)
	}
	return p
}

type attributeFlags struct {
	file   string
	ids    string
	fields []string // columns of a table; nil: all columns that can be attributes
	names  []string // attributes of a model, see [tablefile.FeatureConfig]
	means  []float64
	kept   []tablefile.KeptColumn
	unused bool // no method uses attributes, so that attributes of a store are not read
}

func (f *attributeFlags) declare(flags *shell.FlagSet) {
	flags.AddInput(&f.file, "node-features", "of attributes of nodes: a matrix .npz, .npy or LIBSVM, or a table with a column of ids")
	flags.AddValue("attribute-fields", "COLUMNS", "", "columns of a table of --node-features that are attributes, numbers or titles (default: all but ids, labels and names)", func(s string) error {
		return shell.ParseFields(&f.fields, s, 1, 1<<17, "3,4 or age,country")
	})
	shell.MarkReading(flags.Lookup("attribute-fields"))
	flags.AddInput(&f.ids, "feature-ids", "of ids, one for each row of a matrix of --node-features (default: X.rows.ids for X.npy)")
	shell.MarkReading(flags.Lookup("feature-ids"))
	flags.AddCheck(func(line *shell.CommandLine, _ []string) {
		line.Refuse(f.file == "", "feature-ids",
			"there is no matrix; give it with --node-features")
		line.Refuse(f.file == "", "attribute-fields",
			"there is no table; give it with --node-features")
		line.Refuse(f.file == "-", "node-features",
			"stdin can be read once, and attributes are read several times; give a file")
	})
}

// readAttributes reads the attributes of the nodes of g from the file in the flags, or from the store if no
// file is given. It leaves out the column of the labels l, which may be nil.
func readAttributes(run *shell.Session, r *shell.GraphInputs, f *attributeFlags, g *shell.OpenGraph,
	l *nodefile.Labels) (err error) {
	stored := g.Store.Manifest.Attributes
	if f.file == "" && (f.unused || stored == nil) {
		return nil
	}
	c := &tablefile.FeatureConfig{
		IDs: f.ids, Fields: f.fields, Names: f.names, Means: f.means, Kept: f.kept, Labels: l, Text: r.Tables.Text,
		Missing:     r.Tables.Labelling.Missing,
		SkipUnknown: r.Tables.SkipsUnknown(), SkipBad: r.Config.SkipBadLines, Memory: g.Plan().Room(),
		Stdin: run.Console.Stdin, Warn: run.Console.WarnOfError,
	}
	c.Fix = run.Console.NodeLabels(r, g).Fix
	if f.file == "" {
		run.Console.Note("attributes of the store: " + stored.Name)
	}
	run.Progress.Begin("reading "+cmp.Or(f.file, "attributes of the store"), 0, shell.Bytes)
	g.Attributes, err = g.ReadAttributes(run.Context, f.file, c)
	f.file = cmp.Or(f.file, g.Name)
	if err == nil {
		run.Console.NoteColumns(f.file, g.Attributes.Columns)
	}
	if g.Attributes != nil {
		run.AtEnd(func() { _ = g.Attributes.Close() }) // no error matters, because the file was only read
		g.Graph = g.Leave(g.Attributes.Table.Bytes, "attributes")
	}
	missing := new(nodefile.ParseError)
	switch {
	case err != nil && g.Attributes != nil: // the refusal reports the memory of the whole run
		g.Unread = err
		return nil
	case errors.Is(err, tablefile.ErrTable):
		return shell.UsageError("--feature-ids",
			"%s is a table, whose ids stand in a column; leave it out", f.file)
	case errors.Is(err, tablefile.ErrMatrix):
		return shell.UsageError("--attribute-fields",
			"%s is a matrix, whose columns have no titles; leave it out", f.file)
	case errors.Is(err, tablefile.ErrNoIDs) && errors.As(err, &missing):
		return shell.UsageError("--node-features", "cannot map the rows of %s to nodes: %s is missing; write the ids there, one a line, or name their file with --feature-ids",
			f.file, missing.File)
	}
	return err
}
