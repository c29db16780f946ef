package graphs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/generate"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

type generateDocument struct {
	Output     string         `json:"output"`
	Labels     string         `json:"labels,omitempty"`
	Truth      string         `json:"truth,omitempty"`
	Model      string         `json:"model"`
	Parameters map[string]any `json:"parameters"`
	Store      any            `json:"store,omitempty"` // for an output that is a store
	shell.Closing

	values   param.Values
	fraction float64 // share of the nodes in Labels
}

func NewGenerate(run *shell.Session) *cobra.Command {
	cmd := shell.NewGroup("generate", "Synthetic graphs, and labels for them")
	for _, m := range generate.Models() {
		cmd.AddCommand(newModel(run, m))
	}
	return cmd
}

type generateOptions struct {
	graph shell.GraphInputs
	generateDocument
	force bool
}

func newModel(run *shell.Session, m *generate.Model) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, m.Name+" -o FILE", m.Title, func(line *shell.CommandLine,
		c *generateOptions, _ []string) {
		if !isStoreName(c.Output) {
			line.CheckOutput("-o", c.Output, nil)
			if f := shell.FormatOfFile(c.Output, ""); f != nil && f.Graph != graphfile.EdgeList {
				line.Problem("-o",
					"generate writes lines of edges, not %s files; make a store with -o DIR/, then: heatwalk convert DIR -o %s", f.Name, c.Output)
			}
			line.Refuse(true, "force temp-dir",
				"only a store has use for it; to make one write -o DIR/")
		}
		c.generateDocument.values = modelValues(line, &m.Spec)
	}, func(run *shell.Session, c *generateOptions, _ string) error {
		c.Parameters = map[string]any{"seed": run.Seed}
		if m.HasClasses {
			c.Parameters["fraction"] = c.fraction
		}
		for name, v := range c.values {
			c.Parameters[strings.ReplaceAll(name, "-", "_")] = v
		}
		return generateGraph(run, c)
	})
	c.Model = m.Name
	c.fraction = 1
	flags.StringVarP(&c.Output, "output", "o", "-", "`FILE` of edges, - is stdout; DIR/ makes a store")
	flags.TakeOnePath("output", shell.StdoutNames...)
	flags.BoolVar(&c.force, "force", false, "replace the store in DIR/")
	c.graph.Tables.DeclareTemp(flags)
	modelFlags(flags, &m.Spec)
	if m.HasClasses {
		flags.AddSideOutput(&c.Labels, "labels", "for labels of some nodes", nil)
		shell.NumberVar(flags, &c.fraction, "fraction", 0.05,
			param.Range{Most: 1, AboveLeast: true}, "fraction", "of the nodes that --labels has")
		flags.AddSideOutput(&c.Truth, "truth", "for the labels of all nodes", nil)
	}
	flags.SortFlags = false
	return cmd
}

func modelFlags(flags *shell.FlagSet, s *param.Spec) {
	for i := range s.Params {
		p := &s.Params[i]
		info := shell.DescribeParameter(p)
		usage := p.Meaning
		if info.Range != "" {
			usage += ", " + info.Range
		}
		if p.Kind != param.Switch {
			usage += " (default " + info.Default + ")"
		}
		later := func(string) error { return nil } // modelValues checks the text
		kind := "X"
		switch p.Kind {
		case param.Switch:
			flags.Bool(p.Name, false, usage)
			continue
		case param.Choice:
			kind = strings.Join(p.Words, "|")
		case param.Whole:
			kind = "N"
		}
		flags.AddValue(p.Name, kind, "", usage, later)
	}
}

func modelValues(line *shell.CommandLine, s *param.Spec) param.Values {
	text := map[string]string{}
	for _, p := range s.Params {
		if f := line.Command.Flags().Lookup(p.Name); f.Changed && !line.HasProblem("--"+p.Name) {
			text[p.Name] = f.Value.String()
		}
	}
	_, values := line.ParseGiven("", text, s)
	return values
}

func isStoreName(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1]) || shell.IsDir(path)
}

// writeText writes the file path. The file is compressed if its name says so. If path is "", writeText
// does nothing.
func writeText(o *shell.Outputs, path string, write func(w io.Writer) error) error {
	if path == "" {
		return nil
	}
	w, err := o.Begin(path)
	if err == nil {
		_, err = writeFile(o.Run, w, path, write)
		o.Run.Progress.End()
	}
	return err
}

func generateGraph(run *shell.Session, r *generateOptions) error {
	o := shell.NewOutputs(run, r.Output)
	g, err := generate.New(r.Model, r.values, uint64(run.Seed), run.Threads)
	if err == nil {
		if _, ok := r.values["edges"]; ok {
			r.Parameters["edges"] = g.Size().Lines // also for auto
		}
		err = planGenerate(run, r, g)
	}
	isStore := isStoreName(r.Output)
	if err == nil && !isStore {
		err = writeText(o, r.Output,
			func(w io.Writer) error { return g.EdgesTo(run.Context, w) })
	}
	if err == nil {
		err = writeText(o, r.Labels,
			func(w io.Writer) error { return g.LabelsTo(run.Context, w, r.fraction) })
	}
	if err == nil {
		err = writeText(o, r.Truth,
			func(w io.Writer) error { return g.LabelsTo(run.Context, w, 1) })
	}
	if err == nil {
		o.RunFile, err = o.Companion(withoutSeparator(r.Output), "", ".run.json")
	}
	if err != nil {
		return err
	}
	summary := ""
	if isStore {
		summary, err = generateStore(run, r, g, o)
	} else {
		err = o.Publish(r.Parameters, nil)
	}
	if err != nil {
		return err
	}
	return run.Console.PrintResult(&r.generateDocument, func(w io.Writer) {
		files := ""
		for _, path := range []string{r.Output, r.Labels, r.Truth} {
			if path != "" && path != "-" {
				files += " · " + path
			}
		}
		fmt.Fprintln(w, summary+run.Console.Cost()+files)
	}, r.Output)
}

// planGenerate checks memory and disk of a run that generates edges.
func planGenerate(run *shell.Session, r *generateOptions, g generate.Graph) error {
	p := run.Costs.NewPlan()
	size := g.Size()
	output := r.Output
	if err := p.Reserve(size.Bytes, "edges"); err != nil {
		return err
	}
	run.Costs.Disk = size.Text + shell.RunFileBytes
	if isStoreName(output) {
		run.Costs.Disk += 2 * size.Text // lines that do not fit the memory
		return beginIngest(run.Costs, p, size.Text)
	}
	return run.Costs.Begin(p)
}

// withoutSeparator returns the cleaned path dir, as an absolute path for . and .., because the name of
// the run file is derived from it.
func withoutSeparator(dir string) string {
	if base := filepath.Base(dir); base == "." || base == ".." {
		if full, err := filepath.Abs(dir); err == nil {
			return full
		}
	}
	return filepath.Clean(dir)
}

// generateStore ingests the edges while they are generated, publishes the store with o, and returns the
// summary of the store.
func generateStore(run *shell.Session, r *generateOptions, g generate.Graph,
	o *shell.Outputs) (string, error) {
	run.NoteOutput(r.Output)
	edges, stop := generate.Stream(run.Context, g)
	options := map[string]string{"model": r.Model}
	for name, value := range r.Parameters {
		options[name] = fmt.Sprint(value)
	}
	hook := func(m *shard.Manifest, put func() error) error {
		r.Store = shell.DescribeStore(m)
		o.Describe(m)
		return o.Publish(r.Parameters, put)
	}
	r.graph.Config = ingest.Config{Stdin: edges, Order: ingest.AutoOrder,
		Store: &shard.WriteOptions{Options: options, Around: hook}}
	r.graph.Source, r.graph.ProducerBytes = "generating", g.Size().Bytes
	report, err := ingestInto(run, &r.graph, r.Output, []string{"-"}, r.force)
	stop()
	if err != nil {
		return "", err
	}
	run.OutputState = ""
	return madeStore(report) + "\n", nil
}
