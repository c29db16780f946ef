package learn

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
)

// demoFraction is the share of papers whose label is known.
const demoFraction = 0.05

type demoDocument struct {
	Graph               string          `json:"graph"`
	Nodes               int             `json:"nodes"`
	Edges               int64           `json:"edges"`
	Entries             int64           `json:"entries"`
	BitsPerEntry        float64         `json:"bits_per_entry"`
	Classes             []string        `json:"classes"`
	Labelled            int             `json:"labelled"`
	Predicted           int             `json:"predicted"`
	AccuracyEstimate    float64         `json:"accuracy_estimate"`
	AccuracyStderr      float64         `json:"accuracy_stderr"`
	AccuracyPropagation float64         `json:"accuracy_propagation"`
	AccuracyMajority    float64         `json:"accuracy_majority"`
	Truth               *evaluate.Truth `json:"truth"`
	Sweeps              int             `json:"sweeps"`
	SecondsIngest       float64         `json:"seconds_ingest"`
	SecondsReference    float64         `json:"seconds_reference"`
	SecondsChoose       float64         `json:"seconds_choose"`
	SecondsWalk         float64         `json:"seconds_walk"`
	SecondsClassify     float64         `json:"seconds_classify"`
	MachineMemory       int64           `json:"machine_memory_bytes,omitempty"`
	shell.Closing
}

func NewDemo(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "demo",
		"The main job on the built-in Cora graph, in seconds", checkDemo, runDemo)
	c.Tables.DeclareTemp(flags)
	flags.AddText(&c.save, "save", "write the files of the examples in README.md and docs into the new `DIR`, in place of the demo")
	return cmd
}

type demoOptions struct {
	shell.GraphInputs
	save string // directory for the files of the examples; "": run the demo
}

func checkDemo(line *shell.CommandLine, o *demoOptions, _ []string) {
	line.Refuse(o.save != "", "dry-run", "--save has nothing to plan; leave it out")
}

// runDemo ingests the built-in graph as if it came from stdin, hides most of its labels, predicts them as
// classify does, and compares.
func runDemo(run *shell.Session, o *demoOptions, _ string) error {
	if o.save != "" {
		return saveExamples(run, o.save)
	}
	c := &o.GraphInputs
	began := time.Now()
	c.Config.Stdin = openExample(coraEdges)
	c.Source = "reading cora"
	c.Tabled = true
	g, err := run.ReadGraph(c, "-", "")
	if err != nil {
		return err
	}
	l, err := nodefile.ReadLabels(run.Context, "-", g.Nodes,
		&nodefile.LabelConfig{Stdin: openExample(coraLabels)})
	if err != nil {
		return err
	}
	ingested := time.Since(began).Seconds()
	splits, err := choose.Draw(l.Class, choose.Design{Fraction: demoFraction}, 1,
		uint64(run.Seed))
	if err != nil {
		return err
	}
	split := splits.At(0)
	visible := *l
	visible.Row = problem.Pick(l.Row, split.Train)
	visible.Class = problem.Pick(l.Class, split.Train)
	auto, err := method.Parse("auto")
	if err != nil {
		return err
	}
	settings := &engine.Settings{RNGSeed: uint64(run.Seed),
		Progress: run.Progress.Phases()}
	p, err := heatwalk.Predict(run.Context, g.Graph, problemOf(&shell.GraphRun{Graph: g, Labels: &visible}),
		auto[0].Method, settings, &heatwalk.PredictOptions{Baselines: true})
	if err != nil {
		return err
	}
	baselines := p.Baselines
	m := g.Store.Manifest
	d := &demoDocument{
		Graph: "cora", Nodes: int(m.Rows), Edges: m.Edges(), Entries: m.Entries,
		BitsPerEntry: m.BitsPerEntry(), Classes: l.Names,
		Labelled: len(visible.Row), Predicted: len(split.Test), AccuracyEstimate: p.Accuracy,
		AccuracyStderr:      p.Stderr,
		AccuracyPropagation: baselines.Propagation.Accuracy,
		AccuracyMajority:    baselines.Majority.Accuracy,
		Truth:               evaluate.Compare(p.Class, p.Reached, &visible, l),
		Sweeps:              p.Work.Sweeps,
		SecondsIngest:       ingested, SecondsReference: baselines.Seconds,
		SecondsChoose: p.Seconds.Choose, SecondsWalk: p.Seconds.Walk,
		SecondsClassify: p.Seconds.Classify, MachineMemory: system.Memory(),
	}
	return run.Console.PrintResult(d, func(io.Writer) { d.print(run.Console.Stdout) })
}

// print writes the steps of the demo and their times.
func (d *demoDocument) print(w io.Writer) {
	memory := "peak " + words.Bytes(system.PeakMemory())
	if d.MachineMemory > 0 {
		memory += " of " + words.Bytes(d.MachineMemory)
	}
	fmt.Fprintf(w, "heatwalk demo: the Cora citation graph, %s papers, %s links, %d subjects\n",
		words.Count(d.Nodes), words.Count(d.Edges), len(d.Classes))
	for _, step := range []struct {
		name, text string
		seconds    float64
	}{
		{"ingest", fmt.Sprintf("%s nodes, %s entries, %.1f bits each",
			words.Count(d.Nodes), words.Count(d.Entries),
			d.BitsPerEntry), d.SecondsIngest},
		{"labels", fmt.Sprintf("%s papers keep their subject (%.0f %%), %s are to be found",
			words.Count(d.Labelled), 100*demoFraction,
			words.Count(d.Predicted)), 0},
		{"walk", fmt.Sprintf("%d sweeps", d.Sweeps), d.SecondsWalk},
		{"choose", fmt.Sprintf("cross-validated accuracy %.1f ± %.1f %% of papers reached", 100*d.AccuracyEstimate, 100*d.AccuracyStderr), d.SecondsChoose},
		{"compare", fmt.Sprintf("label propagation %s, the largest class %s",
			words.Percent(d.AccuracyPropagation),
			words.Percent(d.AccuracyMajority)), d.SecondsReference},
		{"classify", fmt.Sprintf("%s papers labelled, accuracy %s (%s of %s reached)", words.Count(d.Predicted), words.Percent(d.Truth.All), words.Percent(d.Truth.Reached), words.Count(d.Truth.NodesReached)), d.SecondsClassify},
		{"memory", memory, 0},
	} {
		const column = 66
		line := fmt.Sprintf("  %-11s %s", step.name, step.text)
		if step.seconds > 0 {
			line += strings.Repeat(" ",
				max(1, column-utf8.RuneCountInString(step.text))) +
				words.Seconds(time.Duration(step.seconds*1e9))
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprint(w, `Try it on files like your own:
  heatwalk demo --save example
`)
}
