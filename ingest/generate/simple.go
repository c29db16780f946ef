package generate

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/heatwalk/heatwalk/param"
)

// uniform is the model G(n, M), a block model of one class whose nodes have equal weights. (Erdős and
// Rényi, On random graphs, 1959.)
var uniform = &Model{
	Spec: param.Spec{Name: "er", Title: "A graph drawn uniformly (Erdős–Rényi)", Works: param.Undirected, Params: []param.Param{
		wholeNumber("nodes", "nodes", fewNodes, 100_000),
		withCheck(wholeNumber("edges", "distinct edges, none from a node to itself", param.From(1), 400_000),
			func(v param.Values) error { return checkEdges(v.Number("edges"), pairsOf(v.Int("nodes"))) }),
	}},
	graph: func(v param.Values, d draws) Graph {
		return sbm{
			nodes: v.Int("nodes"), edges: v.Int("edges"), first: []int{0, v.Int("nodes")},
			noise: 1, exponent: math.Inf(1), isUniform: true, draws: d,
		}
	},
}

// lattice is a rectangular grid with node r·columns + c in row r and column c.
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

func (g grid) Size() Size {
	n := int64(g.rows) * int64(g.columns)
	return sizeOf(n, 2*n, 0)
}

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
