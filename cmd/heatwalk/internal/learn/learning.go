package learn

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/param"
)

type learningFlags struct {
	graph      shell.GraphInputs
	walk       shell.WalkFlags
	attributes attributeFlags
	several    bool   // nodes have several labels
	listed     string // value of --method
	effort     string
	heldOut    shell.HeldOutFlags
	weight     string // --edge-weights; "": chosen

	entries []engine.Entry
	base    engine.Settings
}

func (f *learningFlags) parseMethods() (list []*engine.Engine) {
	for _, e := range f.entries {
		list = append(list, e.Method)
	}
	return list
}

// learningFlagSet declares the flags of f except labels and method.
func (f *learningFlags) learningFlagSet(flags *shell.FlagSet) {
	f.walk.DeclarePrior(flags, append([]string{balanced}, cwk.PriorParam.Words...), "known class shares: `FILE`, balanced; starts of walks: uniform, empirical, FILE of distributions")
	f.effort = engine.NormalEffort
	flags.AddValue("effort", strings.Join(engine.Efforts(), "|"), engine.NormalEffort,
		"time for optional stages of auto: none, about 10 or about 100 seconds of a processor", func(s string) error {
			if f.effort = s; s == "full" { // its name in older scripts
				f.effort = engine.NormalEffort
			}
			if !slices.Contains(engine.Efforts(), f.effort) {
				return fmt.Errorf("%s is none of its values; give %s", shell.Quote(s), strings.Join(engine.Efforts(), ", "))
			}
			return nil
		})
	f.attributes.declare(flags)
	f.heldOut.Declare(flags)
	f.graph.Declare(flags)
}

func (f *learningFlags) labelsFlag(flags *shell.FlagSet) {
	f.graph.Tables.DeclareLabels(flags, &f.walk.Labels, "of node and label, one pair a line")
}

// severalFlag declares the flag of nodes with several labels.
func (f *learningFlags) severalFlag(flags *shell.FlagSet) {
	flags.BoolVar(&f.several, "multi-label", false,
		"a node may have several labels, each on a line of its own")
	labelling := &f.graph.Tables.Labelling
	flags.AddText(&labelling.Separator, "label-separator", "`TEXT` between several labels of a node on one line, such as '|' (default: a line has one label)")
	shell.MarkReading(flags.Lookup("label-separator"))
	flags.AddCheck(func(line *shell.CommandLine, _ []string) {
		line.Refuse(!f.several, "label-separator",
			"a node has one label; add --multi-label")
	})
}

func checkLearning(line *shell.CommandLine, f *learningFlags) {
	entries, err := method.Parse(f.listed)
	f.entries = entries
	if err != nil {
		line.Problem("--method", "%s", shell.WithoutUsage(err))
	}
	checkForm(line, f.entries)
	line.Require("labels")
	checkEffect(line, f.parseMethods())
	f.attributes.unused = !slices.ContainsFunc(f.parseMethods(),
		func(m *engine.Engine) bool { return slices.Contains(m.Takes, "node_features") })
}

// settleMethods reads the grid, sets the candidate values of the parameters of all methods, and records
// problems.
func settleMethods(line *shell.CommandLine, f *learningFlags, grid string) {
	base, err := method.Settle(line.Context, f.entries, grid)
	f.base = *base
	if list, several := err.(interface{ Unwrap() []error }); several {
		for _, err := range list.Unwrap() {
			checkGrid(line, grid, err)
		}
	}
}

// checkGrid records err as a problem of --grid, of the grid file called name, or of --method.
func checkGrid(line *shell.CommandLine, name string, err error) {
	wrong := new(nodefile.ParseError)
	parameter := new(param.ParameterError)
	switch {
	case errors.As(err, &parameter):
		line.Problem("--method", "%s", parameter.Error())
	case errors.As(err, &wrong):
		line.Problem(name, "%s; correct the file", wrong.Msg)
	case errors.Is(err, fs.ErrNotExist):
		line.Problem("--grid",
			"%s is neither paper, small or none nor a file (%s); give one of them",
			shell.Quote(name), shell.Cause(err))
	case errors.Is(err, choose.ErrUsage):
		line.Problem("--method", "%s", shell.WithoutUsage(err))
	default:
		line.Problem("--grid", "%s cannot be read (%s); give another file", name,
			shell.Cause(err))
	}
}

// checkForm records a problem if the kernel of a method is not symmetric, because learners require it.
func checkForm(line *shell.CommandLine, entries []engine.Entry) {
	for _, e := range entries {
		for _, d := range e.Method.Specs {
			wrong := new(param.ParameterError)
			if f := kernel.Families().Named(d.Name); f != nil &&
				errors.As(f.Asymmetric(f.Own(e.Own)), &wrong) {
				line.Problem("--method", "%s", wrong.Error())
				return
			}
		}
	}
}

// balanced is the value of --prior for equal shares of all classes. Rare classes are then predicted as readily
// as other classes, and estimated accuracies hold for a graph with equal shares.
const balanced = "balanced"

// readPriorOrShares reads --prior: the prior of walks, or the shares of the classes among all nodes.
func readPriorOrShares(run *shell.Session, f *learningFlags, in *shell.Inputs,
	d *shell.GraphRun) (cwk.Prior, error) {
	if f.walk.Prior == balanced {
		d.Shares = slices.Repeat([]float64{1 / float64(len(d.Labels.Names))},
			len(d.Labels.Names))
		return cwk.Prior{}, nil
	}
	if f.walk.Prior != "-" && !slices.Contains(cwk.PriorParam.Words, f.walk.Prior) {
		shares, err := nodefile.ReadShares(run.Context, f.walk.Prior, d.Labels.Names,
			run.Console.ListConfig(in, f.walk.Prior))
		d.Shares = shares
		if shares != nil || err != nil {
			return cwk.Prior{}, err
		}
		for _, m := range f.parseMethods() {
			if !slices.Contains(flagsOf(m), "prior") {
				return cwk.Prior{}, shell.UsageError("--prior",
					"%s has no distribution for each node; give lines class<TAB>share", m.Name)
			}
		}
	}
	return f.walk.ReadPrior(run, in, d.Graph, d.Labels)
}

// completeSettings returns a copy of tried with the prior, seed, effort, weights of edges, workers and
// progress of the run.
func completeSettings(d *shell.GraphRun, run *shell.Session, tried *engine.Settings, f *learningFlags,
	progress func(stage string, done, total int64)) (*engine.Settings, error) {
	prior, err := readPriorOrShares(run, f, &f.graph.Tables, d)
	s := *tried
	s.Prior = prior
	s.RNGSeed = uint64(run.Seed)
	if s.Effort = f.effort; s.Effort == engine.NormalEffort {
		s.Effort = ""
	}
	s.Weights = f.weight
	s.Workers = run.Threads
	s.Progress = progress
	return &s, err
}

// checkSeveral prepares a run in which nodes have several labels. It records a problem for each given flag
// that such a run cannot use. Flags in takes can be used.
func checkSeveral(line *shell.CommandLine, f *learningFlags, takes ...string) {
	f.graph.Tables.Labelling.Several = true
	line.Require("labels")
	refuseBeside(line, f, "multi-label", append(takes, "labels"))
}

// refuseBeside records a problem for each given flag that cannot be used together with flag. Flags in takes,
// and flags for reading graphs and labels, can be used.
func refuseBeside(line *shell.CommandLine, f *learningFlags, flag string, takes []string) {
	takes = slices.Concat(takes, f.graph.Names,
		[]string{flag, "temp-dir", "node-features", "kind-weights", "since", "until", "half-life", "groups", "split-time"})
	line.Command.Flags().Visit(func(item *pflag.Flag) {
		if line.Command.InheritedFlags().Lookup(item.Name) == nil && !shell.IsReading(item) &&
			!slices.Contains(takes, item.Name) {
			line.Refuse(true, item.Name,
				"cannot be used with --"+flag+"; leave it out")
		}
	})
}

func beginSeveral(run *shell.Session, f *learningFlags,
	name, path string) (*shell.GraphRun, error) {
	d, err := beginLearning(run, f, name, path)
	if err != nil {
		return nil, err
	}
	return d, shell.CheckSeparator(d.Labels)
}

// predictSeveral predicts several labels of each node, by the saved model if there is one.
func predictSeveral(run *shell.Session, c *classifyOptions, name string) (err error) {
	var d *shell.GraphRun
	if c.kept != nil {
		if err := c.refuseFlags(run, "several labels of a node", "report", "report-nodes", "truth"); err != nil {
			return err
		}
		d, err = beginModelRun(run, c, name)
	} else {
		c.method = regression.Spectral
		d, err = beginSeveral(run, &c.learning, name, c.out)
	}
	if err != nil {
		return err
	}
	in := &predictionInputs{f: c, data: d}
	if c.kept == nil {
		if err := in.chooseTargets(run); err != nil {
			return err
		}
	}
	if err := in.beginPage(run); err != nil {
		return err
	}
	run.Costs.Disk += shell.RunFileBytes
	_, phase := run.Progress.Parts("learning", "")
	s := &engine.Settings{RNGSeed: uint64(run.Seed), Workers: run.Threads, Progress: phase}
	labelled := problemWithShares(d)
	saved, err := beginModel(d, labelled, c.save)
	if err != nil {
		return err
	}
	p, err := predictNodes(run, c, d, s, nil)
	if err != nil {
		return err
	}
	model := p.LabelSets
	doc := in.countPredictions(p, model.Labelled)
	doc.Method = c.method.Name
	doc.Attributes = d.Graph.DescribeAttributes()
	if c.kept != nil {
		p.HeldOutScores = c.kept.Scores
		doc.compareGraphs(run.Console, in, p)
		if err := c.checkReached(d, p.Reached); err != nil {
			return err
		}
	} else {
		doc.Several = model
	}
	if err := c.writeModel(d, saved, p); err != nil {
		return err
	}
	if err := in.addSets(run, p); err != nil {
		return err
	}
	doc.Sets = in.sets
	doc.notes = in.setNotes
	labelsOf := func(row int) []int {
		if c.unreached != "prior" && !p.Reached.Contains(uint32(row)) {
			return nil
		}
		return model.LabelsOf(p.Prediction, row)
	}
	if c.kept == nil {
		targets := in.targets
		if targets == nil {
			targets = make([]int, len(p.Class))
			for row := range targets {
				targets[row] = row
			}
		}
		doc.LabelSets = evaluate.SummarizeSets(targets, labelsOf, d.Labels, in.truth)
	}
	return writeLabelled(run, in, p, doc, func(row int) (string, int) {
		list := labelsOf(row)
		class := -1
		if len(list) == 1 {
			class = list[0]
		}
		return strings.Join(problem.Pick(d.Labels.Names, list), tablefile.SetSeparator), class
	})
}

// checkEffect records a problem for each given flag without effect on any of the methods.
func checkEffect(line *shell.CommandLine, methods []*engine.Engine) {
	if len(methods) == 0 {
		return // the problem of wrong names is recorded already
	}
	flags := line.Command.Flags()
	var names, takes []string
	for _, m := range methods {
		names = append(names, m.Name)
		takes = append(takes, flagsOf(m)...)
	}
	if f := flags.Lookup("tuning-splits"); f != nil && f.Value.String() == "0" {
		takes = append(takes, f.Name) // methods without a choice ignore it
	}
	if f := flags.Lookup("prior"); f != nil &&
		!slices.Contains(cwk.PriorParam.Words, f.Value.String()) {
		takes = append(takes, f.Name) // a file may hold shares of classes, which all methods take
	}
	for _, name := range []string{"prior", "effort", "unreached", "grid",
		"tuning-splits", "node-features", "feature-ids", "edge-weights"} {
		line.Refuse(!slices.Contains(takes, name), name,
			"makes no difference to "+strings.Join(names, ", ")+
				"; leave it out")
	}
}

// flagsOf returns the names of the flags that have an effect on a method.
func flagsOf(m *engine.Engine) []string {
	var names []string
	for _, name := range m.Takes {
		names = append(names, strings.ReplaceAll(name, "_", "-"))
	}
	if slices.Contains(names, "node-features") {
		names = append(names, "feature-ids")
	}
	if len(names)+len(m.Specs) > 0 {
		names = append(names, "unreached", "edge-weights") // majority predicts a class for every node
	}
	if slices.ContainsFunc(m.Specs, func(s *param.Spec) bool {
		return slices.ContainsFunc(s.Params,
			func(p param.Param) bool { return len(p.Grid) > 1 })
	}) {
		names = append(names, "grid", "tuning-splits")
	}
	return names
}

var listLengths = param.Range{Least: 1, Most: 1 << 20}

// beginLearning begins a run that learns from labels, and from attributes if they are given.
func beginLearning(run *shell.Session, f *learningFlags,
	name, path string) (*shell.GraphRun, error) {
	return run.BeginRun(&f.graph, name, path, shell.ScoreFormats, func(d *shell.GraphRun) (err error) {
		run.Progress.Wait("reading " + f.walk.Labels)
		if d.Labels, err = run.ReadSeeds(&f.graph, f.walk.Labels, d.Graph); err != nil {
			return err
		}
		if d.HeldOut, err = f.heldOut.Read(run, &f.graph, d.Graph, f.walk.Labels, d.Labels); err != nil {
			return err
		}
		if err = f.heldOut.Check(problemOf(d)); err != nil {
			return err
		}
		if err = readAttributes(run, &f.graph, &f.attributes, d.Graph, d.Labels); err == nil {
			warnLeaks(run.Console, &f.attributes, d.Graph, d.Labels)
		}
		return err
	})
}

func problemWithShares(d *shell.GraphRun) *engine.Problem {
	p := problemOf(d)
	p.Shares = d.Shares
	return p
}
