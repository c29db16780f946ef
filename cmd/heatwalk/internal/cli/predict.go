package cli

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/modelfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/method"
)

func newPredict(run *session) *cobra.Command {
	c := &classifyCommand{learningFlags: newLearning(run)}
	cmd := run.newCommand("predict GRAPH --model M -o OUT.tsv", arguments(run, "GRAPH", 1, 1),
		"Predict labels by a model that classify has saved",
		c.checkPredict, func(args []string) error { return c.predictSaved(args[0]) })
	flags := cmd.Flags()
	flags.StringVar(&c.model, "model", "", "`FILE` that classify --save-model wrote")
	flags.StringVarP(&c.out, "output", "o", "-", "`FILE` of predictions: .tsv, .csv, .jsonl or .parquet, .npy or .npz for scores alone; - is stdout")
	c.scores.declare(run, flags)
	choiceVar(run, flags, &c.unreached, "unreached", "blank", []string{"blank", "prior"}, "label of a node that cannot be reached from a label")
	flags.StringVar(&c.truth, "truth", "", "`FILE` of true labels to score the predictions with")
	c.attributes.declare(run, flags)
	c.graphInputs.declare(flags)
	return cmd
}

// checkPredict records problems of the flags of predict.
func (c *classifyCommand) checkPredict(cmd *cobra.Command, args []string) {
	flags := cmd.Flags()
	inputs := append(args, c.model, c.truth, c.attributes.file, c.attributes.ids)
	c.scores.check(c.session, flags, c.out, scoreFormats, false)
	checkOutput(c.session, "-o", c.out, scoreFormats, inputs...)
	c.graphInputs.check(cmd, args)
	c.attributes.check(c.session, flags)
	checkStdin(c.session, append(inputs, c.config.Nodes)...)
	c.session.refuse(flags, rule{c.model != "" && isStream(c.model), "model", "a model is read at once; give a file"})
	c.session.require(flags, "model")
}

// checkSave records problems of --save-model.
func (c *classifyCommand) checkSave(inputs []string) {
	if c.save == "" {
		return
	}
	checkOutput(c.session, "--save-model", c.save, nil, inputs...)
	switch {
	case c.save == "-":
		c.session.problem("--save-model", "a model is a file of its own; name one")
	case filepath.Clean(c.save) == filepath.Clean(c.out):
		c.session.problem("--save-model", "%s is the output too; name another file", c.save)
	case c.method != nil && !method.CanKeep(c.method):
		c.session.problem("--save-model", "models of %s cannot be saved; give --method auto, lp, lgc, cwk, or a kernel with a linear learner", c.method.Name())
	}
}

// modelOutput is a model that is being saved.
type modelOutput struct {
	w io.Writer
	f modelfile.File
}

// beginModel begins the file of the model, whose labels and attributes are known; nil without one.
func (c *classifyCommand) beginModel(d *graphRun, s *method.Settings) (*modelOutput, error) {
	if c.save == "" {
		return nil, nil
	}
	if s.Prior.Given != nil {
		return nil, fault.Usage("--save-model", "a model does not hold a prior of each node; give lines class<TAB>share with --prior, or uniform, empirical or balanced")
	}
	out := &modelOutput{f: modelfile.File{Classes: d.l.Names, Class: d.l.Class, Shares: d.shares, Directed: d.g.Directed}}
	for _, row := range d.l.Row {
		out.f.IDs = append(out.f.IDs, d.g.Nodes.ID(row))
	}
	if d.g.attributes != nil {
		out.f.Attributes = d.g.attributes.Table.Cols
	}
	if err := out.f.CheckText(); err != nil {
		return nil, fault.Data(d.l.File, "%v; a model does not hold such names", errors.Unwrap(err))
	}
	var err error
	out.w, err = d.begin(c.save)
	return out, err
}

// writeModel writes the model of a prediction, unless out is nil.
func (c *classifyCommand) writeModel(out *modelOutput, p *method.Prediction, s *method.Settings) (err error) {
	if out == nil {
		return nil
	}
	if out.f.Model, err = method.Keep(c.method, p, s); errors.Is(err, method.ErrNotKept) {
		return fault.Usage("--save-model", "models of %s with this many classes cannot be saved; give --method auto", c.method.Name())
	}
	if err != nil {
		return err
	}
	return modelfile.Write(out.w, &out.f)
}

// predictSaved predicts by a saved model.
func (c *classifyCommand) predictSaved(name string) error {
	f, err := modelfile.Read(c.model, c.session.dataLimit())
	if err != nil {
		return err
	}
	if c.method, err = f.Model.Method(); err != nil {
		return fault.Data(c.model, "%s; use the program that has saved it", withoutUsage(err))
	}
	if c.scores.kind == "raw" && !method.HasRaw(c.method) {
		return fault.Usage("--scores", noRaw, c.method.Name())
	}
	d, err := c.beginRun(name, newOutputs(c.session, c.out), matrixFormatOf(c.out, scoreFormats), func(d *graphRun) (err error) {
		heatwalk.Reserve(d.g.Graph, f.Memory, "the model")
		rows, err := f.Rows(c.model, d.g.Nodes.Lookup)
		if err != nil {
			return err
		}
		d.l, d.shares = &nodefile.Labels{File: c.model, Row: rows, Class: f.Class, Names: f.Classes}, f.Shares
		return c.readAttributes(&c.attributes, d.g)
	})
	if err != nil {
		return err
	}
	columns := 0
	if d.g.attributes != nil {
		columns = d.g.attributes.Table.Cols
	}
	switch {
	case columns != f.Attributes && columns == 0:
		return fault.Usage("--node-features", "it is missing; the model was learned with %d attributes", f.Attributes)
	case columns != f.Attributes:
		return fault.Usage("--node-features", "%s has %d attributes, and the model was learned with %d; give the same columns", c.attributes.file, columns, f.Attributes)
	case d.g.Directed && !f.Directed:
		return fault.Usage(name, "is directed, and the model was learned on a graph without directions; ingest with --undirected")
	case !d.g.Directed && f.Directed:
		return fault.Usage(name, "is undirected, and the model was learned on a directed graph; ingest with --directed")
	}
	if !slices.Contains(flagsOf(c.method), "unreached") {
		c.unreached = "prior"
	}
	read := time.Since(c.session.started).Seconds()
	var truth *nodefile.Labels
	if c.truth != "" {
		if truth, err = c.graphInputs.readLabels(c.truth, d.g); err != nil {
			return err
		}
	}
	c.session.disk += predictionBytes(d.outputs, c.columns(d.l), d.g.axis())
	s := &method.Settings{Raw: c.scores.kind == "raw", Workers: c.session.threads, Progress: c.session.progress.Phases()}
	p, err := heatwalk.Predict(c.session.ctx, d.g.Graph, d.problem(), c.method, s, nil)
	if errors.Is(err, method.ErrChanged) {
		return modelfile.Damaged(c.model, err.Error())
	}
	if err != nil {
		return c.session.graphError(err, name, another)
	}
	r := &classifyRun{graphRun: d, f: c, p: p.Prediction, classifyDocument: classifyDocument{
		labelsDocument: learnedFrom(d.outputs, d.l), Method: c.method.Name(), Phases: phaseSeconds{Read: read, PhaseSeconds: p.Seconds}, Attributes: attributesOf(d.g), Components: p.UnreachedComponents,
		Weights: p.Weights, BlockModel: p.BlockModel, Omitted: p.Omitted,
	}}
	labels := c.labelsOf(p.Prediction)
	r.Truth = compareTruth(c.session, labels, p.Reached, d.l, truth, "node")
	return r.finish(nil, func(row int) string {
		if labels[row] == evaluate.Unlabelled {
			return ""
		}
		return d.l.Names[labels[row]]
	})
}
