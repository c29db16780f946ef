package cli

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/validate"
)

// coraFiles holds the Cora citation graph and its labels.
//
//go:embed cora/edges.tsv.gz cora/labels.tsv.gz
var coraFiles embed.FS

// demoFraction is the share of papers whose subject the demo is told.
const demoFraction = 0.05

// demonstration is the JSON document of demo.
type demonstration struct {
	Graph               string   `json:"graph"`
	Nodes               int      `json:"nodes"`
	Edges               int64    `json:"edges"`
	Entries             int64    `json:"entries"`
	BitsPerEntry        float64  `json:"bits_per_entry"`
	Classes             []string `json:"classes"`
	Labelled            int      `json:"labelled"`
	Predicted           int      `json:"predicted"`
	AccuracyEstimate    float64  `json:"accuracy_estimate"`
	AccuracyStderr      float64  `json:"accuracy_stderr"`
	AccuracyPropagation float64  `json:"accuracy_propagation"`
	AccuracyMajority    float64  `json:"accuracy_majority"`
	Accuracy            float64  `json:"accuracy"`
	Sweeps              int      `json:"sweeps"`
	EntryColumns        int64    `json:"entry_columns"`
	SecondsIngest       float64  `json:"seconds_ingest"`
	SecondsReference    float64  `json:"seconds_reference"`
	SecondsChoose       float64  `json:"seconds_choose"`
	SecondsWalk         float64  `json:"seconds_walk"`
	SecondsClassify     float64  `json:"seconds_classify"`
	MachineMemory       int64    `json:"machine_memory_bytes,omitempty"`
	Closing
}

func newDemo(in *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The main job on the built-in Cora graph, in seconds",
		Args:  in.arguments("", 0, 0),
		RunE: func(*cobra.Command, []string) error {
			if err := in.checked(); err != nil {
				return err
			}
			return in.runDemo()
		},
	}
	in.tempFlag(cmd.Flags())
	return cmd
}

func (in *invocation) runDemo() error {
	var d demonstration
	g, l, err := in.openCora(&d)
	if err != nil {
		return err
	}
	if !in.json {
		fmt.Fprintf(in.stdout, "heatwalk demo: the Cora citation graph, %s papers, %s links, %d subjects\n",
			words.Count(int64(d.Nodes)), words.Count(d.Edges), len(d.Classes))
		in.demoLine("ingest", d.SecondsIngest, "%s nodes, %s entries, %.1f bits each",
			words.Count(int64(d.Nodes)), words.Count(d.Entries), d.BitsPerEntry)
	}
	splits, err := validate.Draw(l.Class, validate.Design{Fraction: demoFraction}, 1, uint64(in.seed))
	if err != nil {
		return err
	}
	split := splits.At(0)
	known, hidden := labelsAt(l, split.Train), labelsAt(l, split.Test)
	d.Labelled, d.Predicted = len(known.Row), len(hidden.Row)
	if !in.json {
		in.demoLine("labels", 0, "%s papers keep their subject (%.0f %%), %s are to be found",
			words.Count(int64(d.Labelled)), 100*demoFraction, words.Count(int64(d.Predicted)))
	}
	if err := in.classifyCora(&d, g, known, hidden); err != nil {
		return err
	}
	d.MachineMemory = system.Memory()
	if in.json {
		d.Closing = in.closing()
		return in.document(d)
	}
	memory := "peak " + words.Bytes(system.PeakMemory())
	if d.MachineMemory > 0 {
		memory += " of " + words.Bytes(d.MachineMemory)
	}
	in.demoLine("memory", 0, "%s", memory)
	fmt.Fprint(in.stdout, `Try it on your own graph:
  heatwalk classify edges.tsv --labels known.tsv -o predictions.tsv
`)
	return in.stdout.err
}

// openCora ingests the built-in graph as if it came through stdin.
func (in *invocation) openCora(d *demonstration) (*openGraph, *nodefile.Labels, error) {
	edges, err := coraFiles.ReadFile("cora/edges.tsv.gz")
	if err != nil {
		return nil, nil, err
	}
	labels, err := coraFiles.ReadFile("cora/labels.tsv.gz")
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	g, err := in.openFor("-", &reading{config: ingest.Config{Stdin: bytes.NewReader(edges)}, source: "reading cora"}, "", true)
	if err == nil {
		err = g.Load(in.ctx)
	}
	var l *nodefile.Labels
	if err == nil {
		l, err = nodefile.ReadLabels(in.ctx, "-", g.Nodes, &nodefile.LabelConfig{Stdin: bytes.NewReader(labels)})
	}
	if err != nil {
		return nil, nil, err
	}
	m := g.Manifest
	d.Graph, d.Nodes, d.Edges, d.Entries, d.BitsPerEntry = "cora", int(m.Rows), m.Edges(), m.Entries, m.BitsPerEntry()
	d.Classes = l.Names
	d.SecondsIngest = time.Since(began).Seconds()
	return g, l, nil
}

// labelsAt returns the labels at the given positions alone.
func labelsAt(l *nodefile.Labels, positions []int) *nodefile.Labels {
	p := &nodefile.Labels{File: l.File, Names: l.Names}
	for _, at := range positions {
		p.Row, p.Class = append(p.Row, l.Row[at]), append(p.Class, l.Class[at])
	}
	return p
}

// classifyCora does what classify does, and compares with the hidden labels.
func (in *invocation) classifyCora(d *demonstration, g *openGraph, known, hidden *nodefile.Labels) error {
	auto, err := method.Parse("auto")
	if err != nil {
		return err
	}
	settings := &method.Settings{RNGSeed: uint64(in.seed), Memory: g.memory(), Workers: in.threads}
	problem := problemOf(g, known)
	began := time.Now()
	reference, err := method.Refer(in.ctx, auto[0].Method, problem, settings)
	if err != nil {
		return err
	}
	d.SecondsReference = time.Since(began).Seconds()
	p, err := auto[0].Method.Predict(in.ctx, problem, nil, settings)
	if err != nil {
		return err
	}
	d.AccuracyEstimate, d.AccuracyStderr = p.Accuracy, p.Stderr
	d.AccuracyPropagation, d.AccuracyMajority = reference.Propagation.Accuracy, reference.Majority.Accuracy
	d.Sweeps, d.EntryColumns = p.Work.Sweeps, p.Work.EntryColumns
	d.SecondsChoose, d.SecondsWalk, d.SecondsClassify = p.Seconds.Choose, p.Seconds.Walk, p.Seconds.Classify
	right := 0
	for i, row := range hidden.Row {
		if p.Class[row] == hidden.Class[i] {
			right++
		}
	}
	d.Accuracy = float64(right) / float64(d.Predicted)
	if !in.json {
		in.demoLine("walk", d.SecondsWalk, "%d sweeps, %s entry·columns/s", d.Sweeps, words.Rate(float64(d.EntryColumns)/d.SecondsWalk))
		in.demoLine("choose", d.SecondsChoose, "told by labels held out: accuracy %.1f ± %.1f %%", 100*d.AccuracyEstimate, 100*d.AccuracyStderr)
		in.demoLine("compare", d.SecondsReference, "label propagation %s, the largest class %s", words.Percent(d.AccuracyPropagation), words.Percent(d.AccuracyMajority))
		in.demoLine("classify", d.SecondsClassify, "%s papers labelled, accuracy %s", words.Count(int64(d.Predicted)), words.Percent(d.Accuracy))
	}
	return nil
}

// demoLine prints a step of the demo, and its time if it took any.
func (in *invocation) demoLine(step string, seconds float64, format string, args ...any) {
	const column = 66
	text := fmt.Sprintf(format, args...)
	took := ""
	if seconds > 0 {
		took = words.Seconds(time.Duration(seconds * 1e9))
	}
	gap := strings.Repeat(" ", max(1, column-utf8.RuneCountInString(text)))
	fmt.Fprintln(in.stdout, strings.TrimRight(fmt.Sprintf("  %-11s %s%s%s", step, text, gap, took), " "))
}
