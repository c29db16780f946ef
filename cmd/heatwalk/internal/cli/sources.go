package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// sources holds the flags that make a graph of what is no list of edges.
type sources struct {
	hyperedges           bool
	cocitation, coupling bool
}

// sourceFlags declares the flags of s.
func (in *invocation) sourceFlags(flags *pflag.FlagSet, s *sources) {
	flags.BoolVar(&s.hyperedges, "hyperedges", false, "each line holds the vertices of a hyperedge; the graph has a node for each hyperedge too")
	flags.BoolVar(&s.cocitation, "cocitation", false, "of arcs, the graph of the nodes that a third one points to; its weights count these")
	flags.BoolVar(&s.coupling, "coupling", false, "of arcs, the graph of the nodes that point to a third one; with --cocitation, both; of hyperedges, that of the vertices that share them")
}

// any reports whether the inputs are not to be read as edges of the graph.
func (s *sources) any() bool { return s.hyperedges || s.citations() }

func (s *sources) citations() bool { return s.cocitation || s.coupling }

// checkSources notes what goes against each other.
func (in *invocation) checkSources(r *reading) {
	s, c := &r.sources, &r.config
	switch {
	case !s.any():
	case s.hyperedges && s.cocitation:
		in.problem("--hyperedges", "goes against --cocitation, which is of arcs; choose one")
	case s.hyperedges && c.Directed:
		in.problem("--hyperedges", "have no direction; leave out --directed")
	case s.hyperedges && (c.Fields != nil || c.Header != nodefile.AutoHeader || c.SkipBadLines || c.UnknownIDs != ingest.DefaultUnknown):
		in.problem("--hyperedges", "has ids on its lines and no columns; leave out --fields, --header, --skip-bad-lines and --unknown-ids")
	case s.citations() && c.Undirected:
		in.problem("--undirected", "goes against --cocitation and --coupling, which are of arcs")
	}
}

// makeSources returns settings with sources in the place of inputs, of a graph that is
// to lie in dir, the bytes of temporary stores, and what ends their use.
func (in *invocation) makeSources(dir string, inputs []string, s *sources, c ingest.Config) (_ ingest.Config, bytes int64, end func() error, _ error) {
	if s.hyperedges {
		settings := c
		c.Sources = []*ingest.Source{source.Hyperedges(inputs, s.coupling, &settings)}
		return c, 0, func() error { return nil }, nil
	}
	temp, err := in.makeTemp(dir)
	if err != nil {
		return c, 0, nil, err
	}
	arcs := c
	arcs.Directed, arcs.Order, arcs.Force, arcs.Store = true, ingest.DefaultOrder, false, nil
	from := temp.Content()
	if len(inputs) == 1 && isStore(inputs[0]) {
		from = inputs[0]
	} else {
		report, err := ingest.Run(in.ctx, from, inputs, &arcs)
		if err != nil {
			return c, 0, nil, errors.Join(err, temp.Remove())
		}
		bytes = report.Store.BytesTotal() + report.SpilledBytes
	}
	store, err := shard.Open(in.ctx, from, &shard.Options{Stream: true, Workers: in.threads})
	if err != nil {
		return c, 0, nil, errors.Join(openError(err), temp.Remove())
	}
	end = func() error { return errors.Join(store.Close(), temp.Remove()) }
	if !store.Manifest.Directed {
		return c, 0, nil, errors.Join(fault.Usage(inputs[0], "is a store without directions; --cocitation and --coupling are of arcs"), end())
	}
	c.Nodes, c.Directed, c.Undirected = "", false, true
	c.Sources = []*ingest.Source{source.Citations(store, s.cocitation, s.coupling, in.threads)}
	return c, bytes, end, nil
}

// isInputStore reports whether an input of ingest is a store.
func isInputStore(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest"))
	return err == nil && path != ""
}
