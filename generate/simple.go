package generate

import (
	"context"
	"fmt"
	"io"
)

// ErdosRenyi is a graph drawn uniformly from all with its numbers of nodes and
// edges.
type ErdosRenyi struct {
	Nodes   int
	Edges   int // distinct, without self loops
	RNGSeed uint64
}

// Validate reports what is wrong with the settings.
func (g ErdosRenyi) Validate() error {
	if g.Nodes < 2 || g.Nodes > maxNodes {
		return fmt.Errorf("generate: %d nodes, want 2 to %d", g.Nodes, maxNodes)
	}
	if pairs := float64(g.Nodes) * float64(g.Nodes-1) / 2; g.Edges < 1 || float64(g.Edges) > pairs {
		return fmt.Errorf("generate: %d edges, want 1 to %.0f for %d nodes", g.Edges, pairs, g.Nodes)
	}
	return nil
}

// EdgesTo writes the edges in random order. It keeps them in memory, 16 to 32
// bytes each.
func (g ErdosRenyi) EdgesTo(ctx context.Context, w io.Writer) error {
	if err := g.Validate(); err != nil {
		return err
	}
	r := source(g.RNGSeed, edgeStream)
	out := newLines(ctx, w)
	seen := newPairSet(g.Edges)
	for seen.n < g.Edges {
		u, v := r.IntN(g.Nodes), r.IntN(g.Nodes)
		if u == v || !seen.add(u, v) {
			continue
		}
		if err := out.edge(u, v); err != nil {
			return err
		}
	}
	return out.w.Flush()
}

// Grid is a rectangular lattice; node r·Columns + c stands in row r and column
// c and is joined to its neighbours in both.
type Grid struct {
	Rows, Columns int
	Torus         bool // join the last row and column to the first, where there are three at least
}

// Validate reports what is wrong with the settings.
func (g Grid) Validate() error {
	if g.Rows < 1 || g.Columns < 1 || g.Rows > maxNodes/g.Columns || g.Rows*g.Columns < 2 {
		return fmt.Errorf("generate: a grid of %d×%d nodes, want 2 to %d", g.Rows, g.Columns, maxNodes)
	}
	return nil
}

// EdgesTo writes the edges node by node.
func (g Grid) EdgesTo(ctx context.Context, w io.Writer) error {
	if err := g.Validate(); err != nil {
		return err
	}
	out := newLines(ctx, w)
	for r := range g.Rows {
		for c := range g.Columns {
			u := r*g.Columns + c
			right, down := c+1, r+1
			if g.Torus && g.Columns > 2 {
				right %= g.Columns
			}
			if g.Torus && g.Rows > 2 {
				down %= g.Rows
			}
			if right < g.Columns {
				if err := out.edge(u, r*g.Columns+right); err != nil {
					return err
				}
			}
			if down < g.Rows {
				if err := out.edge(u, down*g.Columns+c); err != nil {
					return err
				}
			}
		}
	}
	return out.w.Flush()
}
