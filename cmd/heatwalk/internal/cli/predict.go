package cli

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/modelfile"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func newPredict(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "predict GRAPH --model M -o OUT.tsv",
		"Predict labels by a model that classify has saved", checkPredict,
		predictLabels)
	flags.addText(&c.model, "model", "`FILE` that classify --save-model wrote")
	outputFlag(flags, &c.out, "output", "-", predictionUsage, scoreFormats)
	predictionFlags(c, flags)
	c.learning.attributes.declare(flags)
	graphFlags(&c.learning.graph, flags)
	return cmd
}

// checkPredict records problems of the flags of predict.
func checkPredict(line *commandLine, c *classifyOptions, _ []string) {
	line.refuse(rule{c.model != "" && textio.IsStream(c.model), "model",
		"a model is read at once; give a file"})
	line.require("model")
}

// modelOutput is a model that is being saved.
type modelOutput struct {
	w io.Writer
	f modelfile.File
}

// beginModel begins the file of the model, whose labels and attributes are known; nil without one.
func beginModel(c *classifyOptions, d *graphRun,
	s *method.Settings) (*modelOutput, error) {
	if c.save == "" {
		return nil, nil
	}
	if s.Prior.Given != nil {
		return nil, fault.Usage("--save-model",
			"a model does not hold a prior of each node; give lines class<TAB>share with --prior, or uniform, empirical or balanced")
	}
	out := &modelOutput{f: modelfile.File{Classes: d.l.Names, Class: d.l.Class,
		Shares: d.shares, Directed: d.g.Directed,
		Unweighted: c.learning.graph.config.Unweighted && zerosOf(d.g) == ""}}
	for _, row := range d.l.Row {
		out.f.IDs = append(out.f.IDs, d.g.Nodes.ID(row))
	}
	if d.g.attributes != nil {
		out.f.Attributes = d.g.attributes.Table.Cols
		out.f.AttributeNames = d.g.attributes.Names()
		out.f.AttributeMeans = d.g.attributes.Means()
	}
	if err := out.f.CheckText(); err != nil {
		return nil, fault.Data(d.l.File, "%v; a model does not hold such names",
			errors.Unwrap(err))
	}
	var err error
	out.w, err = d.out.begin(c.save)
	return out, err
}

// writeModel writes the model of a prediction, unless out is nil.
func writeModel(c *classifyOptions, out *modelOutput, p *method.Prediction,
	s *method.Settings) (err error) {
	if out == nil {
		return nil
	}
	if out.f.Model, err = method.Keep(c.method, p, s); err != nil {
		return err
	}
	return modelfile.Write(out.w, &out.f)
}

// beginModelRun begins a run on a graph with a saved model and its labels.
func beginModelRun(run *session, c *classifyOptions,
	name string) (*graphRun, error) {
	f, err := modelfile.Read(c.model, run.costs.dataLimit())
	if err != nil {
		return nil, err
	}
	if c.method, err = f.Model.Method(); err != nil {
		return nil, fault.Data(c.model, "%s; use the program that has saved it",
			withoutUsage(err))
	}
	if c.scores.kind == "raw" && !method.HasRaw(c.method) {
		return nil, fault.Usage("--scores", noRaw, c.method.Name())
	}
	graph := &c.learning.graph
	graph.config.Unweighted = f.Unweighted
	attributes := &c.learning.attributes
	d, err := beginRun(run, graph, name, c.out, scoreFormats, func(d *graphRun) (err error) {
		d.g.Graph = d.g.Leave(f.Memory, "the model")
		rows, err := f.Rows(c.model, d.g.Nodes.Lookup)
		if err != nil {
			return err
		}
		d.l = &nodefile.Labels{File: c.model, Row: rows, Class: f.Class,
			Names: f.Classes}
		d.shares = f.Shares
		attributes.unused = f.Attributes == 0
		attributes.names = f.AttributeNames
		attributes.means = f.AttributeMeans
		return readAttributes(run, graph, attributes, d.g, nil)
	})
	if err != nil {
		return nil, err
	}
	columns := 0
	if d.g.attributes != nil {
		columns = d.g.attributes.Table.Cols
	}
	switch {
	case columns != f.Attributes && columns == 0:
		return nil, fault.Usage("--node-features",
			"it is missing; the model was learned with %d attributes", f.Attributes)
	case columns != f.Attributes:
		return nil, fault.Usage("--node-features",
			"%s has %d attributes, and the model was learned with %d; give the same columns", attributes.file, columns, f.Attributes)
	case d.g.Directed && !f.Directed:
		return nil, fault.Usage(name,
			"is directed, and the model was learned on a graph without directions; ingest with --undirected")
	case !d.g.Directed && f.Directed:
		return nil, fault.Usage(name,
			"is undirected, and the model was learned on a directed graph; ingest with --directed")
	}
	warnOfFactors(run.console, f.Model.Factors(), d.g.Store.Manifest, name, c.model)
	return d, nil
}

// warnOfFactors warns of a graph without the kinds or times of edges that a model was learned with.
func warnOfFactors(console *streams, kept *sides.Kept, m *shard.Manifest,
	graph, model string) {
	if kept == nil {
		return
	}
	var other []string
	for _, kind := range m.Kinds {
		if _, isKept := kept.Kinds[kind.Name]; !isKept {
			other = append(other, kind.Name)
		}
	}
	switch {
	case kept.Kinds != nil && m.Kinds == nil:
		console.warn("%s: edges have no kinds, and %s was learned with weights of %s; name their column with --kind", graph, model, strings.Join(slices.Sorted(maps.Keys(kept.Kinds)), ", "))
	case kept.Kinds != nil && len(other) > 0:
		console.warn("%s: %s has no weight of the kinds %s, which count as 1", graph,
			model, strings.Join(other, ", "))
	}
	if kept.HalfLife > 0 && m.Times == nil {
		console.warn("%s: edges have no times, and %s was learned with a half-life; name their column with --time", graph, model)
	}
}
