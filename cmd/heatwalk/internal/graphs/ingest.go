package graphs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

type ingestOptions struct {
	graph      shell.GraphInputs
	neighbours neighbourFlags
	dir        string
	attributes string // file with a row for each node
	force      bool
	inputs     []string
}

func NewIngest(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "ingest INPUT... -o DIR",
		"Read edge lists and graph files of other tools into a store",
		checkIngest, runIngest)
	cmd.Args = run.Line.Arguments("INPUT", 0, -1)
	flags.StringVarP(&c.dir, "output", "o", "", "`DIR` of the store")
	flags.TakeOnePath("output")
	flags.BoolVar(&c.force, "force", false, "replace the store in DIR")
	flags.AddInput(&c.attributes, "node-features", "of attributes to store, a row for each node: .npy")
	shell.NumberVar(flags, &c.neighbours.Neighbours, "neighbours", 0,
		param.Range{Least: 1, Most: math.MaxInt32}, "N",
		"edges from each row of --of to the N rows with the largest cosine")
	flags.AddInput(&c.neighbours.path, "of", "with attributes, a row for each node: .npz, .npy or LIBSVM's text")
	shell.NumberVar(flags, &c.neighbours.Least, "least-cosine", 0, param.Range{Least: 0, Most: 1},
		"cosine", "cosine below which there is no edge (without --neighbours, all others are)")
	flags.AddInput(&c.neighbours.ids, "feature-ids", "with the ids of the rows of --of and --node-features (default: X.rows.ids for X.npy, or numbers from 0)")
	shell.NumberVar(flags, &c.neighbours.Weight, "content-weight", 1,
		param.Range{Most: maxContentWeight, AboveLeast: true}, "weight",
		"factor of the cosines, if they are added to the edges of INPUT")
	c.graph.Declare(flags)
	return cmd
}

func checkIngest(line *shell.CommandLine, c *ingestOptions, args []string) {
	c.inputs = args
	if c.dir == "" {
		line.Problem("-o", "the store's directory is missing; write -o DIR")
	} else if shell.IsThere(c.dir) && !shell.IsDir(c.dir) {
		line.Problem("-o", "%s is a file; name a directory", c.dir)
	}
	files := make([]os.FileInfo, len(args)) // nil for missing files
	for i, a := range args {
		files[i], _ = os.Stat(a)
		if a != "" && shell.IsThere(filepath.Join(a, "manifest")) &&
			!(c.graph.Sources.Citations() && len(args) == 1) {
			line.Problem(a, "is a store already; the other commands take it as it is")
		}
		for j, b := range args[:i] {
			if a == b || os.SameFile(files[i], files[j]) {
				line.Problem(a, "given twice; its edges would count twice")
			}
		}
	}
	isGiven := c.neighbours.path != ""
	line.Refuse(!isGiven, "neighbours least-cosine content-weight",
		"is about attributes; name their file with --of")
	line.Refuse(!isGiven && c.attributes == "", "feature-ids",
		"is about attributes; name their file with --of or --node-features")
	line.Refuse(isGiven, "directed", "neighbours have no direction; leave it out")
	switch {
	case !isGiven && len(args) == 0:
		line.Problem(line.Command.Name(), "INPUT is missing; usage: %s",
			shell.Synopsis(line.Command))
	case !isGiven:
	case c.neighbours.Neighbours == 0 && c.neighbours.Least == 0 && !line.HasProblem("--neighbours") &&
		!line.HasProblem("--least-cosine"):
		line.Problem("--of",
			"is not said how many edges to make of; add --neighbours K or --least-cosine COSINE")
	case c.graph.Sources.Any():
		line.Problem("--of",
			"makes a graph of attributes; make that of --hyperedges, --cocitation or --coupling first, and give it as INPUT")
	}
}

type ingestDocument struct {
	*ingest.Report
	Order        string  `json:"order"`
	Identity     string  `json:"identity"`
	BitsPerEntry float64 `json:"bits_per_entry"`
	BytesTotal   int64   `json:"bytes_total"`
	shell.Closing
}

func runIngest(run *shell.Session, c *ingestOptions, _ string) (err error) {
	config := &c.graph.Config
	if c.neighbours.path != "" {
		config.Sources = make([]*ingest.Source, 1)
		if config.Sources[0], err = c.neighbours.read(run); err != nil {
			return err
		}
		if config.Duplicates == ingest.DefaultDuplicates {
			config.Duplicates = ingest.SumDuplicates // because links and content are added
		}
	}
	if run.IsTrial {
		dir, err := run.MakeTempContent(&c.graph.Tables, c.dir)
		if err == nil {
			_, err = ingestInto(run, &c.graph, dir, c.inputs, true)
		}
		return err
	}
	run.NoteOutput(c.dir)
	o := shell.NewOutputs(run, c.dir)
	if o.RunFile, err = o.Companion(withoutSeparator(c.dir), "", ".run.json"); err != nil {
		return err
	}
	config.Store = &shard.WriteOptions{Around: func(m *shard.Manifest, put func() error) error {
		o.Describe(m)
		return o.Publish(nil, put)
	}}
	if c.attributes != "" {
		info, err := os.Stat(c.attributes)
		if err == nil {
			_, err = tablefile.Inspect(run.Context, c.attributes, nil) // before the graph, which may take minutes
		}
		if err != nil {
			return err
		}
		run.Costs.Disk = info.Size()
		config.Store.Attributes = func(nodes *shard.Nodes, w io.Writer) (*shard.Attributes, error) {
			columns, element, err := tablefile.CopyRows(run.Context, w, c.attributes,
				nodes, &tablefile.FeatureConfig{IDs: c.neighbours.ids,
					Memory: run.Costs.DataLimit(), Stdin: run.Console.Stdin})
			return &shard.Attributes{Name: c.attributes, Columns: columns,
				Type: element}, err
		}
	}
	if run.Costs.DryRun {
		return planIngest(run.Costs, c.inputs)
	}
	report, err := ingestInto(run, &c.graph, c.dir, c.inputs, c.force)
	if err != nil {
		return err
	}
	run.OutputState = ""
	return run.Console.PrintResult(documentOf(report), func(w io.Writer) {
		for _, line := range shell.ColumnLines(report.Files) {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "%s\n%s · %s\n", madeStore(report), run.Console.Cost(), c.dir)
	})
}

func documentOf(r *ingest.Report) *ingestDocument {
	m := r.Store
	return &ingestDocument{r, shell.OrderOf(m), m.Content(), m.BitsPerEntry(),
		m.BytesTotal(), shell.Closing{}}
}

// madeStore returns the summary of a new store.
func madeStore(r *ingest.Report) string {
	text := fmt.Sprintf("%s, %s, %.1f bits an entry, %s", words.Counted(r.Nodes, "node"), words.Counted(r.Edges, "edge"),
		r.Store.BitsPerEntry(), words.Bytes(r.Store.BytesTotal()))
	if r.Store.Order != "" {
		text += ", order " + r.Store.Order
	}
	if odd := oddLines(r); odd != "" {
		text += "\n" + odd
	}
	return text
}

// oddLines returns a text about the lines that were dropped or merged, or "" if there are
// none.
func oddLines(r *ingest.Report) string {
	added := ""
	if r.Added > 0 {
		added = " (weights added)"
	}
	dropped := " dropped"
	if r.Store.SelfLoops > 0 {
		dropped = ""
	}
	return words.Parts([]words.Part{
		{N: r.Duplicates, Noun: "duplicate edge"}, {N: r.Reciprocal, Noun: "edge",
			Rest: " in both directions" + added},
		{N: r.SelfLoops, Noun: "self loop", Rest: dropped},
		{N: r.ZeroWeights, Noun: "zero weight"}, {N: r.BadLines,
			Noun: "bad line"}, {N: r.MissingIDs, Noun: "edge",
			Rest: " with a missing end"},
		{N: r.UnknownIDs, Noun: "edge", Rest: " of an unknown node"},
	})
}

func ingestInto(run *shell.Session, r *shell.GraphInputs, dir string, inputs []string,
	force bool) (*ingest.Report, error) {
	c := run.IngestConfig(r)
	c.Force = force
	if c.Memory > 0 {
		run.Costs.LimitHeap(c.Memory + r.ProducerBytes)
	}
	var temporary int64 // bytes of temporary stores
	if r.Sources.Any() {
		var err error
		if temporary, err = run.MakeSources(r, dir, inputs, c); err != nil {
			return nil, err
		}
		inputs = nil
	}
	report, err := ingest.Run(run.Context, dir, inputs, c)
	if report != nil {
		report.SpilledBytes += temporary
	}
	if errors.Is(err, shard.ErrNotStore) { // the output is not a store
		err = shell.UsageError("-o", "%v", err)
	}
	run.Progress.End()
	return report, err
}

func planIngest(costs *shell.Costs, inputs []string) error {
	var text int64
	for _, path := range inputs {
		if path == "-" {
			text = math.MaxInt64 / 2
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		ratio := 1
		switch strings.ToLower(filepath.Ext(path)) {
		case ".gz", ".bgz", ".zst", ".npz", ".parquet":
			ratio = 8 // size of text divided by size of compressed text
		}
		text = budget.AllOf(text, budget.Times(ratio, info.Size()))
	}
	costs.UnknownDisk = true
	return beginIngest(costs, costs.NewPlan(), text)
}

// beginIngest plans an ingest of the given bytes of text. Lines that do not fit into memory go to disk.
func beginIngest(costs *shell.Costs, p *budget.Plan, text int64) error {
	p.Sweeps = 1
	bytes := budget.Times(2, text)
	if left, ok := p.Left(); ok {
		bytes = min(bytes, left)
	}
	return cmp.Or(p.Reserve(bytes, "ingest"), costs.Begin(p))
}

type neighbourFlags struct {
	path, ids string
	source.NeighbourSettings
}

const maxContentWeight = 1e100

// read reads the table of --of, and returns a source of edges between its rows. It returns an
// [ingest.LimitError] if the table exceeds the memory limit.
func (n *neighbourFlags) read(run *shell.Session) (*ingest.Source, error) {
	f, err := tablefile.Inspect(run.Context, n.path,
		&tablefile.Options{Progress: run.Progress.Stages(shell.Bytes)})
	if err != nil {
		return nil, err
	}
	x, ids, err := tablefile.ReadCSR(run.Context, f, n.ids, run.Console.Stdin, func(_, need int64) error {
		if limit := run.Costs.DataLimit(); limit > 0 && need > limit {
			return &ingest.LimitError{Need: need, Limit: limit}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n.Workers = run.Threads
	result := source.Neighbours(x, ids, &n.NeighbourSettings)
	result.Name = n.path
	return result, nil
}
