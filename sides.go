package heatwalk

import (
	"context"

	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// weighEdges multiplies the weights of edges by the given weights of their kinds and times, and joins the edges of each
// pair of nodes.
func weighEdges(ctx context.Context, g *Graph) error {
	m := g.Store.Manifest
	if err := g.options.Edges.Check(m); err != nil || !m.Coded() {
		return err
	}
	g.unweighted = !m.Weighted
	return shard.Weigh(ctx, g.Store, g.options.Edges.Book(m))
}

// chooseEdges plans the choice of weights of kinds and of the half-life by the labels of p, which [Begin] makes before
// it loads the graph. It returns p and settings for a graph with these weights.
func chooseEdges(ctx context.Context, g *Graph, p *method.Problem, s *method.Settings) (*method.Problem, *method.Settings, error) {
	if g.Store == nil || g.settled || !g.options.Edges.Chooses(g.Store.Manifest) || split.TooFew(p.Class) {
		return p, s, nil
	}
	if err := shard.Weigh(ctx, g.Store, &shard.Codebook{}); err != nil { // values of entries need memory
		return nil, nil, err
	}
	g.choose = func() (err error) {
		g.choose = nil
		o := &sides.Problem{
			Store: g.Store.Store, Row: p.Row, Class: p.Class, Classes: len(p.Names), Options: &g.options.Edges,
			Workers: g.options.Workers, Memory: g.options.Memory / 4, Seed: s.RNGSeed,
		}
		if g.Edges, err = sides.Choose(ctx, o); err != nil {
			return err
		}
		if err = shard.Weigh(ctx, g.Store, g.Edges.Book); err != nil {
			return err
		}
		g.Degrees = g.Store.Degrees
		return nil
	}
	q := *p
	set := *s
	q.Weighted = true
	g.Weighted = true
	if g.unweighted {
		set.Weights = method.GivenWeights
	}
	return &q, &set, nil
}
