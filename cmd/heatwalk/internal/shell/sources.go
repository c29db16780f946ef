package shell

import (
	"cmp"
	"context"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ColumnLines returns the use of the columns of files, one line for files with the same columns.
func ColumnLines(files []ingest.FileReport) (lines []string) {
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

func (run *Session) IngestConfig(r *GraphInputs) *ingest.Config {
	config := r.Config
	c := &config
	c.Workers, c.TempDir, c.Warn, c.Text = run.Threads, r.Tables.tempDir,
		run.Console.WarnOfError, r.Tables.Text
	if limit := run.Costs.DataLimit(); limit > 0 {
		c.Memory = max(1, limit-r.ProducerBytes)
	}
	c.Missing = r.Tables.Labelling.Missing
	c.UnknownIDs = r.Tables.unknown
	if c.Stdin == nil {
		c.Stdin = run.Console.Stdin
	}
	var stage *Stage
	current := ""
	c.Progress = func(name string, done, total int64) {
		if name != current {
			current = name
			unit := Unit("row")
			if strings.HasPrefix(name, "reading ") {
				unit = Bytes
				if r.Config.Stdin != nil {
					name = r.Source
				}
			}
			stage = run.Progress.Begin(name, total, unit)
		}
		stage.Set(done, total)
	}
	return c
}

// measuredBytes estimates the memory of repeating the run so far: slightly more than its peak, but at most
// the limit.
func (costs *Costs) measuredBytes() int64 {
	peak := system.PeakMemory()
	bytes := max(0, budget.Data(peak+peak/8))
	if limit := costs.DataLimit(); limit > 0 {
		bytes = min(bytes, limit)
	}
	return bytes
}

type sources struct {
	hyperedges           bool
	cocitation, coupling bool
}

func (s *sources) declare(flags *FlagSet) {
	flags.BoolVar(&s.hyperedges, "hyperedges", false,
		"each line holds the vertices of a hyperedge; the graph has a node for each hyperedge too")
	flags.BoolVar(&s.cocitation, "cocitation", false,
		"of arcs, the graph of nodes that the same nodes point to; the weight counts these")
	flags.BoolVar(&s.coupling, "coupling", false,
		"of arcs, the graph of nodes that point to the same nodes; of hyperedges, of vertices in the same hyperedges; the weight counts these")
}

func (s *sources) Any() bool {
	return s.hyperedges || s.Citations()
}

func (s *sources) Citations() bool {
	return s.cocitation || s.coupling
}

// MakeSources stores in c the sources of hyperedges, co-citations or couplings that are derived from
// inputs. Temporary stores are near dir until the command ends. MakeSources returns their size in bytes.
func (run *Session) MakeSources(r *GraphInputs, dir string, inputs []string,
	c *ingest.Config) (bytes int64, err error) {
	s := &r.Sources
	if s.hyperedges {
		settings := *c
		c.Sources = []*ingest.Source{source.Hyperedges(inputs, s.coupling,
			&settings)}
		return 0, nil
	}
	path := inputs[0]
	var files []ingest.FileReport
	if len(inputs) > 1 || !ingest.IsStore(path) {
		temp, err := run.MakeTemp(&r.Tables, dir)
		if err != nil {
			return 0, err
		}
		arcs := *c
		arcs.Directed = true
		arcs.Order = ingest.DefaultOrder
		arcs.Force = false
		arcs.Store = nil
		path = temp.Content()
		report, err := ingest.Run(run.Context, path, inputs, &arcs)
		if err != nil {
			return 0, err
		}
		bytes = report.Store.BytesTotal() + report.SpilledBytes
		files = report.Files
	}
	store, err := shard.Open(run.Context, path,
		&shard.Options{Stream: true, Workers: run.Threads})
	if err != nil {
		return 0, err
	}
	run.AtEnd(func() { _ = store.Close() }) // it was only read
	if !store.Manifest.Directed {
		return 0, UsageError(inputs[0],
			"is a store without directions; --cocitation and --coupling are of arcs")
	}
	c.Nodes = ""
	c.Directed = false
	c.Undirected = true
	citations := source.Citations(store, s.cocitation, s.coupling, run.Threads)
	read := citations.Read
	citations.Read = func(ctx context.Context, visit graphfile.Visitor, hold graphfile.Holder) ([]ingest.FileReport, error) {
		_, err := read(ctx, visit, hold)
		return files, err
	}
	c.Sources = []*ingest.Source{citations}
	return bytes, nil
}

type GraphCounts struct {
	Nodes    int64 `json:"nodes"`
	Edges    int64 `json:"edges"`
	Entries  int64 `json:"entries"`
	Directed bool  `json:"directed"`
	Weighted bool  `json:"weighted"`
}

func CountsOf(m *shard.Manifest) GraphCounts {
	return GraphCounts{m.Rows, m.Edges(), m.Entries, m.Directed, m.Weighted}
}

func DescribeStore(m *shard.Manifest) any {
	return struct {
		Identity string `json:"identity"`
		GraphCounts
		Order   string       `json:"order"`
		Sources []shard.File `json:"sources,omitempty"`
	}{m.Content(), CountsOf(m), OrderOf(m), m.Sources}
}

// Describe describes the graph of a store in the run file.
func (o *Outputs) Describe(m *shard.Manifest) {
	o.Store = DescribeStore(m)
	if o.Run.Origin == nil { // an origin is of the graph that is read
		o.Run.Origin = sides.OriginOf(m)
	}
}

func OrderOf(m *shard.Manifest) string {
	return cmp.Or(m.Order, noOrder)
}

// noOrder is the order of the ids.
const noOrder = "none"
