package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
)

type regressOptions struct {
	graph               shell.GraphInputs
	attributes          attributeFlags
	heldOut             shell.HeldOutFlags
	values, out, listed string
	page                string
	save                string
	source              string  // source of the weights of kinds: held-out values, or a model
	coverage            float64 // coverage of prediction intervals; 0: none
	methods             []engine.Entry
}

func NewRegress(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "regress GRAPH --values V.tsv -o OUT.tsv",
		"Predict the number of every node from the numbers of some", checkRegress,
		runRegress)
	flags.AddInput(&c.values, "values", "of node and number, one pair a line")
	c.graph.Tables.DeclareFields(flags, "number")
	flags.AddOutput(&c.out, "output", "-", "of predictions: .tsv, .csv, or .npz for arrays in the order of the ids; - is stdout", tablefile.NumberEndings)
	flags.AddText(&c.listed, "method", "`LIST` of methods joined by commas, of which cross-validation chooses one, as in diffusion:beta=2+rls,hops; see heatwalk methods (default: lgc, hops, up to 200,000 nodes trees and up to 20,000 nodes spectral, or harmonic with negative weights; up to 8,000 nodes diffusion+rls; with up to 512 attributes ridge)")
	flags.AddSideOutput(&c.page, "report", "for a page about errors, with predicted against true numbers: .html", shell.PageFormats)
	flags.AddSideOutput(&c.save, "save-model", "for the model, from which heatwalk predict gives the same numbers without choosing again", nil)
	flags.AddCoverage(&c.coverage, "interval", "prediction intervals with coverage X")
	c.attributes.declare(flags)
	c.heldOut.Declare(flags)
	c.graph.Declare(flags)
	return cmd
}

func checkRegress(line *shell.CommandLine, c *regressOptions, _ []string) {
	line.Require("values")
	c.methods = checkRegression(line, c.listed)
}

// checkRegression parses a list of methods, and records its problems. It returns nil for "", the default
// methods.
func checkRegression(line *shell.CommandLine, listed string) []engine.Entry {
	if listed == "" {
		return nil
	}
	methods, err := method.ParseList(listed, engine.Numbers)
	if err != nil {
		line.Problem("--method", "%s", shell.WithoutUsage(err))
	}
	line.Refuse(!useAttributes(methods), "node-features",
		"no method of --method uses attributes; add hops, ridge or trees")
	return methods
}

// useAttributes reports whether one of the methods uses attributes; nil stands for the default methods.
func useAttributes(methods []engine.Entry) bool {
	return methods == nil ||
		slices.ContainsFunc(methods,
			func(m engine.Entry) bool { return slices.Contains(m.Method.Takes, "node_features") })
}

type valuesRun struct {
	data    *shell.GraphRun
	values  *nodefile.Values
	problem *engine.Problem
	methods []engine.Entry

	settings *engine.Settings
}

// beginValues begins a run that learns from the values in file. If methods is nil, the run has the default
// methods.
func beginValues(run *shell.Session, r *shell.GraphInputs, name, file, out string,
	f *attributeFlags, heldOut *shell.HeldOutFlags, methods []engine.Entry) (*valuesRun, error) {
	v := &valuesRun{methods: methods, settings: &engine.Settings{RNGSeed: uint64(run.Seed), Workers: run.Threads}}
	var err error
	v.data, err = run.BeginRun(r, name, out, nil, func(d *shell.GraphRun) (err error) {
		run.Progress.Wait("reading " + file)
		if v.values, err = nodefile.ReadValues(run.Context, file, d.Graph.Nodes,
			run.Console.NodeLabels(r, d.Graph)); err != nil {
			return err
		}
		run.Console.NoteColumns(file, v.values.Columns)
		least, most := slices.Min(v.values.Value), slices.Max(v.values.Value)
		digits := 6 // of the range; numbers far from 0, such as times in seconds, need more to differ
		if most > least {
			digits += max(0, int(math.Log10(max(-least, most)/(most-least))))
		}
		run.Console.Note(fmt.Sprintf("%s: %s from %.*g to %.*g", input.Escape(file),
			words.Counted(len(v.values.Value), "value"), digits, least, digits, most))
		d.Labels = v.values.Labels
		if d.HeldOut, err = heldOut.Read(run, r, d.Graph, file, d.Labels); err != nil {
			return err
		}
		f.unused = !useAttributes(methods)
		return readAttributes(run, r, f, d.Graph, d.Labels)
	})
	if err != nil {
		return nil, err
	}
	if methods == nil {
		g := v.data.Graph
		attributes := 0
		if g.Attributes != nil {
			attributes = g.Attributes.Table.Cols
		}
		v.methods, err = method.ParseList(method.DefaultNumbers(g.NodeAxis().N, g.Signed, attributes), engine.Numbers)
	}
	v.complete()
	if err == nil {
		err = heldOut.Check(v.problem)
	}
	return v, err
}

func (in *valuesRun) complete() {
	in.problem = heatwalk.NewValues(in.data.Graph.Graph, in.values.Row, in.values.Value)
	if in.data.Graph.Attributes != nil {
		in.problem.Attributes = in.data.Graph.Attributes.Table
	}
	if in.data.HeldOut != nil {
		in.data.HeldOut.AddTo(in.problem)
	}
}

// valuesError adds the file, the flag or the graph to an error of regression.
func valuesError(costs *shell.Costs, err error, v *nodefile.Values, name string) error {
	wrong := new(param.ParameterError)
	switch {
	case errors.Is(err, problem.ErrConstant):
		return shell.DataError(v.File,
			"all values are %v; at least two different ones are needed", v.Value[0])
	case errors.Is(err, problem.ErrDirected):
		return shell.RefuseDirected(name, "regress", "")
	case errors.As(err, &wrong):
		return shell.UsageError("--method", "%v", wrong)
	}
	return costs.GraphError(err, name, shell.AnotherMethod)
}

type regressDocument struct {
	Output     string                    `json:"output"`
	Nodes      int                       `json:"nodes"`
	Labelled   int                       `json:"labelled"`
	Predicted  int                       `json:"predicted"`
	Unreached  int                       `json:"unreached"`
	Skipped    shell.SkippedLines        `json:"skipped_label_lines"`
	Attributes *shell.AttributesDocument `json:"node_features,omitempty"`

	*engine.Contest
	Interval *engine.Interval `json:"interval,omitempty"`
	factorsDocument
	shell.Closing
}

// runRegress reads the inputs, predicts, and writes the predictions and the page.
func runRegress(run *shell.Session, c *regressOptions, name string) error {
	in, err := beginValues(run, &c.graph, name, c.values, c.out, &c.attributes, &c.heldOut, c.methods)
	if err != nil {
		return err
	}
	saved, err := beginModel(in.data, in.problem, c.save)
	if err != nil {
		return err
	}
	p, err := predictValues(run, in, method.Best(in.methods), name, saved != nil)
	if err == nil && saved != nil {
		err = in.writeModel(saved, p)
	}
	if err != nil {
		return err
	}
	for _, u := range p.Contest.Unsolved {
		run.Console.Warn("%s: systems of equations were not solved to their tolerance; %s %v is left out", name, u.Method, u.Parameters)
	}
	return writeValues(run, c, in, p)
}

func (in *valuesRun) writeModel(out *modelOutput, p *heatwalk.Prediction) error {
	f := out.f
	if err := p.KeepTo(f); err != nil {
		return err
	}
	if !useAttributes(slices.DeleteFunc(slices.Clone(in.methods), func(e engine.Entry) bool { return e.Method.Name != f.Model.Method })) {
		f.Attributes = 0
		f.AttributeNames = nil
		f.AttributeMeans = nil
		f.AttributeColumns = nil
	}
	return f.Write(out.w)
}

// predictValues predicts the numbers of all nodes. It computes nothing if all numbers are given and no model
// is kept.
func predictValues(run *shell.Session, in *valuesRun, m *engine.Engine, name string, isKept bool) (*heatwalk.Prediction, error) {
	run.Costs.ReserveNumbers(in.data.Graph.NodeAxis())
	n := len(in.data.Graph.Degrees)
	if len(in.values.Row) < n || run.Costs.DryRun || isKept {
		in.settings.Progress = run.Progress.Phases()
		p, err := heatwalk.Predict(run.Context, in.data.Graph.Graph, in.problem, m, in.settings, nil)
		if err != nil {
			return nil, valuesError(run.Costs, err, in.values, name)
		}
		return p, nil
	}
	p := &heatwalk.Prediction{Prediction: &engine.Prediction{Value: make([]float64, n), Reached: roaring.New(), Contest: new(engine.Contest)}}
	p.Reached.AddRange(0, uint64(n))
	for i, row := range in.values.Row {
		p.Value[row] = in.values.Value[i]
	}
	return p, nil
}

// writeValues writes predictions and the page about them, and prints the summary.
func writeValues(run *shell.Session, c *regressOptions, in *valuesRun, p *heatwalk.Prediction) error {
	g := in.data.Graph
	out := in.data.Out
	ids := g.NodeAxis()
	isKnown := sched.Mark(ids.N, in.data.Labels.Row)
	rowAt := g.Nodes.RowAt
	interval, note := c.interval(p.Contest)
	columns := []tablefile.Column[int]{
		{Title: "value", Number: func(i int) float64 { return p.Value[rowAt(i)] }},
		{Title: "reached", Truth: func(i int) bool { return p.Reached.Contains(uint32(rowAt(i))) }},
		{Title: "known", Truth: func(i int) bool { return isKnown[rowAt(i)] }},
	}
	if c.coverage > 0 {
		margin := math.NaN()
		if interval != nil {
			margin = interval.Margin
		}
		bound := func(sign float64) func(i int) float64 {
			return func(i int) float64 {
				row := rowAt(i)
				if isKnown[row] {
					return p.Value[row]
				}
				return p.Value[row] + float64(sign*margin)
			}
		}
		columns = append(columns, tablefile.Column[int]{Title: "lower", Optional: true, Number: bound(-1)},
			tablefile.Column[int]{Title: "upper", Optional: true, Number: bound(1)})
	}
	err := tablefile.WriteNumbers(run.Context, out.Writer, shell.Ending(c.out), sched.UpTo(ids.N), ids.ID, columns)
	if err != nil {
		return err
	}
	doc := &regressDocument{
		Output: c.out, Nodes: ids.N, Labelled: len(in.values.Row), Predicted: ids.N - len(in.values.Row),
		Unreached: ids.N - int(p.Reached.GetCardinality()), Skipped: shell.CountSkipped(in.data.Labels),
		Attributes: g.DescribeAttributes(), Contest: p.Contest, Interval: interval, factorsDocument: factorsOf(g, p.Factors),
	}
	out.Run.Origin = out.Run.Origin.Learn(p.Factors, "")
	if c.page != "" {
		w, err := out.Begin(c.page)
		if err == nil {
			err = run.WritePage(w, "regress", doc, g.Name)
		}
		if err != nil {
			return err
		}
	}
	edges := edgesText(g, doc.factorsDocument, cmp.Or(c.source, "held-out values"))
	return out.Finish(doc, p.Parameters, append(doc.lines(), note, edges)...)
}

// interval returns the prediction interval of --interval and a line about it, or nil without the flag.
func (c *regressOptions) interval(p *engine.Contest) (*engine.Interval, string) {
	if c.coverage == 0 || p.HeldOut == nil {
		return nil, ""
	}
	interval, err := p.Interval(c.coverage)
	if err != nil {
		return nil, "no intervals: there are too few values for this coverage; give more, or a lower coverage"
	}
	return interval, fmt.Sprintf("intervals of ± %.4g hold the value with a probability of at least %s, if the known values are a random sample",
		interval.Margin, words.Percent(c.coverage))
}

func (d *regressDocument) lines() []string {
	if d.Labelled == d.Nodes {
		return []string{fmt.Sprintf("nothing to predict: all %s have a value",
			words.Counted(d.Nodes, "node"))}
	}
	head := fmt.Sprintf("%s · %s with a value · %s predicted",
		words.Counted(d.Nodes, "node"), words.Count(d.Labelled),
		words.Count(d.Predicted))
	if d.Unreached > 0 {
		head += fmt.Sprintf(" · %s cannot be reached from a value",
			words.Count(d.Unreached))
	}
	head += fmt.Sprintf(" · cross-validated RMSE %.4g, MAE %.4g, R² %.3f ± %.3f", d.RMSE,
		d.MAE, d.R2, d.R2Stderr)
	choice := d.Method
	if text := d.Parameters.String(); text != "" {
		choice += ": " + text
	}
	choice += chosenFrom(d.Settings)
	if d.Shrinkage > 0 && d.Shrinkage < 1 {
		choice += fmt.Sprintf(" · %.3f of the difference from the mean", d.Shrinkage)
	}
	compared := fmt.Sprintf("RMSE: mean %.4g · mean of neighbours %.4g", d.Mean.RMSE,
		d.Neighbours.RMSE)
	for _, m := range d.Methods {
		compared += fmt.Sprintf(" · %s %.4g", m.Method, m.RMSE)
	}
	return []string{head, choice, compared,
		d.Skipped.Describe("value"), d.Attributes.String()}
}
