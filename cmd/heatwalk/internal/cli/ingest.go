package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ingestFlags are the flags of ingest.
type ingestCommand struct {
	graphInputs
	neighbours neighbourFlags
	dir, codec string
	force      bool
}

func newIngest(run *session) *cobra.Command {
	c := &ingestCommand{graphInputs: newGraphInputs(run)}
	cmd := run.newCommand("ingest INPUT... -o DIR", arguments(run, "INPUT", 0, -1),
		"Read edge lists and graph files of other tools into a store",
		func(cmd *cobra.Command, args []string) { c.check(cmd, args) },
		func(args []string) error { return c.run(args) })
	flags := cmd.Flags()
	flags.StringVarP(&c.dir, "output", "o", "", "`DIR` of the store")
	flags.BoolVar(&c.force, "force", false, "replace the store in DIR")
	choiceVar(run, flags, &c.codec, "codec", shard.FourWidths, []string{shard.FourWidths, shard.Zstd},
		"code of the shards: the usual one, or the same under zstd for cold storage")
	c.neighbours.declare(run, cmd)
	c.graphInputs.declare(flags)
	return cmd
}

// check validates the flags and records problems.
func (c *ingestCommand) check(cmd *cobra.Command, args []string) {
	if c.dir == "" {
		c.session.problem("-o", "the store's directory is missing; write -o DIR")
	} else if isThere(c.dir) && !isDir(c.dir) {
		c.session.problem("-o", "%s is a file; name a directory", c.dir)
	}
	for i, a := range args {
		if a != "" && isThere(filepath.Join(a, "manifest")) && !(c.sources.citations() && len(args) == 1) {
			c.session.problem(a, "is a store already; the other commands take it as it is")
		}
		for _, b := range args[:i] {
			if a == b || sameFile(a, b) {
				c.session.problem(a, "given twice; its edges would count twice")
			}
		}
	}
	c.graphInputs.checkSources()
	c.neighbours.check(c.session, cmd, args, &c.graphInputs)
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

func (c *ingestCommand) run(inputs []string) (err error) {
	config := &c.config
	config.Codec = c.codec
	if c.neighbours.path != "" {
		config.Sources = make([]*ingest.Source, 1)
		if config.Sources[0], err = c.neighbours.read(c.session); err != nil {
			return err
		}
		if config.Duplicates == ingest.DefaultDuplicates {
			config.Duplicates = ingest.SumDuplicates // because links and content are added
		}
	}
	c.session.keeps(c.dir)
	o := newOutputs(c.session, c.dir)
	if o.runFile, err = o.companion(withoutSeparator(c.dir), "", ".run.json"); err != nil {
		return err
	}
	config.Store = &shard.WriteOptions{Around: func(m *shard.Manifest, put func() error) error { return o.publish(storeOf(m), nil, put) }}
	if c.session.estimating {
		return c.graphInputs.planIngest(c.dir, inputs)
	}
	report, err := c.graphInputs.ingest(c.dir, inputs, c.force)
	if err != nil {
		return err
	}
	c.session.doing = ""
	return c.session.printResult(documentOf(report), func(w io.Writer) {
		for _, line := range columnLines(report.Files) {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintf(w, "%s\n%s · %s\n", madeStore(report), c.session.cost(), c.dir)
	})
}

// documentOf returns the JSON document of a new store.
func documentOf(r *ingest.Report) *ingestDocument {
	m := r.Store
	return &ingestDocument{r, orderOf(m), m.Identity, m.BitsPerEntry(), m.BytesTotal(), Closing{}}
}

// columnLines returns the use of the columns of files, one line for files with the same columns.
func columnLines(files []ingest.FileReport) (lines []string) {
	count, names := map[string]int{}, map[string]string{}
	var uses []string
	for _, f := range files {
		if len(f.Columns) == 0 {
			continue
		}
		use := f.Columns.String()
		if count[use]++; count[use] == 1 {
			uses, names[use] = append(uses, use), input.Escape(f.Name)
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
	dropped := " dropped"
	if r.Store.SelfLoops > 0 {
		dropped = ""
	}
	return words.Parts([]words.Part{
		{N: r.Duplicates, Noun: "duplicate edge"}, {N: r.Reciprocal, Noun: "edge", Rest: " in both directions"}, {N: r.SelfLoops, Noun: "self loop", Rest: dropped},
		{N: r.ZeroWeights, Noun: "zero weight"}, {N: r.BadLines, Noun: "bad line"}, {N: r.MissingIDs, Noun: "edge", Rest: " with a missing end"},
		{N: r.UnknownIDs, Noun: "edge", Rest: " of an unknown node"},
	})
}

// ingestConfig returns the settings of an ingest.
func (r *graphInputs) ingestConfig() *ingest.Config {
	config := r.config
	c := &config
	c.Workers, c.TempDir, c.Warn, c.Text = r.session.threads, r.tempDir, r.session.warnOf, r.text
	if limit := r.session.dataLimit(); limit > 0 {
		c.Memory = max(1, limit-r.producerBytes)
	}
	c.Missing = r.labelling.Missing
	if c.Stdin == nil {
		c.Stdin = r.session.stdin
	}
	var stage *progress.Stage
	current := ""
	c.Progress = func(name string, done, total int64) {
		if name != current {
			current = name
			unit := progress.Unit("row")
			if strings.HasPrefix(name, "reading ") {
				if unit = progress.Bytes; r.config.Stdin != nil {
					name = r.source
				}
			}
			stage = r.session.progress.Begin(name, total, unit)
		}
		stage.Set(done, total)
	}
	return c
}

// ingest reads inputs into a new store in dir.
func (r *graphInputs) ingest(dir string, inputs []string, force bool) (*ingest.Report, error) {
	c := r.ingestConfig()
	c.Force = force
	if c.Memory > 0 {
		limitHeap(c.Memory + r.producerBytes)
	}
	var temporary int64 // bytes of stores
	if r.sources.any() {
		bytes, end, err := r.makeSources(dir, inputs, &r.sources, c)
		if err != nil {
			return nil, err
		}
		defer end()
		inputs, temporary = nil, bytes
	}
	report, err := ingest.Run(r.session.ctx, dir, inputs, c)
	if report != nil {
		report.SpilledBytes += temporary
	}
	if errors.Is(err, shard.ErrNotStore) { // about the output
		err = fault.Usage("-o", "%v", err)
	}
	r.session.progress.End()
	return report, err
}

// planIngest plans an ingest. A graph that is derived from other data is computed temporarily, because
// its size is not known before.
func (r *graphInputs) planIngest(dir string, inputs []string) error {
	if r.sources.any() || r.config.Sources != nil {
		return r.planMade(dir, inputs)
	}
	c := r.ingestConfig()
	n, err := ingest.CountsOf(r.session.ctx, inputs, c)
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
	return beginIngest(r.session, bytes, store+temporary)
}

// planMade plans an ingest by running it temporarily.
func (r *graphInputs) planMade(dir string, inputs []string) error {
	temp, err := r.makeTemp(dir)
	if err != nil {
		return err
	}
	report, err := r.ingest(temp.Content(), inputs, false)
	if err != nil {
		return err
	}
	return beginIngest(r.session, r.session.measuredBytes(), report.Store.BytesTotal()+report.SpilledBytes)
}

// beginIngest plans an ingest with the given memory and size of its files.
func beginIngest(run *session, memory, files int64) error {
	p := heatwalk.NewPlan(0)
	_ = p.Reserve(memory, "ingest") // there is no limit
	p.Sweeps, run.disk = 1, files+runFileBytes
	return run.begin(p)
}

// measuredBytes returns the memory of repeating the run so far: slightly more than its peak, but at
// most the limit.
func (run *session) measuredBytes() int64 {
	peak := system.PeakMemory()
	bytes := max(0, budget.Data(peak+peak/8))
	if limit := run.dataLimit(); limit > 0 {
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
func (s *sources) declare(run *session, flags *pflag.FlagSet) {
	flags.BoolVar(&s.hyperedges, "hyperedges", false, "each line holds the vertices of a hyperedge; the graph has a node for each hyperedge too")
	flags.BoolVar(&s.cocitation, "cocitation", false, "of arcs, the graph of the nodes that a third one points to; its weights count these")
	flags.BoolVar(&s.coupling, "coupling", false, "of arcs, the graph of the nodes that point to a third one; with --cocitation, both; of hyperedges, that of the vertices that share them")
}

// any reports whether the graph is derived from hyperedges or citations.
func (s *sources) any() bool { return s.hyperedges || s.citations() }

func (s *sources) citations() bool { return s.cocitation || s.coupling }

// checkSources records contradictions between flags.
func (r *graphInputs) checkSources() {
	s, c := &r.sources, &r.config
	switch {
	case !s.any():
	case s.hyperedges && s.cocitation:
		r.session.problem("--hyperedges", "goes against --cocitation, which is of arcs; choose one")
	case s.hyperedges && c.Directed:
		r.session.problem("--hyperedges", "have no direction; leave out --directed")
	case s.hyperedges && (c.Fields != nil || c.Weight != "" || c.Bipartite || c.Header != nodefile.AutoHeader || c.SkipBadLines || c.UnknownIDs != ingest.DefaultUnknown):
		r.session.problem("--hyperedges", "has ids on its lines and no columns; leave out --fields, --weight, --bipartite, --header, --skip-bad-lines and --unknown-ids")
	case s.citations() && c.Undirected:
		r.session.problem("--undirected", "goes against --cocitation and --coupling, which are of arcs; leave it out")
	}
}

// makeSources replaces the inputs in c by sources that are derived from them, for a graph in dir. It
// returns the size of temporary stores, and a function that closes them.
func (in *inputs) makeSources(dir string, inputs []string, s *sources, c *ingest.Config) (bytes int64, end func(), err error) {
	if s.hyperedges {
		settings := *c
		c.Sources = []*ingest.Source{source.Hyperedges(inputs, s.coupling, &settings)}
		return 0, func() {}, nil
	}
	temp, err := in.makeTemp(dir)
	if err != nil {
		return 0, nil, err
	}
	arcs := *c
	arcs.Directed, arcs.Order, arcs.Force, arcs.Store = true, ingest.DefaultOrder, false, nil
	path := temp.Content()
	if len(inputs) == 1 && ingest.IsStore(inputs[0]) {
		path = inputs[0]
	} else {
		report, err := ingest.Run(in.session.ctx, path, inputs, &arcs)
		if err != nil {
			return 0, nil, err
		}
		bytes = report.Store.BytesTotal() + report.SpilledBytes
	}
	store, err := shard.Open(in.session.ctx, path, &shard.Options{Stream: true, Workers: in.session.threads})
	if err != nil {
		return 0, nil, err
	}
	if !store.Manifest.Directed {
		return 0, nil, errors.Join(fault.Usage(inputs[0], "is a store without directions; --cocitation and --coupling are of arcs"), store.Close())
	}
	c.Nodes, c.Directed, c.Undirected = "", false, true
	c.Sources = []*ingest.Source{source.Citations(store, s.cocitation, s.coupling, in.session.threads)}
	return bytes, func() {
		_ = store.Close() // it was only read
		temp.end()
	}, nil
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
func orderOf(m *shard.Manifest) string { return cmp.Or(m.Order, noOrder) }

// noOrder is the order of the ids.
const noOrder = "none"
