package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
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
	case s.hyperedges && (c.Fields != nil || c.Header != ingest.AutoHeader || c.SkipBadLines || c.UnknownIDs != ingest.DefaultUnknown):
		in.problem("--hyperedges", "has ids on its lines and no columns; leave out --fields, --header, --skip-bad-lines and --unknown-ids")
	case s.citations() && c.Undirected:
		in.problem("--undirected", "goes against --cocitation and --coupling, which are of arcs")
	case in.estimating:
		in.problem("GRAPH", "how large a graph is that is made of another one is known when it has been made; run the command itself, with --max-memory")
	}
}

// makeSources returns settings with sources in the place of inputs, of a graph that is
// to lie in dir, and what ends their use.
func (in *invocation) makeSources(dir string, inputs []string, s *sources, c ingest.Config) (ingest.Config, func() error, error) {
	if s.hyperedges {
		settings := c
		c.Sources = []*ingest.Source{source.Hyperedges(inputs, s.coupling, &settings)}
		return c, func() error { return nil }, nil
	}
	temp, err := in.makeTemp(dir)
	if err != nil {
		return c, nil, err
	}
	arcs := c
	arcs.Directed, arcs.Order, arcs.Force, arcs.Store = true, ingest.DefaultOrder, false, nil
	from := temp.store()
	if len(inputs) == 1 && isStore(inputs[0]) {
		from = inputs[0]
	} else if _, err := ingest.Run(in.ctx, from, inputs, &arcs); err != nil {
		return c, nil, errors.Join(err, temp.remove())
	}
	store, err := in.openStore(from, &shard.Options{Stream: true, Workers: in.threads})
	if err != nil {
		return c, nil, errors.Join(err, temp.remove())
	}
	end := func() error { return errors.Join(store.Close(), temp.remove()) }
	if !store.Manifest().Directed {
		return c, nil, errors.Join(usageOf(inputs[0], "is a store without directions; --cocitation and --coupling are of arcs"), end())
	}
	c.Nodes, c.Directed, c.Undirected = "", false, true
	c.Sources = []*ingest.Source{source.Citations(store, s.cocitation, s.coupling, in.threads)}
	return c, end, nil
}

// isInputStore reports whether an input of ingest is a store.
func isInputStore(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest"))
	return err == nil && path != ""
}
