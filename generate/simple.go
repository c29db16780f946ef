package generate

import (
	"context"
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk/spec"
)

// uniform draws a graph from all with its numbers of nodes and edges.
var uniform = &Model{
	Spec: spec.Spec{Name: "er", Title: "A graph drawn uniformly (Erdős–Rényi)", Works: spec.Undirected, Params: []spec.Param{
		{Name: "nodes", Symbol: "nodes", Meaning: "nodes", Kind: spec.Whole, Range: fewNodes, Default: spec.Of(100_000)},
		{Name: "edges", Symbol: "edges", Meaning: "distinct edges, none from a node to itself", Kind: spec.Whole, Range: spec.From(1), Default: spec.Of(400_000),
			Check: func(v spec.Values) error { return checkPairs(v.Number("edges"), v.Number("nodes")) }},
	}},
	graph: func(v spec.Values, d draws) Graph {
		return erdosRenyi{nodes: v.Int("nodes"), edges: v.Int("edges"), rngSeed: d.rngSeed}
	},
}

type erdosRenyi struct {
	nodes, edges int
	rngSeed      uint64
	unlabelled
}

// Size implements [Graph].
func (g erdosRenyi) Size() Size {
	return sizeOf(int64(g.nodes), int64(g.edges), pairSetBytes(g.edges), false)
}

// EdgesTo writes the edges in random order. It keeps them in memory, 16 to 32
// bytes each.
func (g erdosRenyi) EdgesTo(ctx context.Context, w io.Writer) error {
	r := source(g.rngSeed, edgeStream)
	out := newLines(ctx, w)
	seen := newPairSet(g.edges)
	for seen.n < g.edges {
		u, v := r.IntN(g.nodes), r.IntN(g.nodes)
		if u == v || !seen.add(u, v) {
			continue
		}
		if err := out.edge(u, v); err != nil {
			return err
		}
	}
	return out.w.Flush()
}

// lattice is a rectangle; node r·columns + c stands in row r and column c and is joined
// to its neighbours in both.
var lattice = &Model{
	Spec: spec.Spec{Name: "grid", Title: "A rectangular lattice", Works: spec.Undirected, Params: []spec.Param{
		{Name: "rows", Symbol: "rows", Meaning: "rows", Kind: spec.Whole, Range: spec.Range{Least: 1, Most: maxNodes}, Default: spec.Of(100)},
		{Name: "columns", Symbol: "columns", Meaning: "columns", Kind: spec.Whole, Range: spec.Range{Least: 1, Most: maxNodes}, Default: spec.Of(100),
			Check: func(v spec.Values) error {
				if n := v.Number("rows") * v.Number("columns"); !fewNodes.Contains(n) {
					return fmt.Errorf("rows × columns = %.0f; give 2 to %d", n, maxNodes)
				}
				return nil
			}},
		{Name: "torus", Meaning: "join the last row and column to the first, where there are three at least", Kind: spec.Switch, Default: spec.Of(false)},
	}},
	graph: func(v spec.Values, _ draws) Graph {
		return grid{rows: v.Int("rows"), columns: v.Int("columns"), torus: v.On("torus")}
	},
}

type grid struct {
	rows, columns int
	torus         bool
	unlabelled
}

// Size implements [Graph].
func (g grid) Size() Size {
	n := int64(g.rows) * int64(g.columns)
	return sizeOf(n, 2*n, 0, true)
}

// EdgesTo writes the edges node by node.
func (g grid) EdgesTo(ctx context.Context, w io.Writer) error {
	out := newLines(ctx, w)
	for r := range g.rows {
		for c := range g.columns {
			u := r*g.columns + c
			right, down := c+1, r+1
			if g.torus && g.columns > 2 {
				right %= g.columns
			}
			if g.torus && g.rows > 2 {
				down %= g.rows
			}
			if right < g.columns {
				if err := out.edge(u, r*g.columns+right); err != nil {
					return err
				}
			}
			if down < g.rows {
				if err := out.edge(u, down*g.columns+c); err != nil {
					return err
				}
			}
		}
	}
	return out.w.Flush()
}
