package heatwalk

import (
	"cmp"
	"context"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Edge is an edge of a graph, see [Graph.EachEdge].
type Edge struct {
	Source, Target int // places of the ends in the order of [Graph.IDs]; either end of an undirected edge may be the source
	Weight         float64
	Kind, Time     string // names as in the input; "" if edges have none
}

// EachEdge calls visit once for each edge, in an order that depends on the graph alone. Edges of several kinds or times
// between two nodes are separate edges. Weights include the factors of [Options.Edges]; edges with the factor 0 are omitted.
// EachEdge returns the first error of visit. Cost: one sweep.
func (g *Graph) EachEdge(ctx context.Context, visit func(e Edge) error) error {
	if err := g.checkOpen(); err != nil {
		return err
	}
	place := make([]int, g.Nodes.Len()) // place of each row
	i := 0
	for row := range g.Nodes.Rows() {
		place[row] = i
		i++
	}
	a := g.A
	var m *shard.Manifest
	times := map[uint16]string{}
	if g.edges != nil {
		m = g.Store.Manifest
		a, _ = shard.ApplyCodebook(g.Store.Store, cmp.Or(g.options.Edges.Book(m), new(shard.Codebook)))
	}
	return shard.EachCodedRow(ctx, a, func(row int, col []uint32, val []float64, code []uint32) error {
		for i, c := range col {
			if val[i] == 0 || !g.Directed && int(c) < row {
				continue
			}
			e := Edge{Source: place[row], Target: place[c], Weight: val[i]}
			if code != nil && m.Kinds != nil {
				e.Kind = m.Kinds[shard.KindOf(code[i])].Name
			}
			if code != nil && m.Times != nil {
				time := shard.TimeOf(code[i])
				if times[time] == "" {
					times[time] = m.Times.Text(time)
				}
				e.Time = times[time]
			}
			if err := visit(e); err != nil {
				return err
			}
		}
		return nil
	})
}
