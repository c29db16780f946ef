package generate

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/param"
)

// uniform is the model G(n, p): each pair of nodes is an edge with the same probability.
var uniform = &Model{
	Spec: param.Spec{Name: "er", Title: "A graph drawn uniformly (Erdős–Rényi)", Works: param.Undirected, Params: []param.Param{
		wholeNumber("nodes", "nodes", fewNodes, 100_000),
		withCheck(wholeNumber("edges", "expected number of distinct edges, none from a node to itself", param.From(1), 400_000),
			func(v param.Values) error { return checkPairs(v.Number("edges"), v.Number("nodes")) }),
	}},
	graph: func(v param.Values, d draws) Graph {
		return erdosRenyi{nodes: v.Int("nodes"), edges: v.Int("edges"), draws: d}
	},
}

type erdosRenyi struct {
	nodes, edges int
	draws
	noClasses
}

// Size implements [Graph].
func (g erdosRenyi) Size() Size {
	return sizeOf(int64(g.nodes), mostEdges(g.edges, g.nodes),
		blockLines*longestEdge*int64(g.workers), false)
}

// EdgesTo writes the edges in increasing order: every pair is an edge with probability
// p = edges / pairs, and the number of pairs up to the next edge is geometric. (Batagelj and
// Brandes, Efficient generation of large random networks, 2005.)
func (g erdosRenyi) EdgesTo(ctx context.Context, w io.Writer) error {
	pairs := float64(g.nodes) * float64(g.nodes-1) / 2
	p := float64(g.edges) / pairs
	chunk := max(1, int(float64(g.nodes)*blockLines/4/float64(g.edges))) // the first chunks have twice the mean number of edges
	return inOrder(ctx, w, g.workers, (g.nodes+chunk-1)/chunk, func(text []byte, k int) []byte {
		r := source(g.rngSeed, edgeStream|uint64(k)<<8)
		skip := func() int {
			if p >= 1 {
				return 0
			}
			return int(min(math.Log1p(-r.Float64())/math.Log1p(-p), pairs))
		}
		end := min((k+1)*chunk, g.nodes)
		for u, v := k*chunk, k*chunk+1+skip(); ; v += 1 + skip() {
			for ; u < end && v >= g.nodes; u++ {
				v += u + 2 - g.nodes // the pairs of the next row begin after its diagonal
			}
			if u >= end {
				return text
			}
			text = appendEdge(text, uint64(u), uint64(v))
		}
	})
}

// mostEdges returns an upper bound of the number of edges, given the expected number: ten
// standard errors more, and 2 % because the scale of a block model is estimated.
func mostEdges(edges, nodes int) int64 {
	e := float64(edges)
	n := float64(nodes)
	return int64(min(1.02*e+10*math.Sqrt(e), n*(n-1)/2))
}

// lattice is a rectangular grid: node r·columns + c in row r and column c has edges to its
// neighbours in the same row and the same column.
var lattice = &Model{
	Spec: param.Spec{Name: "grid", Title: "A rectangular lattice", Works: param.Undirected, Params: []param.Param{
		wholeNumber("rows", "rows", between(1, maxNodes), 100),
		withCheck(wholeNumber("columns", "columns", between(1, maxNodes), 100), func(v param.Values) error {
			if n := v.Number("rows") * v.Number("columns"); !fewNodes.Contains(n) {
				return fmt.Errorf("rows × columns = %.0f; give 2 to %d",
					n, maxNodes)
			}
			return nil
		}),
		onOff("torus", "join the last row and column to the first, where there are three at least"),
	}},
	graph: func(v param.Values, _ draws) Graph {
		return grid{rows: v.Int("rows"), columns: v.Int("columns"),
			torus: v.On("torus")}
	},
}

type grid struct {
	rows, columns int
	torus         bool
	noClasses
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
			right := c + 1
			down := r + 1
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
