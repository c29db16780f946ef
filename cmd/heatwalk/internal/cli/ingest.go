package cli

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

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ingestOptions are the options of ingest.
type ingestOptions struct {
	graph      graphInputs
	neighbours neighbourFlags
	dir, codec string
	attributes string // file with a row for each node
	force      bool
	inputs     []string
}

func newIngest(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "ingest INPUT... -o DIR",
		"Read edge lists and graph files of other tools into a store",
		checkIngest, runIngest)
	cmd.Args = arguments(run.line, "INPUT", 0, -1)
	flags.StringVarP(&c.dir, "output", "o", "", "`DIR` of the store")
	flags.BoolVar(&c.force, "force", false, "replace the store in DIR")
	choiceVar(flags, &c.codec, "codec", shard.FourWidths, []string{shard.FourWidths, shard.Zstd},
		"code of the shards: the usual one, or the same under zstd for cold storage")
	flags.addText(&c.attributes, "node-features", "`FILE` of attributes to store, a row for each node: .npy")
	c.neighbours.declare(flags)
	graphFlags(&c.graph, flags)
	return cmd
}

// checkIngest validates the flags and records problems.
func checkIngest(line *commandLine, c *ingestOptions, args []string) {
	c.inputs = args
	if c.dir == "" {
		line.problem("-o", "the store's directory is missing; write -o DIR")
	} else if isThere(c.dir) && !isDir(c.dir) {
		line.problem("-o", "%s is a file; name a directory", c.dir)
	}
	for i, a := range args {
		if a != "" && isThere(filepath.Join(a, "manifest")) &&
			!(c.graph.sources.citations() && len(args) == 1) {
			line.problem(a, "is a store already; the other commands take it as it is")
		}
		for _, b := range args[:i] {
			if a == b || sameFile(a, b) {
				line.problem(a, "given twice; its edges would count twice")
			}
		}
	}
	c.neighbours.check(line, args, &c.graph, c.attributes != "")
}

// ingestDocument is the JSON document of ingest.
type ingestDocument struct {
	*ingest.Report
	Order        string  `json:"order"`
	Identity     string  `json:"identity"`
	BitsPerEntry float64 `json:"bits_per_entry"`
	BytesTotal   int64   `json:"bytes_total"`
	Closing
}

func runIngest(run *session, c *ingestOptions, _ string) (err error) {
	config := &c.graph.config
	config.Codec = c.codec
	if c.neighbours.path != "" {
		config.Sources = make([]*ingest.Source, 1)
		if config.Sources[0], err = c.neighbours.read(run); err != nil {
			return err
		}
		if config.Duplicates == ingest.DefaultDuplicates {
			config.Duplicates = ingest.SumDuplicates // because links and content are added
		}
	}
	keeps(run, c.dir)
	o := newOutputs(run, c.dir)
	if o.runFile, err = o.companion(withoutSeparator(c.dir), "", ".run.json"); err != nil {
		return err
	}
	config.Store = &shard.WriteOptions{Around: func(m *shard.Manifest, put func() error) error {
		o.store = storeOf(m)
		return o.publish(nil, put)
	}}
	if c.attributes != "" {
		info, err := os.Stat(c.attributes)
		if err == nil {
			_, err = tablefile.Inspect(run.ctx, c.attributes, nil) // before the graph, which may take minutes
		}
		if err != nil {
			return err
		}
		run.costs.disk = info.Size()
		config.Store.Attributes = func(nodes *shard.Nodes, w io.Writer) (*shard.Attributes, error) {
			columns, element, err := tablefile.CopyRows(run.ctx, w, c.attributes,
				nodes, &tablefile.FeatureConfig{IDs: c.neighbours.ids,
					Memory: run.costs.dataLimit(), Stdin: run.console.stdin})
			return &shard.Attributes{Name: c.attributes, Columns: columns,
				Type: element}, err
		}
	}
	if run.costs.estimating {
		return planIngest(run, &c.graph, c.dir, c.inputs)
	}
	report, err := ingestInto(run, &c.graph, c.dir, c.inputs, c.force)
	if err != nil {
		return err
	}
	run.doing = ""
	return run.console.printResult(documentOf(report), func(w io.Writer) {
		for _, line := range columnLines(report.Files) {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "%s\n%s · %s\n", madeStore(report), run.console.cost(), c.dir)
	})
}

// documentOf returns the JSON document of a new store.
func documentOf(r *ingest.Report) *ingestDocument {
	m := r.Store
	return &ingestDocument{r, orderOf(m), m.Identity, m.BitsPerEntry(),
		m.BytesTotal(), Closing{}}
}

// columnLines returns the use of the columns of files, one line for files with the same columns.
func columnLines(files []ingest.FileReport) (lines []string) {
	count := map[string]int{}
	names := map[string]string{}
	var uses []string
	for _, f := range files {
		if len(f.Columns) == 0 {
			continue
		}
		use := f.Columns.String()
		if count[use]++; count[use] == 1 {
			uses = append(uses, use)
			names[use] = input.Escape(f.Name)
		}
	}
	for _, use := range uses {
		name := names[use]
		if n := count[use] - 1; n > 0 {
			name += " and " + words.Counted(n, "other file")
		}
		lines = append(lines, name+": "+use)
	}
	return lines
}

// madeStore returns the summary of a new store: its counts, and the lines that were dropped or merged.
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

// oddLines returns the summary of lines that were dropped or merged, or "".
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

// ingestConfig returns the settings of an ingest.
func ingestConfig(run *session, r *graphInputs) *ingest.Config {
	config := r.config
	c := &config
	c.Workers, c.TempDir, c.Warn, c.Text = run.threads, r.tables.tempDir,
		run.console.warnOf, r.tables.text
	if limit := run.costs.dataLimit(); limit > 0 {
		c.Memory = max(1, limit-r.producerBytes)
	}
	c.Missing = r.tables.labelling.Missing
	c.UnknownIDs = r.tables.unknown
	if c.Stdin == nil {
		c.Stdin = run.console.stdin
	}
	var stage *progress.Stage
	current := ""
	c.Progress = func(name string, done, total int64) {
		if name != current {
			current = name
			unit := progress.Unit("row")
			if strings.HasPrefix(name, "reading ") {
				unit = progress.Bytes
				if r.config.Stdin != nil {
					name = r.source
				}
			}
			stage = run.progress.Begin(name, total, unit)
		}
		stage.Set(done, total)
	}
	return c
}

// ingestInto reads inputs into a new store in dir.
func ingestInto(run *session, r *graphInputs, dir string, inputs []string,
	force bool) (*ingest.Report, error) {
	c := ingestConfig(run, r)
	c.Force = force
	if c.Memory > 0 {
		limitHeap(c.Memory + r.producerBytes)
	}
	var temporary int64 // bytes of stores
	if r.sources.any() {
		var err error
		if temporary, err = makeSources(run, r, dir, inputs, c); err != nil {
			return nil, err
		}
		inputs = nil
	}
	report, err := ingest.Run(run.ctx, dir, inputs, c)
	if report != nil {
		report.SpilledBytes += temporary
	}
	if errors.Is(err, shard.ErrNotStore) { // about the output
		err = fault.Usage("-o", "%v", err)
	}
	run.progress.End()
	return report, err
}

// planIngest plans an ingest. A graph that is derived from other data is computed temporarily, because
// its size is not known before.
func planIngest(run *session, r *graphInputs, dir string, inputs []string) error {
	if r.sources.any() || r.config.Sources != nil {
		temp, err := makeTemp(run, &r.tables, dir)
		if err != nil {
			return err
		}
		report, err := ingestInto(run, r, temp.Content(), inputs, false)
		if err != nil {
			return err
		}
		return beginIngest(run.costs, measuredBytes(run.costs),
			report.Store.BytesTotal()+report.SpilledBytes)
	}
	c := ingestConfig(run, r)
	n, err := ingest.CountsOf(run.ctx, inputs, c)
	if err != nil {
		return err
	}
	if err := n.Fits(c); err != nil {
		return err
	}
	store, temporary := n.DiskBytes(c)
	bytes := n.Bytes(c)
	if c.Memory > 0 {
		bytes = min(bytes, c.Memory) // the rest goes to disk
	}
	return beginIngest(run.costs, bytes, store+temporary)
}

// beginIngest plans an ingest with the given memory and size of its files.
func beginIngest(costs *runCosts, memory, files int64) error {
	p := new(budget.Plan)
	_ = p.Reserve(memory, "ingest") // there is no limit
	p.Sweeps = 1
	costs.disk += files + runFileBytes
	return costs.begin(p)
}

// measuredBytes returns the memory of repeating the run so far: slightly more than its peak, but at
// most the limit.
func measuredBytes(costs *runCosts) int64 {
	peak := system.PeakMemory()
	bytes := max(0, budget.Data(peak+peak/8))
	if limit := costs.dataLimit(); limit > 0 {
		bytes = min(bytes, limit)
	}
	return bytes
}

// sources holds the flags for graphs from hyperedges and citations.
type sources struct {
	hyperedges           bool
	cocitation, coupling bool
}

// declare declares the flags of s.
func (s *sources) declare(flags *flagSet) {
	flags.BoolVar(&s.hyperedges, "hyperedges", false,
		"each line holds the vertices of a hyperedge; the graph has a node for each hyperedge too")
	flags.BoolVar(&s.cocitation, "cocitation", false,
		"of arcs, the graph of the nodes that a third one points to; its weights count these")
	flags.BoolVar(&s.coupling, "coupling", false,
		"of arcs, the graph of the nodes that point to a third one; with --cocitation, both; of hyperedges, that of the vertices that share them")
}

// any reports whether the graph is derived from hyperedges or citations.
func (s *sources) any() bool {
	return s.hyperedges || s.citations()
}

func (s *sources) citations() bool {
	return s.cocitation || s.coupling
}

// checkSources records contradictions between flags.
func checkSources(line *commandLine, r *graphInputs) {
	s := &r.sources
	c := &r.config
	switch {
	case !s.any():
	case s.hyperedges && s.cocitation:
		line.problem("--hyperedges",
			"goes against --cocitation, which is of arcs; choose one")
	case s.hyperedges && c.Directed:
		line.problem("--hyperedges", "have no direction; leave out --directed")
	case s.hyperedges && (c.Fields != nil || c.Weight != "" || c.Kind != "" ||
		c.Time != "" || c.Bipartite || c.Header != nodefile.AutoHeader ||
		c.SkipBadLines || r.tables.unknown != ingest.DefaultUnknown):
		line.problem("--hyperedges",
			"has ids on its lines and no columns; leave out --fields, --weight, --bipartite, --header, --skip-bad-lines and --unknown-ids")
	case s.citations() && c.Undirected:
		line.problem("--undirected",
			"goes against --cocitation and --coupling, which are of arcs; leave it out")
	}
}

// makeSources replaces the inputs in c by sources that are derived from them, for a graph in dir. It
// returns the size of temporary stores, which exist until the command ends.
func makeSources(run *session, r *graphInputs, dir string, inputs []string,
	c *ingest.Config) (bytes int64, err error) {
	s := &r.sources
	if s.hyperedges {
		settings := *c
		c.Sources = []*ingest.Source{source.Hyperedges(inputs, s.coupling,
			&settings)}
		return 0, nil
	}
	path := inputs[0]
	if len(inputs) > 1 || !ingest.IsStore(path) {
		temp, err := makeTemp(run, &r.tables, dir)
		if err != nil {
			return 0, err
		}
		arcs := *c
		arcs.Directed = true
		arcs.Order = ingest.DefaultOrder
		arcs.Force = false
		arcs.Store = nil
		path = temp.Content()
		report, err := ingest.Run(run.ctx, path, inputs, &arcs)
		if err != nil {
			return 0, err
		}
		bytes = report.Store.BytesTotal() + report.SpilledBytes
	}
	store, err := shard.Open(run.ctx, path,
		&shard.Options{Stream: true, Workers: run.threads})
	if err != nil {
		return 0, err
	}
	run.atEnd(func() { _ = store.Close() }) // it was only read
	if !store.Manifest.Directed {
		return 0, fault.Usage(inputs[0],
			"is a store without directions; --cocitation and --coupling are of arcs")
	}
	c.Nodes = ""
	c.Directed = false
	c.Undirected = true
	c.Sources = []*ingest.Source{source.Citations(store, s.cocitation, s.coupling,
		run.threads)}
	return bytes, nil
}

// graphCounts holds the counts of a graph in documents.
type graphCounts struct {
	Nodes    int64 `json:"nodes"`
	Edges    int64 `json:"edges"`
	Entries  int64 `json:"entries"`
	Directed bool  `json:"directed"`
	Weighted bool  `json:"weighted"`
}

func countsOf(m *shard.Manifest) graphCounts {
	return graphCounts{m.Rows, m.Edges(), m.Entries, m.Directed, m.Weighted}
}

// storeOf returns the description of a store for a run file.
func storeOf(m *shard.Manifest) any {
	return struct {
		Identity string `json:"identity"`
		graphCounts
		Order   string            `json:"order"`
		Options map[string]string `json:"options,omitempty"`
		Sources []shard.File      `json:"sources,omitempty"`
	}{m.Identity, countsOf(m), orderOf(m), m.Options, m.Sources}
}

// orderOf returns the name of the order of the rows of a store.
func orderOf(m *shard.Manifest) string {
	return cmp.Or(m.Order, noOrder)
}

// noOrder is the order of the ids.
const noOrder = "none"

// neighbourFlags holds the flags for a graph of nearest neighbours of attributes.
type neighbourFlags struct {
	path, ids string
	source.NeighbourSettings
}

// declare declares the flags of n.
func (n *neighbourFlags) declare(flags *flagSet) {
	numberVar(flags, &n.Neighbours, "neighbours", 0,
		param.Range{Least: 1, Most: math.MaxInt32}, "N",
		"edges from each row of --of to the N rows with the largest cosine")
	flags.addText(&n.path, "of", "`FILE` with attributes, a row for each node: .npz, .npy or LIBSVM's text")
	numberVar(flags, &n.Least, "least-cosine", 0, param.Range{Least: 0, Most: 1},
		"cosine", "cosine below which there is no edge (without --neighbours, all others are)")
	flags.addText(&n.ids, "feature-ids", "`FILE` with the ids of the rows of --of and --node-features (default: X.rows.ids for X.npy, or numbers from 0)")
	numberVar(flags, &n.Weight, "content-weight", 1,
		param.Range{Most: maxContentWeight, AboveLeast: true}, "weight",
		"weight of an edge of cosine 1, relative to those of INPUT")
}

// check validates the flags and records problems.
func (n *neighbourFlags) check(line *commandLine, args []string, r *graphInputs,
	hasAttributes bool) {
	isGiven := n.path != ""
	line.refuse(rule{!isGiven, "neighbours least-cosine content-weight",
		"is about attributes; name their file with --of"},
		rule{!isGiven && !hasAttributes, "feature-ids",
			"is about attributes; name their file with --of or --node-features"},
		rule{isGiven, "directed", "neighbours have no direction; leave it out"},
	)
	switch {
	case !isGiven && len(args) == 0:
		line.problem(line.command.Name(), "INPUT is missing; usage: %s",
			synopsis(line.command))
	case !isGiven:
	case n.Neighbours == 0 && n.Least == 0 && !line.hasProblem("--neighbours") &&
		!line.hasProblem("--least-cosine"):
		line.problem("--of",
			"is not said how many edges to make of; add --neighbours K or --least-cosine COSINE")
	case r.sources.any():
		line.problem("--of",
			"makes a graph of attributes; make that of --hyperedges, --cocitation or --coupling first, and give it as INPUT")
	}
}

const maxContentWeight = 1e100

// read reads the rows of --of as a source of the graph. If they exceed the memory limit, ingest reports
// the required memory.
func (n *neighbourFlags) read(run *session) (*ingest.Source, error) {
	f, err := tablefile.Inspect(run.ctx, n.path,
		&tablefile.Options{Progress: run.progress.Stages(progress.Bytes)})
	if err != nil {
		return nil, err
	}
	x, ids, err := tablefile.ReadCSR(run.ctx, f, n.ids, run.console.stdin, func(_, need int64) error {
		if limit := run.costs.dataLimit(); limit > 0 && need > limit {
			return &ingest.LimitError{Need: need, Limit: limit}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n.Workers = run.threads
	result := source.Neighbours(x, ids, &n.NeighbourSettings)
	result.Name = n.path
	return result, nil
}
