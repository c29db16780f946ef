package learn

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func NewPredict(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "predict [GRAPH] --model M -o OUT.tsv",
		"Predict labels or numbers by a saved model", checkPredict,
		runPredict)
	flags.AddInput(&c.columns, "columns", "that --save-columns of classify wrote with the model; predicts the nodes of --new")
	flags.AddInput(&c.edges, "new", "of edges of new nodes to nodes of --columns and to each other, read as GRAPH, which is left out")
	flags.AddSideOutput(&c.reasons, "explain", "for the links that carried the label of each node of --new, with their shares: .tsv or .csv", tablefile.LineEndings)
	flags.BoolVar(&c.checks, "check", false, "only check that this program reads the model; needs no GRAPH")
	flags.AddInput(&c.model, "model", "that --save-model of classify or regress wrote")
	shell.NumberVar(flags, &c.leastReached, "min-reached", 0, param.Range{Most: 1}, "share",
		"least share of the nodes that labels must reach, or the run ends with exit code 3 and no output")
	flags.AddOutput(&c.out, "output", "-", shell.PredictionUsage, shell.ScoreFormats)
	c.predictionFlags(flags)
	c.pageFlags(flags)
	c.learning.attributes.declare(flags)
	c.learning.graph.Declare(flags)
	return cmd
}

func checkPredict(line *shell.CommandLine, c *classifyOptions, args []string) {
	line.Refuse((c.columns == "") != (c.edges == ""), "new", "edges of new nodes and columns go together; give --new and --columns")
	line.Refuse(c.columns == "" && c.reasons != "", "explain", "it is about the nodes of --new; call heatwalk explain for nodes of a graph")
	line.Refuse(c.columns != "" && len(args) > 0, "columns", "the graph is not read; leave out GRAPH")
	for flag, isGiven := range map[string]bool{"min-reached": c.leastReached > 0, "report": c.page != ""} {
		line.Refuse(c.columns != "" && isGiven, flag, "it is about a whole graph; leave it out")
	}
	if !c.checks && len(args) == 0 && c.columns == "" && !line.HasProblem("predict") {
		line.Problem("predict", "GRAPH is missing; usage: %s", shell.Synopsis(line.Command))
	}
	line.Refuse(c.model != "" && textio.IsStream(c.model), "model",
		"a model is read at once; give a file")
	line.Require("model")
}

func runPredict(run *shell.Session, c *classifyOptions, name string) error {
	if !c.checks {
		if err := c.readModel(run); err != nil {
			return err
		}
		if c.columns != "" {
			if err := c.openColumns(run); err != nil {
				return err
			}
			name = c.edges
		}
		switch {
		case c.kept.Several != nil:
			return predictSeveral(run, c, name)
		case c.kept.Value != nil:
			// The errors of the model are repeated; a model of an older format has none, and its parameters are measured.
			if err := c.refuseFlags(run, "numbers", "scores", "dtype", "unreached", "sets", "report", "report-nodes", "truth"); err != nil {
				return err
			}
			if !textio.IsStream(c.out) && !slices.Contains(tablefile.NumberEndings, shell.Ending(c.out)) {
				return shell.UsageError("--output", "%s: numbers are written as %s", c.out, strings.Join(tablefile.NumberEndings, ", "))
			}
			d, err := beginModelRun(run, c, name)
			if err != nil {
				return err
			}
			in := &valuesRun{data: d, values: &nodefile.Values{Labels: d.Labels, Value: c.kept.Value}, settings: &engine.Settings{Workers: run.Threads}}
			in.complete()
			p, err := predictValues(run, in, c.method, name, false)
			if err == nil {
				err = c.checkReached(d, p.Reached)
			}
			if err != nil {
				return err
			}
			return writeValues(run, &regressOptions{out: c.out, source: c.model}, in, p)
		}
		return predictLabels(run, c, name)
	}
	f, err := heatwalk.LoadModelWithin(c.model, run.Costs.DataLimit())
	if err == nil {
		_, err = f.Engine()
	}
	if err == nil || errors.Is(err, shard.ErrVersion) || errors.Is(err, shard.ErrCorrupt) {
		return err
	}
	return heatwalk.ModelDamage(c.model, err.Error())
}

type modelOutput struct {
	w io.Writer
	f *heatwalk.Model
}

// beginModel begins the file of the model. It returns nil if path is "".
func beginModel(d *shell.GraphRun, p *engine.Problem, path string) (*modelOutput, error) {
	if path == "" {
		return nil, nil
	}
	out := &modelOutput{f: heatwalk.NewModel(d.Graph.Graph, p, d.Graph.Attributes)}
	if err := out.f.CheckText(); err != nil {
		return nil, shell.DataError(d.Labels.File, "%v; a model does not hold such names",
			errors.Unwrap(err))
	}
	var err error
	out.w, err = d.Out.Begin(path)
	return out, err
}

// writeModel writes the model of a prediction. It does nothing if out is nil.
func (c *classifyOptions) writeModel(d *shell.GraphRun, out *modelOutput, p *heatwalk.Prediction) error {
	if out == nil {
		return nil
	}
	if err := p.KeepTo(out.f); err != nil {
		return err
	}
	if c.learning.graph.Config.Unweighted && d.Graph.DescribeZeros() == "" { // also if the graph is a store
		out.f.Model.Origin.Reading[heatwalk.UnweightedEdges] = "true"
	}
	return out.f.Write(out.w)
}

func (c *classifyOptions) readModel(run *shell.Session) (err error) {
	if c.kept, err = heatwalk.LoadModelWithin(c.model, run.Costs.DataLimit()); err != nil {
		return err
	}
	if c.method, err = c.kept.Engine(); err != nil {
		return shell.DataError(c.model, "%s; use the program that has saved it",
			shell.WithoutUsage(err))
	}
	if c.scores.Kind == "raw" && !c.method.HasRaw && c.kept.Value == nil {
		return shell.UsageError("--scores", noRaw, c.method.Name)
	}
	return nil
}

// refuseFlags returns an error if one of the named flags is given, because they have no meaning for
// target, what the model predicts.
func (c *classifyOptions) refuseFlags(run *shell.Session, target string, names ...string) error {
	for _, name := range names {
		if run.Line.Command.Flags().Changed(name) {
			return shell.UsageError("--model", "%s predicts %s, for which --%s has no meaning; leave that out", c.model, target, name)
		}
	}
	return nil
}

func beginModelRun(run *shell.Session, c *classifyOptions,
	name string) (*shell.GraphRun, error) {
	f := c.kept
	graph := &c.learning.graph
	origin := &f.Model.Origin
	graph.Config.Unweighted = origin.Reading[heatwalk.UnweightedEdges] != ""
	if err := graph.Restore(run, origin, name, c.model); err != nil {
		return nil, err
	}
	attributes := &c.learning.attributes
	formats := shell.ScoreFormats
	if f.Value != nil {
		formats = nil
	}
	d, err := run.BeginRun(graph, name, c.out, formats, func(d *shell.GraphRun) (err error) {
		d.Graph.Graph = d.Graph.Leave(f.Memory, "the model")
		d.Labels = &nodefile.Labels{File: c.model, Names: f.Classes}
		if c.opened == nil {
			d.Shares = f.Shares
			d.Labels.Class = f.Class
			if d.Labels.Row, err = f.Rows(d.Graph.Nodes.Lookup); err != nil {
				return err
			}
		}
		attributes.unused = f.Attributes == 0
		attributes.names = f.AttributeNames
		attributes.means = f.AttributeMeans
		attributes.kept = f.AttributeColumns
		return readAttributes(run, graph, attributes, d.Graph, nil)
	})
	if err != nil {
		return nil, err
	}
	columns := 0
	if d.Graph.Attributes != nil {
		columns = d.Graph.Attributes.Table.Cols
	}
	switch {
	case columns != f.Attributes && columns == 0:
		return nil, shell.UsageError("--node-features",
			"it is missing; the model was learned with %d attributes", f.Attributes)
	case columns != f.Attributes:
		return nil, shell.UsageError("--node-features",
			"%s has %d attributes, and the model was learned with %d; give the same columns", attributes.file, columns, f.Attributes)
	}
	if err := origin.Compare(d.Graph.Origin()); err != nil {
		return nil, originError(err, d.Graph, c.model)
	}
	warnOfFactors(run.Console, origin.Edges, d.Graph.Store.Manifest, name, c.model)
	warnOfWeights(run.Console, origin.CompareWeights(d.Graph.Origin()), name, c.model)
	return d, nil
}

// warnOfWeights warns of weights of edges that differ from those that the model was learned with; d may be nil.
func warnOfWeights(console *shell.Console, d *sides.Difference, graph, model string) {
	column := func(title string) string {
		if title == "true" {
			return ""
		}
		return " of column " + input.Escape(title)
	}
	switch {
	case d == nil:
	case d.Graph == "":
		console.Warn("%s: edges have no weights, and %s was learned with weights%s; name their column with --weight, or learn a model on this graph",
			graph, model, column(d.Result))
	case d.Result == "":
		console.Warn("%s: edges have weights%s, and %s was learned without; name the columns of the nodes alone with --fields, or learn a model on this graph",
			graph, column(d.Graph), model)
	default:
		console.Warn("%s: the weights are those of column %s, and %s was learned with those%s; name that column with --weight, or learn a model on this graph",
			graph, input.Escape(d.Graph), model, column(d.Result))
	}
}

// warnOfFactors warns if the graph has no kinds or times of edges although the model was learned with them.
func warnOfFactors(console *shell.Console, kept *sides.Kept, m *shard.Manifest,
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
		console.Warn("%s: edges have no kinds, and %s was learned with weights of %s; name their column with --kind", graph, model, strings.Join(slices.Sorted(maps.Keys(kept.Kinds)), ", "))
	case kept.Kinds != nil && len(other) > 0:
		console.Warn("%s: %s has no weight of the kinds %s, which count as 1", graph,
			model, strings.Join(other, ", "))
	}
	if (kept.HalfLife > 0 || kept.Since+kept.Until != "") && m.Times == nil {
		console.Warn("%s: edges have no times, and %s was learned with a half-life or a window; name their column with --time", graph, model)
	}
}

// originError adds the graph and the remedy to an error about a setting of edges that differs between the
// graph and the model.
func originError(err error, g *shell.OpenGraph, model string) error {
	d := new(sides.Difference)
	if !errors.As(err, &d) {
		return err
	}
	flag := "--" + strings.ReplaceAll(d.Setting, "_", "-")
	remedy := flag + "=" + d.Result
	switch {
	case d.Setting == "weights":
		return shell.DataError(g.Name, "%s is %s here, and %s was learned with %s ones; learn a model on this graph", flag, d.Graph, model, d.Result)
	case d.Setting == "directed" && d.Result == "false":
		remedy = "--undirected"
	}
	if g.Report == nil {
		remedy = "ingest with " + remedy
	} else {
		remedy = "pass " + remedy
	}
	return shell.DataError(g.Name, "%s is %s here, and %s in %s; %s, or learn a model on this graph", flag, d.Graph, d.Result, model, remedy)
}
