package graphs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/report"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

type infoDocument struct {
	Graph string `json:"graph"`
	shell.GraphCounts
	Form             string            `json:"form"`               // "undirected, weighted"
	Negative         int64             `json:"negative,omitempty"` // negative entries
	SelfLoops        int64             `json:"self_loops"`
	Components       int64             `json:"components"`
	LargestComponent int64             `json:"largest_component"`
	Isolated         int64             `json:"isolated"`
	MaxDegree        float64           `json:"max_degree"`
	Order            string            `json:"order"`
	BitsPerEntry     float64           `json:"bits_per_entry"`
	BytesTotal       int64             `json:"bytes_total"`
	Columns          []infoColumn      `json:"columns,omitempty"` // columns of a file
	LabelColumns     []infoColumn      `json:"label_columns,omitempty"`
	FeatureColumns   []infoColumn      `json:"feature_columns,omitempty"` // of --node-features
	Unlabelled       int               `json:"unlabelled,omitempty"`      // lines of the table of labels without a label
	Command          string            `json:"command,omitempty"`         // the command with all settings of a table of text
	Events           bool              `json:"events,omitempty"`          // the weights of both directions of an edge are added
	Identity         string            `json:"identity,omitempty"`
	Labelled         *int              `json:"labelled,omitempty"`
	Classes          *int              `json:"classes,omitempty"`
	LargestClass     string            `json:"largest_class,omitempty"`
	PFreq            *float64          `json:"p_freq,omitempty"`
	PSwitch          *float64          `json:"p_switch,omitempty"`
	PSwitchEdges     *float64          `json:"p_switch_edges,omitempty"`
	Kinds            []kindCounts      `json:"kinds,omitempty"`
	FirstTime        string            `json:"first_time,omitempty"` // a date or a step
	LastTime         string            `json:"last_time,omitempty"`
	Attributes       *shard.Attributes `json:"attributes,omitempty"`

	DegreeBins     []evaluate.DegreeBin   `json:"degree_bins"`
	ComponentSizes []evaluate.SizeCount   `json:"component_sizes"` // largest first, without the smallest
	ClassNames     []string               `json:"class_names,omitempty"`
	LabelsByClass  []evaluate.ClassLabels `json:"labels_by_class,omitempty"` // most labels first
	ClassLinks     [][]int64              `json:"class_links,omitempty"`     // entries between labelled nodes, by class of the row and of the column; absent above 20 classes
	shell.Closing

	listed string // uses of the columns of the list of nodes
	odd    string // summary of lines that are not ordinary edges
}

// infoColumn is a column of a table with its first values.
type infoColumn struct {
	input.Column
	Type   string   `json:"type,omitempty"`
	Values []string `json:"values,omitempty"`
}

func infoColumns(columns input.Columns) (list []infoColumn) {
	for _, c := range columns {
		list = append(list, infoColumn{c, c.Type, c.Values})
	}
	return list
}

// sheetOf returns a line for each column: its title, type, first values and use.
func sheetOf(name string, columns []infoColumn) (lines [][2]string) {
	const long = 24 // characters of a value
	for i, c := range columns {
		var values []string
		for _, value := range c.Values {
			if text := []rune(value); len(text) > long {
				value = string(text[:long-1]) + "…"
			}
			values = append(values, value)
		}
		use := cmp.Or(c.Use, "ignored")
		if c.Note != "" {
			use += " (" + c.Note + ")"
		}
		text := words.Quoted(c.Title)
		for _, part := range []string{c.Type, strings.Join(values, ", "), use} {
			if part != "" {
				text += " · " + part
			}
		}
		lines = append(lines, [2]string{name + " " + strconv.Itoa(i+1), text})
	}
	return lines
}

type kindCounts struct {
	shard.Kind
	EqualLabels *float64 `json:"equal_labels,omitempty"` // share of the edges between labelled nodes that join equal labels
}

type infoOptions struct {
	graph    shell.GraphInputs
	labels   string
	features string
	ids      string
	page     string
}

func NewInfo(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "info GRAPH [--labels L.tsv] [--node-features X.csv]",
		"Counts, degrees, components, and how classes lie in the graph",
		nil, runInfo)
	c.graph.Tables.DeclareLabels(flags, &c.labels, "of node<TAB>label lines, for the classes and the edges between them")
	flags.AddInput(&c.features, "node-features", "of attributes of nodes: a table with a column of ids, whose columns are listed")
	flags.AddSideOutput(&c.ids, "ids", "to write the ids of all nodes to, one a line, in the order of every output", nil)
	flags.AddSideOutput(&c.page, "report", "for a page about degrees, components and classes: .html", shell.PageFormats)
	c.graph.Declare(flags)
	return cmd
}

func runInfo(run *shell.Session, c *infoOptions, name string) error {
	v, err := measureGraph(run, c, name)
	if fault := new(input.Error); errors.As(err, &fault) && fault.Columns != nil && !run.Console.JSON && !run.IsTrial {
		shell.PrintSheet(shell.Escaped(run.Console.Stdout), 20, append([][2]string{{"table", fault.File}}, sheetOf("column", infoColumns(fault.Columns))...))
	}
	if err != nil {
		return err
	}
	lines := [][2]string{{"columns of --nodes", v.listed}}
	lines = append(lines, sheetOf("column", v.Columns)...)
	lines = append(lines, sheetOf("label column", v.LabelColumns)...)
	lines = append(lines, sheetOf("feature column", v.FeatureColumns)...)
	lines = append(lines, [2]string{"command", v.Command}, [2]string{"lines", v.odd})
	if v.Unlabelled > 0 {
		lines = append(lines, [2]string{"no label", words.Counted(v.Unlabelled, "line")})
	}
	page, err := report.Build("info", v)
	if err != nil {
		return err
	}
	for _, fact := range page.Facts {
		lines = append(lines, [2]string{fact.Name, fact.Value})
	}
	for _, k := range v.Kinds {
		text := words.Counted(k.Entries, "entry")
		if k.EqualLabels != nil {
			text += fmt.Sprintf(", %s join equal labels",
				words.Percent(*k.EqualLabels))
		}
		lines = append(lines, [2]string{"kind " + k.Name, text})
	}
	return run.Console.PrintResult(v,
		func(io.Writer) {
			shell.PrintSheet(shell.Escaped(run.Console.Stdout), 20, append(lines, [2]string{"took",
				run.Console.Cost()}))
		})
}

func measureGraph(run *shell.Session, r *infoOptions,
	name string) (*infoDocument, error) {
	r.graph.Streamed = true // loading frames does not pay for two sweeps
	r.graph.Tabled = true
	g, err := run.ReadGraph(&r.graph, name, "")
	if err != nil {
		return nil, err
	}
	m := g.Store.Manifest
	v := &infoDocument{
		Graph: name, Attributes: m.Attributes, Order: shell.OrderOf(m),
		BitsPerEntry: m.BitsPerEntry(), BytesTotal: m.BytesTotal(),
	}
	if g.Report == nil {
		v.Identity = m.Content()
	} else {
		v.Events = g.Report.Events
		files := g.Report.Files
		if files[0].Format == "node list" {
			v.listed = files[0].Columns.String()
		}
		v.Columns = infoColumns(files[len(files)-1].Columns)
		v.Command = run.CommandWith(files[len(files)-1].Settings)
		v.odd = oddLines(g.Report)
	}
	for _, d := range g.Degrees {
		v.MaxDegree = max(v.MaxDegree, d)
	}
	var l *nodefile.Labels
	if r.labels != "" {
		if l, err = run.ReadLabels(&r.graph, r.labels, g, nil); err != nil {
			return nil, err
		}
		v.LabelColumns = infoColumns(l.Columns)
		v.Unlabelled = l.Unlabelled
	}
	if r.features != "" {
		if v.FeatureColumns, err = readColumns(run, r, g, l); err != nil {
			return nil, err
		}
	}
	job, err := g.Begin(run.Context, &heatwalk.Needs{
		Part: "components and labels",
		Workspace: func(_ *heatwalk.Job, p *budget.Plan) (budget.Workspace, error) {
			p.Sweeps = 2
			if m.HasCodes() {
				p.Sweeps = 3
			}
			space := budget.Held(12 * m.Rows) // memory for components
			if l != nil {
				space = budget.Held(48*m.Rows, 40*int64(len(l.Row)))
			}
			return space, nil
		},
	})
	if err != nil {
		return nil, err
	}
	defer job.End()
	s, err := evaluate.Measure(run.Context, job.A, m.Directed, l, run.Threads)
	if err != nil {
		return nil, err
	}
	v.Components = s.Components
	v.LargestComponent = s.Largest
	v.Isolated = s.Isolated
	v.DegreeBins, v.ComponentSizes = s.DegreeBins(g.Degrees), s.LargestSizes()
	if l != nil {
		v.LabelsByClass = s.LabelsByClass(l.Names)
		order := s.ClassOrder()
		for _, c := range order {
			v.ClassNames = append(v.ClassNames, l.Names[c])
			if s.Pairs == nil {
				continue
			}
			var links []int64
			for _, neighbour := range order {
				links = append(links, s.Pairs[c][neighbour])
			}
			v.ClassLinks = append(v.ClassLinks, links)
		}
		v.Labelled = &s.Labelled
		v.Classes = &s.Classes
		v.PFreq = &s.Share
		v.LargestClass = l.Names[s.Frequent]
		v.PSwitchEdges = &s.SwitchEdge
		if m.Negative == 0 { // otherwise it is not a share
			v.PSwitch = &s.SwitchWeight
		}
	}
	if err := v.countEdges(run.Context, g, l); err != nil {
		return nil, err
	}
	if err := run.WriteFile(r.ids,
		func(w io.Writer) error {
			return tablefile.WriteIDs(w,
				g.NodeAxis())
		}); err != nil {
		return nil, err
	}
	return v, run.WriteFile(r.page,
		func(w io.Writer) error { return run.WritePage(w, "info", v, name) })
}

// readColumns reads the attributes in the table of --node-features, and returns its columns.
func readColumns(run *shell.Session, r *infoOptions, g *shell.OpenGraph, l *nodefile.Labels) ([]infoColumn, error) {
	run.Progress.Begin("reading "+r.features, 0, shell.Bytes)
	attributes, err := g.ReadAttributes(run.Context, r.features, &tablefile.FeatureConfig{
		Labels: l, Text: r.graph.Tables.Text, Missing: r.graph.Tables.Labelling.Missing,
		SkipUnknown: r.graph.Tables.SkipsUnknown(), SkipBad: r.graph.Config.SkipBadLines, Memory: g.Plan().Room(),
		Stdin: run.Console.Stdin, Warn: run.Console.WarnOfError,
	})
	if err != nil {
		return nil, err
	}
	return infoColumns(attributes.Columns), attributes.Close()
}

// countEdges adds the counts of edges, and of their kinds and times, to the document of a graph.
func (v *infoDocument) countEdges(ctx context.Context, g *shell.OpenGraph,
	l *nodefile.Labels) error {
	m := g.Store.Manifest
	if m.HasCodes() {
		var rows, classes []int
		if l != nil {
			rows = l.Row
			classes = l.Class
		}
		counts, err := sides.Count(ctx, g.Store.Store, rows, classes)
		if err != nil {
			return err
		}
		m = &counts.Manifest
		for k, kind := range m.Kinds {
			line := kindCounts{Kind: kind}
			if counts.Labelled[k] > 0 {
				share := float64(counts.Same[k]) / float64(counts.Labelled[k])
				line.EqualLabels = &share
			}
			v.Kinds = append(v.Kinds, line)
		}
		if t := m.Times; t != nil {
			v.FirstTime, v.LastTime = t.Text(t.First), t.Text(t.Last)
		}
	}
	v.GraphCounts = shell.CountsOf(m)
	v.Negative = m.Negative
	v.SelfLoops = m.SelfLoops
	v.Form = "undirected"
	if v.Directed {
		v.Form = "directed"
	}
	if v.Weighted {
		v.Form += ", weighted"
	}
	return nil
}

func NewVerify(run *shell.Session) *cobra.Command {
	cmd, _, _ := shell.NewCommand(run, "verify GRAPH",
		"Check every checksum of a store, or the inputs of a run file", nil, runVerify)
	return cmd
}

type verifyDocument struct {
	*shard.VerifyReport
	shell.Closing
}

// runVerify verifies the store in dir and shows how much of it was read.
func runVerify(run *shell.Session, _ *struct{}, dir string) error {
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		const mostBytes = 64 << 20
		text, err := textio.ReadFile(run.Context, dir, mostBytes)
		if err != nil {
			return err
		}
		d := new(runInputs)
		if err := json.Unmarshal(text, d); err != nil || d.Inputs == nil {
			return shell.UsageError(dir, "is neither a store nor a run file with inputs; give a store, or OUT.run.json of a run")
		}
		n, err := shell.CheckInputs(run.Context, dir, d.Directory, d.Inputs)
		if err != nil {
			return err
		}
		return run.Console.PrintResult(d, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s as in the run\n%s\n", dir, words.Counted(n, "input"), run.Console.Cost())
		})
	}
	opened := false
	stage := (*shell.Stage)(nil)
	r, err := shard.Verify(run.Context, dir, &shard.Options{Memory: run.Costs.DataLimit() / 2,
		Workers: run.Threads}, func(bytes int64) error {
		opened = true
		p := run.Costs.NewPlan()
		p.Sweeps = 2
		err := p.Reserve(bytes, "the store and its counts")
		if err == nil {
			err = run.Costs.Begin(p)
		}
		stage = run.Progress.Begin("verifying "+dir, 0, shell.Bytes)
		return err
	}, func(done, total int64) { stage.Set(done, total) })
	run.Progress.End()
	if over := new(budget.Error); !opened && errors.As(err, &over) {
		// The store has half of the limit; the other half is for frames that are being read.
		err = &budget.Error{Need: 2*over.Need + over.Need/8, Limit: 2 * over.Limit,
			Largest: over.Largest}
	}
	if err != nil {
		return err
	}
	return run.Console.PrintResult(&verifyDocument{VerifyReport: r}, func(w io.Writer) {
		fmt.Fprintf(w, "%s is whole: %s in %s, %s\n%s\n", dir,
			words.Counted(r.Entries, "entry"), words.Counted(r.Files, "file"),
			words.Bytes(r.Bytes), run.Console.Cost())
	})
}

type runInputs struct {
	Directory string           `json:"directory"`
	Inputs    []shell.RunInput `json:"inputs"`
	shell.Closing
}
