package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// commuteTime is the mean number of steps of a walk from one node to another node and back.
var commuteTime = Family{
	Spec: param.Spec{
		Name:   "commute-time",
		Title:  "vol·(L⁺_ii + L⁺_jj − 2L⁺_ij), with the component's vol",
		Works:  param.Undirected,
		Source: "Fouss, Pirotte, Renders and Saerens, Random-walk computation of similarities between nodes of a graph, IEEE TKDE 19, 2007",
	},
	Distance: "pseudo-inverse:laplacian=combinatorial",
	newOn: func(_ context.Context, g *matrices, _ param.Values) (Kernel, error) {
		k, err := newPseudoInverse(g, combinatorial)
		if err != nil {
			return nil, err
		}
		return newDistance(k), nil
	},
	work: func(param.Values, *degrees) work { return pseudoInverseWork },
}

// distance is the commute time, +Inf between components.
type distance struct {
	inverse *spectral
	volume  []float64 // volume of each node's component
}

func newDistance(inverse *spectral) *distance {
	g := inverse.graph
	volume := blocks.ByPart(sparse.TeamOf(g.A), g.Components, g.Degrees)
	d := &distance{inverse: inverse, volume: make([]float64, len(g.Degrees))}
	for i := range d.volume {
		d.volume[i] = volume[g.Components.Of[i]]
	}
	return d
}

func (d *distance) Len() int { return d.inverse.Len() }

// ApplyTo implements [Kernel]; it returns ErrDistance.
func (d *distance) ApplyTo(context.Context, *sparse.Block[float64],
	*sparse.Block[float64], *Settings) (*Report, error) {
	return nil, ErrDistance
}

// Block implements [Kernel]. It computes the columns of L⁺ at all nodes in rows and cols.
func (d *distance) Block(ctx context.Context, rows, cols []int, take Sink,
	s *Settings) (*Report, error) {
	c, err := d.inverse.begin(s)
	if err != nil {
		return nil, err
	}
	// A commute time has four errors of values of L⁺. Its largest value in a column is at least the mean of the column,
	// which exceeds vol·L⁺_jj.
	c.tightest, c.scale.weight = 4, d.volume
	c.effort /= 4
	measured := func(lo, left int, piece *sparse.Block[float64]) error {
		for i := range piece.Rows {
			for _, v := range piece.Row(i) {
				if !math.IsInf(v, 1) {
					c.log.report.Largest = max(c.log.report.Largest, v)
				}
			}
		}
		return take(lo, left, piece)
	}
	if slices.Equal(rows, cols) {
		diagonal := make([]float64, 0, len(rows))
		err = c.mirrorColumns(ctx, rows, func(y *sparse.Block[float64], nodes []int) func([]float64, int) {
			lo := len(diagonal)
			diagonal = append(diagonal, diagonalAt(y, nodes)...)
			return d.timesFrom(y, rows, diagonal, nodes, diagonal[lo:])
		}, measured)
	} else {
		err = d.across(ctx, c, rows, cols, measured)
	}
	if err != nil {
		return nil, err
	}
	// c.core is the largest value of vol·L⁺, which scales rounding errors.
	c.log.report.ErrorBound = 4*c.worst + 8*epsilon*c.core
	return &c.log.report, nil
}

// timesFrom returns a function that stores in dst the commute times between list[i] and each of nodes. y holds the
// columns of L⁺ at nodes; listDiagonal and diagonal hold the diagonal elements of L⁺ at list and at nodes.
func (d *distance) timesFrom(y *sparse.Block[float64], list []int, listDiagonal []float64,
	nodes []int, diagonal []float64) func(dst []float64, i int) {
	component := d.inverse.graph.Components.Of
	return func(dst []float64, i int) {
		node := list[i]
		values := y.Row(node)
		for j, column := range nodes {
			switch {
			case node == column:
				dst[j] = 0
			case component[node] != component[column]:
				dst[j] = math.Inf(1)
			default:
				dst[j] = max(0, d.volume[node]*(listDiagonal[i]+diagonal[j]-2*values[j]))
			}
		}
	}
}

func diagonalAt(columns *sparse.Block[float64], nodes []int) []float64 {
	diagonal := make([]float64, len(nodes))
	for j, node := range nodes {
		diagonal[j] = columns.Row(node)[j]
	}
	return diagonal
}

// across passes the commute times between two different lists to out. It computes the diagonal of L⁺ at the short
// list, then the columns of L⁺ at the long list.
func (d *distance) across(ctx context.Context, c *computation, rows, cols []int,
	out Sink) error {
	short := rows
	long := cols
	turned := len(cols) < len(rows)
	if turned {
		short = cols
		long = rows
	}
	diagonal := make([]float64, 0, len(short))
	collect := func(y *sparse.Block[float64], nodes []int) func([]float64, int) {
		diagonal = append(diagonal, diagonalAt(y, nodes)...)
		return nil
	}
	ignore := func(int, int, *sparse.Block[float64]) error { return nil }
	if err := c.across(ctx, 0, short, false, collect, ignore); err != nil {
		return err
	}
	return c.across(ctx, len(short), long, turned, func(y *sparse.Block[float64], nodes []int) func([]float64, int) {
		return d.timesFrom(y, short, diagonal, nodes, diagonalAt(y, nodes))
	}, out)
}
